//! First in, first out: the page that was filled longest ago goes, used or not.
//!
//! Invariant: the queue is in order of filling; a use changes nothing. Cost: a hit reads one byte.
//! L. Belady, *A Study of Replacement Algorithms for a Virtual-Storage Computer*, 1966. Not where
//! some pages are used all the time; and a larger cache may miss more (L. Belady, R. Nelson,
//! G. Shedler, 1969).

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

const ORDER: u32 = 0;

/// See the module.
#[derive(Clone, Debug)]
pub struct Fifo {
    capacity: u32,
    queues: Queues<1>,
    /// The same that the queue says, in an eighth of the memory.
    resident: Table<bool>,
}

impl Fifo {
    fn leave(&mut self, page: u32) {
        self.queues.unlink(ORDER, page);
        *self.resident.at(page) = false;
    }
}

impl Policy for Fifo {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, queues: Queues::default(), resident: Table::default() }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        self.resident.get(access.page)
    }

    #[inline]
    fn fill(
        &mut self,
        access: Access,
        _cause: Cause,
        mut may_go: impl FnMut(u32) -> bool,
    ) -> Outcome {
        if self.resident.get(access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.queues.oldest_first(ORDER).find(|&page| may_go(page));
            let Some(victim) = evicted else { return Outcome::Bypassed };
            self.leave(victim);
        }
        self.queues.push_front(ORDER, access.page);
        *self.resident.at(access.page) = true;
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if there {
            self.leave(page);
        }
        there
    }

    fn contains(&self, page: u32) -> bool {
        self.resident.get(page)
    }

    fn len(&self) -> u32 {
        self.queues.len(ORDER)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let marked = self.resident.iter().filter(|&(page, _)| self.queues.contains(page)).count();
        holds(marked == self.len() as usize, || format!("{marked} of {} marked", self.len()))?;
        self.queues.check(ORDER)
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.resident.bring_close(page);
    }
}
