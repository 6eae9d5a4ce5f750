//! ARC at sixteen sizes without a queue: its four lists have the order of the last uses, which is the
//! same at every size.
//!
//! A page was used once or again in each lane, a bit of its slot in [`Recency`]. From the end of a list
//! on its pages are there. From the end of its ghosts up to there its pages are ghosts.
//!
//! Invariant: as many pages between the ends as the lengths say. Cost: two lines of memory an access,
//! and for a miss a search from an end to the next page of the list; sixteen bytes a page at most.

use super::grid::{LANES, Lanes};
use super::recency::{Ends, Recency, bits_from};
use crate::cache::policy::{Arc, ArcLengths};

/// The ends of the lists: pages used once, used again, and the ghosts of both.
const ONCE: usize = 0;
const AGAIN: usize = 1;
/// From a list to its ghosts.
const GONE: usize = 2;

/// What differs from lane to lane.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    capacity: u32,
    lengths: ArcLengths,
    once_target: f64,
    /// Pages that were filled, modulo 2^32.
    fills: u32,
}

pub(super) struct ArcLanes {
    recency: Recency<2>,
    ends: [Ends; 4],
    each: [Lane; LANES],
    /// A bit for each lane that is in use.
    lanes: u32,
}

impl Lanes for ArcLanes {
    type Policy = Arc;

    fn new(sizes: [u32; LANES]) -> Self {
        let lanes = (0..LANES).map(|lane| u32::from(sizes[lane] > 0) << lane).sum();
        let each = sizes.map(|capacity| Lane { capacity, ..Lane::default() });
        Self { recency: Recency::default(), ends: [[1; LANES]; 4], each, lanes }
    }

    fn prepare(&mut self, pages: usize, accesses: usize) {
        for lane in (0..LANES).filter(|lane| self.lanes >> lane & 1 == 0) {
            // Lest a lane that is not in use keeps all slots.
            for ends in &mut self.ends {
                ends[lane] = i32::MAX;
            }
        }
        self.recency.prepare(pages, accesses, &mut self.ends);
    }

    #[inline]
    fn access(&mut self, page: u32) -> u32 {
        let (slot, [_, again]) = self.recency.take(page);
        let from = |lists: usize| {
            let once = bits_from(slot, &self.ends[lists + ONCE]);
            let twice = bits_from(slot, &self.ends[lists + AGAIN]);
            (once & !again | twice & again) & self.lanes
        };
        let there = from(0);
        let known = if there == self.lanes { there } else { from(GONE) };
        let mut lifted = there & !again;
        while lifted != 0 {
            let lengths = &mut self.each[lifted.trailing_zeros() as usize].lengths;
            lengths.once -= 1;
            lengths.again += 1;
            lifted &= lifted - 1;
        }
        let missed = self.lanes & !there;
        let mut left = missed;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let ghosts = (known >> lane & 1 == 1).then_some(again >> lane & 1 == 1);
            self.fill(lane, ghosts);
            left &= left - 1;
        }
        self.recency.put(page, [self.lanes & !known, known]);
        missed
    }

    fn misses(&self) -> [u32; LANES] {
        self.each.map(|lane| lane.fills)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.recency.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        self.recency.prefetch_bits(page);
    }

    fn policy(&self, lane: usize, capacity: u32) -> Arc {
        let mut queues = [const { Vec::new() }; 4];
        for (slot, [_, again], page) in self.recency.oldest_first() {
            let list = if again >> lane & 1 == 1 { AGAIN } else { ONCE };
            let is_from = |list: &usize| slot >= self.ends[*list][lane];
            if let Some(list) = [list, list + GONE].into_iter().find(is_from) {
                queues[list].push(page);
            }
        }
        Arc::resumed(capacity, self.each[lane].once_target, queues)
    }
}

impl ArcLanes {
    /// Takes a page in that was no ghost, or one of pages used again or not.
    #[inline]
    fn fill(&mut self, at: usize, ghosts: Option<bool>) {
        let Self { recency, ends, each, .. } = self;
        let lane = &mut each[at];
        // Moves an end past the oldest page of a list.
        let mut pass = |end: usize| {
            ends[end][at] = recency.first(ends[end][at], end % GONE, at) + 1;
        };
        lane.fills = lane.fills.wrapping_add(1);
        if let Some(were_again) = ghosts {
            lane.once_target = lane.lengths.adapted(lane.once_target, lane.capacity, were_again);
        }
        let lengths = &mut lane.lengths;
        if lengths.once + lengths.again == lane.capacity {
            let is_once = lengths.takes_from_once(lane.once_target, ghosts == Some(true));
            if is_once || lengths.again == 0 {
                pass(ONCE);
                lengths.once -= 1;
                lengths.once_gone += 1;
            } else {
                pass(AGAIN);
                lengths.again -= 1;
                lengths.again_gone += 1;
            }
        }
        match ghosts {
            Some(true) => lengths.again_gone -= 1,
            Some(false) => lengths.once_gone -= 1,
            None => {
                if lengths.once + lengths.once_gone >= lane.capacity && lengths.once_gone > 0 {
                    pass(ONCE + GONE);
                    lengths.once_gone -= 1;
                }
                if lengths.all() >= 2 * u64::from(lane.capacity) && lengths.again_gone > 0 {
                    pass(AGAIN + GONE);
                    lengths.again_gone -= 1;
                }
                lengths.once += 1;
                return;
            }
        }
        lengths.again += 1;
    }
}
