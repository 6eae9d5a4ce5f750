//! What other sizes and policies would give, while a cache runs.
//!
//! Small caches without bytes follow a sample of the pages: those whose hash says so (C. Waldspurger and others,
//! *Cache Modeling and Optimization using Miniature Simulations*, 2017). One of them stands for the running cache. The
//! hit ratio of another size is the running cache's, plus the difference between two small caches. A few
//! hot pages decide a sample's hit ratio by chance, and they cancel in the difference.
//!
//! The band is 95 %, from the spread between groups of pages. It has the chance of the sample alone.
//!
//! Cost: a hash for each page that is looked up, and ten lookups for each page of the sample. About a megabyte, and
//! what each policy takes at any size (four with lhd).

use std::collections::HashMap;

use super::super::policy::{Access, AnyPolicy, Cause, Choice};
use super::super::queue::Queues;
use super::Counts;

/// Pages of the small cache that stands for the running one, where that is larger.
const SAMPLE_PAGES: u32 = 2048;
/// Pages that are known, in largest small caches.
const KNOWN: u32 = 3;
/// Groups of pages.
const GROUPS: usize = 64;
/// Deviations to each side of a 95 % band, for this many groups.
const DEVIATIONS: f64 = 2.0;
/// The policies to compare with, as far as the running one is another.
const OTHER_POLICIES: [&str; 3] = ["lru", "s3-fifo", "sieve"];
/// Sizes of the running policy, as multiples of its own. The first stands for the running cache.
const TIMES: [f64; 6] = [1.0, 0.125, 0.25, 0.5, 2.0, 4.0];
/// Where twice is.
const TWICE: usize = 4;

/// What another size or policy would give.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherSize {
    /// The policy.
    pub policy: String,
    /// Pages of the cache.
    pub pages: u64,
    /// The hit ratio that it would have had.
    pub hit_ratio: f64,
    /// The lower edge of the band.
    pub low: f64,
    /// The upper edge.
    pub high: f64,
}

/// A small cache.
struct Small {
    name: String,
    pages: u64,
    policy: Box<dyn AnyPolicy>,
    hits: [u64; GROUPS],
}

/// Small caches that follow a sample of the pages.
pub struct Others {
    /// Pages are followed whose hash is at most this.
    most: u64,
    rate: f64,
    /// The first stands for the running cache.
    small: Vec<Small>,
    numbers: HashMap<u64, u32>,
    /// By number.
    pages: Vec<u64>,
    /// The numbers in use, by their last access.
    order: Queues<1>,
    known_max: u32,
    /// Look-ups of pages of the sample.
    looked_up: u64,
    /// What the running cache had counted when these began.
    since: Counts,
    would_hit: u64,
}

impl Others {
    /// For a cache of this policy, that has this many pages and has counted this.
    pub fn new(policy: Choice, pages: u32, since: Counts) -> Self {
        let rate = (f64::from(SAMPLE_PAGES) / f64::from(pages.max(1))).min(1.0);
        let names = OTHER_POLICIES.into_iter().filter(|&name| name != policy.row().name);
        let others = names.take(2).filter_map(|name| name.parse::<Choice>().ok());
        let running = TIMES.into_iter().map(|times| (policy, times));
        let others = others.flat_map(|policy| [(policy, 1.0), (policy, 2.0)]);
        let count = |pages: f64| u32::try_from(crate::units::whole(pages)).unwrap_or(u32::MAX);
        let small = |(policy, times): (Choice, f64)| {
            let pages = f64::from(pages) * times;
            let hits = [0; GROUPS];
            let built = policy.build(count((pages * rate).round()).max(1), 0);
            let pages = crate::units::whole(pages).max(1);
            Small { name: policy.to_string(), pages, policy: built, hits }
        };
        Self {
            most: crate::units::whole(rate * 2f64.powi(64)),
            rate,
            small: running.chain(others).map(small).collect(),
            numbers: HashMap::new(),
            pages: Vec::new(),
            order: Queues::default(),
            known_max: KNOWN * 4 * count((f64::from(pages) * rate).round()).max(1),
            looked_up: 0,
            since,
            would_hit: 0,
        }
    }

    /// What decides whether a page [is followed](Self::is_in).
    pub(crate) fn sample(&self) -> u64 {
        self.most
    }

    /// Whether a page is in a sample.
    #[inline]
    pub(crate) fn is_in(page: u64, sample: u64) -> bool {
        hash(page) <= sample
    }

    /// A page was looked up for a read. `was_evicted` says that it missed because it had been evicted.
    #[inline]
    pub(crate) fn read(&mut self, page: u64, was_evicted: bool) {
        let hash = hash(page);
        if hash <= self.most {
            self.looked_up += 1;
            self.follow(page, Some(hash), was_evicted);
        }
    }

