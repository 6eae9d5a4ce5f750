//! What a run under a memory limit will fill, fixed before anything is run under it.

use crate::cache::kernel::{Replacement, Stream, simulate};
use crate::units::{Bytes, PAGE_BYTES, Pages};
use crate::workload::trace::Memory;

/// Kernel memory that indexes the page cache: a node of 576 bytes for each 64 pages
/// (`struct xa_node`), charged to whoever fills the cache.
const INDEX_BYTES_PER_PAGE: u64 = 9;

/// Pages a processor charges ahead of use (`MEMCG_CHARGE_BATCH`).
const CHARGED_AHEAD: Pages = Pages(64);

/// Beyond every footprint.
const UNLIMITED: Pages = Pages(u32::MAX as u64);

/// A prediction for one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The limit; none for a run without.
    pub limit: Option<Bytes>,
    /// What of it is left for file pages.
    pub cache: Bytes,
    /// Pages filled, the lower of the two models.
    pub fills_low: u64,
    /// Pages filled, the higher of the two models.
    pub fills_high: u64,
}

/// The room for file pages under a limit: what anonymous, shared and kernel memory leave, less the
/// index of the cache itself.
pub fn cache_under(limit: Bytes, memory: &Memory) -> Bytes {
    let others = memory.anonymous_bytes + memory.shmem_bytes + memory.kernel_bytes;
    let rest = limit.saturating_sub(others + CHARGED_AHEAD.bytes()).0;
    Bytes(rest / (PAGE_BYTES + INDEX_BYTES_PER_PAGE) * PAGE_BYTES)
}

/// The limit that leaves this room: the inverse of [`cache_under`].
pub fn limit_for(cache: Bytes, memory: &Memory) -> Bytes {
    let index = Bytes(cache.pages_up().0 * INDEX_BYTES_PER_PAGE);
    cache
        + index
        + CHARGED_AHEAD.bytes()
        + memory.anonymous_bytes
        + memory.shmem_bytes
        + memory.kernel_bytes
}

/// Predicts a run under `limit`.
pub fn predict(stream: &Stream, memory: &Memory, limit: Option<Bytes>) -> Prediction {
    let room = limit.map_or(UNLIMITED, |limit| cache_under(limit, memory).pages_down());
    let (lru, two) = rayon::join(
        || simulate(stream, Replacement::Lru, room),
        || simulate(stream, Replacement::TwoLists, room),
    );
    Prediction {
        limit,
        cache: if limit.is_some() { room.bytes() } else { lru.peak.bytes() },
        fills_low: lru.fills.min(two.fills),
        fills_high: lru.fills.max(two.fills),
    }
}
