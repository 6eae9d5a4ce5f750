//! The calls that a policy answers.
//!
//! Invariant: a policy never holds more pages than its capacity, and an evicted page was there.

use super::{Access, Cause, Outcome};

/// Decides which pages stay.
pub trait Policy {
    /// An empty cache of `capacity` pages, at least one. Chance, where it plays, comes of the seed.
    fn new(capacity: u32, seed: u64) -> Self
    where
        Self: Sized;

    /// Looks a page up for a caller that wants it, and records the use. Whether it was there; where
    /// not, a fill may or may not follow, at any time.
    fn touch(&mut self, access: Access) -> bool;

    /// Takes a page in. Where a page must go for it, one that `is_evictable`; the predicate is asked in
    /// the order in which the policy would choose. Where none may, the fill is bypassed. A page
    /// that is there already is a hit, without a use being recorded.
    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome
    where
        Self: Sized;

    /// The page exists no more: it leaves, and nothing is remembered of it. Whether it was there.
    fn remove(&mut self, page: u32) -> bool;

    /// Whether a page is there.
    fn contains(&self, page: u32) -> bool;

    /// Pages that are there.
    fn len(&self) -> u32;

    /// Whether no page is there.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Verifies what always holds, slowly; for tests and fuzzing.
    fn check(&self) -> Result<(), String>;

    /// Starts to load what a touch of this page will look at; changes nothing.
    fn prefetch(&self, _page: u32) {}

    /// Starts to load what is behind that, some accesses after [`Self::prefetch`]; and what is known of
    /// the pages that go next. Changes nothing.
    fn prefetch_links(&self, _page: u32) {}

    /// A lookup and, if it misses, a fill at once: a cache in front of a disc that takes no time.
    #[inline]
    fn access(&mut self, access: Access) -> Outcome
    where
        Self: Sized,
    {
        if self.touch(access) { Outcome::Hit } else { self.fill(access, Cause::Demand, |_| true) }
    }
}
