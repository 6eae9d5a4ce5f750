//! What a fleet should choose: a policy, and whether a split of yesterday is one for today.

use serde::{Deserialize, Serialize};

use super::fleet_split::FleetRule;

/// Misses of a policy on a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetPolicyMisses {
    /// The policy.
    pub policy: String,
    /// The size of the cache.
    pub pages: u64,
    /// Misses.
    pub misses: u64,
}

/// Policies by how they do on all volumes that were simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetPolicies {
    /// The size of the cache of each volume, as it was asked for.
    pub size: String,
    /// Volumes that were simulated.
    pub volumes: u64,
    /// Their accesses.
    pub accesses: u64,
    /// Misses where each volume has the policy that misses least on it.
    pub best_misses: u64,
    /// The policies, the one with the fewest misses first.
    pub policies: Vec<FleetPolicy>,
}

/// A policy, used for all volumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetPolicy {
    /// The policy.
    pub policy: String,
    /// Misses of all volumes.
    pub misses: u64,
    /// Hits of all accesses, from 0 to 1.
    pub hit_ratio: f64,
    /// Volumes on which no other policy misses less.
    pub wins: u64,
    /// Volumes on which all other policies miss more.
    pub wins_alone: u64,
    /// Misses more than with the best policy of each volume.
    pub regret_misses: u64,
    /// These, as a share of the misses with the best policy of each volume.
    pub regret: f64,
    /// The volume on which it misses most more than the best policy; nothing where it is best everywhere.
    pub worst: Option<FleetWorst>,
}

/// Where a policy does worst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetWorst {
    /// The volume.
    pub volume: String,
    /// Misses more than with the best policy of the volume.
    pub misses_more: u64,
    /// These, as a share of the accesses of the volume.
    pub accesses_share: f64,
}

/// A split by the first part of the time, judged by the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetLast {
    /// The end of the first part, in microseconds on the clock of the inputs.
    pub until_us: i64,
    /// The budget.
    pub budget_pages: u64,
    /// Volumes in this comparison.
    pub volumes: u64,
    /// Accesses before the end of the first part.
    pub accesses_before: u64,
    /// Accesses after it. Caches are warm from the accesses before.
    pub accesses: u64,
    /// Misses after it by rule: `best` for these accesses, `before`, which is the best split for the first part,
    /// and `equal`.
    pub rules: Vec<FleetRule>,
    /// Pages that change their volume between `before` and `best`.
    pub moved_pages: u64,
}
