//! Two documents of `nbuf run` side by side: which is faster, and why.

use serde::{Deserialize, Serialize};

use super::{Difference, Warning};

/// The document of `nbuf run --compare A B --json` and of `nbuf run --baseline A --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunComparison {
    /// [`RunComparison::SCHEMA`].
    pub schema: String,
    /// The answer.
    pub verdict: RunVerdict,
    /// The first document, or the baseline.
    pub a: RunSide,
    /// The second document, or the runs that were made now.
    pub b: RunSide,
    /// Real time of B less real time of A.
    pub difference_seconds: f64,
    /// Real time of B in units of A's; nothing where A took no time.
    pub ratio: Option<f64>,
    /// The lower end of the interval that holds the ratio in 19 of 20 cases; nothing with fewer than four runs
    /// of each.
    pub ratio_low: Option<f64>,
    /// Its upper end.
    pub ratio_high: Option<f64>,
    /// A smaller difference means nothing, as a part of A's real time; nothing where a side has one run.
    pub noise: Option<f64>,
    /// The parts of real time, those that differ most first. Their differences add up to the difference.
    pub parts: Vec<RunPartMoved>,
    /// Counts, bytes and times that differ by more than their noise, those that differ most first. With a
    /// single run of a side: all that differ by more than 1 %.
    pub moved: Vec<RunMoved>,
    /// Warnings for the reader.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl RunComparison {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.run-comparison/1";
}

/// What can be said of two real times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunVerdict {
    /// B takes less time.
    Faster,
    /// B takes more time.
    Slower,
    /// No difference is larger than the noise.
    NotSeen,
    /// The difference is larger than what runs differ by, but it may be chance: more runs would tell.
    Unsure,
    /// A side has one run, whose noise is not known.
    #[default]
    NotJudged,
}

/// One of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunSide {
    /// Its command.
    pub command: Vec<String>,
    /// Its exit status.
    pub exit_status: i32,
    /// Runs that were measured.
    pub runs: u64,
    /// Mean of the runs in the middle half by real time. All other figures are of the same runs.
    pub real_seconds: f64,
    /// The shortest run.
    pub real_seconds_low: f64,
    /// The longest run.
    pub real_seconds_high: f64,
}

/// A part of the real time in both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunPartMoved {
    /// Such as `on CPU`.
    pub part: String,
    /// In A.
    pub a_seconds: f64,
    /// In B.
    pub b_seconds: f64,
    /// B less A.
    pub difference_seconds: f64,
    /// Its share of the difference in real time; the shares sum to 1. Nothing where real time does not differ.
    pub share: Option<f64>,
    /// Whether it differs by more than its noise.
    pub difference: Difference,
}

/// A figure that differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunMoved {
    /// Such as `minor faults`, `openat calls` or `time in openat`.
    pub name: String,
    /// The unit of its amounts.
    pub unit: RunUnit,
    /// In A.
    pub a: f64,
    /// In B.
    pub b: f64,
    /// The time that differs to the difference in real time; nothing for other units. Times are of all
    /// threads, and one may be a part of another: these do not sum to 1.
    pub share: Option<f64>,
    /// Whether it differs by more than its noise.
    pub difference: Difference,
}

/// A unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunUnit {
    /// A number of things.
    #[default]
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}
