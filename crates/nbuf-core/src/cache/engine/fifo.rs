//! FIFO at sixteen sizes without a queue: a page is there as long as fewer pages than the cache has
//! frames were filled after it.
//!
//! Each lane has a clock that counts its fills; a page has the time of its fill in each lane.
//! Invariant: the clock is at least the size, and the time of an absent page so long ago that it
//! cannot be there. Cost: one line of memory an access, in a few wide instructions without a branch.

use super::grid::{LANES, Lanes};
use crate::cache::policy::{Access, Cause, Fifo, Policy};
use crate::sys::prefetch::prefetch;

/// A number for each lane, in a line of memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([i32; LANES]);

pub(super) struct FifoLanes {
    filled: Vec<Line>,
    sizes: Line,
    clocks: Line,
    /// A bit for each lane that is in use.
    lanes: u32,
}

impl FifoLanes {
    /// Sets the clocks back, to the sizes, and all times with them.
    fn set_back(&mut self) {
        let by: [i32; LANES] = std::array::from_fn(|lane| self.clocks.0[lane] - self.sizes.0[lane]);
        for line in &mut self.filled {
            line.0 = std::array::from_fn(|lane| (line.0[lane] - by[lane]).max(0));
        }
        self.clocks = self.sizes;
    }
}

impl Lanes for FifoLanes {
    type Policy = Fifo;

    // A miss takes no longer than a hit.
    const AT_ONCE: usize = LANES;

    fn new(sizes: [u32; LANES]) -> Self {
        let used = |lane: usize| u32::from(sizes[lane] > 0) << lane;
        let lanes = (0..LANES).map(used).sum();
        let sizes = Line(sizes.map(|size| i32::try_from(size).expect("within the bound")));
        Self { filled: Vec::new(), sizes, clocks: sizes, lanes }
    }

    fn prepare(&mut self, pages: usize, accesses: usize) {
        if pages > self.filled.len() {
            self.filled.resize(pages, Line::default());
        }
        let latest = self.clocks.0.iter().copied().max().unwrap_or(0);
        let accesses = i32::try_from(accesses).expect("batches are smaller than traces");
        if latest.checked_add(accesses).is_none() {
            self.set_back();
        }
    }

    #[inline]
    fn access(&mut self, page: u32) -> u32 {
        let filled = &mut self.filled[page as usize].0;
        let (old, clocks, sizes) = (*filled, self.clocks.0, self.sizes.0);
        // All ones where it was filled too long ago.
        let missed: [i32; LANES] =
            std::array::from_fn(|lane| -i32::from(clocks[lane] - old[lane] >= sizes[lane]));
        let clocks: [i32; LANES] = std::array::from_fn(|lane| clocks[lane] - missed[lane]);
        *filled =
            std::array::from_fn(|lane| old[lane] & !missed[lane] | clocks[lane] & missed[lane]);
        self.clocks.0 = clocks;
        bits(missed) & self.lanes
    }

    fn misses(&self) -> [u32; LANES] {
        self.clocks.0.map(i32::cast_unsigned)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        prefetch(&self.filled, page as usize);
    }

    fn policy(&self, lane: usize, capacity: u32) -> Fifo {
        let is_there = |&(time, _): &(i32, u32)| self.clocks.0[lane] - time < self.sizes.0[lane];
        let times = (0..).zip(&self.filled).map(|(page, line)| (line.0[lane], page));
        let mut there: Vec<(i32, u32)> = times.filter(is_there).collect();
        there.sort_unstable();
        let mut fifo = Fifo::new(capacity, 0);
        for (_, page) in there {
            fifo.fill(Access::to(page), Cause::Demand, |_| true);
        }
        fifo
    }
}

/// A bit for each lane, of all or nothing.
#[inline]
fn bits(lanes: [i32; LANES]) -> u32 {
    let bits: [i32; LANES] = std::array::from_fn(|lane| lanes[lane] & 1 << lane);
    bits.iter().fold(0, |all, bit| all | bit.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_clocks_back_changes_nothing() {
        let sizes = std::array::from_fn(|lane| u32::try_from(lane).unwrap() * 3);
        let (mut one, mut other) = (FifoLanes::new(sizes), FifoLanes::new(sizes));
        one.prepare(100, 1000);
        other.prepare(100, 1000);
        let mut state = 5_u32;
        for n in 0..5000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let page = (state >> 16) % 60;
            assert_eq!(one.access(page), other.access(page));
            if n % 97 == 0 {
                other.set_back();
            }
        }
    }
}
