//! What `nbuf load` gives: response against users.

use serde::{Deserialize, Serialize};

use super::Warning;
use super::load_cause::{LoadEvidence, LoadIdle, LoadSplit};
use super::load_class::{LoadClass, LoadCost, LoadWorkingSet};
use crate::units::Bytes;

/// The document of `nbuf load --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadDocument {
    /// [`LoadDocument::SCHEMA`].
    pub schema: String,
    /// The seed of all choices and think times.
    pub seed: u64,
    /// Whether users thought, and arrivals were as the script says; not so with `--certify`.
    pub thinks: bool,
    /// The processors of the machine.
    pub processors: u32,
    /// A row for each number of users, in the order in which they were given; under limits, for each limit.
    pub steps: Vec<LoadStep>,
    /// The prices that were given.
    pub price: Option<LoadPrice>,
    /// Each memory limit, in the order in which they were given.
    pub limits: Vec<LoadLimit>,
    /// Each combination of memory limit, system table and processors, in the order of its steps; none where nothing
    /// of that was varied.
    pub curves: Vec<LoadCurve>,
    /// Where queues begin, where users think, all classes are closed and there was something to compute it from; under
    /// the first curve, where there are curves.
    pub knee: Option<LoadKnee>,
    /// Whether all steps were made to their end.
    pub is_complete: bool,
    /// The error that ended it early, if one did.
    pub stopped: Option<String>,
    /// What the users of each class cost, under each combination of conditions; nothing of requests, and nothing with
    /// servers.
    #[serde(default)]
    pub costs: Vec<LoadCost>,
    /// The working set of a command, under memory limits.
    #[serde(default)]
    pub working_set: Option<LoadWorkingSet>,
    /// What to know of the figures.
    pub notes: Vec<Warning>,
}

impl LoadDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.load/1";
}

/// One number of users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadStep {
    /// The users; with open arrivals, the most interactions at once.
    pub users: u32,
    /// The memory limit of all commands together.
    pub limit_bytes: Option<Bytes>,
    /// How many users the system table admits at once.
    pub table: Option<u32>,
    /// How many processors commands may use.
    pub cpus: Option<u32>,
    /// The beginning of the step, which is in no figure.
    pub warm_up_seconds: f64,
    /// What the figures are of.
    pub window_seconds: f64,
    /// Interactions whose answer came in the window, without those that failed.
    pub interactions: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that the end of the step broke off.
    pub unfinished: u64,
    /// Open arrivals that no user was free for before the end of the step. Their response is in no figure.
    pub not_begun: u64,
    /// The first failure.
    pub failure: Option<String>,
    /// Interactions in a second.
    pub throughput_per_second: f64,
    /// From the intended beginning to the answer.
    pub response: Option<LoadTimes>,
    /// From the actual beginning to the answer.
    pub service: Option<LoadTimes>,
    /// The mean wait for a place in the system table, where there is one. It is part of the response, and not of
    /// the service.
    pub place_seconds: Option<f64>,
    /// The mean think time before an interaction.
    pub think_seconds: Option<f64>,
    /// Processor time of a command and its descendants, on average; nothing where there are requests,
    /// whose work is done by other processes.
    pub cpu_seconds_per_interaction: Option<f64>,
    /// What commands used, with the servers of the script; nothing where none was answered, or where servers run
    /// without a limit.
    pub used: Option<LoadUse>,
    /// The share of the time of all processors in which they were not idle, whatever they did.
    pub processors_busy: Option<f64>,
    /// The share of time in which the busiest disc had a request, also one of other programs.
    pub disc_busy: Option<f64>,
    /// The busiest disc.
    pub disc: Option<String>,
    /// What the processors did: all of the machine, or those that commands may use.
    pub idle: Option<LoadIdle>,
    /// Where the time of commands went; nothing where that could not be seen.
    pub split: Option<LoadSplit>,
    /// Pages that the group read from discs, answered or not, scaled from the whole step to the window; only under a
    /// limit.
    pub fills: Option<u64>,
    /// Pages that were read again after reclaim took them: under a limit those of the group, otherwise of the machine.
    pub refaults: u64,
    /// What the users waited for most.
    pub label: LoadLabel,
    /// Why the step has its label.
    pub evidence: Vec<LoadEvidence>,
    /// Each class, in the order of the script.
    pub classes: Vec<LoadClass>,
}

