//! A cache of objects of one size, without what is around it: a policy, and the bytes that it has in use.

use super::{Object, Oversized};
use crate::cache::policy::{Access, Cause, Simple};
use crate::cache::table::Table;

/// A cache of one size that an access touches, and that then takes in what missed.
pub(super) trait Store: Send {
    /// What is known of an object from its last access, the same at every size.
    type Kept: Copy + Default + Send;

    /// What is to be known of an object from this access.
    fn kept(object: &Object) -> Self::Kept;

    /// Whether an object is there.
    fn contains(&self, number: u32) -> bool;

    /// Looks an object up, of which `before` was kept if it is there, and uses it. Whether it was there; it may have
    /// another size now, and leave for it.
    fn touch(&mut self, object: &Object, before: Self::Kept, all: &Table<Self::Kept>) -> bool;

    /// The object that would go first for this one, which is not there; none where it fits, or never can.
    fn rival(&mut self, object: &Object, all: &Table<Self::Kept>) -> Option<u32>;

    /// Objects that are there.
    fn len(&self) -> u32;

    /// Takes in an object that is not there, unless it is larger than the cache, and evicts what must go for it.
    fn insert(&mut self, object: &Object, all: &Table<Self::Kept>);

    /// An object that is there leaves.
    fn leave(&mut self, number: u32, kept: Self::Kept);

    /// Nothing is remembered any more of an object that is not there.
    fn forget(&mut self, number: u32);

    /// Starts to load what a touch will look at.
    fn prefetch(&self, number: u32);

    /// Keeps what leaves from now on.
    fn watch(&mut self) {}

    /// What left since the last call.
    fn gone(&mut self) -> Vec<u32> {
        Vec::new()
    }
}

/// A policy that evicts until what comes fits.
pub(super) struct Evicting<P> {
    policy: P,
    cache_bytes: u64,
    used_bytes: u64,
    oversized: Oversized,
    /// What left, if that is watched.
    gone: Option<Vec<u32>>,
}

impl<P: Simple> Evicting<P> {
    pub(super) fn new(mut policy: P, cache_bytes: u64, oversized: Oversized) -> Self {
        policy.bound(cache_bytes);
        Self { policy, cache_bytes, used_bytes: 0, oversized, gone: None }
    }

    /// An object came that is larger than the cache.
    fn exceed(&mut self, charges: &Table<u64>) {
        if self.oversized == Oversized::Clear {
            self.make_room(0, charges);
        }
    }

    /// Evicts until no more than `most` bytes are used.
    fn make_room(&mut self, most: u64, charges: &Table<u64>) {
        while self.used_bytes > most
            && let Some(victim) = self.policy.evict(|_| true)
        {
            self.used_bytes -= charges.get(victim);
            self.note(victim);
        }
    }

    fn note(&mut self, number: u32) {
        if let Some(gone) = &mut self.gone {
            gone.push(number);
        }
    }
}

impl<P: Simple + Send> Store for Evicting<P> {
    /// What it takes.
    type Kept = u64;

    fn kept(object: &Object) -> u64 {
        object.charge
    }

    fn contains(&self, number: u32) -> bool {
        self.policy.contains(number)
    }

    fn touch(&mut self, object: &Object, before: u64, charges: &Table<u64>) -> bool {
        let &Object { number, charge, cost, .. } = object;
        self.policy.weigh(number, charge, cost);
        if !self.policy.touch(Access::to(number)) {
            return false;
        }
        if charge > self.cache_bytes {
            self.leave(number, before);
            self.exceed(charges);
        } else if charge != before {
            self.used_bytes = self.used_bytes - before + charge;
            self.make_room(self.cache_bytes, charges);
        }
        true
    }

    fn rival(&mut self, object: &Object, _charges: &Table<u64>) -> Option<u32> {
        let room = self.cache_bytes.checked_sub(object.charge)?;
        if self.used_bytes > room { self.policy.rival() } else { None }
    }

    fn len(&self) -> u32 {
        self.policy.pages()
    }

    fn insert(&mut self, object: &Object, charges: &Table<u64>) {
        let &Object { number, charge, .. } = object;
        if charge <= self.cache_bytes {
            self.make_room(self.cache_bytes - charge, charges);
            self.policy.insert(Access::to(number), Cause::Demand);
            self.used_bytes += charge;
        } else {
            self.exceed(charges);
        }
    }

    fn leave(&mut self, number: u32, charge: u64) {
        self.policy.leave(number);
        self.used_bytes -= charge;
        self.note(number);
    }

    fn forget(&mut self, number: u32) {
        self.policy.forget(number);
    }

    fn prefetch(&self, number: u32) {
        self.policy.prefetch(number);
    }

    fn watch(&mut self) {
        self.gone = Some(Vec::new());
    }

    fn gone(&mut self) -> Vec<u32> {
        self.gone.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
