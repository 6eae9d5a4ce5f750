//! What a run under a memory limit will fill, fixed before anything is run under it.

use rayon::prelude::*;

use crate::cache::kernel::{Replacement, Stream, Unread, simulate};
use crate::trace::Memory;
use crate::units::{Bytes, PAGE_BYTES, Pages, whole};

/// A node of the kernel's page index (`struct xa_node` in its slab). The kernel charges it to the
/// process that fills it.
const NODE_BYTES: u64 = 585;

/// What a process costs the kernel at the least.
const KERNEL_BYTES_MIN: Bytes = Bytes(128 << 10);

/// Pages a processor charges ahead of use (`MEMCG_CHARGE_BATCH`).
const CHARGED_AHEAD: Pages = Pages(64);

/// Beyond every footprint.
pub(super) const UNLIMITED: Pages = Pages(u32::MAX as u64);

/// A prediction for one limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The limit; none for a run without.
    pub limit: Option<Bytes>,
    /// What of it is left for file pages.
    pub cache: Bytes,
    /// Pages filled, the lower of the two models.
    pub fills_low: u64,
    /// Pages filled, the higher of the two models.
    pub fills_high: u64,
    /// Elapsed seconds, at the least and at the most, where time is estimated.
    pub seconds: Option<(f64, f64)>,
}

/// Memory that counts against a limit besides file pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// Anonymous, shared and kernel memory, shared text, and what is charged ahead of use.
    fixed: Bytes,
    /// Kernel memory that indexes the cache, for each byte of cache.
    index_share: f64,
}

impl Overhead {
    /// Computes it from the memory of the recorded run. That run found some of its pages cached,
    /// with their index paid for by others. The pages charged to the run show how much of the index
    /// it paid for.
    pub fn of(stream: &Stream, memory: &Memory, footprint: Bytes) -> Self {
        let index = (stream.index_nodes() * NODE_BYTES) as f64;
        let footprint = footprint.0.max(1) as f64;
        let paid = index * (memory.page_cache_bytes.0 as f64 / footprint).min(1.0);
        let kernel = memory.kernel_bytes.saturating_sub(Bytes(whole(paid))).max(KERNEL_BYTES_MIN);
        let all = Memory { kernel_bytes: kernel, ..*memory };
        let fixed = all.other_bytes() + CHARGED_AHEAD.bytes();
        // A page has one node to itself at the most. There are more nodes than that where the pages
        // of the footprint are few and those that others keep are many.
        let most = NODE_BYTES as f64 / PAGE_BYTES as f64;
        Self { fixed, index_share: (index / footprint).min(most) }
    }

    /// The room for file pages under a limit.
    pub fn cache_under(&self, limit: Bytes) -> Bytes {
        let rest = limit.saturating_sub(self.fixed).0 as f64;
        Bytes(whole(rest / (1.0 + self.index_share))).pages_down().bytes()
    }

    /// The limit that leaves this room.
    pub fn limit_for(&self, cache: Bytes) -> Bytes {
        self.fixed + cache + Bytes(whole(cache.0 as f64 * self.index_share))
    }

    /// Kernel memory at this size of cache: all that is neither cache nor the command's own.
    pub fn kernel_at(&self, cache: Bytes, memory: &Memory) -> Bytes {
        let rest = Memory { kernel_bytes: Bytes(0), ..*memory };
        self.limit_for(cache).saturating_sub(cache).saturating_sub(rest.other_bytes())
    }
}

/// A size is known to about a percent; fills in a thrashing cache jump up and down within that. The
/// median of these sizes is predicted.
const AROUND: [f64; 5] = [0.99, 0.995, 1.0, 1.005, 1.01];

/// Beyond this ratio of the two models their band would say nothing.
const APART: f64 = 1.10;

/// Predicts a run under `limit`. LRU order and the kernel's own order make a band. Where they are far apart, on a
/// kernel that has the active and inactive lists, these alone are believed
/// (docs/decisions/0004-when-the-models-part.md). The band covers the moments at which the kernel may bring
/// its statistics up to date (docs/decisions/0003-stale-statistics.md). On a kernel with the multi-generational LRU the
/// other edge of the band is the model of that.
///
/// Costs 30 simulations; 10 with the multi-generational LRU.
pub(crate) fn predict(
    stream: &Stream,
    overhead: &Overhead,
    limit: Option<Bytes>,
    has_active_inactive: bool,
) -> Prediction {
    let Some(limit) = limit else {
        let all = simulate(stream, Replacement::Lru, UNLIMITED);
        let cache = all.peak.bytes();
        return Prediction {
            limit: None,
            cache,
            fills_low: all.fills,
            fills_high: all.fills,
            seconds: None,
        };
    };
    let room = overhead.cache_under(limit).pages_down();
    let median = |replacement| {
        let fills = AROUND
            .par_iter()
            .map(|part| simulate(stream, replacement, Pages(whole(room.0 as f64 * part))).fills);
        let mut fills: Vec<u64> = fills.collect();
        fills.sort_unstable();
        fills[AROUND.len() / 2]
    };
    if !has_active_inactive {
        let (lru, generations) = (median(Replacement::Lru), median(stream.generations()));
        return Prediction {
            limit: Some(limit),
            cache: room.bytes(),
            fills_low: lru.min(generations),
            fills_high: lru.max(generations),
            seconds: None,
        };
    }
    let lists = median(Replacement::ActiveInactive);
    let unread = Unread::CASES.map(|case| median(Replacement::ActiveInactiveUnread(case)));
    let (low, high) =
        unread.into_iter().fold((lists, lists), |(low, high), run| (low.min(run), high.max(run)));
    let mut lru = median(Replacement::Lru);
    if lru.max(lists) as f64 > lru.min(lists) as f64 * APART {
        lru = lists;
    }
    Prediction {
        limit: Some(limit),
        cache: room.bytes(),
        fills_low: lru.min(low),
        fills_high: lru.max(high),
        seconds: None,
    }
}
