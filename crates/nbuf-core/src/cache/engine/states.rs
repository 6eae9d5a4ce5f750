//! What S3-FIFO at sixteen sizes knows of a page: a byte for each lane, all in a row.
//!
//! Invariant: the bytes of a page are changed as if one by one. Cost: sixteen bytes a page.

use super::grid::LANES;
use crate::sys::prefetch::prefetch;

/// Where a page is, in the lowest two bits of its state; nowhere is 0.
pub(super) const PLACE: u8 = 3;
pub(super) const SMALL: u8 = 1;
pub(super) const MAIN: u8 = 2;
pub(super) const GHOST: u8 = 3;
/// A use, in the next two.
pub(super) const USE: u8 = 4;
pub(super) const USES: u8 = 3 * USE;
/// A dead entry, in the highest four.
pub(super) const DEAD_ONE: u8 = 16;
pub(super) const DEAD: u8 = 15 * DEAD_ONE;

/// The lowest bit of each byte.
const LOWEST: u64 = u64::from_le_bytes([1; 8]);

/// The states of a page in all lanes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Line([u8; LANES]);

impl Line {
    /// Adds a use wherever the page is; a bit for each lane where it is not.
    #[inline]
    fn touch(&mut self) -> u32 {
        let (halves, _) = self.0.as_chunks_mut::<8>();
        let mut missed = 0;
        for (at, half) in halves.iter_mut().enumerate() {
            let states = u64::from_le_bytes(*half);
            // Both bits of a place differ where it is small or main.
            let there = (states ^ states >> 1) & LOWEST;
            let used_up = states >> 2 & states >> 3;
            *half = (states + ((there & !used_up) << 2)).to_le_bytes();
            missed |= gather(!there & LOWEST) << (8 * at);
        }
        missed
    }
}

/// The lowest bits of the bytes, one next to the other.
#[inline]
fn gather(lowest: u64) -> u32 {
    // Moves the bit of byte `n` to the bit `n` of the highest byte; no two of the sums meet.
    let gathered = lowest.wrapping_mul(0x0102_0408_1020_4080) >> 56;
    u32::try_from(gathered).expect("eight bits")
}

/// The states of all pages.
#[derive(Debug, Default)]
pub(super) struct States(Vec<Line>);

impl States {
    /// Makes room for pages with numbers below `pages`.
    pub(super) fn prepare(&mut self, pages: usize) {
        if pages > self.0.len() {
            self.0.resize(pages, Line::default());
        }
    }

    /// Adds a use wherever a page is; a bit for each lane where it is not.
    #[inline]
    pub(super) fn touch(&mut self, page: u32) -> u32 {
        self.0[page as usize].touch()
    }

    /// The state of a page in a lane.
    #[inline]
    pub(super) fn get(&self, page: u32, lane: usize) -> u8 {
        self.0[page as usize].0[lane]
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn at(&mut self, page: u32, lane: usize) -> &mut u8 {
        &mut self.0[page as usize].0[lane]
    }

    /// Brings a page to a place, without uses.
    #[inline]
    pub(super) fn put(&mut self, page: u32, lane: usize, place: u8) {
        let state = self.at(page, lane);
        *state = *state & DEAD | place;
    }

    /// Starts to load the states of a page.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.0, page as usize);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_touch_adds_a_use_to_each_byte_by_itself(bytes in prop::array::uniform16(any::<u8>())) {
            let mut line = Line(bytes);
            let missed = line.touch();
            for (lane, byte) in bytes.into_iter().enumerate() {
                let there = matches!(byte & PLACE, SMALL | MAIN);
                prop_assert_eq!(missed >> lane & 1 == 0, there);
                let more = there && byte & USES < USES;
                prop_assert_eq!(line.0[lane], if more { byte + USE } else { byte });
            }
            prop_assert_eq!(missed >> LANES, 0);
        }
    }
}
