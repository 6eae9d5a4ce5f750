//! Curves of any policy from small caches of few keys.
//!
//! A cache of `n` pages that is asked for one key in a hundred behaves like one of `n / 100` pages
//! (C. Waldspurger and others, *Cache Modeling and Optimization using Miniature Simulations*, 2017). The keys
//! of the sample fall by their hash into groups. Each group has small caches of its own, so each is an
//! estimate that owes nothing to the others, and their spread measures the error.
//!
//! Misses are scaled, not hits: a key that is asked for all the time misses once, so it matters little
//! whether it is in the sample. To add the difference to LRU of the same groups to LRU's better sample
//! ([`crate::meter::sampled`]) was tried: where LRU has a cliff, small caches smooth it, and the truth was in 72 of 120 bands.
//!
//! Invariant: at a rate of 1 the counts are exact. Cost: a hash an access; for what is followed the cost
//! of the policy; the memory of the policy times the rate. Not for caches with fewer than
//! [`PAGES_MIN`] pages a group.

use rayon::prelude::*;

use crate::cache::engine::{self, Accesses, Engine};
use crate::cache::interner::Interner;
use crate::cache::policy::Choice;
use crate::experiment::result::{CurvePoint, PolicyCurve, SampleFacts};
use crate::units::whole;

/// Groups of keys, and the t distribution's 97.5 % point for as many estimates.
const GROUPS: usize = 8;
const T_975: f64 = 2.365;
/// How much wider a band is than the groups show: small caches differ from large ones in the same direction.
const WIDER: f64 = 1.25;
/// Pages of a small cache from which on it stands for a large one.
const PAGES_MIN: f64 = 48.0;
/// What a key takes in a table of numbers.
const NUMBER_BYTES: u64 = 20;

/// The keys of a group, and a set of small caches for each policy.
struct Group {
    interner: Interner,
    keys: Vec<u64>,
    numbers: Vec<u32>,
    engines: Vec<Box<dyn Engine>>,
}

/// Takes keys in the order of their accesses; [`Miniature::finish`] gives the curves.
pub(in crate::experiment) struct Miniature {
    policies: Vec<Choice>,
    rate: f64,
    seed: u64,
    sizes_pages: Vec<u64>,
    groups: Vec<Group>,
    accesses: u64,
}

impl Miniature {
    /// Small caches of these policies that stand for caches of these sizes. `rate` is above 0, at most 1.
    pub(in crate::experiment) fn new(
        policies: Vec<Choice>,
        sizes_pages: Vec<u64>,
        rate: f64,
        seed: u64,
    ) -> Self {
        let rate = rate.clamp(f64::MIN_POSITIVE, 1.0);
        let groups = if rate < 1.0 { GROUPS } else { 1 };
        let share = rate / groups as f64;
        let group = |at: usize| {
            // Rounded up in some groups and down in others, so that they have the size in the mean.
            let round = (at as f64 + 0.5) / groups as f64;
            let small = |&pages: &u64| whole((pages as f64 * share + round).floor());
            let small: Vec<u64> = if groups == 1 {
                sizes_pages.clone()
            } else {
                sizes_pages.iter().map(small).collect()
            };
            let engines = policies.iter().map(|policy| policy.engine(&small, seed)).collect();
            Group { interner: Interner::new(), keys: Vec::new(), numbers: Vec::new(), engines }
        };
        let groups = (0..groups).map(group).collect();
        Self { policies, rate, seed, sizes_pages, groups, accesses: 0 }
    }

    /// Accesses, in order.
    pub(in crate::experiment) fn access(&mut self, keys: &[u64]) {
        self.accesses += keys.len() as u64;
        self.groups.iter_mut().for_each(|group| group.keys.clear());
        if let [all] = &mut self.groups[..] {
            all.keys.extend_from_slice(keys);
        } else {
            // The high bits say whether a key is followed, and by which group.
            let slots = 1.0 / self.rate * GROUPS as f64;
            let below = whole(2f64.powi(64) * self.rate);
            for &key in keys {
                let hash = hash(key, self.seed);
                if hash < below {
                    let group = hash as f64 / 2f64.powi(64) * slots;
                    let group = usize::try_from(whole(group.floor())).unwrap_or(0);
                    self.groups[group.min(GROUPS - 1)].keys.push(key);
                }
            }
        }
        self.groups.par_iter_mut().for_each(Group::take);
    }

    /// Keys from `first` to `last` leave every cache.
    pub(in crate::experiment) fn remove(&mut self, first: u64, last: u64) {
        for group in &mut self.groups {
            let known = group.interner.known(first, last);
            group.engines.iter_mut().for_each(|engine| engine.remove(&known));
        }
    }

