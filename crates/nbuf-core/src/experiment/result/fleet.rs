//! What `nbuf fleet` gives: the rows of its plan and of its tasks, and the curves and shares of all volumes.

use serde::{Deserialize, Serialize};

use super::super::warning::Warning;
pub use super::fleet_choice::{
    FleetLast, FleetPolicies, FleetPolicy, FleetPolicyMisses, FleetWorst,
};
pub use super::fleet_representatives::{FleetRepresentative, FleetRepresentatives, FleetSpread};
use super::fleet_sharing::FleetSharing;
pub use super::fleet_split::{FleetChange, FleetRule, FleetShare, FleetSplit, FleetVerdict};

/// A row of the plan: a line of `tasks.jsonl`. It has all that the task needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetTask {
    /// [`FleetTask::SCHEMA`].
    pub schema: String,
    /// The version of nbuf that planned; no other version works on it.
    pub version: String,
    /// The hash of the inputs, of all that changes the result, and of the version.
    pub task: String,
    /// The volume, or the group of files that have volumes in them.
    pub volume: String,
    /// What a volume is.
    pub by: FleetBy,
    /// The input.
    pub input: FleetInput,
    /// Further inputs: of a host, merged by time; else read one after the other.
    pub others: Vec<FleetInput>,
    /// How much later than the first each input begins, in seconds, where recordings say when they began.
    pub later_seconds: Vec<u64>,
    /// The format of the input, instead of what it looks like.
    pub format: Option<String>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Which accesses are counted.
    pub piece: FleetPiece,
    /// Policies that are simulated; none unless the piece is `policies`.
    pub policies: Vec<String>,
    /// The size of the cache of each volume, for policies.
    pub policy_size: Option<String>,
    /// Microseconds on the clock of the inputs: accesses before are kept apart too.
    pub until_us: Option<i64>,
    /// The place among the pieces of the volume in time.
    pub sequence: u32,
    /// Whether the volume has no other task, so that its curve is all that is kept.
    pub is_alone: bool,
    /// Accesses by the footer of the input, or guessed from its bytes.
    pub estimated_accesses: u64,
    /// Memory by these accesses: 40 bytes a page, and a page for ten accesses.
    pub estimated_bytes: u64,
    /// Memory that the task may use.
    pub memory_bytes: u64,
}

impl FleetTask {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.fleet-tasks/2";
}

/// What a volume is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FleetBy {
    /// Each input.
    #[default]
    File,
    /// Each directory: its inputs follow each other in time, in the order of their names.
    Directory,
    /// Each volume or file that the inputs name; the inputs follow each other in time.
    Volume,
    /// Each host, by a folder such as `host=web-1`: its inputs are merged by time and share one cache.
    Host,
}

/// An input as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetInput {
    /// Its path, from the root, or the name of an object.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// When it was changed last: whole seconds since 1970.
    pub modified_seconds: i64,
    /// And nanoseconds more.
    pub modified_nanoseconds: u32,
    /// What changes with each version of an object in a store; no file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Which accesses of an input are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FleetPiece {
    /// All.
    Whole,
    /// Requests by their numbers, from 0: merged exactly with their neighbours.
    Time {
        /// The first request.
        from: u64,
        /// The end: the first request that is left out; nothing for the last piece, which has the rest.
        to: Option<u64>,
    },
    /// Pages by their hash (splitmix64): all parts are added.
    Hash {
        /// The part, from 0.
        part: u32,
        /// How many parts there are.
        parts: u32,
    },
    /// All, but only sizes up to a limit: exact where hash parts are too small.
    Head {
        /// The largest size, in pages.
        pages: u32,
        /// How many hash parts this stands before.
        parts: u32,
    },
    /// All, by several policies at one size.
    Policies,
}

/// The result of a task: the file `rows/TASK.json` in the folder of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetRow {
    /// [`FleetRow::SCHEMA`].
    pub schema: String,
    /// The task.
    pub task: String,
    /// Its input.
    pub input: String,
    /// Volumes that were seen.
    pub volumes: u64,
    /// Page accesses, of all volumes.
    pub accesses: u64,
    /// Distinct pages, of all volumes.
    pub distinct_pages: u64,
    /// Requests that were read.
    pub requests: u64,
    /// Records that could not be read.
    pub problems: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Why there is no result; nothing where there is one.
    pub error: Option<String>,
}

