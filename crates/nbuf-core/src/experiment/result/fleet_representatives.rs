//! Volumes that stand for the others of a fleet, and how volumes differ.

use serde::{Deserialize, Serialize};

/// Volumes that stand for all: each other volume has a curve like one of theirs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetRepresentatives {
    /// By how much miss ratios may differ, from 0 to 1, at any share of the distinct pages of a volume.
    pub within: f64,
    /// By how much they differ at most; more than `within` if even fifty volumes do not stand for all.
    pub farthest: f64,
    /// The representatives. The first one stands for the most volumes.
    pub volumes: Vec<FleetRepresentative>,
}

/// A volume that stands for others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetRepresentative {
    /// Its name.
    pub volume: String,
    /// Volumes that it stands for, itself included.
    pub volumes: u64,
    /// Their share of the accesses of the fleet, from 0 to 1.
    pub accesses_share: f64,
    /// By how much the miss ratios of one of them differ from its own at most, from 0 to 1.
    pub farthest: f64,
}

/// Sizes of one volume each, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FleetSpread {
    /// A tenth of the volumes need at most this.
    pub p10: u64,
    /// Half of them.
    pub p50: u64,
    /// Nine tenths.
    pub p90: u64,
    /// All of them.
    pub max: u64,
}
