//! A set of up to sixteen entries that evicts as CLOCK: a tag of seven bits a key, and up to three uses.
//!
//! Invariant: a way is in use if its tag is not 0. Cost: a lookup compares sixteen tags at once, and rarely more than one
//! key. `TigerBeetle` has such a cache. Not where keys gather in few sets: each evicts alone.

use std::borrow::Borrow;

use super::shards::{Counts, Inserted, Shard};

/// Ways of a set at most.
pub(super) const WAYS: u32 = 16;
const LENGTH: usize = WAYS as usize;
const USES_MAX: u8 = 3;

#[derive(Debug)]
pub(super) struct ClockSet<K, V> {
    tags: [u8; LENGTH],
    uses: [u8; LENGTH],
    hand: u8,
    ways: u8,
    counts: Counts,
    entries: [Option<(K, V)>; LENGTH],
}

/// The tag of a hash, from bits that do not choose the set.
#[inline]
fn tag(hash: u64) -> u8 {
    u8::try_from(hash >> 57).unwrap_or(0) | 0x80
}

impl<K, V> ClockSet<K, V> {
    pub(super) fn new(ways: u32) -> Self {
        Self {
            tags: [0; LENGTH],
            uses: [0; LENGTH],
            hand: 0,
            ways: u8::try_from(ways.min(WAYS)).unwrap_or(0),
            counts: Counts::default(),
            entries: std::array::from_fn(|_| None),
        }
    }

    /// The ways with this tag, a bit each.
    #[inline]
    fn ways_with(&self, tag: u8) -> u16 {
        let bits = self.tags.iter().enumerate();
        bits.fold(0, |mask, (way, &other)| mask | u16::from(other == tag) << way)
    }

    #[inline]
    fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let mut left = self.ways_with(tag(hash));
        while left != 0 {
            let way = left.trailing_zeros() as usize;
            if self.entries[way].as_ref().is_some_and(|(other, _)| other.borrow() == key) {
                return Some(way);
            }
            left &= left - 1;
        }
        None
    }

    #[inline]
    fn used(&mut self, way: usize) {
        self.uses[way] = (self.uses[way] + 1).min(USES_MAX);
    }

    /// A way that is free, or the next that was not used since the hand last passed it as often.
    fn room(&mut self) -> usize {
        let ways = usize::from(self.ways);
        if let Some(free) = self.tags[..ways].iter().position(|&tag| tag == 0) {
            return free;
        }
        loop {
            let way = usize::from(self.hand);
            self.hand = (self.hand + 1) % self.ways;
            if self.uses[way] == 0 {
                return way;
            }
            self.uses[way] -= 1;
        }
    }
}

impl<K: Eq, V> Shard<K, V> for ClockSet<K, V> {
    #[inline]
    fn get<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let Some(way) = self.find(hash, key) else {
            self.counts.misses += 1;
            return None;
        };
        self.used(way);
        self.counts.hits += 1;
        self.entries[way].as_ref().map(|(_, value)| value)
    }

    fn peek<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries[self.find(hash, key)?].as_ref().map(|(_, value)| value)
    }

    fn insert(&mut self, hash: u64, key: K, value: V) -> Inserted<V> {
        if let Some(way) = self.find(hash, &key)
            && let Some((_, old)) = &mut self.entries[way]
        {
            let old = std::mem::replace(old, value);
            self.used(way);
            return Inserted::Replaced(old);
        }
        let way = self.room();
        self.tags[way] = tag(hash);
        self.uses[way] = 0;
        let gone = self.entries[way].replace((key, value)).map(|(_, value)| value);
        self.counts.evictions += u64::from(gone.is_some());
        Inserted::New(gone)
    }

    fn remove<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let way = self.find(hash, key)?;
        self.tags[way] = 0;
        self.uses[way] = 0;
        self.entries[way].take().map(|(_, value)| value)
    }

    fn len(&self) -> usize {
        self.tags.iter().filter(|&&tag| tag != 0).count()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
