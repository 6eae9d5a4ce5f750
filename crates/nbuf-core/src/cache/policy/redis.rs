//! Redis: looks at some random keys, and evicts the one that was idle longest of these and of the best found before.
//!
//! The candidates of earlier evictions stay in a pool of sixteen, with the idle time that they had when they were seen.
//! A key of the pool that was used since may go all the same: the pool does not look again. Invariant: with as many
//! samples as keys it is near LRU, and with one near random. Cost: each eviction reads as many places in memory as there
//! are samples. Redis 7.0, `src/evict.c` (`evictionPoolPopulate`, `performEvictions`); S. Sanfilippo, *Random notes on
//! improving the Redis LRU algorithm*, 2016.
//!
//! Time is the number of the access. Redis counts it in seconds, so in a cache that turns over within a few seconds it
//! chooses worse than this.

use super::super::frames::Frames;
use super::super::table::Table;
use super::parameter::Tuned;
use super::{Access, Cause, Parameter, Settable, Simple, at_least_one, holds};
use crate::clock;

/// Keys that an eviction looks at, by default: `maxmemory-samples`.
const SAMPLES: u32 = 5;
/// `maxmemory-samples` may be more, but then is no sample any more.
const SAMPLES_MAX: u32 = 64;
/// `EVPOOL_SIZE`.
const POOL: usize = 16;

/// A key of the pool.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    page: u32,
    idle: u64,
}

/// Sampled LRU with a pool, by a seed.
#[derive(Clone, Debug)]
pub(crate) struct Redis {
    capacity: u32,
    samples: u32,
    frames: Frames,
    used_at: Table<u64>,
    time: u64,
    /// By idle time, the longest last.
    pool: Vec<Candidate>,
    chance: clock::Random,
}

impl Tuned for Redis {
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::number("samples", "the keys that an eviction looks at", SAMPLES, SAMPLES_MAX)];
    const SETTABLE: Settable = Settable::with_objects::<Self>();

    fn tuned(capacity: u32, seed: u64, values: &[u32]) -> Self {
        Self {
            capacity: at_least_one(capacity),
            samples: values[0].max(1),
            frames: Frames::default(),
            used_at: Table::default(),
            time: 0,
            pool: Vec::new(),
            chance: clock::Random::new(seed),
        }
    }
}

impl Redis {
    fn use_now(&mut self, page: u32) {
        self.time += 1;
        *self.used_at.at(page) = self.time;
    }

    /// Puts random pages into the pool, where they were idle for longer than one of it, or there is room.
    fn populate(&mut self) {
        for _ in 0..self.samples {
            let Some(page) = self.frames.at_any(&mut self.chance).next() else { return };
            if self.pool.iter().any(|known| known.page == page) {
                continue;
            }
            let idle = self.time - self.used_at.get(page);
            let at = self.pool.partition_point(|known| known.idle < idle);
            if self.pool.len() < POOL {
                self.pool.insert(at, Candidate { page, idle });
            } else if at > 0 {
                self.pool.remove(0);
                self.pool.insert(at - 1, Candidate { page, idle });
            }
        }
    }
}

impl Simple for Redis {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            self.use_now(access.page);
        }
        there
    }

    /// The candidate that was idle longest; where none may go, any page that may.
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.frames.len() == 0 {
            return None;
        }
        self.populate();
        let best = self.pool.iter().rposition(|known| is_evictable(known.page));
        let victim = match best {
            Some(at) => self.pool[at].page,
            None => self.frames.at_any(&mut self.chance).find(|&page| is_evictable(page))?,
        };
        self.leave(victim);
        Some(victim)
    }

    fn rival(&mut self) -> Option<u32> {
        self.populate();
        self.pool.last().map(|known| known.page)
    }

    fn insert(&mut self, access: Access, _cause: Cause) {
        self.frames.insert(access.page);
        self.use_now(access.page);
    }

    fn leave(&mut self, page: u32) {
        self.pool.retain(|known| known.page != page);
        self.frames.remove(page);
    }

    fn contains(&self, page: u32) -> bool {
        self.frames.contains(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.frames.len()
    }

    fn check(&self) -> Result<(), String> {
        self.frames.check()?;
        let is_in = |known: &Candidate| self.contains(known.page);
        holds(self.pool.len() <= POOL && self.pool.iter().all(is_in), || {
            "a pool of others".to_owned()
        })?;
        holds(self.pool.is_sorted_by_key(|known| known.idle), || "a pool in disorder".to_owned())
    }

    fn prefetch(&self, page: u32) {
        self.frames.prefetch(page);
    }
}
