//! What `nbuf bench advise` gives.

use serde::{Deserialize, Serialize};

use super::bench::{BenchRow, Refused};

/// The document of `nbuf bench advise --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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
    /// Other ways, the fastest first; the ratio is of their rate to the current rate.
    pub ways: Vec<AdviceWay>,
    /// Ways that gave no number.
    pub refused: Vec<Refused>,
    /// The place in `ways` of the one that is advised: the fastest that is faster by a tenth or more,
    /// firmly, or one within 5 % of it without a hint for another order. Absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advised: Option<usize>,
    /// The whole job, done in each way; where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check: Option<AdviceCheck>,
}

impl AdviceDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.advice/3";

    /// The way that is advised.
    pub fn advised(&self) -> Option<&AdviceWay> {
        self.ways.get(self.advised?)
    }
}

/// A way to do it, and how many times faster it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AdviceWay {
    /// The path.
    pub path: String,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Operations under way at a time.
    pub depth: u32,
    /// The ratio of its rate to the current rate.
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

/// The whole job, done in each way in fresh processes in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AdviceCheck {
    /// Bytes that a job of now moved: those that are touched, or what it moves in the time for a job.
    pub job_bytes: u64,
    /// Seconds that now takes for them, the median.
    pub now_seconds: f64,
    /// The ways whose first jobs were the fastest, and the advised one, the fastest first.
    pub ways: Vec<CheckedWay>,
}

/// A way, and what its job took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CheckedWay {
    /// The path.
    pub path: String,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// How many times the rate of now: the median over rounds.
    pub ratio: f64,
    /// The lower end of the range in which the median of another check is expected.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}
