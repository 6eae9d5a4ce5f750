//! The cache that the volumes of a host share, against the same memory in partitions.

use serde::{Deserialize, Serialize};

use super::fleet::FleetBy;

/// The shared cache of each host against partitions of the same memory, one for each of its volumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetSharing {
    /// What has a partition: `file` or `directory`.
    pub by: FleetBy,
    /// Accesses of the hosts below.
    pub accesses: u64,
    /// Their misses with shared caches.
    pub shared_misses: u64,
    /// With the best partitions that are known.
    pub partitioned_misses: u64,
    /// With equal partitions.
    pub equal_misses: u64,
    /// Hosts with several volumes and some memory, those with the largest difference first.
    pub hosts: Vec<FleetSharingHost>,
}

/// A host, with the memory of its share of the budget, or of its knee where no budget was given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetSharingHost {
    /// Its name.
    pub host: String,
    /// The memory of its cache.
    pub pages: u64,
    /// Page accesses.
    pub accesses: u64,
    /// Misses with one shared cache.
    pub shared_misses: u64,
    /// Misses with the best partitions that are known.
    pub partitioned_misses: u64,
    /// Misses with equal partitions.
    pub equal_misses: u64,
    /// Misses that no partitions can be below; nothing where a curve is an estimate.
    pub bound_misses: Option<f64>,
    /// Which misses less.
    pub verdict: FleetSharingVerdict,
    /// The best partitions that are known, those with the most accesses first.
    pub partitions: Vec<FleetPartition>,
}

/// Which of both misses less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FleetSharingVerdict {
    /// They miss equally often, or the difference is smaller than the bounds show.
    #[default]
    Either,
    /// The shared cache: it is below the bound of all partitions.
    Shared,
    /// Partitions.
    Partitions,
}

/// The memory of one volume of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetPartition {
    /// The volume.
    pub volume: String,
    /// Page accesses.
    pub accesses: u64,
    /// Pages of its partition.
    pub pages: u64,
    /// Misses with them.
    pub misses: u64,
    /// Misses with an equal partition.
    pub equal_misses: u64,
}
