//! CLOCK, or second chance: the oldest page goes, unless it was used since the hand last passed it.
//!
//! The hand is the back of a queue: a page that is spared goes to the front, its mark wiped. One
//! mark a page, not set by the fill itself. Invariant: every page behind the hand was filled or
//! spared since it was last there. Cost: a hit writes one byte; a fill passes the pages used since
//! the last round. F. Corbató, *A Paging Experiment with the Multics System*, 1968. Not where pages
//! used twice should outlive those used once for long: one mark cannot tell.

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};

const ORDER: u32 = 0;

const ABSENT: u8 = 0;
const FRESH: u8 = 1;
const USED: u8 = 3;

/// CLOCK: a ring of pages with a reference bit each.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    capacity: u32,
    queues: Queues<1>,
    states: Table<u8>,
}

impl Simple for Clock {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, queues: Queues::default(), states: Table::default() }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            *self.states.at(access.page) = USED;
        }
        there
    }

    /// Turns the hand to a page that was not used and may go: two rounds show them all.
    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        for _ in 0..2 * u64::from(self.pages()) {
            let page = self.queues.last(ORDER)?;
            if self.states.get(page) == FRESH && is_evictable(page) {
                self.leave(page);
                return Some(page);
            }
            *self.states.at(page) = FRESH;
            self.queues.move_to_front(ORDER, page);
        }
        None
    }

    fn rival(&mut self) -> Option<u32> {
        loop {
            let page = self.queues.last(ORDER)?;
            if self.states.get(page) == FRESH {
                return Some(page);
            }
            *self.states.at(page) = FRESH;
            self.queues.move_to_front(ORDER, page);
        }
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.queues.push_front(ORDER, access.page);
        *self.states.at(access.page) = FRESH;
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        self.queues.unlink(ORDER, page);
        *self.states.at(page) = ABSENT;
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.states.get(page) != ABSENT
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(ORDER)
    }

    fn check(&self) -> Result<(), String> {
        let marked = self.states.iter().filter(|&(page, _)| self.queues.contains(page)).count();
        holds(marked == self.pages() as usize, || format!("{marked} of {} marked", self.pages()))?;
        self.queues.check(ORDER)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
    }
}
