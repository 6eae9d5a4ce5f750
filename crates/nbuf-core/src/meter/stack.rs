//! The marks of an LRU stack on a line of time: how many of them lie above a given one.
//!
//! Every page (or hole) of the stack is one bit at the stamp of its last use; the youngest stamp
//! is the top. The line is divided in words, chunks of seven words, blocks, regions and zones.
//! Each of them knows how many marks there are before it in the one it is part of. Stamps that were
//! not given out yet count as marked, so that a push changes nothing but their number.
//!
//! A chunk is one line of the processor's cache: its words, and in front of them the marks before
//! each word, nine bits apiece (S. Vigna, *Broadword Implementation of Rank/Select Queries*, 2008).
//!
//! Cost: a bit and a sixth a stamp. `above` adds one number from each level and the ones of a part of
//! a word; `clear` takes one from the younger parts, in whole rows without a branch. Both look at one
//! chunk; two lines when the counts of words were in rows of their own. For a million pages, the chunks
//! take half a megabyte, and the rows above them stay in the first cache of a processor.

use crate::meter::distance::Stamp;
use crate::sys::prefetch::prefetch;

/// Parts in a row.
const ROW: usize = 32;
/// Regions in a zone: as numbers of 32 bits they are as long as a row of 16 bits.
const SHORT_ROW: usize = 16;
/// Words in a chunk, which has a word of counts besides.
const CHUNK_WORDS: usize = 7;
/// Stamps in a word of the line, in a chunk of words, in a block of chunks, in a region of blocks, in
/// a zone of regions.
const WORD: usize = 64;
const CHUNK: usize = WORD * CHUNK_WORDS;
const BLOCK: usize = CHUNK * ROW;
const REGION: usize = BLOCK * ROW;
const ZONE: usize = REGION * SHORT_ROW;

/// Bits of the marks before a word in its chunk: fewer than 2^9.
const COUNT_BITS: usize = 9;
/// One in the counts of all words but the first, before which there is nothing.
const ONES: u64 = {
    let mut ones = 0;
    let mut word = 1;
    while word < CHUNK_WORDS {
        ones |= 1 << (COUNT_BITS * word);
        word += 1;
    }
    ones
};

/// A line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Chunk {
    /// Marks before each word, in the chunk.
    before: u64,
    words: [u64; CHUNK_WORDS],
}

/// All stamps marked.
const MARKED: Chunk = {
    let mut before = 0;
    let mut word: u64 = 1;
    while word < CHUNK_WORDS as u64 {
        before |= (word * WORD as u64) << (COUNT_BITS as u64 * word);
        word += 1;
    }
    Chunk { before, words: [u64::MAX; CHUNK_WORDS] }
};

impl Chunk {
    /// Marks up to a stamp, that one included.
    #[inline]
    fn up_to(&self, stamp: usize) -> u32 {
        let word = stamp % CHUNK / WORD;
        let up_to_here = u64::MAX >> (WORD - 1 - stamp % WORD);
        let before = self.before >> (COUNT_BITS * word) & ((1 << COUNT_BITS) - 1);
        let before = before as u32;
        before + (self.words[word] & up_to_here).count_ones()
    }

    #[inline]
    fn clear(&mut self, stamp: usize) {
        let word = stamp % CHUNK / WORD;
        let bit = 1 << (stamp % WORD);
        debug_assert!(self.words[word] & bit != 0, "marked");
        self.words[word] &= !bit;
        // No count falls below zero: each of them has counted this mark.
        self.before -= ONES & u64::MAX << (COUNT_BITS * (word + 1));
    }
}

