//! SIEVE: a hand that goes from old to new over a queue and takes the first page not used since it
//! last passed; those it spares stay where they are.
//!
//! Invariant: pages are in order of filling; the hand is at a page that is there, or about to start
//! again from the back. Cost: a hit writes one byte. Y. Zhang and others, *SIEVE is Simpler than
//! LRU*, 2024. Not for scans that touch each page twice, nor for loops: what a scan leaves behind
//! the hand stays for a round.

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};

const ORDER: u32 = 0;

const ABSENT: u8 = 0;
const FRESH: u8 = 1;
const USED: u8 = 3;

/// SIEVE: a FIFO with a visited bit per page, and a hand that keeps its place.
#[derive(Clone, Debug)]
pub(crate) struct Sieve {
    capacity: u32,
    queues: Queues<1>,
    states: Table<u8>,
    /// The page to look at next; none where the hand starts from the back.
    hand: Option<u32>,
}

impl Sieve {
    /// Puts the hand at a page that is there; or, without one, at the back.
    pub(in crate::cache) fn point_at(&mut self, page: Option<u32>) {
        self.hand = page;
    }
}

impl Simple for Sieve {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, queues: Queues::default(), states: Table::default(), hand: None }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            *self.states.at(access.page) = USED;
        }
        there
    }

    /// Moves the hand to a page that was not used and may go: two rounds show them all.
    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        for _ in 0..2 * u64::from(self.pages()) {
            let page = self.hand.or_else(|| self.queues.last(ORDER))?;
            self.hand = Some(page);
            if self.states.get(page) == FRESH && is_evictable(page) {
                self.leave(page);
                return Some(page);
            }
            *self.states.at(page) = FRESH;
            self.hand = self.queues.newer(page);
        }
        None
    }

    fn rival(&mut self) -> Option<u32> {
        loop {
            let page = self.hand.or_else(|| self.queues.last(ORDER))?;
            self.hand = Some(page);
            if self.states.get(page) == FRESH {
                return Some(page);
            }
            *self.states.at(page) = FRESH;
            self.hand = self.queues.newer(page);
        }
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.queues.push_front(ORDER, access.page);
        *self.states.at(access.page) = FRESH;
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        if self.hand == Some(page) {
            self.hand = self.queues.newer(page);
        }
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
        holds(self.hand.is_none_or(|page| self.contains(page)), || "a lost hand".to_owned())?;
        self.queues.check(ORDER)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
    }
}
