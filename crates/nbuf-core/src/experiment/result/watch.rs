//! What `nbuf watch` gives: the machine in one interval.

use serde::{Deserialize, Serialize};

use super::{FigureStep, Warning, WatchChosen, WatchFile};
use crate::units::Bytes;

/// The document of `nbuf watch --json`: one for each interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchDocument {
    /// [`WatchDocument::SCHEMA`].
    pub schema: String,
    /// The end of the interval, in seconds since 1970.
    pub unix_seconds: f64,
    /// The number of the interval, from 1.
    pub number: u64,
    /// Its length.
    pub seconds: f64,
    /// Processors that are online.
    pub processors: u64,
    /// Time of all processors.
    pub cpu: WatchCpu,
    /// Pressure; nothing where the kernel does not measure it.
    pub pressure: Option<WatchPressure>,
    /// Tasks that can run.
    pub queue: WatchQueue,
    /// States of processes at the end.
    pub states: WatchStates,
    /// Page faults.
    pub faults: WatchFaults,
    /// The page cache.
    pub cache: WatchCache,
    /// Block devices that did anything, the busiest first.
    pub discs: Vec<WatchDisc>,
    /// From when a request went to its device to when it came back, for all devices; nothing without
    /// tracepoints.
    pub service: Option<WatchTimes>,
    /// Named files.
    pub files: Vec<WatchFile>,
    /// Named processes, or those of a named cgroup; nothing where none is named.
    pub chosen: Option<WatchChosen>,
    /// What watching costs.
    pub own: WatchOwn,
    /// What is missing, and why.
    pub notes: Vec<Warning>,
}

impl WatchDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.watch/1";
}

/// Time of all processors together. The parts add up to the interval times the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchCpu {
    /// In programs.
    pub user_seconds: f64,
    /// In the kernel, for programs.
    pub system_seconds: f64,
    /// In interrupts, as far as the kernel accounts for them.
    pub interrupt_seconds: f64,
    /// Taken by the hypervisor.
    pub stolen_seconds: f64,
    /// Idle while tasks waited for a block device: at each instant the number of idle processors or the number
    /// of waiting tasks, whichever is less.
    pub multiprogramming_idle_seconds: f64,
    /// The rest of the idle time.
    pub true_idle_seconds: f64,
    /// Times of all tasks together in waits for a block device; nothing without tracepoints.
    pub disc_wait_seconds: Option<f64>,
    /// How the two kinds of idle time were separated.
    pub idle_by: WatchMeter,
    /// Interrupts.
    pub interrupts: u64,
}

impl WatchCpu {
    /// Each part with its name.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("user", self.user_seconds),
            ("system", self.system_seconds),
            ("interrupts", self.interrupt_seconds),
            ("stolen", self.stolen_seconds),
            ("multiprogramming idle", self.multiprogramming_idle_seconds),
            ("true idle", self.true_idle_seconds),
        ]
    }

    /// All parts together.
    pub fn sum_seconds(&self) -> f64 {
        self.named().iter().map(|(_, seconds)| seconds).sum()
    }
}

/// How something was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WatchMeter {
    /// Each switch, wake-up and request was seen.
    Tracepoints,
    /// Samples of the number of tasks that wait, ten a second.
    #[default]
    Samples,
}

/// Share of the interval in which tasks waited, by the kernel's pressure stall information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchPressure {
    /// Some task waited for a processor.
    pub cpu_some_percent: f64,
    /// Some task waited for a disc.
    pub io_some_percent: f64,
    /// All tasks with work waited for a disc.
    pub io_full_percent: f64,
    /// Some task waited for memory.
    pub memory_some_percent: f64,
    /// All tasks with work waited for memory.
    pub memory_full_percent: f64,
}

/// The run queues of all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchQueue {
    /// Tasks that run or could run, at the end; without nbuf itself.
    pub length: u64,
    /// The mean of its samples.
    pub length_mean: f64,
    /// How many samples.
    pub samples: u64,
    /// Times that a thread became able to run; nothing without tracepoints.
    pub entries: Option<u64>,
    /// Times that a thread stopped being able to run: it waits, or ended; nothing without tracepoints.
    pub exits: Option<u64>,
    /// Times that a processor went from one thread to another: context switches.
    pub switches: u64,
    /// Processes and threads that were made.
    pub created: u64,
}

/// How many processes are in which state, by their first thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchStates {
    /// Run or could run.
    pub running: u64,
    /// Sleep until something happens.
    pub sleeping: u64,
    /// Sleep where no signal wakes them: mostly for a disc.
    pub disc: u64,
    /// Stopped by a signal or a debugger.
    pub stopped: u64,
    /// Ended, and not yet waited for.
    pub zombies: u64,
    /// Threads of the kernel without work.
    pub kernel_idle: u64,
}

/// Page faults of all processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchFaults {
    /// Those that waited for a disc.
    pub major: u64,
    /// Those that did not.
    pub minor: u64,
    /// User and system time by the number of major faults; nothing without any.
    pub running_between_major_mean_seconds: Option<f64>,
    /// User and system time by the number of all faults; nothing without any.
    pub running_between_mean_seconds: Option<f64>,
    /// Running time of a processor between two major faults on it; nothing without the right to see faults.
    pub between_major: Option<WatchTimes>,
    /// Running time of a processor between two faults of any kind, of the first 512 on it in each tenth of a
    /// second.
    pub between: Option<WatchTimes>,
}

/// How long something took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchTimes {
    /// How many times there are.
    pub count: u64,
    /// Their mean; nothing where there is no time.
    pub mean_seconds: Option<f64>,
    /// Half of them took no longer.
    pub p50_seconds: Option<f64>,
    /// Nine of ten took no longer.
    pub p90_seconds: Option<f64>,
    /// 99 of 100 took no longer.
    pub p99_seconds: Option<f64>,
    /// The longest.
    pub longest_seconds: Option<f64>,
    /// A histogram, in round steps.
    pub steps: Vec<FigureStep>,
}

/// The page cache of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchCache {
    /// Its size at the end.
    pub bytes: Bytes,
    /// How much it grew in the interval; less than 0 where it shrank.
    pub grown_bytes: i64,
    /// Bytes that were read from block devices.
    pub read_bytes: Bytes,
    /// Pages that were put in, at least: growth and evictions. Pages that were let go for another reason are
    /// missing.
    pub fills_min: u64,
    /// Pages that reclaim took.
    pub evictions: u64,
    /// Pages that were read again soon after reclaim took them.
    pub refaults: u64,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchDisc {
    /// Its name, as in `/sys/block`.
    pub name: String,
    /// Reads that completed.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: Bytes,
    /// Writes that completed.
    pub writes: u64,
    /// Their bytes.
    pub written_bytes: Bytes,
    /// The mean time of a read, queueing included; nothing without any.
    pub read_mean_seconds: Option<f64>,
    /// The mean time of a write, queueing included; nothing without any.
    pub write_mean_seconds: Option<f64>,
    /// Requests with the device, at the end.
    pub in_flight: u64,
    /// The mean length of its queue, requests in service included.
    pub queue_mean: f64,
    /// Share of the interval in which it had any request.
    pub busy_percent: f64,
}

/// What watching costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct WatchOwn {
    /// Processor time of nbuf, in per cent of one processor.
    pub cpu_percent: f64,
    /// What its records cost the programs that make them, in per cent of one processor, at 0.7 µs each.
    pub records_percent: f64,
    /// Records of the kernel.
    pub records: u64,
    /// Records that were lost.
    pub lost: u64,
}
