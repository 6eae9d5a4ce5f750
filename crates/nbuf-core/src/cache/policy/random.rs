//! Random: any page goes.
//!
//! Invariant: every page is as likely to go as any other; the same seed makes the same choices.
//! Cost: a hit reads four bytes. L. Belady, *A Study of Replacement Algorithms for a
//! Virtual-Storage Computer*, 1966. A yardstick: what does no better knows nothing of the workload.

use super::super::frames::Frames;
use super::{Access, Cause, Simple, at_least_one};
use crate::clock;

/// Evicts a page at random, by a seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    capacity: u32,
    frames: Frames,
    chance: clock::Random,
}

impl Simple for Random {
    fn new(capacity: u32, seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, frames: Frames::default(), chance: clock::Random::new(seed) }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        self.contains(access.page)
    }

    /// A random page; where it may not go, the nearest that may, counting frames upwards.
    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let victim = self.frames.at_any(&mut self.chance).find(|&page| is_evictable(page))?;
        self.leave(victim);
        Some(victim)
    }

    fn rival(&mut self) -> Option<u32> {
        self.frames.at_any(&mut self.chance).next()
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.frames.insert(access.page);
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        self.frames.remove(page);
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.frames.contains(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.frames.len()
    }

    fn check(&self) -> Result<(), String> {
        self.frames.check()
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.frames.prefetch(page);
    }
}
