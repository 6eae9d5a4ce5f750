//! Policies at one size, on a second reading: what they hit by class of access, and what they keep.
//!
//! The first reading says how often each key is used, so that an access is known for one to a key that is
//! used once. Memory: what each policy takes, and some 20 bytes a key for each of them.

use super::classes::{Classes, EIGHTHS};
use super::walk::{Pattern, Seen, Sink, Walk};
use super::watched::{Room, Watched};
use crate::cache::policy::Choice;
use crate::experiment::result::{ShapeAge, ShapePolicy};
use crate::meter::shape::{ROWS, row};
use crate::meter::times::Times;
use crate::trace::request::Request;
use crate::units::Nanos;
use crate::workload::within::Growing;

/// The policy by which accesses are near or far.
const LRU: &str = "lru";
/// What a key takes besides the memory of the policies, in the LRU cache next to them, and of each policy.
const KEY_BYTES: u64 = 20 + 10 + 8 + 2;
const KEY_BYTES_OF_LRU: u64 = 32;
const KEY_BYTES_OF_POLICY: u64 = size_of::<(u64, bool)>() as u64;
/// Tenths of the keys.
const DECILES: usize = 10;
/// The row of accesses without a distance.
pub(super) const NO_DISTANCE: usize = ROWS;

/// What an access is part of, as the rule of a difference sees it.
pub(super) const PATTERNS: [&str; 6] = ["used_once", "first_use", "loop", "scan", "near", "far"];

/// What the first reading says of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    decile: u8,
    is_used_once: bool,
}

/// A policy and what it keeps.
struct Judged {
    choice: Choice,
    cache: Watched,
    /// When each key came in, and whether it was hit since.
    came: Vec<(u64, bool)>,
    evictions: u64,
    ages: Times,
    stays: Times,
    /// Accesses that keys were there, added up: all, those used once, those without a hit.
    kept: [u128; 3],
}

impl Judged {
    /// Whether an access hits; what leaves is put in place of `gone`.
    fn access(&mut self, seen: &Seen, gone: &mut Vec<u32>) -> bool {
        gone.clear();
        let is_hit = self.cache.access(seen, gone);
        let came = &mut self.came[seen.key as usize];
        if is_hit {
            came.1 = true;
        } else {
            *came = (seen.at, false);
        }
        is_hit
    }

    /// A key leaves.
    fn leaves(&mut self, key: u32, at: u64, is_used_once: bool) -> u64 {
        let (came, was_hit) = self.came[key as usize];
        let stay = at.saturating_sub(came);
        self.kept[0] += u128::from(stay);
        self.kept[1] += u128::from(if is_used_once { stay } else { 0 });
        self.kept[2] += u128::from(if was_hit { 0 } else { stay });
        stay
    }
}

/// The policies while they are fed.
pub(super) struct Judge {
    known: Vec<Known>,
    room: Room,
    /// LRU, by which accesses are near or far, if the caches are of bytes.
    nearness: Option<Watched>,
    accesses: u64,
    policies: Vec<Judged>,
    /// The last access to each key.
    last: Vec<u64>,
    hits: Vec<bool>,
    /// What left a cache by the last access.
    gone: Vec<u32>,
    at: u64,
    pub(super) by_pattern: Classes,
    pub(super) by_popularity: Classes,
    pub(super) by_distance: Classes,
}

impl Judge {
    /// Policies in caches of this size, for keys that are used this often in this number of accesses. Policies without a
    /// rule for objects are left out where the caches are of bytes.
    pub(super) fn new(
        policies: &[Choice],
        room: Room,
        seed: u64,
        uses: &[u32],
        accesses: u64,
    ) -> Self {
        let judged = |&choice: &Choice| {
            let cache = Watched::new(&choice, room, seed)?;
            let (came, kept) = (vec![(0, false); uses.len()], [0; 3]);
            let (ages, stays) = (Times::default(), Times::default());
            Some(Judged { choice, cache, came, evictions: 0, ages, stays, kept })
        };
        let policies: Vec<Judged> = policies.iter().filter_map(judged).collect();
        let count = policies.len();
        let lru = matches!(room, Room::Bytes(_)).then(|| LRU.parse::<Choice>().ok()).flatten();
        Self {
            known: known(uses),
            room,
            nearness: lru.and_then(|lru| Watched::new(&lru, room, seed)),
            accesses,
            policies,
            last: vec![0; uses.len()],
            hits: vec![false; count],
            gone: Vec::new(),
            at: 0,
            by_pattern: Classes::new(PATTERNS.len(), count),
            by_popularity: Classes::new(DECILES, count),
            by_distance: Classes::new(NO_DISTANCE + 1, count),
        }
    }

    /// Whether LRU in a cache of this size hits.
    fn is_near(&mut self, seen: &Seen) -> bool {
        match (&mut self.nearness, self.room) {
            (Some(lru), _) => {
                self.gone.clear();
                lru.access(seen, &mut self.gone)
            }
            (None, Room::Keys(keys)) => seen.distance.is_some_and(|far| far <= keys.into()),
            (None, Room::Bytes(_)) => false,
        }
    }

