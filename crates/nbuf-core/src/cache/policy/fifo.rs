//! First in, first out: the page that was filled longest ago goes, used or not.
//!
//! Invariant: the queue is in order of filling; a use changes nothing. Cost: a hit reads one byte.
//! L. Belady, *A Study of Replacement Algorithms for a Virtual-Storage Computer*, 1966. Not where
//! some pages are used all the time; and a larger cache may miss more (L. Belady, R. Nelson,
//! G. Shedler, 1969).

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};

const ORDER: u32 = 0;

/// FIFO: a queue of pages in the order of their fills.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    capacity: u32,
    queues: Queues<1>,
    /// The same that the queue says, in an eighth of the memory.
    resident: Table<bool>,
}

impl Simple for Fifo {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, queues: Queues::default(), resident: Table::default() }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        self.resident.get(access.page)
    }

    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let victim = self.queues.oldest_first(ORDER).find(|&page| is_evictable(page))?;
        self.leave(victim);
        Some(victim)
    }

    fn rival(&mut self) -> Option<u32> {
        self.queues.last(ORDER)
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.queues.push_front(ORDER, access.page);
        *self.resident.at(access.page) = true;
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        self.queues.unlink(ORDER, page);
        *self.resident.at(page) = false;
    }

    fn contains(&self, page: u32) -> bool {
        self.resident.get(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(ORDER)
    }

    fn check(&self) -> Result<(), String> {
        let marked = self.resident.iter().filter(|&(page, _)| self.queues.contains(page)).count();
        holds(marked == self.pages() as usize, || format!("{marked} of {} marked", self.pages()))?;
        self.queues.check(ORDER)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.resident.prefetch(page);
    }
}
