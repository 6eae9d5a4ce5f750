//! What policies did on a trace, and where they differ.

use serde::{Deserialize, Serialize};

/// What policies did, in caches of one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapePolicies {
    /// The size of the caches, in pages or keys, or in bytes.
    pub size: u64,
    /// Whether the size is in bytes, so that each object takes its own.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_bytes: bool,
    /// The policies, in the order they were asked for.
    pub rows: Vec<ShapePolicy>,
    /// The first policy against each of the others.
    pub differences: Vec<ShapeDifference>,
}

/// What a policy did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapePolicy {
    /// The policy.
    pub policy: String,
    /// Accesses that hit.
    pub hits: u64,
    /// Their share, from 0 to 1.
    pub hit_ratio: f64,
    /// Keys that were evicted.
    pub evictions: u64,
    /// Accesses from the last use of a key to its eviction; absent where nothing was evicted.
    pub eviction_age: Option<ShapeAge>,
    /// Accesses from the arrival of a key to its eviction; absent where nothing was evicted.
    pub stay: Option<ShapeAge>,
    /// The share of the cache, over time, that keys had which the trace uses once.
    pub used_once_share: f64,
    /// The share of the cache, over time, that stays without a hit had.
    pub no_hit_share: f64,
}

/// Quantiles in accesses, each within a thirtieth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeAge {
    /// A tenth is shorter.
    pub p10: u64,
    /// Half is shorter.
    pub p50: u64,
    /// Nine tenths are shorter.
    pub p90: u64,
}

/// Where one policy hits more than another. Each list has every access in one of its classes, so its
/// points add up to the whole difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeDifference {
    /// The policy with more hits.
    pub better: String,
    /// The other.
    pub worse: String,
    /// Hits more, in percent of all accesses.
    pub points: f64,
    /// The class of `by_pattern` that explains the difference by the rule; absent where none does.
    pub class: Option<String>,
    /// Why no class explains it, in words; absent where one does.
    pub reason: Option<String>,
    /// By what the access is part of: `used_once`, `first_use`, `loop`, `scan`, `near` or `far`.
    pub by_pattern: Vec<ShapeClass>,
    /// By the popularity of the key: tenths of the keys, from the most used down.
    pub by_popularity: Vec<ShapeClass>,
    /// By LRU stack distance, in powers of two; the first row has those without one.
    pub by_distance: Vec<ShapeClass>,
}

/// The hits of two policies in one class of accesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShapeClass {
    /// The class.
    pub class: String,
    /// Accesses of the class.
    pub accesses: u64,
    /// Those that the better policy hits.
    pub better_hits: u64,
    /// Those that the other hits.
    pub worse_hits: u64,
    /// What the class adds to the difference, in percent of all accesses.
    pub points: f64,
    /// Eighths of the trace with accesses of the class.
    pub eighths: u64,
    /// Those of them in which the better policy hits more of the class.
    pub eighths_better: u64,
}