    /// Forgets what was counted, and nothing of what the caches hold.
    pub(in crate::experiment) fn start_counting(&mut self) {
        self.accesses = 0;
        let engines = self.groups.iter_mut().flat_map(|group| &mut group.engines);
        engines.for_each(|engine| engine.start_counting());
    }

    /// Keys that are followed.
    fn followed(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.interner.pages())).sum()
    }

    /// What small caches of these policies take before anything comes.
    pub(in crate::experiment) fn least_bytes(policies: &[Choice], sizes: usize, rate: f64) -> u64 {
        let groups = if rate < 1.0 { GROUPS } else { 1 };
        let each: u64 = policies.iter().map(Choice::least_bytes).fold(0, u64::saturating_add);
        let waiting = engine::WAITING_BYTES * (groups * policies.len()) as u64;
        each.saturating_mul((groups * sizes) as u64).saturating_add(waiting)
    }

    /// Memory in use after this many more keys.
    pub(in crate::experiment) fn bytes(&self, keys: u64) -> u64 {
        let followed = self.rate * keys as f64;
        let more = whole(followed + 4.0 * followed.sqrt()).min(keys);
        let sizes = vec![1; self.sizes_pages.len()];
        let caches: u64 =
            self.policies.iter().map(|policy| engine::bytes(policy.row(), &sizes, 1)).sum();
        let least = Self::least_bytes(&self.policies, sizes.len(), self.rate);
        (NUMBER_BYTES + caches).saturating_mul(self.followed() + more).saturating_add(least)
    }

    /// The curves, in the order of the policies, at the sizes that can be judged. `lru` is the sampled
    /// curve of LRU, which has counted the keys.
    pub(in crate::experiment) fn finish(self, lru: &PolicyCurve) -> Vec<PolicyCurve> {
        let (accesses, rate) = (self.accesses, self.rate);
        let facts = SampleFacts {
            rate,
            seed: self.seed,
            followed_keys: self.followed(),
            ..SampleFacts::default()
        };
        // By group, by policy, by size.
        let groups: Vec<Vec<Vec<u64>>> = self.groups.into_iter().map(Group::misses).collect();
        let is_sample = groups.len() > 1;
        let judged_from =
            if is_sample { whole((PAGES_MIN / rate * groups.len() as f64).ceil()) } else { 0 };
        let points = |at: usize| {
            let point = |(size, &pages): (usize, &u64)| {
                if pages < judged_from {
                    return None;
                }
                let misses: Vec<u64> = groups.iter().map(|group| group[at][size]).collect();
                let misses = if is_sample { scaled(&misses, rate) } else { [misses[0]; 3] };
                let [low, best, high] = misses.map(|misses| misses.min(accesses));
                let (misses_low, misses_high) = (Some(low), Some(high));
                let point = CurvePoint { pages, accesses, misses: best, ..CurvePoint::default() };
                Some(CurvePoint { misses_low, misses_high, ..point })
            };
            self.sizes_pages.iter().enumerate().filter_map(point).collect::<Vec<_>>()
        };
        let curve = |(at, policy): (usize, &Choice)| {
            let points = points(at);
            let judged_from_pages = points.first().map(|point| point.pages);
            PolicyCurve {
                policy: policy.to_string(),
                page_bytes: lru.page_bytes,
                distinct_pages: lru.distinct_pages,
                sample: Some(SampleFacts { judged_from_pages, ..facts }),
                points,
                ..PolicyCurve::default()
            }
        };
        self.policies.iter().enumerate().map(curve).collect()
    }
}

impl Group {
    /// Misses by policy, by size.
    fn misses(self) -> Vec<Vec<u64>> {
        let misses =
            |engine: Box<dyn Engine>| engine.finish().iter().map(|count| count.misses).collect();
        self.engines.into_iter().map(misses).collect()
    }

    fn take(&mut self) {
        if self.keys.is_empty() {
            return;
        }
        self.numbers.clear();
        self.interner.intern(&self.keys, &mut self.numbers);
        let accesses = Accesses { pages: &self.numbers, request_ends: None };
        self.engines.iter_mut().for_each(|engine| engine.access(&accesses));
    }
}

