//! Caches against naive twins, against the simulated policy, and under several threads.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, LazyLock};
use std::thread;

use proptest::prelude::*;

use super::shards::place;
use super::*;
use crate::cache::policy::{Access, AnyPolicy, Cause, Choice, Outcome};
use crate::clock::Random;
use crate::workload::synthetic::{Keys, Pattern};

const BOTH: [Eviction; 2] = [Eviction::S3Fifo, Eviction::Clock];

type Fixed = BuildHasherDefault<DefaultHasher>;

/// What a cache promises, without a table of hashes.
trait Twin {
    fn get(&mut self, key: u32) -> Option<u32>;
    fn peek(&self, key: u32) -> Option<u32>;
    fn insert(&mut self, key: u32, value: u32) -> Option<u32>;
    fn remove(&mut self, key: u32) -> Option<u32>;
    fn len(&self) -> usize;
    fn evictions(&self) -> u64;
}

/// The simulated policy, whose pages are the keys.
struct Simulated {
    policy: Box<dyn AnyPolicy>,
    values: HashMap<u32, u32>,
    evictions: u64,
}

impl Twin for Simulated {
    fn get(&mut self, key: u32) -> Option<u32> {
        let is_hit = self.policy.touch(Access::to(key));
        self.peek(key).filter(|_| is_hit)
    }

    fn peek(&self, key: u32) -> Option<u32> {
        self.values.get(&key).copied()
    }

    fn insert(&mut self, key: u32, value: u32) -> Option<u32> {
        if !self.policy.touch(Access::to(key))
            && let Outcome::Filled { evicted: Some(victim) } =
                self.policy.fill(Access::to(key), Cause::Demand, &mut |_| true)
        {
            self.evictions += 1;
            self.values.remove(&victim);
        }
        self.values.insert(key, value)
    }

    fn remove(&mut self, key: u32) -> Option<u32> {
        self.policy.remove(key);
        self.values.remove(&key)
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn evictions(&self) -> u64 {
        self.evictions
    }
}

/// Sets of ways, each a key, its value and its uses.
struct Sets {
    sets: Vec<(Vec<Option<[u32; 3]>>, usize)>,
    evictions: u64,
}

impl Sets {
    fn new(capacity: u32) -> Self {
        let count = capacity.div_ceil(16);
        let ways = (0..count).map(|at| capacity * (at + 1) / count - capacity * at / count);
        let sets = ways.map(|ways| (vec![None; ways as usize], 0)).collect();
        Self { sets, evictions: 0 }
    }

    fn set(&self, key: u32) -> usize {
        place(Fixed::default().hash_one(key), self.sets.len())
    }
}

impl Twin for Sets {
    fn get(&mut self, key: u32) -> Option<u32> {
        let set = self.set(key);
        let found = self.sets[set].0.iter_mut().flatten().find(|entry| entry[0] == key)?;
        found[2] = (found[2] + 1).min(3);
        Some(found[1])
    }

    fn peek(&self, key: u32) -> Option<u32> {
        let (ways, _) = &self.sets[self.set(key)];
        ways.iter().flatten().find(|entry| entry[0] == key).map(|entry| entry[1])
    }

    fn insert(&mut self, key: u32, value: u32) -> Option<u32> {
        let old = self.get(key);
        let set = self.set(key);
        let (ways, hand) = &mut self.sets[set];
        if old.is_some() {
            let mut entries = ways.iter_mut().flatten();
            entries.find(|entry| entry[0] == key).unwrap()[1] = value;
            return old;
        }
        if let Some(free) = ways.iter_mut().find(|way| way.is_none()) {
            *free = Some([key, value, 0]);
            return None;
        }
        loop {
            let at = *hand;
            *hand = (at + 1) % ways.len();
            let way = ways[at].as_mut().unwrap();
            if way[2] == 0 {
                *way = [key, value, 0];
                self.evictions += 1;
                return None;
            }
            way[2] -= 1;
        }
    }

    fn remove(&mut self, key: u32) -> Option<u32> {
        let set = self.set(key);
        let ways = &mut self.sets[set].0;
        let way = ways.iter_mut().find(|way| way.is_some_and(|entry| entry[0] == key))?;
        way.take().map(|entry| entry[1])
    }

