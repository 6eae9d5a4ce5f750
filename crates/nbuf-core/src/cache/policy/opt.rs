//! OPT: the page that is not wanted for the longest time goes. No policy that takes in
//! each missed page misses less.
//!
//! Needs the time of the next use of each page. Invariant: no page that stays is wanted later
//! than the one that goes. Cost: O(log n) an access; for curves there is a faster way
//! ([`Engine`](crate::cache::engine::Engine)). L. Belady, *A Study of Replacement Algorithms for a
//! Virtual-Storage Computer*, 1966 (MIN); R. Mattson and others, 1970. It always takes the new page
//! in, as a cache must that has nowhere else to put it; with `bypass` it does not where all others
//! are wanted sooner, and no cache at all misses less. Not for a running system: it sees the future.

use super::super::heap::Heap;
use super::{Access, Cause, Outcome, Parameter, Policy, Settable, at_least_one, holds};
use crate::cache::{engine, objects};

/// The optimum: evicts the page whose next use is furthest away.
#[derive(Clone, Debug)]
pub(crate) struct Opt {
    capacity: u32,
    /// Whether the new page may be the one that goes.
    bypasses: bool,
    /// By the next use, latest first.
    pages: Heap,
}

impl Opt {
    /// The parameter.
    pub(crate) const BYPASS: Settable = Settable {
        parameters: &[Parameter::switch(
            "bypass",
            "whether to bypass a page whose next use is furthest of all",
        )],
        // Objects may always bypass: their order is not known by one number.
        objects: Some(|sizes_bytes, layers, _| objects::bounds(sizes_bytes, layers)),
        least_bytes: |_| 0,
        build: |capacity, _seed, values| Box::new(Self::with_bypass(capacity, values[0] > 0)),
        engine: |sizes_pages, _seed, values| engine::optimum_of(sizes_pages, values[0] > 0),
    };

    /// A cache that takes every page in, or, where it may bypass, only those wanted before another.
    pub(crate) fn with_bypass(capacity: u32, bypasses: bool) -> Self {
        Self { capacity: at_least_one(capacity), bypasses, pages: Heap::default() }
    }
}

impl Policy for Opt {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self::with_bypass(capacity, false)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.pages.contains(access.page);
        if there {
            self.pages.set(access.page, !access.next_use);
        }
        there
    }

    fn fill(
        &mut self,
        access: Access,
        _cause: Cause,
        is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome {
        if self.pages.contains(access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            let Some((page, key)) = self.pages.take_first(is_evictable) else {
                return Outcome::Bypassed;
            };
            // Keys are the smaller the later a page is wanted.
            if self.bypasses && !access.next_use <= key {
                self.pages.set(page, key);
                return Outcome::Bypassed;
            }
            evicted = Some(page);
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
    fn prefetch(&self, page: u32) {
        self.pages.prefetch(page);
    }
}
