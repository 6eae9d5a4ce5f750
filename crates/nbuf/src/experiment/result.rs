//! What an experiment gives to the faces: plain structures, and the one place that derives their
//! serialisation. The JSON documents of the program are these structures.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// One size on the curve: what a cache of `cache_bytes` would have to do for the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Room for file pages (the limit less everything else that counts against it).
    pub cache_bytes: Bytes,
    /// Demand page accesses that an LRU cache of this size misses. Exact.
    pub lru_misses: u64,
    /// Pages the kernel would fill, readahead included, if it evicted in LRU order.
    pub lru_fills: u64,
    /// Pages the kernel would fill with its two lists, active and inactive.
    pub two_list_fills: u64,
    /// Whether the two fill figures lie between simulated sizes rather than on one.
    pub interpolated: bool,
}

impl Point {
    /// The lower edge of the band of predicted fills.
    pub fn fills_low(&self) -> u64 {
        self.lru_fills.min(self.two_list_fills)
    }

    /// The upper edge of the band of predicted fills.
    pub fn fills_high(&self) -> u64 {
        self.lru_fills.max(self.two_list_fills)
    }
}

/// The whole curve, ascending by size, with what it is measured against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// Ascending by `cache_bytes`; the last one holds everything that was touched or read ahead.
    pub points: Vec<Point>,
    /// Distinct pages touched, in bytes: nobody needs more cache than this plus readahead.
    pub footprint_bytes: Bytes,
    /// Demand page accesses.
    pub accesses: u64,
}

/// What kind of advice a curve allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// There is a size from which more memory saves little.
    Knee,
    /// Cache buys nothing: the command reads everything once, or nothing at all. The three sizes
    /// are the same: room for readahead to work in.
    NothingToGain,
}

/// The three sizes, and the number to paste.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recommend {
    /// Whether the cache is worth having at all.
    pub kind: Advice,
    /// The memory limit to set: cache + anonymous + shared + kernel + slack.
    pub limit_bytes: Bytes,
    /// The part of it that caches files: the knee.
    pub cache_bytes: Bytes,
    /// A cache below this is worse than useless: it costs its memory and saves almost nothing.
    pub floor_bytes: Bytes,
    /// A cache above this gains nothing more.
    pub ceiling_bytes: Bytes,
    /// What was added so that a little more of anything does not spoil it.
    pub slack_bytes: Bytes,
    /// Why, in one sentence.
    pub reason: String,
}
