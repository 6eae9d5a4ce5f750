//! Dense page numbers for the keys of a trace, in order of their first appearance.
//!
//! Everything behind works on `u32` numbers that index arrays, so a key is hashed once, here.
//! Open addressing with linear probing; an entry is the key and its number, twelve bytes. The
//! place of a key is its hash scaled to the length of the table, so that entries lie in the order
//! of their hashes, nearly, and growing is one sweep through memory, in place.
//!
//! Invariant: a number is never given twice, and never taken back. Cost: 16 to 20 bytes a key.
//! Not for keys chosen by an enemy: the hash has no secret.

use crate::sys::prefetch::prefetch;

/// A key and its number.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// In halves, so that an entry has no padding.
    key: [u32; 2],
    page: u32,
}

/// The number in an entry that is free.
const FREE: u32 = u32::MAX;

const EMPTY: Entry = Entry { key: [0; 2], page: FREE };

/// Entries to begin with.
const ENTRIES_MIN: usize = 1 << 12;

/// Keys for which room is made at once: within, places do not change.
const BLOCK_KEYS: usize = 1 << 10;

/// Keys between asking for an entry and looking at it.
const AHEAD: usize = 16;

/// Gives keys their numbers.
#[derive(Clone, Debug)]
pub struct Interner {
    entries: Vec<Entry>,
    /// Numbers given so far: the next one.
    pages: u32,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// No key has a number.
    pub fn new() -> Self {
        Self { entries: vec![EMPTY; ENTRIES_MIN], pages: 0 }
    }

    /// Appends the numbers of `keys` to `ids`, in their order.
    ///
    /// Panics at 2^32 - 1 distinct keys, with more than 64 GiB in use.
    pub fn intern(&mut self, keys: &[u64], ids: &mut Vec<u32>) {
        ids.reserve(keys.len());
        for block in keys.chunks(BLOCK_KEYS) {
            self.make_room(block.len());
            // Places of the keys ahead, in a ring.
            let mut places = [0; AHEAD];
            for (place, &key) in places.iter_mut().zip(block) {
                *place = self.ask_for(key);
            }
            for (at, &key) in block.iter().enumerate() {
                let place = places[at % AHEAD];
                if let Some(&later) = block.get(at + AHEAD) {
                    places[at % AHEAD] = self.ask_for(later);
                }
                ids.push(self.number(key, place));
            }
        }
    }

    /// The number of one key. Panics as [`Self::intern`] does.
    pub(crate) fn one(&mut self, key: u64) -> u32 {
        self.make_room(1);
        self.number(key, place(key, self.entries.len()))
    }

    /// The numbers of the keys in this range that have one, ends included; in no order.
    pub fn known(&self, first: u64, last: u64) -> Vec<u32> {
        let range = first..=last;
        if last.saturating_sub(first) < self.entries.len() as u64 {
            return range.filter_map(|key| self.find(key)).collect();
        }
        let entries = self.entries.iter().filter(|entry| entry.page != FREE);
        entries.filter(|entry| range.contains(&whole(entry.key))).map(|entry| entry.page).collect()
    }

    /// How many keys in this range have a number, ends included.
    pub fn count(&self, first: u64, last: u64) -> u64 {
        if last.saturating_sub(first) < self.entries.len() as u64 {
            return (first..=last).filter(|&key| self.find(key).is_some()).count() as u64;
        }
        let entries = self.entries.iter().filter(|entry| entry.page != FREE);
        entries.filter(|entry| (first..=last).contains(&whole(entry.key))).count() as u64
    }

    /// The number of a key, if it has one.
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        let mut at = place(key, self.entries.len());
        loop {
            let entry = self.entries[at];
            if entry.page == FREE {
                return None;
            }
            if entry.key == halves(key) {
                return Some(entry.page);
            }
            at = if at + 1 == self.entries.len() { 0 } else { at + 1 };
        }
    }

    /// The keys by their numbers.
    #[cfg(feature = "capture")]
    pub(crate) fn into_keys(self) -> Vec<u64> {
        let mut keys = vec![0; self.pages as usize];
        let taken = self.entries.iter().filter(|entry| entry.page != FREE);
        taken.for_each(|entry| keys[entry.page as usize] = whole(entry.key));
        keys
    }

    /// How many numbers were given: all of them are below.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Memory in use.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }

    #[inline]
    fn ask_for(&self, key: u64) -> usize {
        let place = place(key, self.entries.len());
        prefetch(&self.entries, place);
        place
    }

    /// The number of a key that belongs to `place` or, where that is taken, behind it.
    #[inline]
    fn number(&mut self, key: u64, mut place: usize) -> u32 {
        let key = halves(key);
        loop {
            let entry = &mut self.entries[place];
            if entry.key == key && entry.page != FREE {
                return entry.page;
            }
            if entry.page == FREE {
                let page = self.pages;
                *entry = Entry { key, page };
                self.pages = page.checked_add(1).expect("fewer than 2^32 distinct keys");
                return page;
            }
            place += 1;
            if place == self.entries.len() {
                place = 0;
            }
        }
    }

    /// Grows so that three quarters suffice for `more` new keys.
    fn make_room(&mut self, more: usize) {
        let wanted = self.pages as usize + more;
        if wanted * 4 <= self.entries.len() * 3 {
            return;
        }
        self.grow();
    }

    /// Adds a quarter more entries, in place: a second table would be the most memory that is ever
    /// in use, and after a larger step more memory would be idle. It goes from the end, because
    /// places only grow. It takes a run of neighbours at a time, because within a run entries are
    /// behind their places, and before it no entry is.
    fn grow(&mut self) {
        let mut end = self.entries.len();
        let larger = end + end / 4;
        self.entries.reserve_exact(larger - end);
        self.entries.resize(larger, EMPTY);
        // The first run may have begun at the end of the table: it has to wait.
        let first = self.entries.iter().take_while(|entry| entry.page != FREE).count();
        let first: Vec<Entry> =
            self.entries[..first].iter_mut().map(|entry| std::mem::replace(entry, EMPTY)).collect();
        let mut run = Vec::new();
        while end > 0 {
            end -= 1;
            let entry = std::mem::replace(&mut self.entries[end], EMPTY);
            if entry.page == FREE {
                for entry in run.drain(..) {
                    self.put(entry);
                }
            } else {
                run.push(entry);
            }
        }
        for entry in run.into_iter().chain(first) {
            self.put(entry);
        }
    }

    /// Puts the entry of a key that is not in the table where it belongs.
    fn put(&mut self, entry: Entry) {
        let mut at = place(whole(entry.key), self.entries.len());
        while self.entries[at].page != FREE {
            at = if at + 1 == self.entries.len() { 0 } else { at + 1 };
        }
        self.entries[at] = entry;
    }
}

