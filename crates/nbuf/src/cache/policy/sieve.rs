//! SIEVE: a hand that goes from old to new over a queue and takes the first page not used since it
//! last passed; those it spares stay where they are.
//!
//! Invariant: pages are in order of filling; the hand is at a page that is there, or about to start
//! again from the back. Cost: a hit writes one byte. Y. Zhang and others, *SIEVE is Simpler than
//! LRU*, 2024. Not for scans that touch each page twice, nor for loops: what a scan leaves behind
//! the hand stays for a round.

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

const ORDER: u32 = 0;

const ABSENT: u8 = 0;
const FRESH: u8 = 1;
const USED: u8 = 3;

/// See the module.
#[derive(Clone, Debug)]
pub struct Sieve {
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

    fn leave(&mut self, page: u32) {
        if self.hand == Some(page) {
            self.hand = self.queues.newer(page);
        }
        self.queues.unlink(ORDER, page);
        *self.states.at(page) = ABSENT;
    }

    /// Moves the hand to a page that was not used and may go: two rounds show them all.
    #[inline]
    fn victim(&mut self, may_go: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        for _ in 0..2 * u64::from(self.len()) {
            let page = self.hand.or_else(|| self.queues.last(ORDER))?;
            self.hand = Some(page);
            if self.states.get(page) == FRESH && may_go(page) {
                return Some(page);
            }
            *self.states.at(page) = FRESH;
            self.hand = self.queues.newer(page);
        }
        None
    }
}

impl Policy for Sieve {
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

    #[inline]
    fn fill(
        &mut self,
        access: Access,
        _cause: Cause,
        mut may_go: impl FnMut(u32) -> bool,
    ) -> Outcome {
        if self.contains(access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.victim(&mut may_go);
            let Some(victim) = evicted else { return Outcome::Bypassed };
            self.leave(victim);
        }
        self.queues.push_front(ORDER, access.page);
        *self.states.at(access.page) = FRESH;
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if there {
            self.leave(page);
        }
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.states.get(page) != ABSENT
    }

    fn len(&self) -> u32 {
        self.queues.len(ORDER)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let marked = self.states.iter().filter(|&(page, _)| self.queues.contains(page)).count();
        holds(marked == self.len() as usize, || format!("{marked} of {} marked", self.len()))?;
        holds(self.hand.is_none_or(|page| self.contains(page)), || "a lost hand".to_owned())?;
        self.queues.check(ORDER)
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.states.bring_close(page);
    }
}
