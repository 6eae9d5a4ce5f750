//! The kernel's page cache under a memory limit, simulated: readahead, folios, and three ways to
//! choose a victim.
//!
//! What it must contain, by effect on real programs: readahead and read-around with the device's
//! window, clipping at the end of the file, large folios, and the order of eviction. Two
//! orders make a band: [`Replacement::Lru`] is what a reader expects; the other is the kernel's own,
//! [`Replacement::ActiveInactive`] or [`Replacement::Generations`].
//! Sources: Linux 6.18 `mm/readahead.c`, `mm/filemap.c`, `mm/vmscan.c`, `mm/workingset.c`, by
//! behaviour. Cost: 30 to 70 ns an access; 4 bytes a page of the files, touched lazily, and 18
//! bytes a cached folio. Not modelled: write-back, swap.

mod active_inactive;
mod folio;
mod generations;
mod lru;
mod model;
mod readahead;
mod statistics;
mod stream;
mod walk;

pub use generations::Rules;
pub use model::clock::Disc;
pub use stream::{Builder, Stream, Touch, TouchKind, Touches};

use crate::units::{Pages, whole};
use active_inactive::ActiveInactive;
use generations::Generations;
use lru::Lru;
use model::Model;
use model::clock::Timed;
use statistics::{UPDATED_EVERY_NS, Updates};

/// How the kernel chooses what leaves the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Strictly the least recently used folio.
    Lru,
    /// The active and the inactive list, with refault detection, in a group whose statistics are read all the time.
    ActiveInactive,
    /// The same in a group whose statistics nothing reads once it reclaims.
    ActiveInactiveUnread(Unread),
    /// The multi-generational LRU, by the rules of one of its kernels.
    Generations(Rules),
}

impl Replacement {
    /// The active and the inactive list, with the statistics that this has.
    fn lists(self, capacity: u32) -> ActiveInactive {
        let updates = match self {
            Self::Lru | Self::ActiveInactive | Self::Generations(_) => Updates::ByReaders,
            Self::ActiveInactiveUnread(Unread { room_left, first_update_ns }) => {
                let room_left = u32::try_from(room_left.0).unwrap_or(u32::MAX);
                let from_pages = capacity.saturating_sub(room_left);
                Updates::ByKernel { from_pages, first_ns: first_update_ns }
            }
        };
        ActiveInactive::new(updates)
    }
}

/// How the statistics of a group age that nothing reads. Both are chance in production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The room in the cache when they were up to date last, before the first reclaim.
    pub room_left: Pages,
    /// When the kernel updates them first, after that; then every two seconds.
    pub first_update_ns: u64,
}

impl Unread {
    /// The cases that a prediction takes: up to date at the first reclaim, or 4 MiB before it (a quick program
    /// fills as much in 20 ms), each with the first update early and late.
    pub(crate) const CASES: [Self; 4] = [
        Self { room_left: Pages(0), first_update_ns: UPDATED_EVERY_NS / 8 },
        Self { room_left: Pages(1024), first_update_ns: UPDATED_EVERY_NS * 3 / 8 },
        Self { room_left: Pages(0), first_update_ns: UPDATED_EVERY_NS * 5 / 8 },
        Self { room_left: Pages(1024), first_update_ns: UPDATED_EVERY_NS * 7 / 8 },
    ];
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
        Replacement::Lru => Model::new(stream, Lru::default(), capacity, ()).run().0,
        Replacement::Generations(rules) => {
            Model::new(stream, Generations::new(rules), capacity, ()).run().0
        }
        lists => Model::new(stream, lists.lists(capacity), capacity, ()).run().0,
    }
}

/// A folio that was in the cache before the workload began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    /// Number of the file.
    pub(crate) file: u32,
    /// Its first page.
    pub(crate) first: u32,
    /// Its pages, as a power of two.
    pub(crate) order: u32,
    /// Whether it was on the active list.
    pub(crate) is_active: bool,
}

/// Runs a workload twice through the same page cache, and gives the fills of the second time: those of a cache that is
/// warm. With folios that are there before, it runs once more in front of that, without a limit: so their order is
/// known when the limit is set. What is evicted of them comes back as the model reads it.
pub(crate) fn simulate_again(
    stream: &Stream,
    replacement: Replacement,
    capacity: Pages,
    present: &[Present],
) -> u64 {
    let capacity = u32::try_from(capacity.0).unwrap_or(u32::MAX);
    match replacement {
        Replacement::Lru => Model::new(stream, Lru::default(), capacity, ()).run_again(present),
        Replacement::Generations(rules) => {
            Model::new(stream, Generations::new(rules), capacity, ()).run_again(present)
        }
        lists => Model::new(stream, lists.lists(capacity), capacity, ()).run_again(present),
    }
}

/// As [`simulate`], followed in time on `disc`. Costs up to twice as much.
pub fn simulate_in_time(
    stream: &Stream,
    replacement: Replacement,
    capacity: Pages,
    disc: Disc,
) -> (Simulated, Waits) {
    let capacity = u32::try_from(capacity.0).unwrap_or(u32::MAX);
    let clock = Timed::new(disc, stream.pace().scale, stream.files.len());
    let (simulated, clock) = match replacement {
        Replacement::Lru => Model::new(stream, Lru::default(), capacity, clock).run(),
        Replacement::Generations(rules) => {
            Model::new(stream, Generations::new(rules), capacity, clock).run()
        }
        lists => Model::new(stream, lists.lists(capacity), capacity, clock).run(),
    };
    let (chain, all) = clock.waited_ns();
    (simulated, Waits { chain_ns: whole(chain), all_ns: whole(all) })
}

/// How long a run waited for the disc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// If tasks that run at the same time wait at the same time: along the longest chain of them.
    pub chain_ns: u64,
    /// If only one waits at a time.
    pub all_ns: u64,
}
