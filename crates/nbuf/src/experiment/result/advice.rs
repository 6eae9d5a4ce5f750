//! What `nbuf bench advise` gives.

use serde::{Deserialize, Serialize};

use super::bench::{BenchComparison, BenchRow, NoiseFloor, Refused};

/// The document of `nbuf bench advise --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceDocument {
    /// [`AdviceDocument::SCHEMA`].
    pub schema: String,
    /// The pattern that was asked about, in words.
    pub pattern: String,
    /// How it is done now.
    pub now: BenchRow,
    /// Differences below this are noise, for this pattern.
    pub noise_floor: NoiseFloor,
    /// Other ways, the fastest first; the ratio is of their rate to that of now.
    pub ways: Vec<BenchComparison>,
    /// Ways that gave no number.
    pub refused: Vec<Refused>,
    /// Whether the first way is faster for sure: above the floor, with all of its interval.
    pub is_advised: bool,
}

impl AdviceDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.advice/1";
}
