//! The curve of `nbuf size`: fills at every size of the kernel's cache.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// One size on the curve: what a cache of `cache_bytes` would have to do for the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Point {
    /// Room for file pages (the limit less everything else that counts against it).
    pub cache_bytes: Bytes,
    /// Demand page accesses that an LRU cache of this size misses. Exact.
    pub lru_misses: u64,
    /// Pages the kernel would fill, readahead included, if it evicted in LRU order.
    pub lru_fills: u64,
    /// Pages the kernel would fill with its active and inactive lists; with the multi-generational LRU, if it has that.
    #[serde(alias = "two_list_fills")]
    pub active_inactive_fills: u64,
    /// Whether the two fill figures lie between simulated sizes rather than on one.
    pub interpolated: bool,
}

impl Point {
    /// The lower edge of the band of predicted fills.
    pub fn fills_low(&self) -> u64 {
        self.lru_fills.min(self.active_inactive_fills)
    }

    /// The upper edge of the band of predicted fills.
    pub fn fills_high(&self) -> u64 {
        self.lru_fills.max(self.active_inactive_fills)
    }
}

/// The whole curve, ascending by size, with what it is measured against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Curve {
    /// Ascending by `cache_bytes`; the last one holds everything that was touched or read ahead.
    pub points: Vec<Point>,
    /// Distinct pages touched, in bytes: no program needs more cache than this plus readahead.
    pub footprint_bytes: Bytes,
    /// Demand page accesses.
    pub accesses: u64,
}