/// Where a key belongs in a table of `length`: its hash, scaled.
#[inline]
fn place(key: u64, length: usize) -> usize {
    // Both halves of one long product, after a fraction of the golden ratio: multiplication alone
    // would leave keys that differ in high bits only close together.
    let product = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * 0xA076_1D64_78BD_642F;
    let hash = low(product) ^ low(product >> 64);
    #[expect(clippy::cast_possible_truncation, reason = "below the length")]
    let place = ((u128::from(hash) * length as u128) >> 64) as usize;
    place
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
#[inline]
fn low(wide: u128) -> u64 {
    wide as u64
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are meant")]
#[inline]
fn halves(key: u64) -> [u32; 2] {
    [key as u32, (key >> 32) as u32]
}

#[inline]
fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn check(keys: &[u64], batch: usize) {
        let mut interner = Interner::new();
        let mut ids = Vec::new();
        for keys in keys.chunks(batch) {
            interner.intern(keys, &mut ids);
        }
        let mut oracle = HashMap::new();
        let want: Vec<u32> = keys
            .iter()
            .map(|&key| {
                let next = u32::try_from(oracle.len()).unwrap();
                *oracle.entry(key).or_insert(next)
            })
            .collect();
        assert_eq!(ids, want);
        assert_eq!(interner.pages() as usize, oracle.len());
    }

    proptest! {
        #[test]
        fn equals_a_map(keys in prop::collection::vec(0..50_u64, 0..300), batch in 1..40_usize) {
            check(&keys, batch);
        }
    }

    #[test]
    fn keys_of_every_shape_survive_growing() {
        for step in [1, 512, 4096, 1 << 32, 1 << 48, 0x9E37_79B9_7F4A_7C15] {
            let keys: Vec<u64> = (0..40_000_u64).map(|n| n.wrapping_mul(step)).collect();
            let again = keys.iter().rev().copied();
            check(&keys.iter().copied().chain(again).collect::<Vec<_>>(), 4096);
        }
        check(&[0, u64::MAX, 0, u64::MAX - 1, u64::MAX], 2);
    }

    #[test]
    fn a_range_finds_the_keys_in_it_whether_it_is_short_or_endless() {
        let mut interner = Interner::new();
        let keys: Vec<u64> = (0..500).map(|i| i * 1000).collect();
        interner.intern(&keys, &mut Vec::new());
        let known = |first, last| {
            let mut known = interner.known(first, last);
            known.sort_unstable();
            known
        };
        assert_eq!(known(999, 3000), [1, 2, 3]);
        assert_eq!(known(497_001, u64::MAX), [498, 499]);
        assert!(known(1, 999).is_empty());
    }

    #[test]
    fn a_run_that_goes_around_the_end_survives_growing() {
        // Keys whose places are among the last of the first table, more than there are of those.
        let is_late = |key: &u64| place(*key, ENTRIES_MIN) > ENTRIES_MIN - 50;
        let late: Vec<u64> = (0..).filter(is_late).take(200).collect();
        let mut interner = Interner::new();
        let mut ids = Vec::new();
        interner.intern(&late, &mut ids);
        assert!(interner.entries[0].page != FREE && interner.entries.len() == ENTRIES_MIN);
        interner.grow();
        assert_eq!(interner.entries.len(), ENTRIES_MIN * 5 / 4);
        interner.intern(&late, &mut ids);
        assert_eq!(ids[..200], ids[200..]);
    }

    #[test]
    fn a_key_costs_at_most_twenty_bytes() {
        let mut interner = Interner::new();
        let mut ids = Vec::new();
        for first in (0..1 << 20_u64).step_by(4096) {
            let keys: Vec<u64> = (first..first + 4096).map(|key| key * 4096).collect();
            interner.intern(&keys, &mut ids);
            if ids.len() > 1 << 16 {
                assert!(interner.bytes() <= 21 * ids.len(), "{} keys", ids.len());
            }
        }
    }
}
