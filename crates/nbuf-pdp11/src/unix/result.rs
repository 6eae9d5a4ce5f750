//! The result of the nbuf experiment, for every output format. Serialisation is derived here.
//!
//! It contains nothing about the host: no date and no host time. Two runs of the same images
//! compare equal.

use nbuf::experiment::document::Document;
use serde::{Deserialize, Serialize};

use super::warning::Warning;

/// The document of `nbuf unix sweep --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SweepDocument {
    /// Always [`SweepDocument::SCHEMA`].
    pub schema: String,
    /// The timing: `instant`, `simh` or `hardware`.
    pub timing: String,
    /// The units of the timing in a second.
    pub units_per_second: u64,
    /// The number of assemblies for each number of buffers.
    pub samples: u64,
    /// A row for each kernel that booted.
    pub rows: Vec<SweepRow>,
    /// A row for each kernel that did not boot.
    pub refused: Vec<Refused>,
    /// The warnings for the reader.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl SweepDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.unix/1";
}

impl Document for SweepDocument {
    const SCHEMA: &'static str = Self::SCHEMA;
}

/// The results of one number of buffers: the sample with the median time (the lower of two middle
/// ones).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SweepRow {
    /// The number of buffers in the kernel in core.
    pub nbuf: u16,
    /// Simulated seconds from the end of the command line to the prompt.
    pub seconds: f64,
    /// The same time in units of the timing.
    pub units: u64,
    /// The shortest and the longest sample, in seconds.
    pub range_seconds: [f64; 2],
    /// The speed-up over the first row.
    pub speedup: f64,
    /// The speed-up over the previous row, as the post states it: 0.3 is 30 %.
    pub against_previous: f64,
    /// The post's time, in seconds.
    pub post_seconds: Option<f64>,
    /// The number of executed instructions.
    pub instructions: u64,
    /// The calls of the buffer allocator. This count and the following ones are missing for an
    /// unknown kernel.
    pub requests: Option<u64>,
    /// The calls that found their block.
    pub hits: Option<u64>,
    /// The calls that did not.
    pub misses: Option<u64>,
    /// The hits of reads.
    pub read_hits: Option<u64>,
    /// The hits of writes.
    pub write_hits: Option<u64>,
    /// The sleeps after their event that only the clock ended.
    pub lost_wakeups: Option<u64>,
    /// The sleeps until a buffer is free.
    pub buffer_waits: Option<u64>,
    /// The operations of the discs.
    pub disc: DiscOperations,
    /// The breakdown of the time.
    pub time: TimeSplit,
}

/// Operations of the two discs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DiscOperations {
    /// The reads of the drum.
    pub drum_reads: u64,
    /// The writes of the drum.
    pub drum_writes: u64,
    /// The reads of the pack.
    pub pack_reads: u64,
    /// The writes of the pack.
    pub pack_writes: u64,
}

/// The breakdown of the time, in seconds. The sum less the overlap is the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TimeSplit {
    /// The processor worked.
    pub cpu: f64,
    /// The drum turned to the word.
    pub drum_latency: f64,
    /// The arm of the pack moved, or its controller worked.
    pub seek: f64,
    /// The pack turned to the sector.
    pub rotation: f64,
    /// Either disc moved words.
    pub transfer: f64,
    /// Two of these happened at once, so the time is counted twice.
    pub overlap: f64,
    /// No device worked.
    pub idle: f64,
}

/// A kernel that did not reach a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Refused {
    /// Its number of buffers.
    pub nbuf: u16,
    /// The event and its cause.
    pub why: String,
    /// The registers and the last 50 instructions.
    pub machine: String,
}

/// The result of a scan over the speeds of the pack's controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ScanDocument {
    /// Always [`ScanDocument::SCHEMA`].
    pub schema: String,
    /// The number of buffers.
    pub nbuf: u16,
    /// A row for each speed.
    pub rows: Vec<ScanRow>,
}

impl ScanDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.unix-scan/1";
}

impl Document for ScanDocument {
    const SCHEMA: &'static str = Self::SCHEMA;
}

/// One disc time of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ScanRow {
    /// The units of the pack's controller for a command.
    pub rk_units: u64,
    /// Simulated seconds.
    pub seconds: f64,
    /// The sleeps after their event that only the clock ended; missing for an unknown kernel.
    pub lost_wakeups: Option<u64>,
}

/// The result of a session at the console: how it ended, and what the guest did until then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BootDocument {
    /// Always [`BootDocument::SCHEMA`].
    pub schema: String,
    /// The timing: `instant`, `simh` or `hardware`.
    pub timing: String,
    /// The units of the timing in a second.
    pub units_per_second: u64,
    /// How the session ended.
    pub ended: BootEnd,
    /// The number of the signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The crash that ended it, if one did.
    pub crash: Option<Crash>,
    /// The simulated time of the session, in units of the timing.
    pub units: u64,
    /// The same time in seconds.
    pub seconds: f64,
    /// The number of executed instructions.
    pub instructions: u64,
    /// The operations of the discs.
    pub disc: DiscOperations,
    /// Whether the discs went back to the images.
    pub is_written_back: bool,
}

impl BootDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.unix-boot/1";
}

impl Document for BootDocument {
    const SCHEMA: &'static str = Self::SCHEMA;
}

/// How a session at the console ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BootEnd {
    /// The user left, or the script was over and no process ran.
    #[default]
    Left,
    /// A signal came.
    Signal,
    /// The guest stopped by itself.
    Crashed,
}

/// The crash of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Crash {
    /// The event and its cause.
    pub why: String,
    /// The registers and the last 50 instructions.
    pub machine: String,
}
