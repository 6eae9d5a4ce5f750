//! The task of a child of `nbuf bench`, and its samples, which are those of `--samples-out`.

use serde::{Deserialize, Serialize};

use super::bench::State;

/// What a child is to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "what a task is, and no states")]
pub struct BenchTask {
    /// The row of the table of paths.
    pub path: String,
    /// The file, open in the child: `/proc/self/fd/5`.
    pub file: String,
    /// Whether it writes.
    pub is_write: bool,
    /// Whether it writes from nothing, again and again.
    pub grows: bool,
    /// Bytes from one beginning to the next; 0 in sequence.
    pub stride_bytes: u64,
    /// In random order.
    pub is_random: bool,
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Operations under way at a time.
    pub depth: u32,
    /// A pass ends after this many operations; 0 for the whole file.
    #[serde(default)]
    pub operations_max: u64,
    /// Whether a sample is a whole pass, however long it takes.
    #[serde(default)]
    pub is_whole_pass: bool,
    /// The state to bring the file into, and to prove.
    pub state: State,
    /// Clean samples to take.
    pub clean: u64,
    /// Samples at most.
    pub samples_max: u64,
    /// How long a sample is meant to be.
    pub sample_ns: u64,
    /// How long all of it may take; no sample begins later.
    pub time_ns_max: u64,
    /// The shortest that the loop took in other processes of the run; 0 where there were none.
    #[serde(default)]
    pub loop_best_ns: u64,
    /// By how many percent loops alone differ.
    pub loop_slack_percent: u64,
    /// The percentage of its own time by which it is slowed down, to test whether comparisons find
    /// it.
    #[serde(default)]
    pub slowdown_percent: f64,
    /// Whether its large buffers lie in huge pages, where the kernel has some.
    #[serde(default)]
    pub in_huge_pages: bool,
    /// The process that asks. The child ends with it.
    pub parent: u32,
    /// The processor to stay on.
    pub processor: Option<u32>,
}

/// One sample: a few milliseconds of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchSample {
    /// Operations done.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// The part spent ready to run and waiting for a processor; absent where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_delay_ns: Option<u64>,
    /// Times the processor was taken away.
    pub switches_involuntary: u64,
    /// Times it was given up, to wait.
    pub switches_voluntary: u64,
    /// Whether nothing else had the processor or a part of the core.
    pub is_clean: bool,
    /// How long a loop took that shares the core with nothing, the longer of before and after.
    #[serde(default)]
    pub loop_ns: u64,
    /// Calls that read.
    pub reads: u64,
    /// Calls that write.
    pub writes: u64,
    /// Bytes that a device gave.
    pub device_read_bytes: u64,
    /// Bytes that go to a device.
    pub device_written_bytes: u64,
    /// Faults that found their page in memory.
    pub faults_minor: u64,
    /// Faults that waited for the disc.
    pub faults_major: u64,
    /// Pages of the file in memory before.
    pub resident_before_pages: u64,
    /// Pages of the file in memory after.
    pub resident_after_pages: u64,
    /// Pages of the file.
    pub file_pages: u64,
    /// Completions through a ring; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completions: Option<u64>,
}

impl BenchSample {
    /// The rate of the bytes.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 * 1e9 / (self.elapsed_ns.max(1)) as f64
    }

    /// The mean time of an operation.
    pub fn operation_ns(&self) -> f64 {
        self.elapsed_ns as f64 / (self.operations.max(1)) as f64
    }
}

/// A line of `--samples-out`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct BenchSampleLine {
    /// The test.
    pub test: String,
    /// The process, counted from 0 over the whole run.
    pub process: u64,
    /// The sample.
    #[serde(flatten)]
    pub sample: BenchSample,
}
