//! The kernel's page cache under a memory limit, simulated: readahead, folios, and two ways to
//! choose a victim.
//!
//! What it must contain, by effect on real programs: readahead and read-around with the device's
//! window, clipping at the end of the file, large folios, and the order of eviction. The two
//! orders make a band: [`Replacement::Lru`] is what a reader expects, [`Replacement::TwoLists`]
//! what kernels without the multi-generational LRU do.
//! Sources: Linux 6.18 `mm/readahead.c`, `mm/filemap.c`, `mm/vmscan.c`, `mm/workingset.c`, by
//! behaviour. Cost: 20 to 60 ns an access; 4 bytes a page of the files, touched lazily, and 32
//! bytes a cached folio. Not modelled: write-back, the multi-generational LRU, swap.

mod folio;
mod lru;
mod model;
mod readahead;
mod stream;
mod two_lists;
mod walk;

pub use stream::{Stream, Touch, TouchKind};

use crate::units::Pages;

/// How the kernel chooses what leaves the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Strictly the least recently used folio.
    Lru,
    /// The active and the inactive list, with refault detection.
    TwoLists,
}

/// What a simulated run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    /// Pages put into the cache, on demand or ahead: what the kernel's `add_to_page_cache` counts.
    pub fills: u64,
    /// The most pages that were cached at once.
    pub peak: Pages,
    /// Fills by file, where asked for.
    pub fills_by_file: Vec<u64>,
}

/// Runs a workload through a page cache with room for `capacity`.
pub fn simulate(stream: &Stream, replacement: Replacement, capacity: Pages) -> Simulated {
    let capacity = u32::try_from(capacity.0).unwrap_or(u32::MAX);
    match replacement {
        Replacement::Lru => model::Model::new(stream, lru::Lru::default(), capacity).run(),
        Replacement::TwoLists => {
            model::Model::new(stream, two_lists::TwoLists::default(), capacity).run()
        }
    }
}
