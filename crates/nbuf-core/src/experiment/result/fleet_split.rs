//! How a budget of memory is split over the volumes of a fleet.

use serde::{Deserialize, Serialize};

/// The best split of a budget, and others to compare with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetSplit {
    /// The budget.
    pub budget_pages: u64,
    /// How the best split was found: `hull` or `programme`.
    pub method: String,
    /// Misses that no split of this budget can be below; nothing where a curve is an estimate.
    pub bound_misses: Option<f64>,
    /// Rules with their misses: the best split first, then equal shares, shares by rate and by footprint.
    pub rules: Vec<FleetRule>,
    /// The shadow price: misses that each MiB saves, by a budget a tenth larger.
    pub misses_per_mebibyte: f64,
    /// The budget with a tenth less, and with a tenth more.
    pub changes: Vec<FleetChange>,
}

/// A rule of splitting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetRule {
    /// `best`, `equal`, `rate` or `footprint`.
    pub rule: String,
    /// Misses of all volumes.
    pub misses: u64,
    /// Hits of all accesses, from 0 to 1.
    pub hit_ratio: f64,
}

/// What another budget changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetChange {
    /// The other budget.
    pub budget_pages: u64,
    /// Misses with its best split.
    pub misses: u64,
    /// Misses more than with the budget; negative where they are fewer.
    pub misses_more: i64,
    /// Seconds more that these misses take, where the time of a miss was given.
    pub seconds_more: Option<f64>,
    /// Dollars more that these misses cost over the time of the traces, where the price of misses was given.
    pub miss_dollars_more: Option<f64>,
    /// Dollars more a month that the memory costs, where its price was given.
    pub memory_dollars_more: Option<f64>,
}

/// What a volume gets of the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetShare {
    /// Pages in the best split.
    pub pages: u64,
    /// Misses with them.
    pub misses: u64,
    /// Pages of an equal share.
    pub equal_pages: u64,
    /// Misses with an equal share.
    pub equal_misses: u64,
    /// Whether an equal share is too much or too little.
    pub verdict: FleetVerdict,
}

/// How an equal share suits a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FleetVerdict {
    /// It is between half and twice the best share.
    #[default]
    Fits,
    /// The best share is more than twice as large: the volume starves.
    Starves,
    /// The best share is less than half as large: the volume wastes memory.
    Wastes,
    /// No cache helps it.
    Uncacheable,
}
