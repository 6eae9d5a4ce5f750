//! What is in a trace, counted; and what it was taken for.

use serde::{Deserialize, Serialize};

use super::{TraceShape, Warning};
use crate::units::Bytes;

/// What is in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Census {
    /// All requests.
    pub requests: u64,
    /// Those that want data.
    pub reads: u64,
    /// Those that give data.
    pub writes: u64,
    /// Those that give up data.
    pub discards: u64,
    /// Those that want what was written to be safe.
    pub flushes: u64,
    /// What reads asked for; sizes of values where the trace counts keys.
    pub read_bytes: Bytes,
    /// What writes gave.
    pub written_bytes: Bytes,
    /// What discards gave up.
    pub discarded_bytes: Bytes,
    /// Volumes, files or name spaces that have names.
    pub objects: u64,
    /// Accesses of pages, or of keys, by reads and writes.
    pub accesses: u64,
    /// Pages or keys among them, each counted once.
    pub distinct: u64,
    /// The page that was counted in; absent where the trace counts keys.
    pub page_bytes: Option<Bytes>,
    /// Whether memory was too small to tell all of them apart, so that `distinct` is too low.
    pub is_cut: bool,
    /// From the earliest to the latest request.
    pub span_seconds: f64,
}

/// The document of `nbuf trace stat --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceDocument {
    /// `nbuf.stat/1`
    pub schema: String,
    /// What the first input was taken for.
    pub format: String,
    /// What it is packed with.
    pub packing: String,
    /// What its offsets count: `bytes` or `keys`.
    pub unit: String,
    /// Other formats that it could as well be.
    pub also: Vec<String>,
    /// The counts.
    #[serde(flatten)]
    pub census: Census,
    /// Records that could not be read.
    pub problems: u64,
    /// Records that do not say what they ask.
    pub unused: u64,
    /// The first problems, in words.
    pub problem_texts: Vec<String>,
    /// Warnings: those of a recording, and that memory was too small.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
    /// The shape of the trace; absent where only counts were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<TraceShape>,
    /// The same of another trace; absent where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Box<TraceDocument>>,
}

impl TraceDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.stat/1";
}
