//! What `nbuf sweep` gives: how long a command takes with each value of a parameter.

use serde::{Deserialize, Serialize};

/// The document of `nbuf sweep --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SweepDocument {
    /// [`SweepDocument::SCHEMA`].
    pub schema: String,
    /// The command, with the parameter in braces.
    pub command: Vec<String>,
    /// What is run before each sample, untimed.
    pub prepare: Option<String>,
    /// The parameter.
    pub parameter: String,
    /// A row for each value, in the order in which they were given.
    pub rows: Vec<SweepRow>,
    /// Whether all samples were taken.
    pub is_complete: bool,
}

impl SweepDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.sweep/1";
}

/// One value of the parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SweepRow {
    /// The value, as it stands in the command.
    pub value: String,
    /// The median of the samples; `low` and `high` are the ends of its 95 % interval.
    pub seconds: f64,
    /// See `seconds`.
    pub low: f64,
    /// See `seconds`.
    pub high: f64,
    /// How many times as fast as with the first value: a ratio of medians.
    pub speedup: f64,
    /// Against the value before; nothing in the first row.
    pub against_previous: Option<Against>,
    /// Each run, in seconds, in the order in which they were made.
    pub samples: Vec<f64>,
}

/// How much faster than with the value before, by pairs of runs in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Against {
    /// Times as fast: the median of the pairs; `low` and `high` are the ends of its 95 % interval.
    pub times: f64,
    /// See `times`.
    pub low: f64,
    /// See `times`.
    pub high: f64,
    /// Whether that interval leaves out 1, so that there is a difference.
    pub differs: bool,
}
