//! How often pages were used lately, roughly, in little memory: a count-min sketch that forgets.
//!
//! Four counters of four bits a page, all in one cache line; the least of the four is the estimate.
//! After ten uses for each page of the cache all counters are halved. Invariant: until counters are
//! halved, an estimate is never too low, except above 15. Cost: one cache line a use, eight bytes a
//! page of the cache. G. Cormode and S. Muthukrishnan, *An Improved Data Stream Summary*, 2005;
//! the halving: G. Einziger, R. Friedman, B. Manes, *`TinyLFU`*, 2017.

use crate::sys::prefetch::prefetch;

/// Eight words of sixteen counters: two words for each of the four rows.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Block([u64; 8]);

const ROWS: usize = 4;
/// The lowest bit of each counter.
const ONES: u64 = 0x1111_1111_1111_1111;
const COUNT_MAX: u64 = 15;
/// Counters of a row in a block.
const COUNTERS: u64 = 32;

/// Pages of the cache that share a block.
const PAGES: usize = 8;
/// Half a gibibyte: beyond 2^26 pages, counters are shared by more.
const BLOCKS_MAX: usize = 1 << 23;

#[derive(Clone, Debug)]
pub(super) struct Sketch {
    blocks: Vec<Block>,
    uses: u64,
    uses_max: u64,
}

/// Where the counter of a row is: the word of a block, and the shift in it.
fn counter(hash: u64, row: usize) -> (usize, u64) {
    // Eight bits for each row; the block comes from the high half.
    let bits = hash >> (8 * row) & (COUNTERS - 1);
    let second = usize::from(bits >= COUNTERS / 2);
    (2 * row + second, bits % (COUNTERS / 2) * 4)
}

impl Sketch {
    /// For a cache of this many pages.
    pub(super) fn new(capacity: u32) -> Self {
        let blocks = (capacity as usize / PAGES).next_power_of_two().min(BLOCKS_MAX);
        Self { blocks: vec![Block::default(); blocks], uses: 0, uses_max: u64::from(capacity) * 10 }
    }

    /// Counts a use.
    #[inline]
    pub(super) fn add(&mut self, page: u32) {
        let hash = hash(page);
        let at = self.block(hash);
        let words = &mut self.blocks[at].0;
        let mut added = false;
        for row in 0..ROWS {
            let (word, shift) = counter(hash, row);
            if words[word] >> shift & COUNT_MAX < COUNT_MAX {
                words[word] += 1 << shift;
                added = true;
            }
        }
        self.uses += u64::from(added);
        if self.uses >= self.uses_max {
            self.halve();
        }
    }

    /// About how often a page was used.
    #[inline]
    pub(super) fn estimate(&self, page: u32) -> u64 {
        let hash = hash(page);
        let words = &self.blocks[self.block(hash)].0;
        let counts = (0..ROWS).map(|row| {
            let (word, shift) = counter(hash, row);
            words[word] >> shift & COUNT_MAX
        });
        counts.min().unwrap_or(0)
    }

    /// Starts to load what a page will look at.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.blocks, self.block(hash(page)));
    }

    #[inline]
    fn block(&self, hash: u64) -> usize {
        usize::try_from(hash >> 32).expect("32 bits") & (self.blocks.len() - 1)
    }

    #[cold]
    fn halve(&mut self) {
        for block in &mut self.blocks {
            for word in &mut block.0 {
                *word = *word >> 1 & !(ONES << 3);
            }
        }
        self.uses /= 2;
    }
}

/// Page numbers are dense: all of their bits are mixed (the finish of `splitmix64`).
#[inline]
fn hash(page: u32) -> u64 {
    let mut mixed = u64::from(page).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_never_too_low_and_mostly_right() {
        let mut sketch = Sketch::new(1000);
        // 5,500 uses: fewer than lead to halving.
        for uses in 1..=10 {
            for page in 0..100 * uses {
                sketch.add(page);
            }
        }
        let want = |page: u32| u64::from(10 - page / 100);
        let right = (0..1000).filter(|&page| {
            let estimate = sketch.estimate(page);
            assert!(estimate >= want(page), "page {page}: {estimate}");
            estimate == want(page)
        });
        let right = right.count();
        assert!(right > 700, "{right} of 1000 right");
    }

    #[test]
    fn counters_stop_at_fifteen_and_are_halved() {
        let mut sketch = Sketch::new(10);
        for _ in 0..99 {
            sketch.add(7);
        }
        assert_eq!(sketch.estimate(7), 15);
        assert_eq!(sketch.estimate(8), 0);
        // Uses that no counter could take do not count towards halving.
        for page in 100..185 {
            sketch.add(page);
        }
        assert!(sketch.estimate(7) < 15);
    }
}
