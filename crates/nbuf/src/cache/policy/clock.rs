//! CLOCK, or second chance: the oldest page goes, unless it was used since the hand last passed it.
//!
//! The hand is the back of a queue: a page that is spared goes to the front, its mark wiped. One
//! mark a page, not set by the fill itself. Invariant: every page behind the hand was filled or
//! spared since it was last there. Cost: a hit writes one byte; a fill passes the pages used since
//! the last round. F. Corbató, *A Paging Experiment with the Multics System*, 1968. Not where pages
//! used twice should outlive those used once for long: one mark cannot tell.

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

const ORDER: u32 = 0;

const ABSENT: u8 = 0;
const FRESH: u8 = 1;
const USED: u8 = 3;

/// See the module.
#[derive(Clone, Debug)]
pub struct Clock {
    capacity: u32,
    queues: Queues<1>,
    states: Table<u8>,
}

impl Clock {
    fn leave(&mut self, page: u32) {
        self.queues.unlink(ORDER, page);
        *self.states.at(page) = ABSENT;
    }

    /// Turns the hand to a page that was not used and may go: two rounds show them all.
    #[inline]
    fn victim(&mut self, may_go: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        for _ in 0..2 * u64::from(self.len()) {
            let page = self.queues.last(ORDER)?;
            if self.states.get(page) == FRESH && may_go(page) {
                return Some(page);
            }
            *self.states.at(page) = FRESH;
            self.queues.move_to_front(ORDER, page);
        }
        None
    }
}

impl Policy for Clock {
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
        self.queues.check(ORDER)
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.states.bring_close(page);
    }
}
