//! What CLOCK and SIEVE at sixteen sizes have in common: a byte for each page and lane that says
//! whether it is there, and whether it was used since the hand passed it.

use super::grid::LANES;
use crate::sys::prefetch::prefetch;

/// The bytes of a page.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Line([u8; LANES]);

const FRESH: u8 = 1;
const USED: u8 = 3;

/// The low bit of each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<Line>);

impl Marks {
    pub(super) fn prepare(&mut self, pages: usize) {
        if pages > self.0.len() {
            self.0.resize(pages, Line::default());
        }
    }

    /// Marks a page as used wherever it is; a bit for each lane in which it is not.
    #[inline]
    pub(super) fn touch(&mut self, page: u32) -> u32 {
        let line = &mut self.0[page as usize].0;
        let (halves, _) = line.as_chunks_mut::<8>();
        let mut absent = 0;
        for (half, bytes) in halves.iter_mut().enumerate() {
            let states = u64::from_le_bytes(*bytes);
            let there = states & ONES;
            *bytes = (states | there << 1).to_le_bytes();
            // The bits of eight bytes side by side: no two of the products meet.
            let gathered = (there ^ ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            absent |= u32::try_from(gathered).expect("eight bits") << (8 * half);
        }
        absent
    }

    /// A page comes to a lane.
    #[inline]
    pub(super) fn fill(&mut self, page: u32, lane: usize) {
        self.0[page as usize].0[lane] = FRESH;
    }

    /// The hand of a lane comes to a page: used, it is marked as fresh and stays; else it goes.
    #[inline]
    pub(super) fn spare(&mut self, page: u32, lane: usize) -> bool {
        let state = &mut self.0[page as usize].0[lane];
        // Used is 3, fresh is 1. Written as a comparison with 3, this was once compiled wrongly.
        let used = *state >> 1;
        *state &= used;
        used != 0
    }

    pub(super) fn is_used(&self, page: u32, lane: usize) -> bool {
        self.0[page as usize].0[lane] == USED
    }

    #[inline]
    pub(super) fn bring_close(&self, page: u32) {
        prefetch(&self.0, page as usize);
    }
}
