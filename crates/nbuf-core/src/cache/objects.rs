//! Caches of objects with sizes, several at once: they evict until what comes fits.
//!
//! An object takes its bytes and an overhead. One that is larger than the cache is not taken in; what it does to the
//! others is a setting, [`Oversized`]. An access to an object that is there may give it another size: the cache then evicts until all fits
//! again, and an object that grew beyond the cache leaves. In any of these cases the access is a hit.
//!
//! What holds for every policy is a layer around it, which is here: counting, [`Expiry`], which ends objects whose time is
//! over, and [`Gate`]s, which may refuse an object that missed.
//!
//! Invariant: what is there never takes more than the cache has. Every size has the same record of how
//! large each object was at its last access, because an object that is there was last accessed with that
//! size. Cost: what the policy costs at each size, and 8 bytes an object.

mod adapt_size;
mod bounds;
mod expiry;
mod gate;
mod oversized;
mod segments;
mod slabs;
mod store;

use super::admission::{Admission, Tuning};
use super::policy::{Lru, Simple};
use super::table::Table;
use bounds::Least;
pub(super) use bounds::bounds;
use expiry::Expiry;
pub(crate) use expiry::NEVER_NS;
pub use expiry::{Expired, ExpiredError};
use gate::Gate;
pub use oversized::{Oversized, OversizedError};
pub(super) use slabs::slabs;
use store::{Evicting, Store};

/// Accesses between asking for what one will look at and looking.
const AHEAD: usize = 8;

/// An access to an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Object {
    /// Its dense number.
    pub(crate) number: u32,
    /// Whether it is written, so that it lives from now on.
    pub(crate) is_write: bool,
    /// Whether it counts.
    pub(crate) is_counted: bool,
    /// The bytes that are asked for.
    pub(crate) bytes: u64,
    /// What it takes in a cache: its bytes and the overhead.
    pub(crate) charge: u64,
    /// What a miss costs: 1 where the trace does not say.
    pub(crate) cost: f64,
    /// The time of the access. It never falls.
    pub(crate) now_ns: i64,
    /// When it ends if it comes in now; [`NEVER_NS`] if it does not.
    pub(crate) ends_ns: i64,
}

/// What was counted at a size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// What all accesses cost if none hits, and what the misses cost.
    pub(crate) cost: f64,
    pub(crate) miss_cost: f64,
    /// Where these are the misses of some schedule: what no schedule is below.
    pub(crate) least: Option<Least>,
}

impl ObjectCount {
    fn of(cache_bytes: u64) -> Self {
        Self { cache_bytes, ..Self::default() }
    }
}

/// What is around a policy, whichever it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// For what plays with chance.
    pub(crate) seed: u64,
    /// What becomes of expired objects; nothing where no object expires.
    pub(crate) expired: Option<Expired>,
    /// What an object that is larger than the cache does to the others.
    pub(crate) oversized: Oversized,
    /// What decides whether an object comes in: all must admit it.
    pub(crate) admissions: Vec<Admission>,
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

    /// Keeps what leaves the first cache from now on, for [`Self::gone`]. An engine that cannot keeps nothing.
    fn watch(&mut self) {}

    /// What left the first cache since the last call, by eviction, because it grew too large, or removed.
    fn gone(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether the first cache has an object.
    fn holds(&self, _number: u32) -> bool {
        false
    }

    /// An access that counts. Whether the first cache has the object.
    fn look(&mut self, object: &Object) -> bool {
        let is_there = self.holds(object.number);
        self.access(std::slice::from_ref(object));
        is_there
    }
}

/// An engine for these sizes, any of them at least one.
pub(crate) type MakeObjectEngine =
    fn(sizes_bytes: &[u64], layers: &Layers) -> Box<dyn ObjectEngine>;

/// A policy at one size, with what is around it.
struct Cache<S> {
    store: S,
    expiry: Option<Expiry>,
    gates: Vec<Gate>,
    count: ObjectCount,
}

/// All sizes.
struct Caches<S: Store> {
    caches: Vec<Cache<S>>,
    /// What each object took at its last access.
    kept: Table<S::Kept>,
}

/// An engine out of a policy that never asks how many pages it may hold.
pub(super) fn objects<P: Simple + Send + 'static>(
    sizes_bytes: &[u64],
    layers: &Layers,
) -> Box<dyn ObjectEngine> {
    objects_of(sizes_bytes, layers, || P::new(u32::MAX, layers.seed))
}

