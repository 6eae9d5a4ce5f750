//! What the second tier of `nbuf serve` has done.

use serde::{Deserialize, Serialize};

/// A file between the cache and the disc, that keeps blocks of the disc.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ServeTier {
    /// The file.
    pub file: String,
    /// Bytes of the disc that it has room for.
    pub size_bytes: u64,
    /// Bytes of the disc that it holds.
    pub used_bytes: u64,
    /// Why it is not used any more; nothing while it is.
    pub lost: Option<String>,
    /// Reads by the cache.
    pub reads: u64,
    /// Reads of these that the tier served alone.
    pub read_hits: u64,
    /// Bytes that the tier served.
    pub hit_bytes: u64,
    /// Reads of the disc behind it.
    pub disc_reads: u64,
    /// Bytes of these.
    pub disc_read_bytes: u64,
    /// Writes that filled the tier.
    pub fills: u64,
    /// Bytes of these.
    pub fill_bytes: u64,
    /// Blocks that were not filled, as the tier was too slow.
    pub fills_skipped: u64,
    /// Blocks that left for others.
    pub evictions: u64,
    /// Requests that the tier refused, or answered with other bytes.
    pub errors: u64,
    /// Requests that it had not answered when it was given up.
    #[serde(default)]
    pub overdue: u64,
}

impl ServeTier {
    pub(super) fn since(&self, was: &Self) -> Self {
        let less = |of: fn(&Self) -> u64| of(self).saturating_sub(of(was));
        Self {
            reads: less(|t| t.reads),
            read_hits: less(|t| t.read_hits),
            hit_bytes: less(|t| t.hit_bytes),
            disc_reads: less(|t| t.disc_reads),
            disc_read_bytes: less(|t| t.disc_read_bytes),
            fills: less(|t| t.fills),
            fill_bytes: less(|t| t.fill_bytes),
            fills_skipped: less(|t| t.fills_skipped),
            evictions: less(|t| t.evictions),
            errors: less(|t| t.errors),
            overdue: less(|t| t.overdue),
            ..self.clone()
        }
    }
}
