//! What the nbuf experiment gives, as all faces get it. Serialisation is derived here.
//!
//! Nothing here is of the machine that ran the emulator: no date, no time of the host. Two runs of the
//! same images compare equal.

use serde::{Deserialize, Serialize};

/// The document of `nbuf unix sweep --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepDocument {
    /// [`SweepDocument::SCHEMA`].
    pub schema: String,
    /// Which timing: `instant`, `simh` or `hardware`.
    pub timing: String,
    /// Units of the timing in a second.
    pub units_per_second: u64,
    /// Assemblies for each number of buffers.
    pub samples: u64,
    /// A row for each kernel that booted.
    pub rows: Vec<SweepRow>,
    /// A row for each that did not.
    pub refused: Vec<Refused>,
    /// What a reader must be told.
    pub cautions: Vec<String>,
}

impl SweepDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.unix/1";
}

/// One number of buffers: the sample whose time is the median (the lower of two middle ones).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Buffers, as the kernel in core has them.
    pub nbuf: u16,
    /// Simulated seconds from the end of the command line to the prompt.
    pub seconds: f64,
    /// The same in units of the timing.
    pub units: u64,
    /// The shortest and the longest sample, in seconds.
    pub range_seconds: [f64; 2],
    /// Against the first row.
    pub speedup: f64,
    /// How much less than the row before, as the post gives it: 0.3 is 30 %.
    pub against_previous: f64,
    /// What the post has, in seconds.
    pub post_seconds: Option<f64>,
    /// Instructions executed.
    pub instructions: u64,
    /// Calls of the buffer allocator. This and what follows is not counted in a kernel that is not
    /// known.
    pub requests: Option<u64>,
    /// Of these, how many found their block.
    pub hits: Option<u64>,
    /// The others.
    pub misses: Option<u64>,
    /// Hits of calls that want to read.
    pub read_hits: Option<u64>,
    /// Hits of calls that want to write.
    pub write_hits: Option<u64>,
    /// Sleeps after their event that only the clock ended.
    pub lost_wakeups: Option<u64>,
    /// Sleeps for want of a free buffer.
    pub buffer_waits: Option<u64>,
    /// What the discs did.
    pub disc: DiscOperations,
    /// Where the time went.
    pub time: TimeSplit,
}

/// Operations of the two discs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscOperations {
    /// Reads of the drum.
    pub drum_reads: u64,
    /// Writes of the drum.
    pub drum_writes: u64,
    /// Reads of the pack.
    pub pack_reads: u64,
    /// Writes of the pack.
    pub pack_writes: u64,
}

/// Where the time went, in seconds: the sum less the overlap is the time that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSplit {
    /// The processor worked.
    pub cpu: f64,
    /// The drum came round to the word.
    pub drum_latency: f64,
    /// The arm of the pack moved, or its controller.
    pub seek: f64,
    /// The pack came round to the sector.
    pub rotation: f64,
    /// Words moved, on either disc.
    pub transfer: f64,
    /// Counted twice, because two of these happened at once.
    pub overlap: f64,
    /// Nothing moved.
    pub idle: f64,
}

/// A kernel that did not come to a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Buffers.
    pub nbuf: u16,
    /// What happened, and why.
    pub why: String,
    /// Registers and the last 50 instructions.
    pub machine: String,
}

/// One disc time of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScanRow {
    /// Units of the pack's controller for a command.
    pub rk_units: u64,
    /// Simulated seconds.
    pub seconds: f64,
    /// Sleeps after their event that only the clock ended; not counted in a kernel that is not known.
    pub lost_wakeups: Option<u64>,
}