impl FleetRow {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.fleet-row/1";
}

/// The document of `nbuf fleet --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetDocument {
    /// [`FleetDocument::SCHEMA`].
    pub schema: String,
    /// The version of nbuf that planned and worked.
    pub version: String,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Tasks of the plan.
    pub tasks: u64,
    /// Tasks that have no result yet.
    pub tasks_missing: u64,
    /// Tasks that failed.
    pub failures: Vec<FleetFailure>,
    /// A hash of all curves at all sizes: equal wherever and in whatever order the tasks ran.
    pub checksum: String,
    /// The hit ratio, from 0 to 1, that `hit_pages` is for.
    pub hit_ratio: f64,
    /// All volumes together.
    pub whole: FleetWhole,
    /// The volumes, those with the most accesses first.
    pub volumes: Vec<FleetVolume>,
    /// How a budget is split; nothing where none was given.
    pub split: Option<FleetSplit>,
    /// Which policy misses least where; nothing where no policies were asked for.
    #[serde(default)]
    pub policies: Option<FleetPolicies>,
    /// Whether the split of a first part of the time lasts; nothing where it was not asked for.
    #[serde(default)]
    pub last: Option<FleetLast>,
    /// The caches that hosts share against partitions of them; nothing where it was not asked for.
    #[serde(default)]
    pub sharing: Option<FleetSharing>,
    /// Volumes that stand for the others; nothing where each is unlike all others.
    #[serde(default)]
    pub representatives: Option<FleetRepresentatives>,
    /// What a reader must know of these figures.
    #[serde(alias = "cautions")]
    pub warnings: Vec<Warning>,
}

impl FleetDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.fleet/1";
}

/// A task that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetFailure {
    /// The row of the plan, from 1.
    pub row: u64,
    /// The input.
    pub input: String,
    /// Why.
    pub error: String,
}

/// All volumes together, each with memory of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetWhole {
    /// Page accesses.
    pub accesses: u64,
    /// Distinct pages.
    pub distinct_pages: u64,
    /// Misses that no memory avoids.
    pub cold_misses: u64,
    /// The least memory, split as well as can be, with which the whole has the hit ratio; nothing where none is
    /// enough.
    pub hit_pages: Option<u64>,
    /// The memory with which each volume that can has the hit ratio.
    pub hit_pages_each: u64,
    /// Volumes that cannot have the hit ratio.
    pub volumes_below: u64,
    /// What one volume takes of it: those that can have the hit ratio; nothing where none can.
    #[serde(default)]
    pub hit_pages_spread: Option<FleetSpread>,
    /// The knees of all volumes together.
    pub knee_pages: u64,
    /// The knees one by one, of volumes that have one; nothing where none has.
    #[serde(default)]
    pub knee_pages_spread: Option<FleetSpread>,
    /// Misses by memory, split as well as can be.
    pub points: Vec<FleetPoint>,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetVolume {
    /// Its name.
    pub name: String,
    /// Page accesses.
    pub accesses: u64,
    /// Distinct pages.
    pub distinct_pages: u64,
    /// Misses that no memory avoids.
    pub cold_misses: u64,
    /// The size from which more memory saves little; nothing where no size saves anything.
    pub knee_pages: Option<u64>,
    /// The smallest size with the hit ratio; nothing where none has it.
    pub hit_pages: Option<u64>,
    /// Hash parts that the curve was made of, which make it an estimate; nothing where it is exact.
    pub parts: Option<u32>,
    /// Whether even a cache of everything would hit less than one access in twenty.
    pub is_uncacheable: bool,
    /// Misses by size.
    pub points: Vec<FleetPoint>,
    /// What it gets of the budget; nothing where none was given.
    pub share: Option<FleetShare>,
    /// Misses by policy, in the order in which they were asked for; none where none were.
    #[serde(default)]
    pub policies: Vec<FleetPolicyMisses>,
    /// The volume that stands for it; nothing where it stands for itself.
    #[serde(default)]
    pub represented_by: Option<String>,
}

/// Misses at a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetPoint {
    /// The size.
    pub pages: u64,
    /// Misses.
    pub misses: u64,
    /// The lower end of the band; as `misses` where they are exact.
    pub misses_low: u64,
    /// The upper end of the band.
    pub misses_high: u64,
}
