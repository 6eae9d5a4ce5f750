//! Least frequently used: the page with the fewest uses since it was filled goes; of equal pages
//! the one used longest ago.
//!
//! Two rows of the table: `lfu` is just that. `lfu-da` has dynamic ageing: a page's priority is its
//! uses plus the age of the cache when it was last used, and the age is the priority of the last
//! page that went, so that what was popular once does not stay for ever. Invariant: the age never
//! falls. Cost: O(log n) an access. M. Arlitt and others, *Evaluating Content Management Techniques
//! for Web Proxy Caches*, 2000. Not where popularity moves quickly, least of all without ageing.

use super::super::heap::Heap;
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};

/// Bits of a heap key that tell the time of the last use; the priority is above.
const TIME_BITS: u32 = 40;
const PRIORITY_MAX: u64 = (1 << (64 - TIME_BITS)) - 1;

/// Without ageing.
pub(crate) type Lfu = Frequency<false>;
/// With dynamic ageing.
pub(crate) type LfuDa = Frequency<true>;

/// Pages by frequency, then by recency; with ageing, LFU-DA.
#[derive(Clone, Debug)]
pub(crate) struct Frequency<const AGES: bool> {
    capacity: u32,
    pages: Heap,
    uses: Table<u32>,
    /// Priority of the page that went last.
    age: u64,
    /// Uses of any page so far.
    time: u64,
}

impl<const AGES: bool> Frequency<AGES> {
    /// Notes the uses of a page, and gives it the priority that follows.
    fn set(&mut self, page: u32, uses: u32) {
        *self.uses.at(page) = uses;
        self.time += 1;
        let priority = (self.age + u64::from(uses)).min(PRIORITY_MAX);
        self.pages.set(page, priority << TIME_BITS | self.time & ((1 << TIME_BITS) - 1));
    }
}

impl<const AGES: bool> Simple for Frequency<AGES> {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, pages: Heap::default(), uses: Table::default(), age: 0, time: 0 }
    }

    fn touch(&mut self, access: Access) -> bool {
        let there = self.pages.contains(access.page);
        if there {
            self.set(access.page, self.uses.get(access.page).saturating_add(1));
        }
        there
    }

    fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let (victim, key) = self.pages.take_first(is_evictable)?;
        if AGES {
            self.age = self.age.max(key >> TIME_BITS);
        }
        *self.uses.at(victim) = 0;
        Some(victim)
    }

    fn rival(&mut self) -> Option<u32> {
        self.pages.first().map(|(page, _)| page)
    }

    fn insert(&mut self, access: Access, cause: Cause) {
        self.set(access.page, u32::from(cause == Cause::Demand));
    }

    fn leave(&mut self, page: u32) {
        self.pages.remove(page);
        *self.uses.at(page) = 0;
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
        let mut used = self.uses.iter().map(|(page, _)| page);
        holds(used.all(|page| self.contains(page)), || "uses of an absent page".to_owned())?;
        self.pages.check()
    }

    fn prefetch(&self, page: u32) {
        self.pages.prefetch(page);
    }

    fn prefetch_links(&self, page: u32) {
        self.pages.prefetch_node(page);
    }
}