    /// A page was written and is in the cache.
    #[inline]
    pub(crate) fn write(&mut self, page: u64) {
        if hash(page) <= self.most {
            self.follow(page, None, false);
        }
    }

    /// A page was brought in though no client waits for it.
    pub(crate) fn fetch(&mut self, page: u64) {
        if hash(page) <= self.most {
            let access = Access::to(self.number(page));
            for small in &mut self.small {
                small.policy.fill(access, Cause::Readahead, &mut |_| true);
            }
        }
    }

    /// A page ceased to exist.
    pub(crate) fn remove(&mut self, page: u64) {
        if let Some(&number) = self.numbers.get(&page) {
            for small in &mut self.small {
                small.policy.remove(number);
            }
        }
    }

    /// Accesses a page of the sample. Where its hash is given, its hits are counted.
    fn follow(&mut self, page: u64, counted: Option<u64>, was_evicted: bool) {
        let access = Access::to(self.number(page));
        for (at, small) in self.small.iter_mut().enumerate() {
            let is_hit = small.policy.touch(access);
            if !is_hit {
                small.policy.fill(access, Cause::Demand, &mut |_| true);
            } else if let Some(hash) = counted {
                small.hits[group(hash)] += 1;
                self.would_hit += u64::from(at == TWICE && was_evicted);
            }
        }
    }

    /// The number of a page. When all numbers are in use, it gets the one that was used longest ago.
    fn number(&mut self, page: u64) -> u32 {
        if let Some(&number) = self.numbers.get(&page) {
            self.order.move_to_front(0, number);
            return number;
        }
        let next = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        let oldest = if next >= self.known_max { self.order.last(0) } else { None };
        let number = oldest.unwrap_or(next);
        if oldest.is_some() {
            self.remove(self.pages[number as usize]);
            self.numbers.remove(&self.pages[number as usize]);
            self.pages[number as usize] = page;
            self.order.move_to_front(0, number);
        } else {
            self.pages.push(page);
            self.order.push_front(0, number);
        }
        self.numbers.insert(page, number);
        number
    }

    /// Hits and look-ups of the small cache that stands for the running one.
    pub(super) fn running(&self) -> (u64, u64) {
        let hits = self.small.first().map_or(0, |small| small.hits.iter().sum());
        (hits, self.looked_up)
    }

    /// Look-ups and hits of the running cache since these began.
    pub(super) fn compared(&self, counts: &Counts) -> (u64, u64) {
        (counts.lookups - self.since.lookups, counts.hits - self.since.hits)
    }

    /// What the other sizes and policies would give, from the counts of the running cache. Nothing before a read.
    pub(crate) fn sizes(&self, counts: &Counts) -> Vec<OtherSize> {
        let (lookups, hits) = (counts.lookups - self.since.lookups, counts.hits - self.since.hits);
        let Some((first, others)) = self.small.split_first().filter(|_| lookups > 0) else {
            return Vec::new();
        };
        let lookups = lookups as f64;
        // No cache hits what was never seen. The small caches take pages one by one, and the running one looks up
        // all pages of the reads under way first: large reads that overlap would seem to hit more.
        let new = counts.misses_new - self.since.misses_new;
        let most = (1.0 - new as f64 / lookups).clamp(0.0, 1.0);
        let size = |other: &Small| {
            let pairs = other.hits.iter().zip(&first.hits);
            let more: Vec<f64> = pairs.map(|(&a, &b)| a as f64 - b as f64).collect();
            let sum: f64 = more.iter().sum();
            let mean = sum / GROUPS as f64;
            let squares: f64 = more.iter().map(|more| (more - mean).powi(2)).sum();
            let spread = squares * GROUPS as f64 / (GROUPS - 1) as f64;
            let half = DEVIATIONS * ((1.0 - self.rate) * spread).sqrt() / self.rate / lookups;
            let best = hits as f64 / lookups + sum / self.rate / lookups;
            let [hit_ratio, low, high] =
                [best, best - half, best + half].map(|ratio| ratio.clamp(0.0, most));
            OtherSize { policy: other.name.clone(), pages: other.pages, hit_ratio, low, high }
        };
        others.iter().map(size).collect()
    }

    /// Misses of pages that had been evicted, and that a cache of twice the size would have had.
    pub(super) fn would_hit_at_twice(&self, counts: &Counts) -> u64 {
        let evicted = counts.misses_evicted - self.since.misses_evicted;
        crate::units::whole(self.would_hit as f64 / self.rate).min(evicted)
    }
}

/// A page's group in the sample; other bits than those that decide whether it is in it.
fn group(hash: u64) -> usize {
    usize::try_from(hash % GROUPS as u64).unwrap_or(0)
}

/// Mixes all bits (the finalizer of splitmix64).
#[inline]
fn hash(page: u64) -> u64 {
    let mut z = page.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
