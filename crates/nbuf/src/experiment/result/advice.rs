//! What `nbuf bench advise` gives.

use serde::{Deserialize, Serialize};

use super::bench::{BenchRow, Refused};

/// The document of `nbuf bench advise --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceDocument {
    /// [`AdviceDocument::SCHEMA`].
    pub schema: String,
    /// The pattern that was asked about, in words.
    pub pattern: String,
    /// Bytes of the file: a condition of the advice.
    pub file_bytes: u64,
    /// Bytes of it that are touched: another.
    pub touched_bytes: u64,
    /// How it is done now.
    pub now: BenchRow,
    /// Other ways, the fastest first; the ratio is of their rate to that of now.
    pub ways: Vec<AdviceWay>,
    /// Ways that gave no number.
    pub refused: Vec<Refused>,
    /// Whether the first way is faster by a tenth or more, and firmly.
    pub is_advised: bool,
    /// The whole job, done in each way; where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check: Option<AdviceCheck>,
}

impl AdviceDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.advice/2";
}

/// A way to do it, and how many times faster it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceWay {
    /// The path.
    pub path: String,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Operations under way at a time.
    pub depth: u32,
    /// Its rate to that of now.
    pub ratio: f64,
    /// The lower end of the range of another run's ratio.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Fresh processes of each of the two.
    pub processes: u64,
    /// `faster`, `slower`, `no difference seen` or `unsure`.
    pub verdict: String,
}

/// The whole job, done once in each way in fresh processes in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceCheck {
    /// Bytes that each job moved: those that are touched, or as many as a second of now has time for.
    pub job_bytes: u64,
    /// Seconds that now takes for them, the median.
    pub now_seconds: f64,
    /// The other ways, the fastest first.
    pub ways: Vec<CheckedWay>,
}

/// A way, and what its job took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckedWay {
    /// The path.
    pub path: String,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// How many times faster than now: the median over pairs.
    pub ratio: f64,
}
