//! Most recently used: the page whose last use is shortest ago goes.
//!
//! Invariant: the queue is in order of last use. Cost: as LRU. H. Chou and D. `DeWitt`, *An Evaluation
//! of Buffer Management Strategies for Relational Database Systems*, 1985. Right for loops that are
//! larger than the cache; anywhere else the cache fills with pages that nobody wants any more.

use super::super::queue::Queues;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

const ORDER: u32 = 0;

/// See the module.
#[derive(Clone, Debug)]
pub struct Mru {
    capacity: u32,
    queues: Queues<1>,
}

impl Policy for Mru {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self { capacity: at_least_one(capacity), queues: Queues::default() }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.queues.contains(access.page);
        if there {
            self.queues.move_to_front(ORDER, access.page);
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
        if self.queues.contains(access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.queues.newest_first(ORDER).find(|&page| may_go(page));
            let Some(victim) = evicted else { return Outcome::Bypassed };
            self.queues.unlink(ORDER, victim);
        }
        self.queues.push_front(ORDER, access.page);
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.queues.contains(page);
        if there {
            self.queues.unlink(ORDER, page);
        }
        there
    }

    fn contains(&self, page: u32) -> bool {
        self.queues.contains(page)
    }

    fn len(&self) -> u32 {
        self.queues.len(ORDER)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        self.queues.check(ORDER)
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.queues.bring_close(page);
    }
}
