//! What a program of the CS61 course gives: how much it moved, in which time.

use serde::{Deserialize, Serialize};

/// The document of a program of the CS61 course, at its end or while it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CourseDocument {
    /// [`CourseDocument::SCHEMA`].
    pub schema: String,
    /// Bytes that were moved so far.
    pub bytes: u64,
    /// The time that they took.
    pub seconds: f64,
    /// The rate, rounded down.
    pub bytes_per_second: u64,
}

impl CourseDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.course/1";
}
