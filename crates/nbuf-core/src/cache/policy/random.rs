//! Random: any page goes.
//!
//! Invariant: every page is as likely to go as any other; the same seed makes the same choices.
//! Cost: a hit reads four bytes. L. Belady, *A Study of Replacement Algorithms for a
//! Virtual-Storage Computer*, 1966. A yardstick: what does no better knows nothing of the workload.

use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};
use crate::clock;

/// Evicts a page at random, by a seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    capacity: u32,
    frames: Vec<u32>,
    /// The frame of a page, from 1; 0 is none.
    frame_of: Table<u32>,
    chance: clock::Random,
}

impl Simple for Random {
    fn new(capacity: u32, seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self {
            capacity,
            frames: Vec::new(),
            frame_of: Table::default(),
            chance: clock::Random::new(seed),
        }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        self.contains(access.page)
    }

    /// A random page; where it may not go, the nearest that may, counting frames upwards.
    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let below = self.chance.below(self.frames.len() as u64);
        let start = usize::try_from(below).expect("below the number of frames");
        let (low, high) = self.frames.split_at(start);
        let victim = high.iter().chain(low).copied().find(|&page| is_evictable(page))?;
        self.leave(victim);
        Some(victim)
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.frames.push(access.page);
        *self.frame_of.at(access.page) = self.pages();
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        let frame = std::mem::take(self.frame_of.at(page));
        self.frames.swap_remove(frame as usize - 1);
        if let Some(&moved) = self.frames.get(frame as usize - 1) {
            *self.frame_of.at(moved) = frame;
        }
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.frame_of.get(page) != 0
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        u32::try_from(self.frames.len()).expect("no more pages than numbers")
    }

    fn check(&self) -> Result<(), String> {
        for (frame, &page) in (1..).zip(&self.frames) {
            holds(self.frame_of.get(page) == frame, || format!("page {page} is not at {frame}"))?;
        }
        let placed = self.frame_of.iter().count();
        holds(placed == self.frames.len(), || format!("{placed} pages have a frame"))
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.frame_of.prefetch(page);
    }
}
