//! What `nbuf bench` gives: rates of paths with the checks of their labels, how they compare, and the line
//! through their times.

use serde::{Deserialize, Serialize};

use super::{BenchModel, Warning};

/// The document of `nbuf bench --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchDocument {
    /// [`BenchDocument::SCHEMA`].
    pub schema: String,
    /// Where it was measured.
    pub machine: BenchMachine,
    /// What the machine itself gave meanwhile.
    #[serde(default)]
    pub reference: BenchReference,
    /// Differences below this are noise; absent where nothing was compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub noise_floor: Option<NoiseFloor>,
    /// The same of ways to the device.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub noise_floor_device: Option<NoiseFloor>,
    /// A row for each test that was measured.
    pub rows: Vec<BenchRow>,
    /// Tests that gave no number, and why.
    pub refused: Vec<Refused>,
    /// Pairs of ways.
    pub comparisons: Vec<BenchComparison>,
    /// A line for each path and state.
    pub models: Vec<BenchModel>,
    /// Warnings for the reader.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
    /// Whether all that was asked for was tried: not where Ctrl-C came before, or the end of the time.
    pub is_complete: bool,
    /// What was not tried before the end of the time, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_reached: Vec<String>,
}

impl BenchDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.bench/2";
}

/// Where something was measured, and how busy it was there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchMachine {
    /// The kernel's release.
    pub kernel: String,
    /// The processor's own name.
    pub processor: String,
    /// Processors that may be used.
    pub processors: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// The largest cache of a processor.
    pub cache_bytes: u64,
    /// The type of the file system.
    pub filesystem: String,
    /// The device's readahead window.
    pub readahead_bytes: u64,
    /// The device's scheduler.
    pub scheduler: String,
    /// How fast the processor copies in its caches; twice this is believed of no path.
    pub copy_bytes_per_second: f64,
    /// Percent of the last ten seconds in which a task waited for a processor, at the start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub processor_pressure_percent: Option<f64>,
    /// The same of discs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disc_pressure_percent: Option<f64>,
    /// Percent of the time of the run that a hypervisor took.
    pub stolen_percent: f64,
    /// Seconds since 1970 at the start.
    pub started_unix_seconds: u64,
    /// How long all of it took.
    pub seconds: f64,
}

/// Rates of three jobs that are none of a test, once in each round. Where they differ between two runs, the
/// machine differed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchReference {
    /// Copies of 16 MiB of memory into a buffer of 16 KiB, in bytes a second.
    pub copies: Vec<f64>,
    /// `getppid`, in calls a second.
    pub calls: Vec<f64>,
    /// A loop of 4,000 steps in registers, in loops a second: the best of 20.
    pub loops: Vec<f64>,
}

/// How far apart two measurements of the same thing came out in this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct NoiseFloor {
    /// The 95th percentile of the differences.
    pub percent: f64,
    /// Their median.
    pub typical_percent: f64,
    /// The largest.
    pub worst_percent: f64,
    /// Comparisons of a test with itself.
    pub comparisons: usize,
    /// Pairs of fresh processes in each.
    pub pairs: usize,
    /// The tests that were compared with themselves.
    pub tests: Vec<String>,
}

/// What state the file is in when it is asked for, as the row claims and the label check shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Read, all of it in memory.
    #[default]
    Hot,
    /// Read, none of it in memory.
    Cold,
    /// Written over what is there, into memory.
    Overwrite,
    /// Written from nothing, into memory.
    Append,
    /// To or from the device, past memory.
    Device,
    /// Written, and waited for until the device has it.
    Synced,
}

impl State {
    /// As reports and documents have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Cold => "cold",
            Self::Overwrite => "overwrite",
            Self::Append => "append",
            Self::Device => "device",
            Self::Synced => "synced",
        }
    }
}

/// How far a row is to be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Enough clean samples.
    #[default]
    Clean,
    /// Fewer clean samples than were wanted, and the median is of those.
    Few,
    /// Too few were clean: the median is of all of them, contended ones too.
    Contended,
}

/// One test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchRow {
    /// Its name.
    pub test: String,
    /// What it does, in words.
    pub about: String,
    /// The path.
    pub path: String,
    /// The C library that its calls and streams go through: `glibc 2.36`.
    pub c_library: String,
    /// `read` or `write`.
    pub direction: String,
    /// `sequential`, `strided` or `random`.
    pub order: String,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Operations under way at a time.
    pub depth: u32,
    /// The state of the file.
    pub state: State,
    /// The median of the processes.
    pub bytes_per_second: f64,
    /// The lower end of the range that holds the median of another run 95 times in 100.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Earlier runs of this machine that the range rests on, besides this one; 0 where there were too few.
    #[serde(default)]
    pub earlier_runs: u64,
    /// The median of an operation.
    pub operation_ns: f64,
    /// Samples taken.
    pub samples: u64,
    /// Those of them in which nothing else had the processor or a part of the core.
    pub clean: u64,
    /// Fresh processes that ran.
    pub processes: u64,
    /// The median of each process that counts, in bytes a second. Processes without clean samples may be left out.
    pub process_rates: Vec<f64>,
    /// How far it is to be trusted.
    pub trust: Trust,
    /// What was really done.
    #[serde(alias = "proof")]
    pub label_check: LabelCheck,
    /// The rate of the iMac of 2011 in the course's table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imac_2011: Option<f64>,
    /// The rate of the `ThinkPad` of 2007 there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thinkpad_2007: Option<f64>,
}

/// What the kernel says was done, over all samples of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LabelCheck {
    /// Operations.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Calls that read or write, for each operation. Seeks are not among them.
    pub calls_per_operation: f64,
    /// Bytes that a device gave.
    pub device_read_bytes: u64,
    /// Bytes that go to a device: pages made dirty.
    pub device_written_bytes: u64,
    /// Faults that found their page in memory, for each operation.
    pub faults_minor_per_operation: f64,
    /// Faults that waited for the disc, for each operation.
    pub faults_major_per_operation: f64,
    /// Times an operation gave up the processor, to wait.
    pub waits_per_operation: f64,
    /// The least part of the file that was in memory before a sample (0 to 1).
    pub resident_before_least: f64,
    /// The largest such part.
    pub resident_before_most: f64,
    /// The part after the last sample.
    pub resident_after: f64,
    /// Completions through a ring for each operation; absent where there is no ring.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completions_per_operation: Option<f64>,
}

/// A test without a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Refused {
    /// Its name.
    pub test: String,
    /// Why: what the machine said, or what the label check found.
    pub reason: String,
    /// Whether the label check contradicts the label. That is a failure; a machine that lacks something
    /// is none.
    pub is_contradiction: bool,
}

/// Two ways to do the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchComparison {
    /// What is compared: `plain submission : checked once`.
    pub question: String,
    /// The pattern: `random, 4096 B, hot`.
    pub pattern: String,
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// How many times faster B is: the median over pairs of fresh processes.
    pub ratio: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Pairs.
    pub pairs: usize,
    /// `faster`, `slower`, `no difference seen` or `unsure`, of B.
    pub verdict: String,
}
