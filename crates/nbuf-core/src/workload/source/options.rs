//! How a trace is to be read.

use super::Given;
use crate::units::Bound;
use crate::workload::format::Parameters;

/// How a trace is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its format, instead of what it looks like.
    pub format: Option<Parameters>,
    /// Reading ends with an error when more than this cannot be read.
    pub problems_max: u64,
    /// Several inputs are merged by time, whatever their format.
    pub merge: bool,
    /// How much later than the first each of the merged inputs begins; none where they share a clock.
    pub later_ns: Vec<i64>,
    /// Rows that are the trace, instead of the files.
    pub given: Option<Given>,
    /// What the trace may take in memory: native traces, which are read at once, and all names.
    pub memory: Bound,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            problems_max: 1000,
            merge: false,
            later_ns: Vec::new(),
            given: None,
            memory: Bound::NONE,
        }
    }
}