/// An engine out of policies that are made without a bound of pages.
pub(super) fn objects_of<P: Simple + Send + 'static>(
    sizes_bytes: &[u64],
    layers: &Layers,
    policy: impl Fn() -> P,
) -> Box<dyn ObjectEngine> {
    caches(sizes_bytes, layers, |bytes| Evicting::new(policy(), bytes, layers.oversized))
}

/// LRU with admission by size.
pub(super) fn adapt_size(
    sizes_bytes: &[u64],
    layers: &Layers,
    tuning: Tuning,
) -> Box<dyn ObjectEngine> {
    let mut layers = layers.clone();
    layers.admissions.push(Admission::AdaptSize(tuning));
    objects::<Lru>(sizes_bytes, &layers)
}

/// An engine out of caches of each size.
fn caches<S: Store + 'static>(
    sizes_bytes: &[u64],
    layers: &Layers,
    store: impl Fn(u64) -> S,
) -> Box<dyn ObjectEngine> {
    let cache = |&cache_bytes: &u64| {
        let gate = |&admission: &Admission| Gate::new(admission, layers.seed, cache_bytes);
        Cache {
            store: store(cache_bytes),
            expiry: layers.expired.map(Expiry::new),
            gates: layers.admissions.iter().map(gate).collect(),
            count: ObjectCount::of(cache_bytes),
        }
    };
    Box::new(Caches { caches: sizes_bytes.iter().map(cache).collect(), kept: Table::default() })
}

impl<S: Store> ObjectEngine for Caches<S> {
    fn access(&mut self, objects: &[Object]) {
        for (at, object) in objects.iter().enumerate() {
            if let Some(later) = objects.get(at + AHEAD) {
                self.caches.iter().for_each(|cache| cache.store.prefetch(later.number));
            }
            let now = S::kept(object);
            let before = std::mem::replace(self.kept.at(object.number), now);
            for cache in &mut self.caches {
                cache.access(object, before, &self.kept);
            }
        }
    }

    fn remove(&mut self, numbers: &[u32]) {
        for cache in &mut self.caches {
            for &number in numbers {
                if cache.store.contains(number) {
                    cache.store.leave(number, self.kept.get(number));
                }
                cache.store.forget(number);
            }
        }
    }

    fn start_counting(&mut self) {
        for Cache { count, .. } in &mut self.caches {
            *count = ObjectCount::of(count.cache_bytes);
        }
    }

    fn finish(self: Box<Self>) -> Vec<ObjectCount> {
        self.caches.into_iter().map(|cache| cache.count).collect()
    }

    fn watch(&mut self) {
        if let Some(first) = self.caches.first_mut() {
            first.store.watch();
        }
    }

    fn gone(&mut self) -> Vec<u32> {
        self.caches.first_mut().map(|first| first.store.gone()).unwrap_or_default()
    }

    fn holds(&self, number: u32) -> bool {
        self.caches.first().is_some_and(|first| first.store.contains(number))
    }
}

impl<S: Store> Cache<S> {
    /// An access to an object of which `before` was kept if it is there. The record has what is kept of it now.
    fn access(&mut self, object: &Object, before: S::Kept, all: &Table<S::Kept>) {
        if object.is_counted {
            self.count.requests += 1;
            self.count.bytes += object.bytes;
            self.count.cost += object.cost;
        }
        if let Some(expiry) = &mut self.expiry {
            expiry.end(object, |number| {
                if self.store.contains(number) {
                    let is_own = number == object.number;
                    self.store.leave(number, if is_own { before } else { all.get(number) });
                }
            });
        }
        for gate in &mut self.gates {
            gate.see(object, self.store.len());
        }
        if self.store.touch(object, before, all) {
            if object.is_write
                && let Some(expiry) = &mut self.expiry
            {
                expiry.begin(object);
            }
            return;
        }
        if object.is_counted {
            self.count.misses += 1;
            self.count.miss_bytes += object.bytes;
            self.count.miss_cost += object.cost;
        }
        let store = &mut self.store;
        if !self.gates.iter_mut().all(|gate| gate.admits(object, || store.rival(object, all))) {
            return;
        }
        self.store.insert(object, all);
        if let Some(expiry) = &mut self.expiry {
            expiry.begin(object);
        }
    }
}

#[cfg(test)]
mod tests;
