//! The marks of an LRU stack on a line of time: how many of them lie above a given one.
//!
//! Every page (or hole) of the stack is one bit at the stamp of its last use; the youngest stamp
//! is the top. The line is divided in words, groups, regions and zones, each into 32 of the former
//! but the first and the last; each of them knows how many marks there are before it in the one it
//! is part of. Stamps that were not given out yet count as marked, so that a push changes nothing
//! but their number.
//!
//! Cost: a bit and a quarter a stamp. `above` adds one number from each level and the ones of a
//! part of a word; `clear` takes one from the younger parts, in whole rows without a branch.

use crate::meter::distance::Stamp;
use crate::sys::prefetch::prefetch;

/// Parts in a row, at every level.
const ROW: usize = 32;
/// Stamps in a word of the line, in a group of words, in a region of groups, in a zone of regions.
const WORD: usize = 64;
const GROUP: usize = WORD * ROW;
const REGION: usize = GROUP * ROW;
const ZONE: usize = REGION * ROW;

/// A line of stamps, each marked or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    /// Marks before each word, in its group.
    before_words: Vec<[u16; ROW]>,
    /// Marks before each group, in its region: less than 2^16.
    before_groups: Vec<[u16; ROW]>,
    /// Marks before each region, in its zone.
    before_regions: Vec<[u32; ROW]>,
    /// Marks before each zone: a handful.
    before_zones: Vec<u32>,
    /// The next stamp to be given out.
    next: usize,
    /// Stamps that can be given out.
    stamps: usize,
    /// Marks on the line.
    live: u32,
}

impl Marks {
    /// A line of `stamps`, of which the oldest `live` are given out and marked.
    pub(super) fn packed(stamps: usize, live: u32) -> Self {
        let next = live as usize;
        assert!(next < stamps, "room for one more");
        Self {
            words: vec![u64::MAX; stamps.div_ceil(GROUP) * ROW],
            before_words: vec![short_multiples(WORD); stamps.div_ceil(GROUP)],
            before_groups: vec![short_multiples(GROUP); stamps.div_ceil(REGION)],
            before_regions: vec![multiples(REGION); stamps.div_ceil(ZONE)],
            before_zones: (0..stamps.div_ceil(ZONE)).map(|zone| count(zone * ZONE)).collect(),
            next,
            stamps,
            live,
        }
    }

    /// Marks on the line.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// The stamp that the next push gives.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Whether every stamp was given out, so that the line must be packed again.
    pub(super) fn full(&self) -> bool {
        self.next == self.stamps
    }

    /// Marks the next stamp: the new top of the stack.
    #[inline]
    pub(super) fn push(&mut self) {
        self.live += 1;
        self.next += 1;
    }

    /// Gives the next stamp out without a mark.
    #[inline]
    pub(super) fn skip(&mut self) {
        let stamp = Stamp::try_from(self.next).expect("stamps fit in u32");
        self.push();
        self.clear(stamp);
    }

    /// Takes the mark away from a stamp that has it.
    #[inline]
    pub(super) fn clear(&mut self, stamp: Stamp) {
        let stamp = stamp as usize;
        let bit = 1 << (stamp % WORD);
        debug_assert!(self.words[stamp / WORD] & bit != 0, "marked");
        self.words[stamp / WORD] &= !bit;
        take_one_behind(&mut self.before_words[stamp / GROUP], stamp / WORD % ROW);
        take_one_behind(&mut self.before_groups[stamp / REGION], stamp / GROUP % ROW);
        let ones = ones_behind(stamp / REGION % ROW);
        let regions = &mut self.before_regions[stamp / ZONE];
        *regions = std::array::from_fn(|part| regions[part] - u32::from(ones[part]));
        for marks in &mut self.before_zones[stamp / ZONE + 1..] {
            *marks -= 1;
        }
        self.live -= 1;
    }

    /// Marks younger than `stamp`, whether it is marked itself or not.
    #[inline]
    pub(super) fn above(&self, stamp: Stamp) -> u32 {
        let stamp = stamp as usize;
        let up_to_here = u64::MAX >> (WORD - 1 - stamp % WORD);
        let older = self.before_zones[stamp / ZONE]
            + self.before_regions[stamp / ZONE][stamp / REGION % ROW]
            + u32::from(self.before_groups[stamp / REGION][stamp / GROUP % ROW])
            + u32::from(self.before_words[stamp / GROUP][stamp / WORD % ROW])
            + (self.words[stamp / WORD] & up_to_here).count_ones();
        self.live - older
    }

    /// Starts to load what `above` and `clear` will look at for this stamp.
    #[inline]
    pub(super) fn prefetch(&self, stamp: Stamp) {
        prefetch(&self.words, stamp as usize / WORD);
        prefetch(&self.before_words, stamp as usize / GROUP);
    }
}

/// Ones for the parts of a row behind (younger than) one of them, zeros up to it.
#[inline]
fn ones_behind(part: usize) -> [u16; ROW] {
    static ZEROS_AND_ONES: [u16; 2 * ROW] = {
        let mut numbers = [0; 2 * ROW];
        let mut at = ROW;
        while at < 2 * ROW {
            numbers[at] = 1;
            at += 1;
        }
        numbers
    };
    *ZEROS_AND_ONES[ROW - 1 - part..].first_chunk().expect("a row is half of it")
}

/// One mark less before every part behind this one.
#[inline]
fn take_one_behind(row: &mut [u16; ROW], part: usize) {
    // In one piece, read before it is written: so it becomes a few wide instructions.
    let ones = ones_behind(part);
    *row = std::array::from_fn(|part| row[part] - ones[part]);
}

/// Returns the number of marks before each part of a row, for parts of this size with all stamps
/// marked.
fn multiples(stamps: usize) -> [u32; ROW] {
    std::array::from_fn(|part| count(part * stamps))
}

/// The same in short.
fn short_multiples(stamps: usize) -> [u16; ROW] {
    multiples(stamps).map(|marks| u16::try_from(marks).expect("less than a region"))
}

/// A number of stamps as the rows keep it.
fn count(stamps: usize) -> u32 {
    u32::try_from(stamps).expect("stamps fit in u32")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than three zones, cleared here and there, against counting.
    #[test]
    fn marks_are_counted_across_zones() {
        let stamps = 3 * ZONE + 5 * GROUP + 7;
        let given = u32::try_from(stamps - 1).unwrap();
        let mut marks = Marks::packed(stamps, given);
        let mut kept = vec![true; given as usize];
        let mut state = 3_u32;
        for _ in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let stamp = state % given;
            if std::mem::replace(&mut kept[stamp as usize], false) {
                marks.clear(stamp);
            }
        }
        let edges = [0, WORD - 1, WORD, GROUP, REGION, ZONE - 1, ZONE, 2 * ZONE, stamps - 2];
        for stamp in edges {
            let above = kept[stamp + 1..].iter().filter(|&&kept| kept).count();
            assert_eq!(marks.above(count(stamp)) as usize, above, "{stamp}");
        }
        let left = kept.iter().filter(|&&kept| kept).count();
        assert_eq!(marks.live() as usize, left);
    }
}