    fn len(&self) -> usize {
        self.sets.iter().map(|(ways, _)| ways.iter().flatten().count()).sum()
    }

    fn evictions(&self) -> u64 {
        self.evictions
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Get(u32),
    Insert(u32),
    Remove(u32),
    Load(u32),
    Fail(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || prop_oneof![0_u32..8, 0_u32..200];
    let step = prop_oneof![
        4 => key().prop_map(Step::Get),
        4 => key().prop_map(Step::Insert),
        1 => key().prop_map(Step::Remove),
        4 => key().prop_map(Step::Load),
        1 => key().prop_map(Step::Fail),
    ];
    prop::collection::vec(step, 1..400)
}

/// Returns the hits and misses.
fn step(
    cache: &Cache<u32, u32, Fixed>,
    twin: &mut impl Twin,
    step: Step,
    value: u32,
) -> (u64, u64) {
    match step {
        Step::Insert(key) => {
            assert_eq!(cache.insert(key, value), twin.insert(key, value), "{step:?}");
            (0, 0)
        }
        Step::Remove(key) => {
            assert_eq!(cache.remove(&key), twin.remove(key), "{step:?}");
            (0, 0)
        }
        Step::Get(key) | Step::Load(key) | Step::Fail(key) => {
            let want = twin.get(key);
            let looked = (u64::from(want.is_some()), u64::from(want.is_none()));
            match step {
                Step::Load(_) => {
                    let got = cache.get_or_load(key, |_| Ok::<_, Infallible>(value));
                    assert_eq!(got, Ok(want.unwrap_or(value)), "{step:?}");
                    if want.is_none() {
                        twin.insert(key, value);
                    }
                }
                Step::Fail(_) => assert_eq!(cache.get_or_load(key, |_| Err(7)), want.ok_or(7)),
                _ => assert_eq!(cache.get(&key), want, "{step:?}"),
            }
            looked
        }
    }
}

fn compare(steps: &[Step], capacity: u32, eviction: Eviction, twin: &mut impl Twin) {
    let cache = Cache::with_shards(capacity, eviction, Fixed::default(), 1);
    let (mut hits, mut misses) = (0, 0);
    for (at, &one) in (0..).zip(steps) {
        let (hit, miss) = step(&cache, twin, one, at);
        hits += hit;
        misses += miss;
        assert_eq!(cache.len(), twin.len());
        assert!(cache.len() <= capacity as usize);
    }
    for key in 0..200 {
        let hash = cache.hasher.hash_one(key);
        assert_eq!(cache.shards.peek(hash, &key), twin.peek(key));
    }
    let stats = cache.stats();
    assert_eq!((stats.hits, stats.misses, stats.evictions), (hits, misses, twin.evictions()));
    if let Shards::S3Fifo(shards) = &cache.shards {
        let bound = capacity + capacity * 9 / 10 + 1;
        assert!(shards[0].lock().numbers() <= bound as usize, "numbers are used again");
    }
}

proptest! {
    #[test]
    fn s3_fifo_decides_as_the_simulated_policy(steps in steps(), capacity in 1_u32..60) {
        let policy: Choice = "s3-fifo".parse().unwrap();
        let policy = policy.build(capacity, 0);
        let mut twin = Simulated { policy, values: HashMap::new(), evictions: 0 };
        compare(&steps, capacity, Eviction::S3Fifo, &mut twin);
    }

    #[test]
    fn clock_decides_as_sets_that_are_searched(steps in steps(), capacity in 1_u32..60) {
        compare(&steps, capacity, Eviction::Clock, &mut Sets::new(capacity));
    }
}

const REQUESTS: usize = 400_000;

fn zipf(alpha: f64) -> impl Iterator<Item = u64> {
    Keys::new(Pattern::Zipf { alpha }, 50_000, 3).take(REQUESTS)
}

/// The share of a zipf's requests that a cache hits.
fn hit_ratio(alpha: f64, cache: &Cache<u64, u64>) -> f64 {
    for key in zipf(alpha) {
        assert_eq!(cache.get_or_load(key, |&key| Ok::<_, Infallible>(key)), Ok(key));
    }
    cache.stats().hit_ratio().unwrap()
}

/// The same of the simulated policy with this many pages.
fn simulated_hit_ratio(alpha: f64, capacity: u32) -> f64 {
    let policy: Choice = "s3-fifo".parse().unwrap();
    let mut policy = policy.build(capacity, 0);
    let mut hits = 0_u32;
    for key in zipf(alpha) {
        let page = u32::try_from(key).unwrap();
        hits += u32::from(policy.access(Access::to(page)) == Outcome::Hit);
    }
    f64::from(hits) / REQUESTS as f64
}

#[test]
fn shards_hit_as_often_as_one_cache() {
    for alpha in [0.9, 1.1] {
        let simulated = simulated_hit_ratio(alpha, 5000);
        let one = Cache::with_shards(5000, Eviction::S3Fifo, <_>::default(), 1);
        let ratio = hit_ratio(alpha, &one);
        assert!((ratio - simulated).abs() < 1e-12, "{ratio} and {simulated} at {alpha}");
        let shards = Cache::with_shards(5000, Eviction::S3Fifo, <_>::default(), 5);
        let ratio = hit_ratio(alpha, &shards);
        assert!((ratio - simulated).abs() < 0.005, "{ratio} and {simulated} at {alpha}");
        let ratio = hit_ratio(alpha, &Cache::new(5000, Eviction::Clock));
        // Hashes are random: in one of six caches hot keys share a set, and it hits 0.06 to 0.07 less instead of 0.04.
        assert!((simulated - 0.12..simulated).contains(&ratio), "CLOCK: {ratio}, {simulated}");
    }
}

#[test]
fn the_curve_says_what_twice_the_capacity_gives() {
    for eviction in BOTH {
        let cache = Cache::new(5000, eviction).with_curve();
        assert_eq!(cache.other_sizes(), []);
        hit_ratio(0.9, &cache);
        let twice = Cache::new(10_000, eviction);
        let ratio = hit_ratio(0.9, &twice);
        let sizes = cache.other_sizes();
        let found = sizes.iter().find(|other| other.pages == 10_000).unwrap();
        // Hashes are random: one of 24 caches of CLOCK hits 0.03 more than simulated, none of S3-FIFO.
        let slack = if eviction == Eviction::Clock { 0.06 } else { 0.02 };
        assert!((found.hit_ratio - ratio).abs() < slack, "{found:?}, it was {ratio}");
        assert!(found.low < found.high && ratio > cache.stats().hit_ratio().unwrap() + 0.03);
    }
}

#[test]
fn several_threads_get_what_belongs_to_their_keys() {
    for eviction in BOTH {
        let cache = Cache::with_shards(500, eviction, Fixed::default(), 4).with_curve();
        let lookups: u64 = thread::scope(|scope| {
            let work = |seed| {
                let cache = &cache;
                move || {
                    let mut random = Random::new(seed);
                    let mut lookups = 0;
                    for _ in 0..20_000 {
                        let bound = 1 + random.below(2000);
                        let key = random.below(bound);
                        match random.below(8) {
                            0 => assert!(cache.insert(key, key).is_none_or(|old| old == key)),
                            1 => assert!(cache.remove(&key).is_none_or(|old| old == key)),
                            2..4 => {
                                let got = cache.get_or_load(key, |&key| Ok::<_, Infallible>(key));
                                assert_eq!(got, Ok(key));
                                lookups += 1;
                            }
                            _ => {
                                assert!(cache.get(&key).is_none_or(|value| value == key));
                                lookups += 1;
                            }
                        }
                    }
                    lookups
                }
            };
            let threads: Vec<_> = (0..4).map(|seed| scope.spawn(work(seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let stats = cache.stats();
        assert_eq!(stats.hits + stats.misses, lookups);
        assert!(cache.len() <= 500 && stats.evictions > 0 && stats.hits > 0);
        assert_eq!(cache.flights.under_way.load(Ordering::SeqCst), 0);
    }
}

/// What a caller got; nothing if its thread panicked.
type Ended = Option<Result<u32, u32>>;

/// Lets threads ask for one key; the first loader waits until all others wait for it, and then ends as it is asked to.
fn crowd(first: impl Fn() -> Result<u32, u32> + Sync) -> (Cache<u32, u32>, Vec<Ended>) {
    const THREADS: u32 = 6;
    let cache = Cache::new(10, Eviction::S3Fifo);
    let (loads, barrier) = (AtomicU32::new(0), Barrier::new(THREADS as usize));
    let ask = || {
        barrier.wait();
        cache.get_or_load(1, |_| {
            if loads.fetch_add(1, Ordering::SeqCst) > 0 {
                return Ok(99);
            }
            while cache.stats().joined < u64::from(THREADS) - 1 {
                thread::yield_now();
            }
            first()
        })
    };
    let got = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().ok()).collect()
    });
    (cache, got)
}

#[test]
fn one_caller_loads_and_the_others_wait_for_it() {
    let (cache, got) = crowd(|| Ok(5));
    assert_eq!(got, [Some(Ok(5)); 6]);
    assert_eq!((cache.stats().loads, cache.stats().joined), (1, 5));
}

#[test]
fn a_load_that_fails_or_panics_leaves_the_others_to_load() {
    for (panics, want) in [(false, Some(Err(3))), (true, None)] {
        let (cache, mut got) = crowd(|| if panics { panic!("a loader panics") } else { Err(3) });
        let at = got.iter().position(|&one| one == want).unwrap();
        got.remove(at);
        assert_eq!(got, [Some(Ok(99)); 5]);
        assert_eq!((cache.stats().loads, cache.get(&1)), (2, Some(99)));
        assert_eq!(cache.flights.under_way.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn what_is_inserted_or_removed_during_a_load_is_not_undone_by_it() {
    let cache = Cache::new(10, Eviction::S3Fifo);
    let loaded = cache.get_or_load(1, |&key| {
        cache.insert(key, "new");
        Ok::<_, Infallible>("old")
    });
    assert_eq!((loaded, cache.get(&1)), (Ok("old"), Some("new")));
    let loaded = cache.get_or_load(2, |key| {
        cache.remove(key);
        // The load of before is none of this one.
        assert_eq!(cache.get_or_load(*key, |_| Ok::<_, Infallible>("newer")), Ok("newer"));
        Ok::<_, Infallible>("old")
    });
    assert_eq!((loaded, cache.get(&2)), (Ok("old"), Some("newer")));
}

#[test]
fn a_load_of_its_own_key_panics_and_does_not_hang() {
    let cache = Cache::<u32, u32>::new(10, Eviction::Clock);
    let recurse =
        || cache.get_or_load(1, |&key| cache.get_or_load(key, |_| Ok::<_, Infallible>(1)));
    let ended = thread::scope(|scope| scope.spawn(recurse).join());
    assert!(ended.unwrap_err().downcast_ref::<&str>().unwrap().contains("load another key"));
    assert_eq!(cache.get_or_load(1, |_| Ok::<_, Infallible>(2)), Ok(2));
}

/// A value that asks its cache when it is dropped, which would wait forever under a lock of the cache.
#[derive(Clone)]
struct Asks(u32);

static ASKED: [LazyLock<Cache<u32, Arc<Asks>>>; 2] =
    [LazyLock::new(|| Cache::new(3, BOTH[0])), LazyLock::new(|| Cache::new(3, BOTH[1]))];

impl Drop for Asks {
    fn drop(&mut self) {
        for cache in &ASKED {
            assert!(cache.len() <= 3);
            cache.remove(&(self.0 + 1_000_000));
        }
    }
}

#[test]
fn values_are_dropped_without_a_lock() {
    for cache in &ASKED {
        for key in 0..50 {
            cache.insert(key, Arc::new(Asks(key)));
            cache.insert(key, Arc::new(Asks(key)));
            cache.get_or_load(key + 100, |&key| Ok::<_, Infallible>(Arc::new(Asks(key)))).unwrap();
            cache.remove(&key);
        }
        assert!(cache.stats().evictions > 40);
    }
}
