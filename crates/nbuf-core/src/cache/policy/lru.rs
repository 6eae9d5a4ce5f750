//! Least and most recently used: the page whose last use is longest ago goes, or shortest.
//!
//! Two rows of the table. Invariant: the queue is in order of last use; a larger LRU cache holds all
//! that a smaller one holds. Cost: a use moves the page to the front, six words in three places.
//! R. Mattson and others, *Evaluation Techniques for Storage Hierarchies*, 1970; H. Chou and
//! D. `DeWitt`, *An Evaluation of Buffer Management Strategies for Relational Database Systems*, 1985
//! (MRU). LRU not where pages are read once in long scans, or in loops a little larger than the cache:
//! then every access misses. MRU is right for such loops; anywhere else it fills with pages that no process
//! wants any more.

use super::super::queue::Queues;
use super::{Access, Cause, Simple, at_least_one};

const ORDER: u32 = 0;

/// Least recently used.
pub(crate) type Lru = Recency<false>;
/// Most recently used.
pub(crate) type Mru = Recency<true>;

/// A list by recency: evicts its oldest page (LRU) or its newest (MRU).
#[derive(Clone, Debug)]
pub(crate) struct Recency<const EVICTS_NEWEST: bool> {
    capacity: u32,
    queues: Queues<1>,
}

impl<const EVICTS_NEWEST: bool> Simple for Recency<EVICTS_NEWEST> {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self { capacity: at_least_one(capacity), queues: Queues::default() }
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(ORDER)
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.queues.contains(page)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            self.queues.move_to_front(ORDER, access.page);
        }
        there
    }

    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let victim = if EVICTS_NEWEST {
            self.queues.newest_first(ORDER).find(|&page| is_evictable(page))
        } else {
            self.queues.oldest_first(ORDER).find(|&page| is_evictable(page))
        };
        self.leave(victim?);
        victim
    }

    fn rival(&mut self) -> Option<u32> {
        if EVICTS_NEWEST { self.queues.newest_first(ORDER).next() } else { self.queues.last(ORDER) }
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.queues.push_front(ORDER, access.page);
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        self.queues.unlink(ORDER, page);
    }

    fn check(&self) -> Result<(), String> {
        self.queues.check(ORDER)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.queues.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        self.queues.prefetch_neighbours(page);
        self.queues.prefetch_back(ORDER);
    }
}