/// The misses of all keys, from those of each group: the least, the best and the most that are likely.
fn scaled(misses: &[u64], rate: f64) -> [u64; 3] {
    let groups = misses.len() as f64;
    // Each group alone would say this.
    let said = |&misses: &u64| misses as f64 * groups / rate;
    let best = misses.iter().map(said).sum::<f64>() / groups;
    let squares: f64 = misses.iter().map(|misses| (said(misses) - best).powi(2)).sum();
    let deviation = (squares / (groups - 1.0) / groups * (1.0 - rate)).sqrt();
    let half = WIDER * T_975 * deviation;
    [best - half, best, best + half].map(whole)
}

/// Spreads keys over all bits: `SplitMix64` (Steele, Lea and Flood, 2014), begun at the seed.
fn hash(key: u64, seed: u64) -> u64 {
    let mut bits = key ^ seed.wrapping_mul(0xd134_2543_de82_ef95);
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;
    use crate::experiment::grid::sampled_curve;
    use crate::meter::sampled::Sampled;

    /// Keys of which the lower ones are asked for more often, and a loop over others.
    fn keys(accesses: u64) -> Vec<u64> {
        let mut random = Random::new(5);
        let mut key = |at: u64| {
            let skewed = whole(random.unit().powi(4) * 4e4);
            if at.is_multiple_of(4) { 100_000 + at / 4 % 6000 } else { skewed }
        };
        (0..accesses).map(&mut key).collect()
    }

    const SIZES: [u64; 3] = [1000, 4000, 9000];

    fn curves(policies: &str, keys: &[u64], rate: f64, seed: u64) -> Vec<PolicyCurve> {
        let policies = policies.split(',').map(|name| name.parse().unwrap()).collect();
        let mut miniature = Miniature::new(policies, SIZES.to_vec(), rate, seed);
        keys.chunks(1000).for_each(|keys| miniature.access(keys));
        let mut sampled = Sampled::new(rate, seed, &[]);
        sampled.access(keys);
        let lru = sampled_curve(&sampled.finish(), &SIZES, 4096, SampleFacts::default());
        miniature.finish(&lru)
    }

    #[test]
    fn all_keys_are_no_sample() {
        let keys = keys(50_000);
        let curves = curves("arc,s3-fifo", &keys, 1.0, 3);
        let (mut interner, mut numbers) = (Interner::new(), Vec::new());
        interner.intern(&keys, &mut numbers);
        for curve in curves {
            let policy: Choice = curve.policy.parse().unwrap();
            let mut engine = policy.engine(&SIZES, 3);
            engine.access(&Accesses { pages: &numbers, request_ends: None });
            let misses: Vec<u64> = engine.finish().iter().map(|count| count.misses).collect();
            let found: Vec<u64> = curve.points.iter().map(|point| point.misses).collect();
            assert_eq!(found, misses, "{}", curve.policy);
            assert!(curve.points.iter().all(|point| point.half_width() == 0.0));
        }
    }

    #[test]
    fn the_truth_is_in_the_band_and_a_size_too_small_is_not_judged() {
        let keys = keys(200_000);
        let names = "arc,sieve,opt";
        let exact = curves(names, &keys, 1.0, 0);
        let (mut inside, mut judged, mut widest) = (0, 0, 0.0_f64);
        for seed in 0..20 {
            for (curve, exact) in curves(names, &keys, 0.2, seed).iter().zip(&exact) {
                let pages: Vec<u64> = curve.points.iter().map(|point| point.pages).collect();
                assert_eq!(pages, SIZES[1..], "1,000 pages are 25 in each group");
                assert_eq!(curve.sample.unwrap().judged_from_pages, Some(SIZES[1]));
                for (point, exact) in curve.points.iter().zip(&exact.points[1..]) {
                    let band = point.misses_low.unwrap()..=point.misses_high.unwrap();
                    inside += u32::from(band.contains(&exact.misses));
                    judged += 1;
                    widest = widest.max(point.half_width());
                }
            }
        }
        // Nineteen of twenty are meant; the bands of a seed move together.
        assert!(inside * 10 >= judged * 9, "{inside} of {judged}");
        assert!(widest < 0.1, "a band that holds everything says nothing: {widest}");
    }

    #[test]
    fn what_leaves_and_what_warms_up_is_followed() {
        let mut miniature = Miniature::new(vec!["fifo".parse().unwrap()], vec![100], 1.0, 0);
        miniature.access(&[1, 2, 3, 1]);
        miniature.start_counting();
        miniature.access(&[1, 2]);
        miniature.remove(2, 9);
        miniature.access(&[1, 2]);
        let curve = miniature.finish(&PolicyCurve::default()).remove(0);
        assert_eq!((curve.points[0].accesses, curve.points[0].misses), (4, 1));
    }
}
