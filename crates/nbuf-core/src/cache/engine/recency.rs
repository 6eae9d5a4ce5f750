//! The order of the last uses of pages, the same for all lanes: a slot of a log for each use, and the
//! slot of the last use of each page.
//!
//! A list in which pages come to the front only when they are used has this order at every size. So
//! a lane keeps only the *end* of a list: the slot from which on its pages are in the list. For each
//! list, a slot has a bit for each lane; the page of the slot belongs to the list there. A page that
//! is used again leaves no bits in its old slot.
//!
//! Invariant: a page has bits in one slot at most, the slot of its last use. Cost: four bytes a page,
//! and two for each list and each of up to three slots a page.

use super::grid::LANES;
use crate::sys::prefetch::prefetch;
use crate::sys::wide::{above, having};

/// A slot for each lane.
pub(super) type Ends = [i32; LANES];

/// A bit for each lane.
const ALL: u32 = (1 << LANES) - 1;
/// Slots of a block: with two lists they fill a line of memory.
const BLOCK: usize = LANES;
/// Slots of the log before any are moved together, however few pages there are.
const SLOTS_MIN: usize = 1 << 12;

/// The bits of some slots: a row for each list.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Block<const LISTS: usize>([[u16; BLOCK]; LISTS]);

/// The log, and the last use of each page.
#[derive(Debug)]
pub(super) struct Recency<const LISTS: usize> {
    /// The slot of a page; 0 is none, and has no bits.
    slot_of: Vec<u32>,
    /// The bits of each slot, up to the next free one; then zeros.
    blocks: Vec<Block<LISTS>>,
    next: usize,
    /// Slots to use before those in use are moved together.
    limit: usize,
}

impl<const LISTS: usize> Default for Recency<LISTS> {
    fn default() -> Self {
        Self { slot_of: Vec::new(), blocks: vec![Self::EMPTY], next: 1, limit: 0 }
    }
}

impl<const LISTS: usize> Recency<LISTS> {
    const EMPTY: Block<LISTS> = Block([[0; BLOCK]; LISTS]);

    /// Makes room for pages with numbers below `pages`, and for `accesses` uses. Moves slots together
    /// if it must, and the ends of all lists with them.
    pub(super) fn prepare(&mut self, pages: usize, accesses: usize, ends: &mut [Ends]) {
        if pages > self.slot_of.len() {
            self.slot_of.resize(pages, 0);
        }
        if self.next + accesses > self.limit {
            self.compact(ends);
            // As many new slots as there are pages pay for a look at each page.
            self.limit = 2 * self.next + self.slot_of.len().max(SLOTS_MIN) + accesses;
            assert!(i32::try_from(self.limit).is_ok(), "slots have 31 bits");
        }
        let blocks = (self.next + accesses) / BLOCK + 1;
        if blocks > self.blocks.len() {
            if blocks > self.blocks.capacity() {
                self.blocks.reserve_exact(self.limit / BLOCK + 1 - self.blocks.len());
            }
            self.blocks.resize(blocks, Self::EMPTY);
        }
    }

    /// Takes the bits of a page in each list; with the slot that it had.
    #[inline]
    pub(super) fn take(&mut self, page: u32) -> (i32, [u32; LISTS]) {
        let slot = self.slot_of[page as usize];
        (slot.cast_signed(), self.take_slot(slot as usize).map(u32::from))
    }

    /// Notes that a page without bits was used, and gives it these in each list.
    #[inline]
    pub(super) fn put(&mut self, page: u32, bits: [u32; LISTS]) {
        self.put_slot(self.next, bits.map(low_half));
        self.slot_of[page as usize] = signed(self.next).cast_unsigned();
        self.next += 1;
    }

    /// The first slot from an end on whose page belongs to this list of the lane. There must be one.
    #[inline]
    pub(super) fn first(&self, end: i32, list: usize, lane: usize) -> i32 {
        let end = end.cast_unsigned() as usize;
        let mut at = end / BLOCK;
        let mut found = self.members(at, list, lane) & u32::MAX << (end % BLOCK);
        while found == 0 {
            at += 1;
            found = self.members(at, list, lane);
            prefetch(&self.blocks, at + 1);
        }
        signed(at * BLOCK + found.trailing_zeros() as usize)
    }

