//! What the verbs over traces give besides counts.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Warning;
use crate::workload::convert::Dropped;

/// What was read, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceReading {
    /// The format of the first input.
    pub format: String,
    /// What it is packed with.
    pub packing: String,
    /// What its offsets count: `bytes` or `keys`.
    pub unit: String,
    /// Other formats that it could as well be.
    pub also: Vec<String>,
    /// Records that could not be read.
    pub problems: u64,
    /// Records that do not contain a request.
    pub unused: u64,
    /// The first problems, in words.
    pub problem_texts: Vec<String>,
    /// Warnings: those of a recording, and what this reading adds.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

/// The document of a reading that shows the first requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceHead {
    /// [`TraceHead::SCHEMA`]
    pub schema: String,
    /// How many requests were shown.
    pub count: u64,
    /// What was read for them.
    #[serde(flatten)]
    pub reading: TraceReading,
}

impl TraceHead {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.head/1";
}

/// The document of a verb that makes a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceMade {
    /// [`TraceMade::SCHEMA`]
    pub schema: String,
    /// The new trace.
    pub output: String,
    /// How many records, accesses or requests it has.
    pub count: u64,
    /// `record`, `access` or `request`.
    pub what: String,
    /// Files that it names; 0 for keys.
    pub files: u64,
    /// What the new format has no room for.
    #[serde(default)]
    pub dropped: TraceDropped,
    /// What was read; absent where no foreign trace was.
    pub reading: Option<TraceReading>,
    /// What was salvaged of a log; absent where there was none.
    pub salvaged: Option<TraceSalvaged>,
}

impl TraceMade {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.trace-made/1";

    /// Nothing yet, in this file.
    pub(in crate::experiment) fn of(output: &Path) -> Self {
        let (schema, output) = (Self::SCHEMA.to_owned(), output.display().to_string());
        Self { schema, output, ..Self::default() }
    }
}

/// What a conversion leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceDropped {
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Requests of no bytes.
    pub empty: u64,
    /// Requests that are too large to be taken whole.
    pub cut: u64,
    /// Accesses to objects that the keys of oracleGeneral cannot distinguish.
    pub objects: u64,
    /// Times to live, which the new form does not have.
    #[serde(default)]
    pub lifetimes: u64,
}

impl From<Dropped> for TraceDropped {
    fn from(dropped: Dropped) -> Self {
        let Dropped { flushes, discards, empty, cut, objects, lifetimes } = dropped;
        Self { flushes, discards, empty, cut, objects, lifetimes }
    }
}

/// What a log came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TraceSalvaged {
    /// Entries that were read.
    pub entries: u64,
    /// Frames lost before the last whole one.
    pub frames_skipped: u64,
    /// Where the log is torn, and why; absent for a whole log.
    pub torn: Option<(u64, String)>,
}

/// The document of `nbuf record`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RecordDocument {
    /// [`RecordDocument::SCHEMA`]
    pub schema: String,
    /// The trace.
    pub output: String,
    /// Exit status of the command, as a shell has it.
    pub exit_status: i32,
    /// The signal that killed the command, if any.
    pub signal: Option<i32>,
    /// The signal that ended the recording, if any.
    pub interrupted: Option<i32>,
    /// Kernel events.
    pub events: u64,
    /// Kernel events that never arrived.
    pub lost: u64,
    /// Records of the trace.
    pub records: u64,
    /// Files of the trace.
    pub files: u64,
    /// Warnings, except for the loss, which is `lost`.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl RecordDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.record/1";
}
