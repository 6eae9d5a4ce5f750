//! What other sizes of a cache would give: the small caches of a running disc cache, over the hashes of keys.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Eviction, Stats};
use crate::cache::cached::{Counts, OtherSize, Others};

pub(super) struct Curve {
    /// So that keys outside the sample need no lock.
    sample: u64,
    others: Mutex<Others>,
}

impl Curve {
    pub(super) fn new(eviction: Eviction, capacity: u32) -> Self {
        let name = match eviction {
            Eviction::S3Fifo => "s3-fifo",
            Eviction::Clock => "clock",
        };
        let policy = name.parse().expect("a row of the table");
        let others = Others::new(policy, capacity, Counts::default());
        Self { sample: others.sample(), others: Mutex::new(others) }
    }

    #[inline]
    fn of(&self, hash: u64) -> Option<MutexGuard<'_, Others>> {
        Others::is_in(hash, self.sample).then(|| self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(super) fn read(&self, hash: u64) {
        if let Some(mut others) = self.of(hash) {
            others.read(hash, false);
        }
    }

    /// A new key was looked up before, as a rule, and every cache took it in then.
    pub(super) fn insert(&self, hash: u64, was_there: bool) {
        match self.of(hash) {
            Some(mut others) if was_there => others.write(hash),
            Some(mut others) => others.fetch(hash),
            None => {}
        }
    }

    pub(super) fn remove(&self, hash: u64) {
        if let Some(mut others) = self.of(hash) {
            others.remove(hash);
        }
    }

    pub(super) fn sizes(&self, stats: &Stats) -> Vec<OtherSize> {
        let (lookups, hits) = (stats.hits + stats.misses, stats.hits);
        self.lock().sizes(&Counts { lookups, hits, ..Counts::default() })
    }
}

impl std::fmt::Debug for Curve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Curve").field("sample", &self.sample).finish_non_exhaustive()
    }
}
