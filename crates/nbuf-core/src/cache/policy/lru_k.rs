//! LRU-2: the page whose second last use is longest ago goes; those used once go first.
//!
//! Uses are remembered of pages that are gone, for ever (the paper: for a retained information
//! period); every use counts (a correlated reference period of nothing). Invariant: of the pages
//! used once, or never, the least recently used goes before all that were used twice. Cost:
//! O(log n) an access, 24 bytes a page. E. O'Neil, P. O'Neil, G. Weikum, *The LRU-K Page
//! Replacement Algorithm for Database Disc Buffering*, 1993, with K = 2. Not where a page is used
//! twice at once and then no more: each such pair looks like popularity.

use super::super::heap::Heap;
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one};

/// The last use and the one before; 0 is none.
type History = (u64, u64);

/// Above all times: keys of pages that were used twice.
const TWICE: u64 = 1 << 63;

/// LRU-2: evicts the page whose second to last access is the oldest.
#[derive(Clone, Debug)]
pub(crate) struct LruK {
    capacity: u32,
    pages: Heap,
    histories: Table<History>,
    /// Uses of any page so far.
    time: u64,
}

/// The order in which pages go.
fn key((last, second_last): History) -> u64 {
    if second_last == 0 { last } else { TWICE | second_last }
}

impl Simple for LruK {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, pages: Heap::default(), histories: Table::default(), time: 0 }
    }

    fn touch(&mut self, access: Access) -> bool {
        self.time += 1;
        let history = self.histories.at(access.page);
        *history = (self.time, history.0);
        let there = self.pages.contains(access.page);
        if there {
            self.pages.set(access.page, key(*history));
        }
        there
    }

    fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        self.pages.take_first(is_evictable).map(|(page, _)| page)
    }

    fn rival(&mut self) -> Option<u32> {
        self.pages.first().map(|(page, _)| page)
    }

    fn insert(&mut self, access: Access, _cause: Cause) {
        self.pages.set(access.page, key(self.histories.get(access.page)));
    }

    fn leave(&mut self, page: u32) {
        self.pages.remove(page);
    }

    fn forget(&mut self, page: u32) {
        *self.histories.at(page) = (0, 0);
    }

    fn contains(&self, page: u32) -> bool {
        self.pages.contains(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.pages.len()
    }

    fn check(&self) -> Result<(), String> {
        self.pages.check()
    }

    fn prefetch(&self, page: u32) {
        self.histories.prefetch(page);
        self.pages.prefetch(page);
    }
}
