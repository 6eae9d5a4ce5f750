//! `AdaptSize`: an object of `s` bytes is admitted with the probability `exp(-s / c)`, and `c` is tuned for the most hits.
//!
//! After each period of requests, a model gives the hits that each `c` would have had on the objects asked for lately, with the
//! rates at which they were. In the model an LRU cache holds each object for a time that is the same for all, which follows
//! from the bytes that fit: an object is there if it was admitted and asked for within that time. One thing is not of the
//! paper: hits are those of ten periods that begin with an empty cache, so that objects that are never admitted do not
//! hit. The search goes in steps of a factor of four and then by the golden section, as in the authors' simulator.
//!
//! Invariant: where all objects fit, all are admitted. Cost: 24 bytes an object, and some 300 passes over the objects of
//! a period at its end. D. Berger, R. Sitaraman, M. Harchol-Balter, *`AdaptSize`: Orchestrating the Hot Object Memory
//! Cache in a Content Delivery Network*, 2017. Not where bytes that miss matter more than requests.

use super::Object;
use crate::cache::admission::Tuning;
use crate::cache::table::Table;
use crate::clock::Random;

/// What `c` is before the first tuning, as the authors have it.
const BYTES_FIRST: f64 = 32_768.0;
/// Rates below this are forgotten.
const RATE_MIN: f64 = 0.1;
/// Steps of the logarithm of `c` at first.
const STEP: f64 = 2.0;
/// Steps by the golden section after that, and its share.
const SECTIONS: u32 = 15;
const GOLDEN: f64 = 0.618_033_988_75;
/// Rounds in which the time in the cache settles.
const ROUNDS: u32 = 10;
/// Periods in which an object that hits must have been admitted.
const PERIODS: f64 = 10.0;
/// Requests in that time from which on one more or less makes no difference.
const CERTAIN: f64 = 30.0;

/// What is known of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    /// Requests in a period, averaged; of this period so far.
    rate: f64,
    now: u32,
    /// Whether it is in the list of those that are known.
    is_listed: bool,
    charge: u64,
}

/// Rates and sizes of objects, and the cache.
pub(super) struct Model {
    pub(super) objects: Vec<(f64, f64)>,
    pub(super) cache_bytes: f64,
}

/// Admission by size in front of one cache.
pub(super) struct AdaptSize {
    /// The size that is admitted with the probability 1/e.
    bytes: f64,
    cache_bytes: u64,
    tuning: Tuning,
    left: u32,
    known: Table<Known>,
    listed: Vec<u32>,
    chance: Random,
}

impl AdaptSize {
    pub(super) fn new(tuning: Tuning, seed: u64, cache_bytes: u64) -> Self {
        let (known, listed) = (Table::default(), Vec::new());
        let (bytes, left) = (BYTES_FIRST, tuning.every);
        Self { bytes, cache_bytes, tuning, left, known, listed, chance: Random::new(seed) }
    }

    /// Counts an access, and tunes at the end of a period.
    pub(super) fn see(&mut self, object: &Object) {
        let known = self.known.at(object.number);
        known.now += 1;
        known.charge = object.charge;
        if !known.is_listed {
            known.is_listed = true;
            self.listed.push(object.number);
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = self.tuning.every;
            self.tune();
        }
    }

    /// Whether chance admits an object of this size.
    pub(super) fn admits(&mut self, object: &Object) -> bool {
        self.chance.unit() < (-(object.charge as f64) / self.bytes).exp()
    }

    fn tune(&mut self) {
        let kept = f64::from(self.tuning.decay) / 100.0;
        let (mut objects, mut all_bytes) = (Vec::new(), 0.0);
        let table = &mut self.known;
        self.listed.retain(|&number| {
            let known = table.at(number);
            let now = f64::from(known.now);
            // The first period of an object counts in full.
            known.rate =
                if known.rate > 0.0 { kept * known.rate + (1.0 - kept) * now } else { now };
            known.now = 0;
            known.is_listed = known.rate >= RATE_MIN;
            if known.is_listed {
                objects.push((known.rate, known.charge as f64));
                all_bytes += known.charge as f64;
            } else {
                known.rate = 0.0;
            }
            known.is_listed
        });
        let model = Model { objects, cache_bytes: self.cache_bytes as f64 };
        self.bytes = if all_bytes <= model.cache_bytes { f64::INFINITY } else { model.best() };
    }
}

impl Model {
    /// The size to admit with the probability 1/e that hits most.
    pub(super) fn best(&self) -> f64 {
        let end = self.cache_bytes.max(2.0).log2();
        let hits = |log: f64| self.hits(log.exp2());
        let (mut best, mut most) = (end, hits(end));
        let mut log = 0.0;
        while log < end {
            let here = hits(log);
            if here > most {
                (best, most) = (log, here);
            }
            log += STEP;
        }
        let (mut low, mut high) = ((best - STEP).max(0.0), (best + STEP).min(end));
        for _ in 0..SECTIONS {
            let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            if hits(left) > hits(right) { high = right } else { low = left }
        }
        let middle = f64::midpoint(low, high);
        if hits(middle) >= most { middle.exp2() } else { best.exp2() }
    }

    /// Requests that hit in a period where a size of `bytes` is admitted with the probability 1/e.
    pub(super) fn hits(&self, bytes: f64) -> f64 {
        let pace = |&(rate, size): &(f64, f64)| rate * (-size / bytes).exp() * size;
        let pace: f64 = self.objects.iter().map(pace).sum();
        if pace <= 0.0 {
            return 0.0;
        }
        let mut time = self.cache_bytes / pace;
        for _ in 0..ROUNDS {
            let there = |&(rate, size): &(f64, f64)| size * there(rate, time, size / bytes);
            let held: f64 = self.objects.iter().map(there).sum();
            if held <= 0.0 || time > 1e70 {
                break;
            }
            time *= self.cache_bytes / held;
        }
        let hit = |&(rate, size): &(f64, f64)| rate * there(rate, time, size / bytes);
        self.objects.iter().map(hit).sum()
    }
}

/// The share of a period in which an object is there. It has `rate` requests in the period, LRU keeps it for `time` periods
/// after each, and it is admitted with the probability `exp(-unlikely)`.
fn there(rate: f64, time: f64, unlikely: f64) -> f64 {
    let requests = rate * time;
    let admitted = (-unlikely).exp();
    let settled = if requests > CERTAIN {
        1.0 / (1.0 + (unlikely - requests).exp())
    } else {
        let came = admitted * requests.exp_m1();
        came / (1.0 + came)
    };
    // The paper looks at an endless time, in which even the unlikeliest object is admitted at last.
    let admissions = admitted * rate * PERIODS;
    let began = if admissions < 1e-6 {
        admissions / 2.0
    } else {
        1.0 + (-admissions).exp_m1() / admissions
    };
    settled * began
}