    /// A bit for each slot of a block whose page belongs to this list of the lane.
    #[inline]
    fn members(&self, block: usize, list: usize, lane: usize) -> u32 {
        having(&self.blocks[block].0[list], 1 << lane)
    }

    /// The slot, the bits and the number of each page that has any, from the oldest slot.
    pub(super) fn oldest_first(&self) -> Vec<(i32, [u32; LISTS], u32)> {
        let pages = (0..).zip(self.slot_of.iter().map(|&slot| slot as usize));
        let known = pages.map(|(page, slot)| {
            let bits = self.blocks[slot / BLOCK].0.map(|row| u32::from(row[slot % BLOCK]));
            (signed(slot), bits, page)
        });
        let mut known: Vec<_> = known.filter(|&(_, bits, _)| bits != [0; LISTS]).collect();
        known.sort_unstable();
        known
    }

    /// Starts to load the slot of a page.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.slot_of, page as usize);
    }

    /// Starts to load the bits of a page, whose slot is there by now.
    #[inline]
    pub(super) fn prefetch_bits(&self, page: u32) {
        if let Some(&slot) = self.slot_of.get(page as usize) {
            prefetch(&self.blocks, slot as usize / BLOCK);
        }
    }

    #[inline]
    fn take_slot(&mut self, slot: usize) -> [u16; LISTS] {
        let rows = &mut self.blocks[slot / BLOCK].0;
        std::array::from_fn(|list| std::mem::take(&mut rows[list][slot % BLOCK]))
    }

    #[inline]
    fn put_slot(&mut self, slot: usize, bits: [u16; LISTS]) {
        let rows = &mut self.blocks[slot / BLOCK].0;
        for (row, bits) in rows.iter_mut().zip(bits) {
            row[slot % BLOCK] = bits;
        }
    }

    /// Moves the slots together that have bits and are before no end of any lane.
    #[cold]
    fn compact(&mut self, ends: &mut [Ends]) {
        let oldest = ends.iter().flatten().min().map_or(0, |end| end.cast_unsigned() as usize);
        let mut ranks = Ranks::default();
        let mut next = 1;
        for from in 0..self.next {
            let bits = self.take_slot(from);
            let is_known = from >= oldest && bits != [0; LISTS];
            ranks.push(is_known);
            if is_known {
                self.put_slot(next, bits);
                next += 1;
            }
        }
        ranks.push(false);
        for slot in &mut self.slot_of {
            let (is_known, below) = ranks.get(*slot as usize);
            *slot = if is_known { below + 1 } else { 0 };
        }
        for end in ends.iter_mut().flatten() {
            let (_, below) = ranks.get(self.next.min(end.cast_unsigned() as usize));
            *end = below.cast_signed() + 1;
        }
        self.next = next;
    }
}

/// A bit for each lane whose end a slot is not before.
#[inline]
pub(super) fn bits_from(slot: i32, ends: &Ends) -> u32 {
    !above(ends, slot) & ALL
}

/// A slot as a number that processors compare by the dozen.
#[inline]
fn signed(slot: usize) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "below the limit"
    )]
    let slot = slot as i32;
    slot
}

/// The bits of the lanes.
#[inline]
fn low_half(bits: u32) -> u16 {
    #[expect(clippy::cast_possible_truncation, reason = "there are no other bits")]
    let bits = bits as u16;
    bits
}

/// A set of numbers, and how many of it are below each.
#[derive(Debug, Default)]
struct Ranks {
    words: Vec<(u64, u32)>,
    length: usize,
    members: u32,
}

impl Ranks {
    /// Whether the next number is in the set.
    #[inline]
    fn push(&mut self, is_in: bool) {
        if self.length.is_multiple_of(64) {
            self.words.push((0, self.members));
        }
        if let Some((word, _)) = self.words.last_mut() {
            *word |= u64::from(is_in) << (self.length % 64);
        }
        self.members += u32::from(is_in);
        self.length += 1;
    }

    /// Whether a number is in the set, and how many are that are below.
    #[inline]
    fn get(&self, number: usize) -> (bool, u32) {
        let (word, before) = self.words[number / 64];
        let below = (word & ((1 << (number % 64)) - 1)).count_ones();
        (word >> (number % 64) & 1 == 1, before + below)
    }
}
