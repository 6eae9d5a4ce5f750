//! The meters of `nbuf run --meters`.

use serde::{Deserialize, Serialize};

use super::RunSampleMeter;

/// How long each kind of event took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunMeters {
    /// Times that the kernel was entered: system calls, page faults and interrupts.
    pub kernel_entries: u64,
    /// Faults, requests to discs, waits for a processor, and the like.
    pub events: Vec<RunMeter>,
    /// System calls by name, those that took the most time first.
    pub calls: Vec<RunMeter>,
    /// The same for each process, thread or file; nothing where that was not asked for.
    #[serde(default)]
    pub by: Option<RunMetersBy>,
}

/// The meters of each process, thread or file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunMetersBy {
    /// What each is.
    pub by: RunBy,
    /// The first thousand, those that took the most time first.
    pub each: Vec<RunMetersOf>,
    /// All others together.
    pub others: Vec<RunSampleMeter>,
}

/// What has meters of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunBy {
    /// A process.
    #[default]
    Process,
    /// A thread.
    Thread,
    /// A file: page faults and system calls that looked for its pages.
    File,
}

/// The meters of one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunMetersOf {
    /// The name of the program or thread, or the path; nothing where it was not found.
    pub name: Option<String>,
    /// The number of the process or thread, or the inode; nothing for what is about no file.
    pub number: Option<u64>,
    /// The device of a file, as `major:minor`.
    pub device: Option<String>,
    /// Time of its system calls, page faults and interrupts.
    pub total_seconds: f64,
    /// Each kind.
    pub meters: Vec<RunSampleMeter>,
}

/// One kind of event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunMeter {
    /// Such as `major fault`, or `openat`.
    pub name: String,
    /// The kind that this is a step of.
    pub step_of: Option<String>,
    /// How many there were.
    pub count: u64,
    /// All of them together.
    pub total_seconds: f64,
    /// Their mean.
    pub mean_seconds: f64,
    /// Half of them took no longer; within a thirtieth.
    pub p50_seconds: f64,
    /// Nine of ten took no longer; within a thirtieth.
    pub p90_seconds: f64,
    /// 99 of 100 took no longer; within a thirtieth.
    pub p99_seconds: f64,
    /// The longest.
    pub max_seconds: f64,
    /// From the shortest to the longest, without gaps.
    pub histogram: Vec<RunMeterStep>,
}

/// Events whose times are between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunMeterStep {
    /// The shortest time of the step.
    pub from_seconds: f64,
    /// The time at which the next step begins.
    pub to_seconds: f64,
    /// How many events.
    pub count: u64,
}
