//! CLOCK at sixteen sizes: a ring of frames for each, and the marks of a page at all of them side by
//! side.
//!
//! Invariant: the frame under the hand has been there longest. Cost: four bytes a page and a frame.

use super::grid::{LANES, Lanes};
use super::marked::Marks;
use crate::cache::policy::{Access, Cause, Clock, Policy};
use crate::sys::prefetch::prefetch;

/// Frames between asking for the mark of the page in one and the hand.
const AHEAD: usize = 4;
/// The same of the frame itself: two lines of the processor's cache.
const FAR_AHEAD: usize = 32;

/// The frames of a size.
#[derive(Debug, Default)]
struct Ring {
    size: usize,
    frames: Vec<u32>,
    hand: usize,
    /// Pages that were filled, modulo 2^32.
    fills: u32,
}

pub(super) struct ClockLanes {
    marks: Marks,
    rings: [Ring; LANES],
    /// A bit for each lane that is in use.
    lanes: u32,
}

impl Lanes for ClockLanes {
    type Policy = Clock;

    fn new(sizes: [u32; LANES]) -> Self {
        let lanes = (0..LANES).map(|lane| u32::from(sizes[lane] > 0) << lane).sum();
        let rings = sizes.map(|size| Ring { size: size as usize, ..Ring::default() });
        Self { marks: Marks::default(), rings, lanes }
    }

    fn prepare(&mut self, pages: usize, _accesses: usize) {
        self.marks.prepare(pages);
    }

    #[inline]
    fn access(&mut self, page: u32) -> u32 {
        let missed = self.marks.touch(page, self.lanes);
        let mut left = missed;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            self.rings[lane].fill(&mut self.marks, lane, page);
            left &= left - 1;
        }
        missed
    }

    fn misses(&self) -> [u32; LANES] {
        std::array::from_fn(|lane| self.rings[lane].fills)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.marks.prefetch(page);
    }

    fn policy(&self, lane: usize, capacity: u32) -> Clock {
        let mut clock = Clock::new(capacity, 0);
        let ring = &self.rings[lane];
        let (young, old) = ring.frames.split_at(ring.hand.min(ring.frames.len()));
        for &page in old.iter().chain(young) {
            clock.fill(Access::to(page), Cause::Demand, |_| true);
            if self.marks.is_used(page, lane) {
                clock.touch(Access::to(page));
            }
        }
        clock
    }
}

impl Ring {
    #[inline]
    fn fill(&mut self, marks: &mut Marks, lane: usize, page: u32) {
        self.fills = self.fills.wrapping_add(1);
        if self.frames.len() < self.size {
            self.frames.push(page);
            return;
        }
        loop {
            let at = self.hand;
            self.hand = if at + 1 == self.frames.len() { 0 } else { at + 1 };
            prefetch(&self.frames, at + FAR_AHEAD);
            if let Some(&soon) = self.frames.get(at + AHEAD) {
                marks.prefetch(soon);
            }
            if !marks.spare(self.frames[at], lane) {
                self.frames[at] = page;
                return;
            }
        }
    }
}
