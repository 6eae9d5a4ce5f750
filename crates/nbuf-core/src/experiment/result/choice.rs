//! What the options that choose lead to: a target, other readahead windows, several runs.

use serde::{Deserialize, Serialize};

use super::Recommend;
use crate::units::Bytes;

/// One of several runs under the same limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Pages the kernel put into the cache.
    pub measured_fills: u64,
    /// Elapsed time.
    pub measured_seconds: f64,
    /// Whether the kernel OOM-killed it.
    pub killed: bool,
    /// Whether the time allowed was up before it had ended.
    pub timed_out: bool,
}

impl Sample {
    /// Whether the command came to its own end.
    pub fn finished(&self) -> bool {
        !self.killed && !self.timed_out
    }
}

/// What came of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TargetReport {
    /// The goal, as it is written: `hit=0.95`.
    #[serde(alias = "asked")]
    pub goal: String,
    /// Whether a size meets it, which is then the recommendation.
    pub met: bool,
    /// In one sentence: what the size does, or why there is none and what is best instead.
    pub reason: String,
    /// What would be recommended without a target; absent where nothing is.
    pub knee: Option<Recommend>,
}

/// What another readahead window would do. Predicted, never verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ReadaheadPoint {
    /// The window; the kernel's `read_ahead_kb`, in bytes.
    pub readahead_bytes: Bytes,
    /// Pages filled with it at the recommended size of cache.
    pub fills: u64,
    /// The limit that it needs in order to fill no more than the device's own window does at the
    /// recommendation; absent where no limit does.
    pub limit_bytes: Option<Bytes>,
    /// Whether it is the window that the device has.
    pub is_own: bool,
}
