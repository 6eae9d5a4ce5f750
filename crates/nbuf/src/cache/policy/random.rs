//! Random: any page goes.
//!
//! Invariant: every page is as likely to go as any other; the same seed makes the same choices.
//! Cost: a hit reads four bytes. L. Belady, *A Study of Replacement Algorithms for a
//! Virtual-Storage Computer*, 1966. A yardstick: what does no better knows nothing of the workload.

use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

/// See the module.
#[derive(Clone, Debug)]
pub struct Random {
    capacity: u32,
    frames: Vec<u32>,
    /// The frame of a page, from 1; 0 is none.
    frame_of: Table<u32>,
    state: u64,
}

impl Random {
    /// A number below `limit` (G. Steele, D. Lea, C. Flood, *Fast Splittable Pseudorandom Number
    /// Generators*, 2014).
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let scaled = (u128::from(mixed) * limit as u128) >> 64;
        usize::try_from(scaled).expect("below the limit")
    }

    /// A random page; where it may not go, the nearest that may, counting frames upwards.
    fn victim(&mut self, may_go: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        let start = self.below(self.frames.len());
        let (low, high) = self.frames.split_at(start);
        high.iter().chain(low).copied().find(|&page| may_go(page))
    }

    fn leave(&mut self, page: u32) {
        let frame = std::mem::take(self.frame_of.at(page));
        self.frames.swap_remove(frame as usize - 1);
        if let Some(&moved) = self.frames.get(frame as usize - 1) {
            *self.frame_of.at(moved) = frame;
        }
    }
}

impl Policy for Random {
    fn new(capacity: u32, seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, frames: Vec::new(), frame_of: Table::default(), state: seed }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        self.contains(access.page)
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
        self.frames.push(access.page);
        *self.frame_of.at(access.page) = self.len();
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
        self.frame_of.get(page) != 0
    }

    fn len(&self) -> u32 {
        u32::try_from(self.frames.len()).expect("no more pages than numbers")
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        for (frame, &page) in (1..).zip(&self.frames) {
            holds(self.frame_of.get(page) == frame, || format!("page {page} is not at {frame}"))?;
        }
        let placed = self.frame_of.iter().count();
        holds(placed == self.frames.len(), || format!("{placed} pages have a frame"))
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.frame_of.bring_close(page);
    }
}
