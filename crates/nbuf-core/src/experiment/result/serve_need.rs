//! What `nbuf size --server` gives: the cache that a running server needs.

use serde::{Deserialize, Serialize};

use super::ServeSize;

/// The document of `nbuf size --server --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeNeeds {
    /// [`ServeNeeds::SCHEMA`].
    pub schema: String,
    /// The socket that was asked.
    pub server: String,
    /// Seconds of which the rates are the means: of the window, or since the server started.
    pub seconds: f64,
    /// Each export.
    pub exports: Vec<ServeNeed>,
}

impl ServeNeeds {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.serve-need/1";
}

/// What the cache of an export needs. Hit ratios are since the start, or since the last change of size or policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeNeed {
    /// The name; empty for the only one without a name.
    pub name: String,
    /// The backend.
    pub disc: String,
    /// The policy.
    pub policy: String,
    /// The size of the cache.
    pub cache_bytes: u64,
    /// Bytes in the cache. A cache that is not full has not been as large as it is.
    pub used_bytes: u64,
    /// Pages that were looked up since the start, or since the last change of size or policy: the hit ratios are of
    /// these.
    pub pages: u64,
    /// Pages a second that reads looked up.
    pub pages_per_second: f64,
    /// The time of the disc for a page that was missed; nothing before the first one.
    pub disc_seconds_per_miss: Option<f64>,
    /// Requests that the disc has refused since the start.
    #[serde(default)]
    pub disc_errors: u64,
    /// The running policy with other sizes and its own, from the smallest to the largest. Nothing before a thousand
    /// pages were read.
    pub sizes: Vec<ServeNeedSize>,
    /// Other policies with the size of the cache.
    pub others: Vec<ServeSize>,
    /// What is needed, and how it compares.
    pub answer: ServeAnswer,
    /// The smallest size that meets the target, if one of these does.
    pub needed_bytes: Option<u64>,
}

/// A size of cache, and what it gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeNeedSize {
    /// The size of the cache.
    pub cache_bytes: u64,
    /// The share of pages that are in the cache.
    pub hit_ratio: f64,
    /// The lower edge of a 95 % band, which has the chance of the sample alone.
    pub hit_ratio_low: f64,
    /// Its upper edge.
    pub hit_ratio_high: f64,
    /// Pages a second that are not.
    pub misses_per_second: f64,
    /// Seconds of work of the disc for these, in a second. Above 1 several requests are under way at a time.
    pub disc_busy: Option<f64>,
}

/// How the size that is needed compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServeAnswer {
    /// Fewer than a thousand pages were read, or none in the window of which a target needs the rate.
    #[default]
    Unknown,
    /// Less than the cache has.
    Less,
    /// The smallest size that is known meets the target: less may do.
    AtMost,
    /// What the cache has.
    Enough,
    /// More than the cache has.
    More,
    /// More than the largest size that is known.
    Beyond,
    /// So far not even a cache of the whole disc meets the target, as pages that are read for the first time miss.
    NotYet,
}
