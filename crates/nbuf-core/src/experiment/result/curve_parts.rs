//! Parts of a curve: windows of time, and files, tasks or operations. And what came of prefetching at a size.

use serde::{Deserialize, Serialize};

use super::{CurveCorners, CurvePoint};

/// The LRU curve of some part of the time, in a cache that lives through all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveWindow {
    /// The first request of it, by the time of the trace.
    pub from_ns: i64,
    /// Its requests.
    pub requests: u64,
    /// The curve.
    pub points: Vec<CurvePoint>,
    /// Where it bends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corners: Option<CurveCorners>,
}

/// The part of one file, task or operation in the LRU curve of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurveGroup {
    /// Which.
    pub name: String,
    /// The curve.
    pub points: Vec<CurvePoint>,
    /// Where it bends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corners: Option<CurveCorners>,
}

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
