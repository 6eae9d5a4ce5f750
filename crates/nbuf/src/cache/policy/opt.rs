//! OPT: the page that is not wanted for the longest time goes. No policy misses less.
//!
//! Needs to be told when each page is wanted next. Invariant: no page that stays is wanted later
//! than the one that goes. Cost: O(log n) an access; for curves there is a faster way
//! ([`Engine`](crate::cache::engine::Engine)). L. Belady, *A Study of Replacement Algorithms for a
//! Virtual-Storage Computer*, 1966 (MIN); R. Mattson and others, 1970. This is the variant that
//! always takes the new page in, as a cache must that has nowhere else to put it. Not for a running
//! system: it sees the future.

use super::super::heap::Heap;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

/// See the module.
#[derive(Clone, Debug)]
pub struct Opt {
    capacity: u32,
    /// By the next use, latest first.
    pages: Heap,
}

impl Policy for Opt {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self { capacity: at_least_one(capacity), pages: Heap::default() }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.pages.contains(access.page);
        if there {
            self.pages.set(access.page, !access.next_use);
        }
        there
    }

    fn fill(&mut self, access: Access, _cause: Cause, may_go: impl FnMut(u32) -> bool) -> Outcome {
        if self.pages.contains(access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.pages.take_first(may_go).map(|(page, _)| page);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        self.pages.set(access.page, !access.next_use);
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        self.pages.remove(page)
    }

    fn contains(&self, page: u32) -> bool {
        self.pages.contains(page)
    }

    fn len(&self) -> u32 {
        self.pages.len()
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        self.pages.check()
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.pages.bring_close(page);
    }
}
