//! A shard that evicts as S3-FIFO: the policy of the simulator over numbers, and a table that gives keys their numbers.
//!
//! Invariant: a key has a number as long as the policy knows it, as an entry or as one that it remembers. So
//! memory is bounded by the capacity and what is remembered, and the policy decides as in a simulation.

use std::borrow::Borrow;

use hashbrown::HashTable;

use super::shards::{Counts, Inserted, Shard};
use crate::cache::policy::{Access, Cause, Outcome, Policy, S3Fifo};

#[derive(Debug)]
enum Entry<K, V> {
    Free,
    /// Evicted, and remembered.
    Ghost(K),
    Here(K, V),
}

#[derive(Debug)]
struct Slot<K, V> {
    hash: u64,
    entry: Entry<K, V>,
}

#[derive(Debug)]
pub(super) struct S3Shard<K, V> {
    numbers: HashTable<u32>,
    /// By number.
    slots: Vec<Slot<K, V>>,
    free: Vec<u32>,
    policy: S3Fifo,
    counts: Counts,
}

impl<K, V> S3Shard<K, V> {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            numbers: HashTable::new(),
            slots: Vec::new(),
            free: Vec::new(),
            policy: S3Fifo::new(capacity, 0),
            counts: Counts::default(),
        }
    }

    /// Numbers that were ever given at the same time.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        let is_same = |&number: &u32| match &self.slots[number as usize].entry {
            Entry::Ghost(other) | Entry::Here(other, _) => other.borrow() == key,
            Entry::Free => false,
        };
        self.numbers.find(hash, is_same).copied()
    }

    /// A new number for a key with this hash.
    fn number(&mut self, hash: u64) -> u32 {
        let slot = Slot { hash, entry: Entry::Free };
        let number = if let Some(number) = self.free.pop() {
            self.slots[number as usize] = slot;
            number
        } else {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 keys")
        };
        let slots = &self.slots;
        self.numbers.insert_unique(hash, number, |&number| slots[number as usize].hash);
        number
    }

    /// Takes a number back, and returns what had it.
    fn forget(&mut self, number: u32) -> Entry<K, V> {
        let slot = &mut self.slots[number as usize];
        let entry = std::mem::replace(&mut slot.entry, Entry::Free);
        if let Ok(found) = self.numbers.find_entry(slot.hash, |&other| other == number) {
            found.remove();
        }
        self.free.push(number);
        entry
    }

    /// The policy has evicted this.
    fn evicted(&mut self, number: u32) -> Option<V> {
        self.counts.evictions += 1;
        if !self.policy.knows(number) {
            return value(self.forget(number));
        }
        let entry = &mut self.slots[number as usize].entry;
        match std::mem::replace(entry, Entry::Free) {
            Entry::Here(key, value) => {
                *entry = Entry::Ghost(key);
                Some(value)
            }
            other => {
                *entry = other;
                None
            }
        }
    }
}

fn value<K, V>(entry: Entry<K, V>) -> Option<V> {
    match entry {
        Entry::Here(_, value) => Some(value),
        Entry::Ghost(_) | Entry::Free => None,
    }
}

impl<K: Eq, V> Shard<K, V> for S3Shard<K, V> {
    #[inline]
    fn get<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if let Some(number) = self.find(hash, key)
            && let Entry::Here(_, value) = &self.slots[number as usize].entry
        {
            self.policy.touch(Access::to(number));
            self.counts.hits += 1;
            return Some(value);
        }
        self.counts.misses += 1;
        None
    }

    fn peek<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match &self.slots[self.find(hash, key)? as usize].entry {
            Entry::Here(_, value) => Some(value),
            Entry::Ghost(_) | Entry::Free => None,
        }
    }

    fn insert(&mut self, hash: u64, key: K, value: V) -> Inserted<V> {
        let known = self.find(hash, &key);
        if let Some(number) = known
            && let Entry::Here(_, old) = &mut self.slots[number as usize].entry
        {
            self.policy.touch(Access::to(number));
            return Inserted::Replaced(std::mem::replace(old, value));
        }
        let number = known.unwrap_or_else(|| self.number(hash));
        let oldest = self.policy.oldest_ghost();
        let outcome = self.policy.fill(Access::to(number), Cause::Demand, |_| true);
        self.slots[number as usize].entry = Entry::Here(key, value);
        let gone = match outcome {
            Outcome::Filled { evicted: Some(victim) } => self.evicted(victim),
            _ => None,
        };
        // At most one is forgotten for the one that is remembered.
        if let Some(oldest) = oldest.filter(|&oldest| !self.policy.knows(oldest)) {
            self.forget(oldest);
        }
        Inserted::New(gone)
    }

    fn remove<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let number = self.find(hash, key)?;
        self.policy.remove(number);
        value(self.forget(number))
    }

    fn len(&self) -> usize {
        self.policy.len() as usize
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
