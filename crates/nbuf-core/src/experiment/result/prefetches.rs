//! What came of prefetching at a size of a curve.

use serde::{Deserialize, Serialize};

/// What came of the pages that a cache prefetched: `prefetches` are `useful`, `useless` and `unused` together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PointPrefetches {
    /// Pages that were fetched before they were asked for.
    pub prefetches: u64,
    /// Those that were used before they left. The first use is a hit.
    pub useful: u64,
    /// Those that left unused.
    pub useless: u64,
    /// Those that were in the cache at the end, unused so far.
    pub unused: u64,
    /// Pages that were read from the device: misses and prefetches.
    pub device_reads: u64,
}
