//! Why the response of a step of `nbuf load` rose: what processors did, and where the time of commands went.

use serde::{Deserialize, Serialize};

use super::{LoadCarried, WatchMeter};

/// What the processors did in the window of a step; the shares add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadIdle {
    /// They ran.
    pub running_share: f64,
    /// They were idle, and no task waited for a disc.
    pub true_idle_share: f64,
    /// They were idle while tasks waited for a disc, one processor for a task at most.
    pub disc_idle_share: f64,
    /// How idle time was split.
    pub by: WatchMeter,
}

/// Where the service time of a command went, on average over the commands that were answered in the window. An
/// instant counts for the first part that holds for any thread of the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadSplit {
    /// How many commands there were.
    pub commands: u64,
    /// A thread ran.
    pub on_cpu_seconds: f64,
    /// A thread could run, and waited for a processor.
    pub runnable_seconds: f64,
    /// Waits for a disc.
    pub disc_seconds: f64,
    /// Waits for memory to be reclaimed.
    pub memory_seconds: f64,
    /// Waits for another thread or program: a lock, a pipe or a socket.
    pub lock_seconds: f64,
    /// Waits for a time, a signal or the end of a child.
    pub asleep_seconds: f64,
    /// Waits that no rule explains.
    pub unknown_seconds: f64,
}

impl LoadSplit {
    /// The sum of all parts.
    pub fn sum_seconds(&self) -> f64 {
        self.on_cpu_seconds
            + self.runnable_seconds
            + self.disc_seconds
            + self.memory_seconds
            + self.lock_seconds
            + self.asleep_seconds
            + self.unknown_seconds
    }
}

/// A figure that crossed a threshold, so that the step has its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadEvidence {
    /// Which one.
    pub figure: LoadFigure,
    /// What it was.
    pub value: f64,
    /// What it is above.
    pub above: f64,
}

/// The figures that decide on the label of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadFigure {
    /// The share of time in which processors were busy.
    #[default]
    ProcessorsBusy,
    /// The share of time in which the busiest disc was busy.
    DiscBusy,
    /// The share of service that waits for a processor.
    ProcessorWait,
    /// The share of service that waits for discs or for memory to be reclaimed.
    DiscWait,
    /// The share of service that waits for memory to be reclaimed.
    MemoryWait,
    /// The share of service that waits for other threads or programs; without what a user alone waits.
    LockWait,
    /// The share of the pages read that memory had held before, and reclaim took.
    Refaults,
    /// Pages that a command reads from discs.
    Fills,
    /// Processor time of a command by the least of all steps.
    CpuRise,
    /// The mean response by the shortest of all steps.
    ResponseRise,
    /// The share of response that waits for a place in the system table.
    PlaceWait,
    /// The share of the time of processors in which they are idle while tasks wait for a disc.
    DiscIdle,
    /// Open arrivals that no user took before the end of the step.
    NotBegun,
}

/// A run in a history of a load: a line of its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadHistory {
    /// [`LoadHistory::SCHEMA`].
    pub schema: String,
    /// When it ended.
    pub unix_seconds: u64,
    /// What the user called it.
    pub label: Option<String>,
    /// N*.
    pub knee_users: Option<f64>,
    /// The mean response of one user.
    pub one_user_seconds: Option<f64>,
    /// The number of users of the step that is nearest to N*.
    pub near_knee_users: Option<u32>,
    /// The mean response in it.
    pub near_knee_seconds: Option<f64>,
    /// Processor time of a command.
    pub cpu_seconds_each: Option<f64>,
    /// Pages that a command reads from discs.
    pub fills_each: Option<f64>,
    /// The price of a thousand commands.
    pub price_per_thousand: Option<f64>,
    /// N* of each class alone, where there are several.
    #[serde(default)]
    pub alone: Vec<LoadCarried>,
}

impl LoadHistory {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.load-history/1";
}
