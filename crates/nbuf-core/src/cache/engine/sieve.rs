//! SIEVE at sixteen sizes: a list of frames for each, and the marks of a page at all of them side by
//! side.
//!
//! Invariant: a list is in order of filling, and the hand is in it, or about to start from its old
//! end. Cost: four bytes a page, twelve a frame.

use super::grid::{LANES, Lanes};
use super::marked::Marks;
use crate::cache::policy::{Access, Cause, Policy, Sieve};
use crate::sys::prefetch::prefetch;

/// No frame.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u32,
    newer: u32,
    older: u32,
}

/// The frames of a size.
#[derive(Debug)]
struct List {
    size: usize,
    frames: Vec<Frame>,
    newest: u32,
    oldest: u32,
    hand: u32,
    /// Pages that were filled, modulo 2^32.
    fills: u32,
}

pub(super) struct SieveLanes {
    marks: Marks,
    lists: [List; LANES],
    /// A bit for each lane that is in use.
    lanes: u32,
}

impl Lanes for SieveLanes {
    type Policy = Sieve;

    fn new(sizes: [u32; LANES]) -> Self {
        let lanes = (0..LANES).map(|lane| u32::from(sizes[lane] > 0) << lane).sum();
        let lists = sizes.map(|size| List {
            size: size as usize,
            frames: Vec::new(),
            newest: NONE,
            oldest: NONE,
            hand: NONE,
            fills: 0,
        });
        Self { marks: Marks::default(), lists, lanes }
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
            self.lists[lane].fill(&mut self.marks, lane, page);
            left &= left - 1;
        }
        missed
    }

    fn misses(&self) -> [u32; LANES] {
        std::array::from_fn(|lane| self.lists[lane].fills)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.marks.prefetch(page);
    }

    fn policy(&self, lane: usize, capacity: u32) -> Sieve {
        let mut sieve = Sieve::new(capacity, 0);
        let list = &self.lists[lane];
        let mut at = list.oldest;
        while let Some(frame) = list.frames.get(at as usize) {
            sieve.fill(Access::to(frame.page), Cause::Demand, |_| true);
            if self.marks.is_used(frame.page, lane) {
                sieve.touch(Access::to(frame.page));
            }
            at = frame.newer;
        }
        sieve.point_at(list.frames.get(list.hand as usize).map(|frame| frame.page));
        sieve
    }
}

impl List {
    #[inline]
    fn fill(&mut self, marks: &mut Marks, lane: usize, page: u32) {
        self.fills = self.fills.wrapping_add(1);
        let at = if self.frames.len() < self.size {
            self.frames.push(Frame { page, newer: NONE, older: NONE });
            u32::try_from(self.frames.len() - 1).expect("within the bound")
        } else {
            self.free_one(marks, lane)
        };
        self.frames[at as usize] = Frame { page, newer: NONE, older: self.newest };
        match self.frames.get_mut(self.newest as usize) {
            Some(second) => second.newer = at,
            None => self.oldest = at,
        }
        self.newest = at;
    }

    /// Moves the hand to a page that was not used, and takes its frame out of the list.
    #[inline]
    fn free_one(&mut self, marks: &mut Marks, lane: usize) -> u32 {
        loop {
            let at = if self.hand == NONE { self.oldest } else { self.hand };
            let Frame { page, newer, older } = self.frames[at as usize];
            self.hand = newer;
            if let Some(next) = self.frames.get(newer as usize) {
                marks.prefetch(next.page);
                prefetch(&self.frames, next.newer as usize);
            }
            if marks.spare(page, lane) {
                continue;
            }
            match self.frames.get_mut(newer as usize) {
                Some(frame) => frame.older = older,
                None => self.newest = older,
            }
            match self.frames.get_mut(older as usize) {
                Some(frame) => frame.newer = newer,
                None => self.oldest = newer,
            }
            return at;
        }
    }
}
