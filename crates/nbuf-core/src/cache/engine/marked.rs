//! What CLOCK and SIEVE at sixteen sizes have in common: two bits for each page and lane that say
//! whether it is there, and whether it was used since the hand passed it.
//!
//! Invariant: what is not there is not used. Cost: four bytes a page, so that the marks of a million
//! pages stay in the caches of a processor.

use super::grid::LANES;
use crate::sys::prefetch::prefetch;

/// The bits of a page: where it is in the low half, where it was used in the high one.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<u32>);

/// The bit of a lane in which a page is.
const THERE: u32 = 1;
/// The bit of a lane in which it was used.
const USED: u32 = 1 << LANES;
/// All lanes.
const ALL: u32 = USED - 1;

impl Marks {
    pub(super) fn prepare(&mut self, pages: usize) {
        if pages > self.0.len() {
            self.0.resize(pages, 0);
        }
    }

    /// Marks a page as used wherever it is, and brings it to those of `lanes` where it is not; a bit
    /// for each of these.
    #[inline]
    pub(super) fn touch(&mut self, page: u32, lanes: u32) -> u32 {
        let state = &mut self.0[page as usize];
        let there = *state & ALL;
        let absent = lanes & !there;
        *state |= there << LANES | absent;
        absent
    }

    /// The hand of a lane comes to a page: used, it is marked as fresh and stays; else it goes.
    #[inline]
    pub(super) fn spare(&mut self, page: u32, lane: usize) -> bool {
        let state = &mut self.0[page as usize];
        let used = *state & USED << lane;
        *state &= !if used == 0 { THERE << lane } else { used };
        used != 0
    }

    pub(super) fn is_used(&self, page: u32, lane: usize) -> bool {
        self.0[page as usize] & USED << lane != 0
    }

    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.0, page as usize);
    }
}
