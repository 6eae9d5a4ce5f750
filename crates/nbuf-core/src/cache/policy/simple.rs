//! What most policies have in common: once the cache is full, a page goes for each that comes.
//!
//! An author writes how it chooses and what it keeps; when that is done follows here. A policy
//! that has to look at what it remembers of a page before it makes room for it, or that may refuse
//! it, is a [`Policy`] by itself.

use super::{Access, Cause, Outcome, Policy, holds};

/// A policy that makes room first, and takes a page in then.
pub trait Simple {
    /// An empty cache of `capacity` pages, at least one. Chance, where it plays, comes of the seed.
    fn new(capacity: u32, seed: u64) -> Self
    where
        Self: Sized;

    /// Pages that may be there.
    fn capacity(&self) -> u32;

    /// Pages that are there.
    fn pages(&self) -> u32;

    /// Whether a page is there.
    fn contains(&self, page: u32) -> bool;

    /// Looks a page up for a caller that wants it, and records the use. Whether it was there.
    fn touch(&mut self, access: Access) -> bool;

    /// Evicts a page that `is_evictable`, and says which; asks in the order in which it would choose.
    fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32>
    where
        Self: Sized;

    /// The page that would be evicted first, which stays. Policies that play with chance may evict another one.
    fn rival(&mut self) -> Option<u32>
    where
        Self: Sized,
    {
        let mut first = None;
        self.evict(|page| {
            first.get_or_insert(page);
            false
        });
        first
    }

    /// Takes in a page that is not there, where there is room.
    fn insert(&mut self, access: Access, cause: Cause);

    /// A page that is there exists no more.
    fn leave(&mut self, page: u32);

    /// Nothing is remembered any more of a page that is not there.
    fn forget(&mut self, _page: u32) {}

    /// Verifies what always holds except the number of pages, slowly; for tests and fuzzing.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Starts to load what a touch of this page will look at; changes nothing.
    fn prefetch(&self, _page: u32) {}

    /// See [`Policy::prefetch_links`].
    fn prefetch_links(&self, _page: u32) {}

    /// Where pages are objects with sizes: the bytes of the cache, before anything else.
    fn bound(&mut self, _cache_bytes: u64) {}

    /// Where pages are objects with sizes: the bytes of this one, and what a miss of it costs, before it is touched or
    /// taken in. The cost is 1 where nothing else is known.
    fn weigh(&mut self, _page: u32, _bytes: u64, _cost: f64) {}
}

impl<P: Simple> Policy for P {
    fn new(capacity: u32, seed: u64) -> Self {
        Simple::new(capacity, seed)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        Simple::touch(self, access)
    }

    #[inline]
    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome {
        if Simple::contains(self, access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.pages() == self.capacity() {
            evicted = self.evict(is_evictable);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        self.insert(access, cause);
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = Simple::contains(self, page);
        if there {
            self.leave(page);
        }
        self.forget(page);
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        Simple::contains(self, page)
    }

    fn len(&self) -> u32 {
        self.pages()
    }

    fn check(&self) -> Result<(), String> {
        holds(self.pages() <= self.capacity(), || format!("{} pages", self.pages()))?;
        Simple::check(self)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        Simple::prefetch(self, page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        Simple::prefetch_links(self, page);
    }
}