    fn pattern(seen: &Seen, known: Known, is_near: bool) -> usize {
        let name = match (seen.pattern, seen.distance) {
            (Pattern::First, _) if known.is_used_once => "used_once",
            (Pattern::First, _) | (_, None) => "first_use",
            (Pattern::Loop, _) => "loop",
            (Pattern::Scan, _) => "scan",
            (_, Some(_)) if is_near => "near",
            (_, Some(_)) => "far",
        };
        PATTERNS.iter().position(|other| *other == name).unwrap_or(0)
    }

    /// The rows, and the names of the policies.
    pub(super) fn finish(&mut self) -> Vec<ShapePolicy> {
        let (at, known) = (self.at, &self.known);
        for judged in &mut self.policies {
            for (key, known) in (0..).zip(known) {
                if judged.cache.contains(key) {
                    judged.leaves(key, at, known.is_used_once);
                }
            }
        }
        let row = |(at, judged): (usize, &Judged)| {
            let hits = self.by_pattern.all_hits(at);
            let [all, once, no_hit] = judged.kept;
            let share = |part: u128| part as f64 / all.max(1) as f64;
            ShapePolicy {
                policy: judged.choice.to_string(),
                hits,
                hit_ratio: hits as f64 / self.accesses.max(1) as f64,
                evictions: judged.evictions,
                eviction_age: age(&judged.ages),
                stay: age(&judged.stays),
                used_once_share: share(once),
                no_hit_share: share(no_hit),
            }
        };
        self.policies.iter().enumerate().map(row).collect()
    }
}

impl Sink for Judge {
    fn access(&mut self, seen: &Seen) {
        // A trace that has changed has keys that the first reading did not see.
        let Some(&known) = self.known.get(seen.key as usize) else { return };
        let Self { policies, last, hits, gone, known: all, .. } = self;
        for (judged, hit) in policies.iter_mut().zip(hits.iter_mut()) {
            *hit = judged.access(seen, gone);
            for &evicted in &*gone {
                let stay = judged.leaves(evicted, seen.at, all[evicted as usize].is_used_once);
                judged.evictions += 1;
                judged.stays.add(Nanos(stay));
                let idle = if evicted == seen.key { 0 } else { seen.at - last[evicted as usize] };
                judged.ages.add(Nanos(idle));
            }
        }
        last[seen.key as usize] = seen.at;
        self.at = seen.at + 1;
        let eighth = u128::from(seen.at) * EIGHTHS as u128 / u128::from(self.accesses.max(1));
        let eighth = usize::try_from(eighth).unwrap_or(EIGHTHS);
        let is_near = self.is_near(seen);
        let pattern = Self::pattern(seen, known, is_near);
        self.by_pattern.add(pattern, eighth, &self.hits);
        self.by_popularity.add(known.decile.into(), eighth, &self.hits);
        self.by_distance.add(seen.distance.map_or(NO_DISTANCE, row), eighth, &self.hits);
    }

    fn remove(&mut self, key: u32) {
        let Some(&known) = self.known.get(key as usize) else { return };
        for judged in &mut self.policies {
            if judged.cache.contains(key) {
                judged.leaves(key, self.at, known.is_used_once);
            }
            judged.cache.remove(key);
        }
        if let Some(lru) = &mut self.nearness {
            lru.remove(key);
        }
    }
}

/// The tenth of each key by its uses. Keys that are used alike are in the order of their first use.
fn known(uses: &[u32]) -> Vec<Known> {
    let mut ranked: Vec<usize> = (0..uses.len()).collect();
    ranked.sort_by_key(|&key| std::cmp::Reverse(uses[key]));
    let mut known = vec![Known::default(); uses.len()];
    for (rank, key) in ranked.into_iter().enumerate() {
        let decile = u8::try_from(rank * DECILES / uses.len()).unwrap_or(0);
        known[key] = Known { decile, is_used_once: uses[key] == 1 };
    }
    known
}

/// Quantiles of counts of accesses; none where there are none.
fn age(times: &Times) -> Option<ShapeAge> {
    let quantile = |share| times.quantile(share).map(|time| time.0);
    let (p10, p50, p90) = (quantile(0.1)?, quantile(0.5)?, quantile(0.9)?);
    Some(ShapeAge { p10, p50, p90 })
}

/// The second reading.
pub(super) struct Again {
    pub(super) walk: Walk,
    pub(super) judge: Judge,
}

impl Growing for Again {
    fn most(&self, _: &[Request]) -> u64 {
        let room = self.judge.room;
        let each = |judged: &Judged| KEY_BYTES_OF_POLICY + room.key_bytes(&judged.choice);
        let of_policies: u64 = self.judge.policies.iter().map(each).sum();
        let of_policies = of_policies + KEY_BYTES_OF_LRU;
        let least: u64 = self.judge.policies.iter().map(|judged| judged.choice.least_bytes()).sum();
        (KEY_BYTES + of_policies) * self.judge.known.len() as u64 + least
    }

    fn take(&mut self, requests: &[Request]) {
        self.walk.take(requests, &mut self.judge);
    }
}
