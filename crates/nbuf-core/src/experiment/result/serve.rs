//! What `nbuf serve` gives: what a cache in front of a disc has done.

use serde::{Deserialize, Serialize};

use super::{ReplayFigures, ServeBypass, ServeCosts, ServeReadahead, ServeTier};

/// The document of `nbuf serve --json` at its end, and of `nbuf serve stats --json` at any time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeDocument {
    /// [`ServeDocument::SCHEMA`].
    pub schema: String,
    /// The name of the export; empty for the only one without a name, and for the sum of several.
    #[serde(default)]
    pub name: String,
    /// The backend, as it was given; all of them for several exports.
    pub disc: String,
    /// The size of the disc.
    pub disc_bytes: u64,
    /// The size of the cache.
    pub cache_bytes: u64,
    /// The size of a page.
    pub page_bytes: u64,
    /// The policy.
    pub policy: String,
    /// When a write is on the disc: `through`, `back` or `around`.
    pub write: String,
    /// How long the server runs.
    pub seconds: f64,
    /// Clients that are connected.
    pub clients: u64,
    /// Clients since the start.
    pub clients_ever: u64,
    /// Bytes in the cache.
    pub used_bytes: u64,
    /// Bytes that were acknowledged and are not on the disc.
    pub owed_bytes: u64,
    /// Reads by clients.
    pub reads: u64,
    /// Reads that the cache served without the disc.
    pub read_hits: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
    /// Pages that reads looked up.
    pub pages: u64,
    /// Pages of these that were in the cache.
    pub page_hits: u64,
    /// The share of these pages; nothing before the first read.
    pub hit_ratio: Option<f64>,
    /// The other pages, by cause.
    pub misses: ServeMisses,
    /// Pages that were looked up since the start, or since the last change of size or policy.
    #[serde(default)]
    pub compared_pages: u64,
    /// The hit ratio to compare with other sizes and policies: since the start, or since the last change of
    /// either. Nothing before the first read.
    #[serde(default)]
    pub compared_hit_ratio: Option<f64>,
    /// What other sizes and policies would have given since the start, or since the last change of either.
    /// Nothing before the first read.
    #[serde(default)]
    pub other_sizes: Vec<ServeSize>,
    /// What the cache costs, how long the disc takes, and what reads do not wait for.
    #[serde(default)]
    pub costs: ServeCosts,
    /// What was read ahead.
    #[serde(default)]
    pub readahead: ServeReadahead,
    /// Whether the cache stepped aside.
    #[serde(default)]
    pub bypass: ServeBypass,
    /// The second tier, if there is one. `disc_reads` and the times of the disc are of both together then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<ServeTier>,
    /// Figures as a replay has them, with periods of a second. A cache that runs has no hash lists.
    #[serde(default)]
    pub figures: Option<ReplayFigures>,
    /// Pages that the policy evicted.
    pub evictions: u64,
    /// Writes by clients, with discards and zeros.
    pub writes: u64,
    /// Bytes of these writes.
    pub write_bytes: u64,
    /// Writes that were complete when the cache had them.
    pub writes_absorbed: u64,
    /// Writes that waited because half of the cache was dirty.
    pub writes_throttled: u64,
    /// Flushes by clients.
    pub flushes: u64,
    /// Reads of the disc.
    pub disc_reads: u64,
    /// Bytes of these reads.
    pub disc_read_bytes: u64,
    /// Writes of the disc.
    pub disc_writes: u64,
    /// Bytes of these writes.
    pub disc_write_bytes: u64,
    /// Flushes of the disc.
    pub disc_flushes: u64,
    /// Requests that the disc refused.
    pub disc_errors: u64,
    /// Each export, if there are several. The other fields are sums over them then, without figures and other sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<ServeDocument>,
    /// Why bytes are owed at the end; nothing while the server runs.
    pub error: Option<String>,
}

impl ServeDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.serve/1";
}

/// What another size or policy would have given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeSize {
    /// The policy.
    pub policy: String,
    /// The size of the cache.
    pub cache_bytes: u64,
    /// The share of pages that would have been in the cache.
    pub hit_ratio: f64,
    /// The lower edge of a 95 % band, which has the chance of the sample alone.
    pub hit_ratio_low: f64,
    /// Its upper edge.
    pub hit_ratio_high: f64,
}

/// Pages that a read did not find in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeMisses {
    /// They were never there, or are forgotten: four times as many pages are known as fit.
    pub never_seen: u64,
    /// The policy had evicted them.
    pub evicted: u64,
    /// Pages of these that a cache of twice the size would have had. An estimate from a sample; it begins again when
    /// the size or the policy changes.
    #[serde(default)]
    pub evicted_would_hit_at_twice: u64,
    /// A write, a discard or a failure had made their bytes invalid.
    pub invalidated: u64,
    /// They had been refused, by the policy or because all else was dirty, or the read went past the cache.
    pub bypassed: u64,
    /// They had been written around the cache.
    pub written: u64,
    /// Pages of all of these that another read was bringing already.
    pub joined: u64,
}