/// A line of stamps, each marked or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    chunks: Vec<Chunk>,
    /// Marks before each chunk, in its block: less than 2^16.
    before_chunks: Vec<[u16; ROW]>,
    /// Marks before each block, in its region.
    before_blocks: Vec<[u32; ROW]>,
    /// Marks before each region, in its zone.
    before_regions: Vec<[u32; SHORT_ROW]>,
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
        let chunks_before = multiples::<ROW>(CHUNK);
        let chunks_before =
            chunks_before.map(|marks| u16::try_from(marks).expect("less than a block"));
        Self {
            chunks: vec![MARKED; stamps.div_ceil(CHUNK)],
            before_chunks: vec![chunks_before; stamps.div_ceil(BLOCK)],
            before_blocks: vec![multiples(BLOCK); stamps.div_ceil(REGION)],
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
        self.chunks[stamp / CHUNK].clear(stamp);
        // In one piece, read before they are written: so they become a few wide instructions.
        let ones: [u16; ROW] = ones_behind(stamp / CHUNK % ROW);
        let chunks = &mut self.before_chunks[stamp / BLOCK];
        *chunks = std::array::from_fn(|part| chunks[part] - ones[part]);
        take_one_behind(&mut self.before_blocks[stamp / REGION], stamp / BLOCK % ROW);
        take_one_behind(&mut self.before_regions[stamp / ZONE], stamp / REGION % SHORT_ROW);
        for marks in &mut self.before_zones[stamp / ZONE + 1..] {
            *marks -= 1;
        }
        self.live -= 1;
    }

    /// Marks younger than `stamp`, whether it is marked itself or not.
    #[inline]
    pub(super) fn above(&self, stamp: Stamp) -> u32 {
        let stamp = stamp as usize;
        let older = self.before_zones[stamp / ZONE]
            + self.before_regions[stamp / ZONE][stamp / REGION % SHORT_ROW]
            + self.before_blocks[stamp / REGION][stamp / BLOCK % ROW]
            + u32::from(self.before_chunks[stamp / BLOCK][stamp / CHUNK % ROW])
            + self.chunks[stamp / CHUNK].up_to(stamp);
        self.live - older
    }

    /// Starts to load what `above` and `clear` will look at for this stamp.
    #[inline]
    pub(super) fn prefetch(&self, stamp: Stamp) {
        prefetch(&self.chunks, stamp as usize / CHUNK);
    }
}

/// Ones for the parts of a row behind (younger than) one of them, zeros up to it.
#[inline]
fn ones_behind<const PARTS: usize>(part: usize) -> [u16; PARTS] {
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
fn take_one_behind<const PARTS: usize>(row: &mut [u32; PARTS], part: usize) {
    let ones: [u16; PARTS] = ones_behind(part);
    *row = std::array::from_fn(|part| row[part] - u32::from(ones[part]));
}

/// Returns the number of marks before each part of a row, for parts of this size with all stamps
/// marked.
fn multiples<const PARTS: usize>(stamps: usize) -> [u32; PARTS] {
    std::array::from_fn(|part| count(part * stamps))
}

/// A number of stamps as the rows keep it.
fn count(stamps: usize) -> u32 {
    u32::try_from(stamps).expect("stamps fit in u32")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// More than two zones, cleared here and there, against counting.
    #[test]
    fn marks_are_counted_across_zones() {
        let stamps = 2 * ZONE + 5 * BLOCK + 7;
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
        let edges = [0, WORD - 1, WORD, CHUNK, BLOCK, REGION, ZONE - 1, ZONE, 2 * ZONE, stamps - 2];
        for stamp in edges {
            let above = kept[stamp + 1..].iter().filter(|&&kept| kept).count();
            assert_eq!(marks.above(count(stamp)) as usize, above, "{stamp}");
        }
        let left = kept.iter().filter(|&&kept| kept).count();
        assert_eq!(marks.live() as usize, left);
    }

    /// Every mark of some chunks is cleared in the end, in any order: no count borrows from its neighbour.
    #[test]
    fn counts_of_a_chunk_fall_to_zero() {
        let stamps = 3 * CHUNK;
        let given = count(stamps - 1);
        let mut marks = Marks::packed(stamps, given);
        // 5 has no divisor in common with the number of the stamps, so each has its turn.
        assert!(!given.is_multiple_of(5));
        for turn in 0..given {
            let stamp = turn * 5 % given;
            marks.clear(stamp);
            assert!(marks.above(stamp) <= marks.live());
        }
        assert_eq!(marks.live(), 0);
        assert!((0..given).all(|stamp| marks.above(stamp) == 0));
    }

    proptest! {
        /// Stamps are given out, skipped and cleared as they come, against a list of them.
        #[test]
        fn marks_equal_a_list(
            live in 0..700_u32,
            steps in prop::collection::vec((0..3_u8, any::<u32>()), 0..600),
        ) {
            let mut marks = Marks::packed(1400, live);
            let mut list = vec![true; live as usize];
            for (kind, any) in steps {
                let marked: Vec<usize> = (0..list.len()).filter(|&stamp| list[stamp]).collect();
                match (kind, marked.is_empty()) {
                    (0, false) => {
                        let stamp = marked[any as usize % marked.len()];
                        list[stamp] = false;
                        marks.clear(count(stamp));
                    }
                    (1, _) => {
                        marks.skip();
                        list.push(false);
                    }
                    _ => {
                        marks.push();
                        list.push(true);
                    }
                }
                let stamp = any as usize / 7 % list.len();
                let above = list[stamp + 1..].iter().filter(|&&marked| marked).count();
                prop_assert_eq!(marks.above(count(stamp)) as usize, above);
                prop_assert_eq!(marks.next(), list.len());
            }
        }
    }
}