/// All steps under one memory limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadLimit {
    /// The limit.
    pub limit_bytes: Bytes,
    /// What commands used in all its steps.
    pub used: Option<LoadUse>,
    /// Where queues begin, in the steps of its first system table and number of processors.
    pub knee: Option<LoadKnee>,
    /// Processes that the kernel killed for lack of memory.
    pub killed: u64,
    /// Whether a command costs least under it, by the prices that were given.
    pub is_cheapest: bool,
}

/// All steps under one combination of conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadCurve {
    /// The memory limit.
    pub limit_bytes: Option<Bytes>,
    /// The places of the system table.
    pub table: Option<u32>,
    /// The processors.
    pub cpus: Option<u32>,
    /// Where queues begin.
    pub knee: Option<LoadKnee>,
}

/// Prices, in any currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadPrice {
    /// An hour of a processor.
    pub cpu_per_hour: f64,
    /// A GiB of memory for an hour.
    pub memory_per_gib_hour: f64,
    /// A million operations of discs.
    pub io_per_million: f64,
}

/// What commands used that were answered, and what their private group did meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadUse {
    /// How many there were.
    pub commands: u64,
    /// Processor time of them and their descendants.
    pub cpu_seconds: f64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that needed none.
    pub minor_faults: u64,
    /// Bytes read from discs, by call or by fault.
    pub read_bytes: Bytes,
    /// Pages of these.
    pub fills: u64,
    /// The mean processor time from one major fault to the next.
    pub seconds_between_faults: Option<f64>,
    /// The mean processor time from one fill to the next.
    pub seconds_between_fills: Option<f64>,
    /// Fills of a command.
    pub fills_each: f64,
    /// Processor time of a command.
    pub cpu_seconds_each: f64,
    /// Pages of 4 KiB that the group held, page cache included, integrated over time; sampled ten times a
    /// second. Only under a limit.
    pub page_seconds: Option<f64>,
    /// The same for a command.
    pub page_seconds_each: Option<f64>,
    /// Reads and writes that the group asked discs for; only under a limit.
    pub disc_operations: Option<u64>,
    /// The same for a command.
    pub disc_operations_each: Option<f64>,
    /// The price of a thousand commands; nothing where something with a price was not counted.
    pub price_per_thousand: Option<f64>,
}

/// A distribution of times; percentiles within a thirtieth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadTimes {
    /// The mean.
    pub mean_seconds: f64,
    /// Half of the times are at or below it.
    pub p50_seconds: f64,
    /// Nine of ten are.
    pub p90_seconds: f64,
    /// Ninety-nine of a hundred are.
    pub p99_seconds: f64,
    /// The longest.
    pub max_seconds: f64,
}

/// What the users of a step waited for most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadLabel {
    /// For nothing: no disc and no processor was busy, and the response is near the shortest.
    #[default]
    NoQueue,
    /// The processors were busy.
    CpuBound,
    /// A disc was busy.
    DiscBound,
    /// Processors and a disc were busy alike.
    InBalance,
    /// Nothing of that, and yet the response rose: for another server, or a limit.
    WaitsElsewhere,
    /// Memory is too small: pages are read again that reclaim took.
    CoreBound,
    /// Commands wait for other threads or programs: for a lock, a pipe or a socket.
    LockBound,
    /// Users wait for a place in the system table.
    TableBound,
    /// Nothing of that, and no interaction was answered.
    NoAnswer,
}

/// The number of users from which queues cannot be avoided, by the asymptotic bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadKnee {
    /// N* = (think time + sum of the demands) / largest demand.
    pub users: f64,
    /// What has the largest demand.
    pub bottleneck: LoadBottleneck,
    /// The largest demand.
    pub demand_max_seconds: f64,
    /// The sum of the demands: the response of an interaction that waits for no other.
    pub demands_seconds: f64,
    /// The mean think time.
    pub think_seconds: f64,
    /// N* rounded down, divided among the classes as the users of a step are; in the order of the script.
    pub classes: Vec<LoadCarried>,
}

/// The users of one class at N*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadCarried {
    /// The name of the class.
    pub name: String,
    /// Its users.
    pub users: u32,
}

/// What has the largest demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadBottleneck {
    /// All processors together.
    #[default]
    Processors,
    /// A disc.
    Disc,
    /// The places of the system table: the service by their number.
    Table,
    /// Neither: the demand is taken from the highest throughput.
    Elsewhere,
}
