//! GDSF: the object with the lowest worth goes, which is its uses for each of its bytes, times what a miss costs, plus
//! the age of the cache when it was last used. A miss costs 1 unless a trace says more.
//!
//! The age is the worth of the last object that went, so that what was popular once does not stay for
//! ever. A small object needs fewer uses to stay than a large one: that hits more requests, and often
//! fewer bytes. Over pages, which all have one size, it is LFU with dynamic ageing. Invariant: the age
//! never falls. Cost: O(log n) an access. L. Cherkasova, *Improving WWW Proxies Performance with
//! Greedy-Dual-Size-Frequency Caching Policy*, 1998. Not where bytes that miss matter more than requests.

use super::super::heap::Heap;
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};

/// Worth of an object of one byte for each use, as in libCacheSim: the quotients are then the same.
const WORTH: f64 = 1e6;

/// Objects by worth, then by recency.
#[derive(Clone, Debug)]
pub(crate) struct Gdsf {
    capacity: u32,
    /// By the bits of the worth, which are in the order of the numbers as these are not negative.
    objects: Heap<(u64, u64)>,
    uses: Table<u32>,
    /// Bytes of each object for what a miss of it costs; 0 is one byte at a cost of 1.
    bytes: Table<f64>,
    /// Worth of the object that went last.
    age: f64,
    /// Uses of any object so far.
    time: u64,
}

impl Gdsf {
    /// Notes the uses of an object, and gives it the worth that follows.
    fn set(&mut self, object: u32, uses: u32) {
        *self.uses.at(object) = uses;
        self.time += 1;
        let bytes = Some(self.bytes.get(object)).filter(|&bytes| bytes > 0.0).unwrap_or(1.0);
        let worth = self.age + f64::from(uses) * WORTH / bytes;
        self.objects.set(object, (worth.to_bits(), self.time));
    }
}

impl Simple for Gdsf {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self {
            capacity: at_least_one(capacity),
            objects: Heap::default(),
            uses: Table::default(),
            bytes: Table::default(),
            age: 0.0,
            time: 0,
        }
    }

    fn weigh(&mut self, page: u32, bytes: u64, cost: f64) {
        *self.bytes.at(page) = bytes.max(1) as f64 / cost;
    }

    fn touch(&mut self, access: Access) -> bool {
        let there = self.objects.contains(access.page);
        if there {
            self.set(access.page, self.uses.get(access.page).saturating_add(1));
        }
        there
    }

    fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let (victim, (worth, _)) = self.objects.take_first(is_evictable)?;
        self.age = self.age.max(f64::from_bits(worth));
        *self.uses.at(victim) = 0;
        Some(victim)
    }

    fn rival(&mut self) -> Option<u32> {
        self.objects.first().map(|(page, _)| page)
    }

    fn insert(&mut self, access: Access, cause: Cause) {
        self.set(access.page, u32::from(cause == Cause::Demand));
    }

    fn leave(&mut self, page: u32) {
        self.objects.remove(page);
        *self.uses.at(page) = 0;
    }

    fn contains(&self, page: u32) -> bool {
        self.objects.contains(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.objects.len()
    }

    fn check(&self) -> Result<(), String> {
        let mut used = self.uses.iter().map(|(object, _)| object);
        holds(used.all(|object| self.contains(object)), || "uses of an absent object".to_owned())?;
        self.objects.check()
    }

    fn prefetch(&self, page: u32) {
        self.objects.prefetch(page);
    }
}
