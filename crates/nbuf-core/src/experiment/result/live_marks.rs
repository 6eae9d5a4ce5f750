//! How mapped files of programs that run were watched, and what that cost these programs.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Clears of the marks that the processor makes at mapped pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveMarks {
    /// How often nbuf looked at the marks.
    pub rounds: u64,
    /// The longest clear. Faults and mappings of the process waited meanwhile.
    pub longest_clear_seconds: f64,
    /// What was allowed for it.
    pub pause_seconds: f64,
    /// The longest time between two looks at a process.
    pub interval_seconds: f64,
    /// How long the recording went on before the first look. If touches matter, the window begins then.
    pub waited_seconds: f64,
    /// How long there were no looks after the first one, because memory was reclaimed.
    pub rested_seconds: f64,
    /// Processes that were left out, because clearing took longer than allowed again and again.
    pub processes_left_out: u64,
    /// Mapped files in large pages. A touch is one of all pages of a large one, and smaller caches are not known.
    pub large_bytes: Bytes,
    /// Faults before the first look, if looks were wanted even while memory is reclaimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults_before: Option<LiveFaults>,
    /// Faults from the first look to the end of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults_during: Option<LiveFaults>,
    /// Faults after the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults_after: Option<LiveFaults>,
}

/// Faults of the groups that the memory of programs is charged to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveFaults {
    /// For how long they were counted.
    pub seconds: f64,
    /// Pages of files that came back after they had been evicted.
    pub refaults_per_second: f64,
    /// Faults that waited for a disc.
    pub major_per_second: f64,
}

/// What was cached of the files of programs when a window began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LiveSnapshot {
    /// All of it: files that the programs had open, and used in the window.
    pub resident_bytes: Bytes,
    /// On the active list.
    pub active_bytes: Bytes,
    /// In folios of more than a page. The kernel keeps such a folio while any page of it is used.
    pub large_folio_bytes: Bytes,
    /// The largest folio.
    pub largest_folio_bytes: Bytes,
    /// What another group is charged for. The curve counts it too.
    pub foreign_bytes: Bytes,
    /// Whether all of it was looked at. Some of a very large cache is left out.
    pub is_whole: bool,
}
