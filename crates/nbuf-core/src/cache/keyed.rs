//! A cache of values by key, for programs.
//!
//! ```
//! use nbuf::cache::{Cache, Eviction};
//!
//! let cache = Cache::new(1000, Eviction::S3Fifo);
//! cache.insert("a", 1);
//! assert_eq!(cache.get("a"), Some(1));
//! let loaded = cache.get_or_load("b", |key| key.len().try_into())?;
//! assert_eq!((loaded, cache.stats().loads), (1, 1));
//! # Ok::<(), std::num::TryFromIntError>(())
//! ```
//!
//! Any thread may call it. Entries are in shards with a lock each, by the hash of their keys; no lock is held while a value is loaded or dropped.
//! A value is stored once and cloned for each caller, so a large one belongs in an [`Arc`](std::sync::Arc).
//!
//! Invariants: never more entries than its capacity. A key is loaded by one caller at a time. What a key
//! gets is never older than the last insertion or removal of it that was over when the load began.
//!
//! Not for entries that weigh differently or expire, and not for keys chosen by an enemy: the usual hash has a secret
//! that can be found out.

mod clock_set;
mod curve;
mod flights;
mod s3_shard;
mod shards;
mod sync;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;

use super::cached::OtherSize;
use curve::Curve;
use flights::{Flights, Joined};
use shards::{Counts, Inserted, Shards};

/// What is evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// S3-FIFO in each shard, as [the policy](super::policy) of that name: the better hit ratio.
    #[default]
    S3Fifo,
    /// CLOCK in sets of sixteen entries, with a lock for each. It hits less than the other one.
    Clock,
}

/// What was counted since a cache was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Lookups that found their key.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Entries that left for others.
    pub evictions: u64,
    /// Loads that began.
    pub loads: u64,
    /// Callers that waited for the load of another.
    pub joined: u64,
}

impl Stats {
    /// Hits per lookup; nothing before the first.
    pub fn hit_ratio(&self) -> Option<f64> {
        let lookups = self.hits + self.misses;
        (lookups > 0).then(|| self.hits as f64 / lookups as f64)
    }
}

/// A cache of some entries. See the [module](self).
#[derive(Debug)]
pub struct Cache<K, V, S = DefaultHashBuilder> {
    shards: Shards<K, V>,
    flights: Flights<K, V>,
    curve: Option<Curve>,
    capacity: u32,
    eviction: Eviction,
    hasher: S,
}

impl<K: Hash + Eq, V> Cache<K, V> {
    /// An empty cache of this many entries, at least one.
    pub fn new(capacity: u32, eviction: Eviction) -> Self {
        Self::with_hasher(capacity, eviction, DefaultHashBuilder::default())
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Cache<K, V, S> {
    /// The same with a hash of the caller's, of which all bits count.
    pub fn with_hasher(capacity: u32, eviction: Eviction, hasher: S) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // Few enough that a shard's share of the keys is even.
        let most = usize::try_from(capacity / SHARD_ENTRIES_MIN).unwrap_or(usize::MAX).max(1);
        Self::with_shards(capacity, eviction, hasher, (4 * threads).min(most))
    }

    fn with_shards(capacity: u32, eviction: Eviction, hasher: S, count: usize) -> Self {
        let capacity = capacity.max(1);
        let shards = Shards::new(capacity, eviction, count);
        let (flights, curve) = (Flights::default(), None);
        Self { shards, flights, curve, capacity, eviction, hasher }
    }

    /// Follows what other sizes would give, by a sample of the keys. See [`Cache::other_sizes`].
    #[must_use]
    pub fn with_curve(mut self) -> Self {
        self.curve = Some(Curve::new(self.eviction, self.capacity));
        self
    }

    /// The value of a key.
    #[inline]
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        V: Clone,
    {
        let hash = self.hasher.hash_one(key);
        let found = self.shards.get(hash, key);
        if let Some(curve) = &self.curve {
            curve.read(hash);
        }
        found
    }

    /// Gives a key a value, and returns the one that it had. A load of the key that is under way is not stored.
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        let hash = self.hasher.hash_one(&key);
        self.flights.detach(hash, &key);
        match self.store(hash, key, value) {
            Inserted::Replaced(value) => Some(value),
            Inserted::New(_) => None,
        }
    }

    /// Removes a key, and returns its value. A load of the key that is under way is not stored.
    pub fn remove<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(key);
        self.flights.detach(hash, key);
        let removed = self.shards.remove(hash, key);
        if let (Some(curve), true) = (&self.curve, removed.is_some()) {
            curve.remove(hash);
        }
        removed
    }

    /// The value of a key; if it has none, the one that `load` gives it. If several callers ask for one key at the
    /// same time, one loads and the others wait for it. If it fails or panics, the next of them loads.
    ///
    /// # Panics
    /// If `load` asks for the key that it loads. Loads in several threads that ask for each other's keys wait forever.
    pub fn get_or_load<E>(&self, key: K, load: impl FnOnce(&K) -> Result<V, E>) -> Result<V, E>
    where
        K: Clone,
        V: Clone,
    {
        if let Some(found) = self.get(&key) {
            return Ok(found);
        }
        let hash = self.hasher.hash_one(&key);
        let leader = loop {
            // A load that ended since the lookup has stored its value.
            match self.flights.join(hash, &key, || self.shards.peek(hash, &key)) {
                Joined::Value(value) => return Ok(value),
                Joined::Failed => {}
                Joined::Leads(leader) => break leader,
            }
        };
        let value = load(&key)?;
        // An insertion that began before the load may have stored meanwhile, and is newer.
        leader.finish(value.clone(), |value| match self.shards.peek(hash, &key) {
            None => Ok(self.store(hash, key, value)),
            Some(newer) => Err((newer, key, value)),
        });
        Ok(value)
    }

    fn store(&self, hash: u64, key: K, value: V) -> Inserted<V> {
        let inserted = self.shards.insert(hash, key, value);
        if let Some(curve) = &self.curve {
            curve.insert(hash, matches!(inserted, Inserted::Replaced(_)));
        }
        inserted
    }

    /// Entries at most.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Entries now. It takes each lock in turn.
    pub fn len(&self) -> usize {
        self.shards.len()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was counted. It takes each lock in turn.
    pub fn stats(&self) -> Stats {
        let (loads, joined) = self.flights.counts();
        let Counts { hits, misses, evictions } = self.shards.counts();
        Stats { hits, misses, evictions, loads, joined }
    }

    /// What other sizes and policies would have given, with a band of 95 %; `pages` are entries. Nothing without
    /// [`Cache::with_curve`] and before a lookup. An insertion counts as what its program does after a miss.
    pub fn other_sizes(&self) -> Vec<OtherSize> {
        self.curve.as_ref().map_or_else(Vec::new, |curve| curve.sizes(&self.stats()))
    }
}

/// The fewest entries of a shard, so that shards of one cache are full at the same time, nearly.
const SHARD_ENTRIES_MIN: u32 = 1024;
