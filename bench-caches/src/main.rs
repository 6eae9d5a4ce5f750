//! Caches of values by key in one run, in turns: hit ratio, and processor time an operation.
//!
//! `cargo run --release -- [ROUNDS [LOAD]]` prints a row for each cache and load; each figure is the median of the rounds, in
//! which the caches take turns. Keys are 64 bits, values are an `Arc` of 4 KiB; a miss makes one. The time is the
//! threads' own, so that other work on the machine counts little.

use std::sync::Arc;

use foyer_memory::{CacheBuilder, EvictionConfig, S3FifoConfig};
use nbuf::cache::{Cache, Eviction};
use nbuf::workload::synthetic::{Keys, Pattern};
use rustix::time::{ClockId, clock_gettime};

const KEYS: u32 = 1_000_000;
const CAPACITY: u32 = 100_000;
const REQUESTS: usize = 3_000_000;
/// Keys of the load that only hits.
const RESIDENT: u32 = 50_000;

type Value = Arc<[u8; 4096]>;

fn value(key: u64) -> Value {
    let mut bytes = [0; 4096];
    bytes[..8].copy_from_slice(&key.to_le_bytes());
    Arc::new(bytes)
}

/// What every cache does here.
trait Subject: Sync {
    fn get(&self, key: u64) -> Option<Value>;
    fn insert(&self, key: u64, value: Value);
}

impl Subject for Cache<u64, Value> {
    fn get(&self, key: u64) -> Option<Value> {
        Cache::get(self, &key)
    }
    fn insert(&self, key: u64, value: Value) {
        Cache::insert(self, key, value);
    }
}

impl Subject for quick_cache::sync::Cache<u64, Value> {
    fn get(&self, key: u64) -> Option<Value> {
        self.get(&key)
    }
    fn insert(&self, key: u64, value: Value) {
        self.insert(key, value);
    }
}

impl Subject for moka::sync::Cache<u64, Value> {
    fn get(&self, key: u64) -> Option<Value> {
        self.get(&key)
    }
    fn insert(&self, key: u64, value: Value) {
        self.insert(key, value);
    }
}

impl Subject for foyer_memory::Cache<u64, Value> {
    fn get(&self, key: u64) -> Option<Value> {
        self.get(&key).map(|entry| entry.value().clone())
    }
    fn insert(&self, key: u64, value: Value) {
        self.insert(key, value);
    }
}

/// Makes a cache.
type Make = fn() -> Box<dyn Subject>;

const SUBJECTS: [(&str, Make); 5] = [
    ("nbuf Clock", || Box::new(Cache::new(CAPACITY, Eviction::Clock))),
    ("nbuf S3Fifo", || Box::new(Cache::new(CAPACITY, Eviction::S3Fifo))),
    ("quick_cache", || Box::new(quick_cache::sync::Cache::new(CAPACITY as usize))),
    ("foyer-memory S3-FIFO", || {
        let config = EvictionConfig::S3Fifo(S3FifoConfig::default());
        Box::new(CacheBuilder::new(CAPACITY as usize).with_eviction_config(config).build())
    }),
    ("moka", || Box::new(moka::sync::Cache::new(u64::from(CAPACITY)))),
];

/// What a trial measured: hits per lookup, and nanoseconds of a processor per operation.
#[derive(Clone, Copy)]
struct Trial {
    hit_ratio: f64,
    nanos: f64,
}

/// The processor time of this thread.
fn nanos() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Returns hits and nanoseconds.
fn play(cache: &dyn Subject, keys: &[u64]) -> [i64; 2] {
    let began = nanos();
    let mut hits = 0;
    for &key in keys {
        if cache.get(key).is_some() {
            hits += 1;
        } else {
            cache.insert(key, value(key));
        }
    }
    [hits, nanos() - began]
}

fn trial(make: Make, keys: &[u64], threads: usize, is_warm: bool) -> Trial {
    let cache = make();
    if is_warm {
        (0..u64::from(RESIDENT)).for_each(|key| cache.insert(key, value(key)));
    }
    let cache = cache.as_ref();
    let part = keys.len() / threads;
    let [hits, nanos] = std::thread::scope(|scope| {
        let parts = keys.chunks(part).take(threads);
        let parts: Vec<_> = parts.map(|keys| scope.spawn(move || play(cache, keys))).collect();
        parts.into_iter().fold([0; 2], |sum, part| {
            let part = part.join().expect("a trial ends");
            [sum[0] + part[0], sum[1] + part[1]]
        })
    });
    let operations = (part * threads) as f64;
    Trial { hit_ratio: hits as f64 / operations, nanos: nanos as f64 / operations }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let zipf = |alpha, keys| -> Vec<u64> {
        Keys::new(Pattern::Zipf { alpha }, keys, 7).take(REQUESTS).collect()
    };
    let loads = [
        ("zipf 0.9", zipf(0.9, KEYS), false),
        ("zipf 1.1", zipf(1.1, KEYS), false),
        ("hits only", zipf(0.9, RESIDENT), true),
    ];
    println!("| load | threads | cache | hit ratio | ns/operation | to quick_cache |");
    println!("|---|---|---|---|---|---|");
    let only = std::env::args().nth(2);
    for (load, keys, is_warm) in &loads {
        if only.as_ref().is_some_and(|only| only != load) {
            continue;
        }
        for threads in [1, 2] {
            let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); SUBJECTS.len()];
            for round in 0..rounds {
                for at in 0..SUBJECTS.len() {
                    // Another one begins each round.
                    let at = (at + round) % SUBJECTS.len();
                    trials[at].push(trial(SUBJECTS[at].1, keys, threads, *is_warm));
                }
            }
            for (at, (name, _)) in SUBJECTS.iter().enumerate() {
                let nanos = median(trials[at].iter().map(|trial| trial.nanos).collect());
                let ratio = median(trials[at].iter().map(|trial| trial.hit_ratio).collect());
                let pairs = trials[at].iter().zip(&trials[2]);
                let pair = median(pairs.map(|(ours, other)| ours.nanos / other.nanos).collect());
                println!("| {load} | {threads} | {name} | {ratio:.4} | {nanos:.0} | {pair:.2} |");
            }
        }
    }
}
