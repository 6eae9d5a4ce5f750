//! The marks of an LRU stack on a line of time: how many of them lie above a given one.
//!
//! Every page (or hole) of the stack is one bit at the stamp of its last use; the youngest stamp
//! is the top. Ones are counted in blocks of [`BLOCK_STAMPS`], and a Fenwick tree (P. Fenwick,
//! *A New Data Structure for Cumulative Frequency Tables*, 1994) sums the blocks. The block that
//! still fills stays out of the tree, so that a push touches one bit and nothing else.
//!
//! Cost: a bit and 1/128 byte a stamp; `above` and `clear` take log2(stamps / 512) steps, in tables
//! that stay in the first and second level caches of the processor for millions of pages.

use crate::meter::distance::Stamp;

/// Bits in one word of the line.
const WORD_BITS: usize = 64;
/// Words that one entry of the tree counts: a cache line.
const BLOCK_WORDS: usize = 8;
/// Stamps in a block.
pub(super) const BLOCK_STAMPS: usize = WORD_BITS * BLOCK_WORDS;

/// A line of stamps, each marked or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    /// One-based Fenwick tree over the finished blocks; entry 0 is not used.
    tree: Vec<u32>,
    /// The next stamp to be given out.
    next: usize,
    /// Marks on the line.
    live: u32,
}

impl Marks {
    /// A line of `stamps` (a multiple of a block), of which the oldest `live` are marked.
    pub(super) fn packed(stamps: usize, live: u32) -> Self {
        assert!(stamps.is_multiple_of(BLOCK_STAMPS), "whole blocks");
        let next = live as usize;
        assert!(next < stamps, "room for one more");
        let mut words = vec![0; stamps / WORD_BITS];
        words[..next / WORD_BITS].fill(u64::MAX);
        words[next / WORD_BITS] = low_bits(next % WORD_BITS);
        let full = next / BLOCK_STAMPS;
        let tree = (0..=stamps / BLOCK_STAMPS).map(|node| {
            // A node sums as many blocks as its lowest set bit says, up to itself.
            let first = node & node.wrapping_sub(1);
            count(node.min(full).saturating_sub(first) * BLOCK_STAMPS)
        });
        Self { tree: tree.collect(), words, next, live }
    }

    /// Marks on the line.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// The stamp that the next push gives.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Whether every stamp was given out, so that the line must be packed anew.
    pub(super) fn full(&self) -> bool {
        self.next == self.words.len() * WORD_BITS
    }

    /// Marks the next stamp: the new top of the stack.
    pub(super) fn push(&mut self) {
        self.words[self.next / WORD_BITS] |= 1 << (self.next % WORD_BITS);
        self.live += 1;
        self.skip();
    }

    /// Gives the next stamp out without a mark.
    pub(super) fn skip(&mut self) {
        self.next += 1;
        if self.next.is_multiple_of(BLOCK_STAMPS) {
            let block = self.next / BLOCK_STAMPS - 1;
            let ones = self.ones(block * BLOCK_WORDS, (block + 1) * BLOCK_WORDS);
            self.add(block, ones);
        }
    }

    /// Takes the mark away from a stamp that has it.
    pub(super) fn clear(&mut self, stamp: Stamp) {
        let stamp = stamp as usize;
        let bit = 1 << (stamp % WORD_BITS);
        debug_assert!(self.words[stamp / WORD_BITS] & bit != 0, "marked");
        self.words[stamp / WORD_BITS] &= !bit;
        self.live -= 1;
        let block = stamp / BLOCK_STAMPS;
        if block < self.next / BLOCK_STAMPS {
            self.add(block, u32::MAX);
        }
    }

    /// Marks younger than `stamp`, whether it is marked itself or not.
    pub(super) fn above(&self, stamp: Stamp) -> u32 {
        let stamp = stamp as usize;
        let block = stamp / BLOCK_STAMPS;
        let word = stamp / WORD_BITS;
        let older_in_word = u64::MAX >> (WORD_BITS - 1 - stamp % WORD_BITS);
        let up_to_here = self.before(block)
            + self.ones(block * BLOCK_WORDS, word)
            + (self.words[word] & older_in_word).count_ones();
        self.live - up_to_here
    }

    /// The marked stamps, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = &self.words[..self.next.div_ceil(WORD_BITS)];
        words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(index * WORD_BITS + bit)
            })
        })
    }

    /// Ones in a range of words.
    fn ones(&self, from: usize, to: usize) -> u32 {
        self.words[from..to].iter().map(|w| w.count_ones()).sum()
    }

    /// Marks in the finished blocks before `block`.
    fn before(&self, block: usize) -> u32 {
        let mut node = block;
        let mut sum = 0;
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }

    /// Adds `change` (modulo 2^32) to a finished block. Nodes that also cover blocks yet to be
    /// finished get it too: they are partial sums until then.
    fn add(&mut self, block: usize, change: u32) {
        let mut node = block + 1;
        while node < self.tree.len() {
            self.tree[node] = self.tree[node].wrapping_add(change);
            node += node & node.wrapping_neg();
        }
    }
}

/// A number of stamps as the tree keeps it.
fn count(stamps: usize) -> u32 {
    u32::try_from(stamps).expect("stamps fit in u32")
}

/// A word with its `width` (below 64) lowest bits set.
const fn low_bits(width: usize) -> u64 {
    (1 << width) - 1
}
