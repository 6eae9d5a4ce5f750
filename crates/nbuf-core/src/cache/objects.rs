//! Caches of objects with sizes, several at once: they evict until what comes fits.
//!
//! An object takes its bytes and an overhead. One that is larger than the cache is not taken in. An
//! access to an object that is there may give it another size: the cache then evicts until all fits
//! again, and an object that grew beyond the cache leaves. In any of these cases the access is a hit.
//!
//! Invariant: what is there never takes more than the cache has. Every size has the same record of how
//! large each object was at its last access, because an object that is there was last accessed with that
//! size. Cost: what the policy costs at each size, and 8 bytes an object.

mod segments;
mod slabs;

use super::policy::{Access, Cause, Simple};
use super::table::Table;
pub(super) use slabs::slabs;

/// Accesses between asking for what one will look at and looking.
const AHEAD: usize = 8;

/// An access to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its dense number.
    pub(crate) number: u32,
    /// The bytes that are asked for.
    pub(crate) bytes: u64,
    /// What it takes in a cache: its bytes and the overhead.
    pub(crate) charge: u64,
}

/// What was counted at a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectCount {
    /// The cache.
    pub(crate) cache_bytes: u64,
    /// Accesses.
    pub(crate) requests: u64,
    /// Those that did not find their object.
    pub(crate) misses: u64,
    /// Bytes that were asked for.
    pub(crate) bytes: u64,
    /// Those of the misses.
    pub(crate) miss_bytes: u64,
}

/// Counts hits and misses of one policy over objects, at several sizes.
pub(crate) trait ObjectEngine: Send {
    /// Takes the next batch.
    fn access(&mut self, objects: &[Object]);

    /// These objects exist no more; their next accesses miss.
    fn remove(&mut self, numbers: &[u32]);

    /// Forgets what was counted, and nothing of what the caches hold.
    fn start_counting(&mut self);

    /// The counts, in the order of the sizes asked for.
    fn finish(self: Box<Self>) -> Vec<ObjectCount>;
}

/// An engine for these sizes, any of them at least one.
pub(crate) type MakeObjectEngine = fn(sizes_bytes: &[u64], seed: u64) -> Box<dyn ObjectEngine>;

/// A policy at one size.
struct Cache<P> {
    policy: P,
    used_bytes: u64,
    count: ObjectCount,
}

/// All sizes.
struct Caches<P> {
    caches: Vec<Cache<P>>,
    /// What each object took at its last access.
    charges: Table<u64>,
}

/// An engine out of a policy that never asks how many pages it may hold.
pub(super) fn objects<P: Simple + Send + 'static>(
    sizes_bytes: &[u64],
    seed: u64,
) -> Box<dyn ObjectEngine> {
    objects_of(sizes_bytes, || P::new(u32::MAX, seed))
}

/// An engine out of policies that are made without a bound of pages.
pub(super) fn objects_of<P: Simple + Send + 'static>(
    sizes_bytes: &[u64],
    policy: impl Fn() -> P,
) -> Box<dyn ObjectEngine> {
    let cache = |&cache_bytes: &u64| Cache {
        policy: policy(),
        used_bytes: 0,
        count: ObjectCount { cache_bytes, ..ObjectCount::default() },
    };
    Box::new(Caches { caches: sizes_bytes.iter().map(cache).collect(), charges: Table::default() })
}

impl<P: Simple + Send> ObjectEngine for Caches<P> {
    fn access(&mut self, objects: &[Object]) {
        for (at, object) in objects.iter().enumerate() {
            if let Some(later) = objects.get(at + AHEAD) {
                self.caches.iter().for_each(|cache| cache.policy.prefetch(later.number));
            }
            let before = std::mem::replace(self.charges.at(object.number), object.charge);
            for cache in &mut self.caches {
                cache.access(object, before, &self.charges);
            }
        }
    }

    fn remove(&mut self, numbers: &[u32]) {
        for cache in &mut self.caches {
            for &number in numbers {
                if cache.policy.contains(number) {
                    cache.policy.leave(number);
                    cache.used_bytes -= self.charges.get(number);
                }
                cache.policy.forget(number);
            }
        }
    }

    fn start_counting(&mut self) {
        for Cache { count, .. } in &mut self.caches {
            *count = ObjectCount { cache_bytes: count.cache_bytes, ..ObjectCount::default() };
        }
    }

    fn finish(self: Box<Self>) -> Vec<ObjectCount> {
        self.caches.into_iter().map(|cache| cache.count).collect()
    }
}

impl<P: Simple> Cache<P> {
    /// An access to an object that took `before` bytes if it is there. The record has its size of now.
    fn access(&mut self, object: &Object, before: u64, charges: &Table<u64>) {
        let &Object { number, bytes, charge } = object;
        let most = self.count.cache_bytes;
        self.count.requests += 1;
        self.count.bytes += bytes;
        self.policy.weigh(number, charge);
        if self.policy.touch(Access::to(number)) {
            self.used_bytes -= before;
            if charge > most {
                self.policy.leave(number);
                return;
            }
            self.used_bytes += charge;
            self.make_room(most, charges);
            return;
        }
        self.count.misses += 1;
        self.count.miss_bytes += bytes;
        if charge <= most {
            self.make_room(most - charge, charges);
            self.policy.insert(Access::to(number), Cause::Demand);
            self.used_bytes += charge;
        }
    }

    /// Evicts until no more than `most` bytes are used.
    fn make_room(&mut self, most: u64, charges: &Table<u64>) {
        while self.used_bytes > most
            && let Some(victim) = self.policy.evict(|_| true)
        {
            self.used_bytes -= charges.get(victim);
        }
    }
}

#[cfg(test)]
mod tests;
