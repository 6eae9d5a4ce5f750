//! The document of `nbuf size`, and what its page shows besides.

use serde::{Deserialize, Serialize};

use super::super::{cliff, files};
use super::{
    Curve, FileShare, Point, ReadaheadPoint, Recommend, SearchReport, SharedFile, TargetReport,
    TimePoint, TimeReport, Traffic, Verdict, Verified, Warning,
};
use crate::trace::{Facts, Memory};
use crate::units::Bytes;

/// Details for which only a page has room, next to the report. They are not part of the JSON
/// document: a report that was read has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeDetail {
    /// The cliffs of the curve.
    pub cliffs: Vec<cliff::Cliff>,
    /// Every file that matters, the rest of them, and the map of accesses.
    pub files: files::Files,
    /// The facts of the recording.
    pub facts: Facts,
    /// The curve, as in the report.
    pub curve: Curve,
}

/// The same with the parts that the report has.
#[derive(Clone, Copy, Debug)]
pub struct Detail<'a> {
    /// The curve, as in the report.
    pub curve: &'a Curve,
    /// Its cliffs.
    pub cliffs: &'a [cliff::Cliff],
    /// Every file that matters, the rest of them, and the map of accesses.
    pub files: &'a files::Files,
    /// The facts of the recording.
    pub facts: &'a Facts,
    /// Predicted time, ascending by size; empty where none was predicted.
    pub time: &'a [TimePoint],
}

/// How it was captured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CaptureReport {
    /// `perf`
    #[serde(default)]
    pub backend: String,
    /// Kernel events.
    #[serde(default)]
    pub events: u64,
    /// Kernel events that never arrived.
    pub lost: u64,
    /// Demand page accesses.
    #[serde(default)]
    pub accesses: u64,
    /// Distinct pages among them.
    #[serde(default)]
    pub distinct_pages: u64,
    /// Share of accesses through mappings, from 0 to 1.
    pub mapped_share: f64,
    /// Whether this share is so high that the curve is a lower bound of the need.
    #[serde(default)]
    pub is_mapped: bool,
    /// Pages that stayed in memory, charged to other programs and to no process here.
    #[serde(default)]
    pub shared_bytes: Bytes,
    /// Readahead of the device most files are on.
    #[serde(default)]
    pub readahead_bytes: Bytes,
}

/// The whole answer of `nbuf size`: its JSON document, written and read. What a comparison can do
/// without may be missing, so that documents of other versions can be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SizeReport {
    /// [`SizeReport::SCHEMA`]
    pub schema: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Exit status of the recorded run.
    pub exit_status: Option<i32>,
    /// How it was captured.
    pub capture: CaptureReport,
    /// Memory other than the cache, at its peak.
    pub memory: Memory,
    /// Reads and writes, apart.
    #[serde(default)]
    pub traffic: Traffic,
    /// The curve.
    pub curve: Vec<Point>,
    /// The footprint: every page touched.
    pub footprint_bytes: Bytes,
    /// The three sizes; absent where none is recommended.
    pub recommend: Option<Recommend>,
    /// How well that is proved.
    #[serde(default)]
    pub verdict: Verdict,
    /// Whether the need may be higher than the curve says.
    #[serde(default)]
    pub is_lower_bound: bool,
    /// The goal of `--target`, and whether a size meets it; absent without a target.
    pub target: Option<TargetReport>,
    /// What other readahead windows would change, the device's own among them; empty where they
    /// change little.
    #[serde(default)]
    pub readahead: Vec<ReadaheadPoint>,
    /// Time, estimated; absent where nothing is known of the disc.
    pub time: Option<TimeReport>,
    /// The runs that were made to prove it.
    #[serde(default)]
    pub verify: Vec<Verified>,
    /// The search by runs, where no model gave a size that holds; absent where none was needed.
    #[serde(default)]
    pub search: Option<SearchReport>,
    /// Whether the run without a limit did what the recording said; absent when none was made.
    pub repeatable: Option<bool>,
    /// The ten files with the most fills.
    #[serde(default)]
    pub files: Vec<FileShare>,
    /// Pages that stayed in memory, charged to other programs; they are free hits in every run.
    #[serde(default)]
    pub shared: Vec<SharedFile>,
    /// Warnings for the reader.
    #[serde(default, alias = "cautions")]
    pub warnings: Vec<Warning>,
    /// Details for which only a page has room.
    #[serde(skip)]
    pub detail: SizeDetail,
}

impl SizeReport {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.size/1";

    /// Returns the details that a page shows next to the report.
    pub fn detail(&self) -> Detail<'_> {
        let SizeDetail { cliffs, files, facts, curve } = &self.detail;
        let time = self.time.as_ref().map_or(&[][..], |time| &time.points);
        Detail { curve, cliffs, files, facts, time }
    }
}
