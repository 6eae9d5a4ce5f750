//! The shards of a cache, and the interface of one.

use std::borrow::Borrow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Eviction;
use super::clock_set::{ClockSet, WAYS};
use super::s3_shard::S3Shard;

/// What a shard counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) evictions: u64,
}

/// What became of an insertion.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inserted<V> {
    /// The key had this value.
    Replaced(V),
    /// It is new, and this value left for it.
    New(Option<V>),
}

/// Some of the entries, behind one lock. Every key comes with its hash.
pub(super) trait Shard<K, V> {
    fn get<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>;
    /// The same without a trace.
    fn peek<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>;
    fn insert(&mut self, hash: u64, key: K, value: V) -> Inserted<V>;
    fn remove<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>;
    fn len(&self) -> usize;
    fn counts(&self) -> Counts;
}

/// On lines of their own, so that a lock does not slow its neighbours.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Locked<T>(Mutex<T>);

impl<T> Locked<T> {
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) enum Shards<K, V> {
    S3Fifo(Box<[Locked<S3Shard<K, V>>]>),
    Clock(Box<[Locked<ClockSet<K, V>>]>),
}

/// Does something with the shard of a hash.
macro_rules! on_shard {
    ($shards:expr, $hash:expr, $shard:ident => $what:expr) => {
        match $shards {
            Shards::S3Fifo(shards) => {
                let mut locked = shards[place($hash, shards.len())].lock();
                let $shard = &mut *locked;
                $what
            }
            Shards::Clock(sets) => {
                let mut locked = sets[place($hash, sets.len())].lock();
                let $shard = &mut *locked;
                $what
            }
        }
    };
}

impl<K: Eq, V> Shards<K, V> {
    /// Empty shards of this many entries together; as many as asked for, unless sets need more.
    pub(super) fn new(capacity: u32, eviction: Eviction, count: usize) -> Self {
        match eviction {
            Eviction::S3Fifo => {
                Self::S3Fifo(shares(capacity, count).map(|n| locked(S3Shard::new(n))).collect())
            }
            Eviction::Clock => {
                let sets = usize::try_from(capacity.div_ceil(WAYS)).unwrap_or(usize::MAX);
                Self::Clock(shares(capacity, sets).map(|n| locked(ClockSet::new(n))).collect())
            }
        }
    }

    #[inline]
    pub(super) fn get<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        V: Clone,
    {
        on_shard!(self, hash, shard => shard.get(hash, key).cloned())
    }

    /// The same without a trace.
    pub(super) fn peek(&self, hash: u64, key: &K) -> Option<V>
    where
        V: Clone,
    {
        on_shard!(self, hash, shard => shard.peek(hash, key).cloned())
    }

    pub(super) fn insert(&self, hash: u64, key: K, value: V) -> Inserted<V> {
        on_shard!(self, hash, shard => shard.insert(hash, key, value))
    }

    pub(super) fn remove<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        on_shard!(self, hash, shard => shard.remove(hash, key))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::S3Fifo(shards) => shards.iter().map(|shard| shard.lock().len()).sum(),
            Self::Clock(sets) => sets.iter().map(|set| set.lock().len()).sum(),
        }
    }

    /// The counts of all together.
    pub(super) fn counts(&self) -> Counts {
        let add = |all: Counts, one: Counts| Counts {
            hits: all.hits + one.hits,
            misses: all.misses + one.misses,
            evictions: all.evictions + one.evictions,
        };
        match self {
            Self::S3Fifo(all) => {
                all.iter().map(|one| one.lock().counts()).fold(Counts::default(), add)
            }
            Self::Clock(all) => {
                all.iter().map(|one| one.lock().counts()).fold(Counts::default(), add)
            }
        }
    }
}

/// Divides a number into shares that differ by one at most.
fn shares(all: u32, count: usize) -> impl Iterator<Item = u32> {
    let count = u32::try_from(count).unwrap_or(u32::MAX).clamp(1, all);
    let before = move |at: u32| u64::from(all) * u64::from(at) / u64::from(count);
    (0..count).map(move |at| u32::try_from(before(at + 1) - before(at)).unwrap_or(u32::MAX))
}

/// The place of a hash among some, from bits that no table of a shard uses.
#[inline]
pub(super) fn place(hash: u64, count: usize) -> usize {
    let scaled = (hash & u64::from(u32::MAX)) * count as u64;
    usize::try_from(scaled >> 32).unwrap_or(0)
}

fn locked<T>(what: T) -> Locked<T> {
    Locked(Mutex::new(what))
}
