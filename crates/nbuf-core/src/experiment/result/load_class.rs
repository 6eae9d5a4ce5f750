//! What `nbuf load` gives for each class of users: their response, and their cost.

use serde::{Deserialize, Serialize};

use super::{LoadTimes, LoadUse};
use crate::units::Bytes;

/// The users of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadClass {
    /// Its name.
    pub name: String,
    /// Its users.
    pub users: u32,
    /// Interactions whose answer came in the window, without those that failed.
    pub interactions: u64,
    /// Interactions in a second.
    pub throughput_per_second: f64,
    /// From the intended beginning to the answer.
    pub response: Option<LoadTimes>,
    /// The mean think time before an interaction.
    pub think_seconds: Option<f64>,
    /// What its answered commands used; nothing for requests, and with servers. The kernel counts memory and disc
    /// operations for the group alone. So memory is divided by the time in which commands ran, and operations by the
    /// bytes that they read.
    pub used: Option<LoadUse>,
}

/// The cost of the users of one class, over all steps under one combination of conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadCost {
    /// The memory limit.
    pub limit_bytes: Option<Bytes>,
    /// The places of the system table.
    pub table: Option<u32>,
    /// The processors.
    pub cpus: Option<u32>,
    /// The name of the class.
    pub class: String,
    /// What its commands used.
    pub used: LoadUse,
    /// Users by the time that they were there.
    pub user_hours: f64,
    /// The price of a user for an hour, with the commands that a user ran in these steps; nothing without prices.
    pub price_per_user_hour: Option<f64>,
    /// N* with users of this class alone, rounded down; nothing where no device explains the queue.
    pub alone: Option<u32>,
}

/// The smallest memory limit that holds the working set of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadWorkingSet {
    /// The users of the steps: the fewest of any limit. Limits without such a step do not count.
    pub users: u32,
    /// The limit. Under it a command reads back less than one page, on average, that reclaim took.
    pub limit_bytes: Bytes,
    /// The next smaller limit, which does not hold it; nothing where all limits do.
    pub below_bytes: Option<Bytes>,
    /// Pages that a command reads back under that one; nothing where none was answered.
    pub read_back_below: Option<f64>,
}
