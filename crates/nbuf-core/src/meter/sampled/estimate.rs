//! From the counts of a sample to a curve with a band.
//!
//! Two errors, each from the spread between the groups of tail keys. *Which keys*: the hits of a
//! group less what its accesses let expect; a key that is in the sample stands for others that
//! are not (Poisson sampling with the ratio estimator: C. Särndal and others, *Model Assisted
//! Survey Sampling*, 1992, section 7.3). *How deep*: the tail keys above an access are counted on
//! the sample too, so all sizes are stretched together, by the spread of the keys that a cache of
//! that size holds. A curve that is steep or has a step is read that far to both sides, so that
//! a step is inside its band wherever it really is. The two are joined as if they were
//! independent; in truth they partly cancel, and the band is a little wider than it must be.

mod replicas;

pub use replicas::SizeMisses;

use super::super::bins::{sums, up_to};
use super::{Counts, GROUPS, Group};

/// Deviations of a normal distribution to each side of a 95 % band, for the degrees of freedom
/// that the groups leave.
const DEVIATIONS: f64 = 1.98;
/// A cache is judged when it holds this many keys of the sample.
const KEYS_MIN: f64 = 32.0;

/// Hit ratio of LRU at one size, as a sample sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The lower edge of the 95 % band.
    pub low: f64,
    /// The most likely value.
    pub best: f64,
    /// The upper edge.
    pub high: f64,
}

/// An LRU curve from a sample.
#[derive(Clone, Debug)]
pub struct Estimate {
    rate: f64,
    accesses: f64,
    repeats: f64,
    tail_accesses: f64,
    sampled_accesses: f64,
    /// Running sums over depth: see [`sums`].
    hot_hits: Vec<f64>,
    groups: Vec<Sums>,
    tail_hits: Vec<f64>,
    present: Vec<f64>,
    warmup_accesses: f64,
    hot_keys: usize,
    tail_keys: usize,
}

/// One group, summed over depth.
#[derive(Clone, Debug)]
struct Sums {
    accesses: f64,
    hits: Vec<f64>,
    /// Keys present, averaged over the censuses.
    present: Vec<f64>,
}

impl Estimate {
    /// `keys` that are followed, hot ones and others; `warmup` accesses were not counted.
    pub(super) fn new(counts: &Counts, rate: f64, keys: (usize, usize), warmup: u64) -> Self {
        let running = |bins: &[u64]| sums(bins.iter().map(|&count| count as f64));
        let censuses = counts.censuses.max(1) as f64;
        let group = |group: &Group| Sums {
            accesses: group.accesses as f64,
            hits: running(&group.hits),
            present: sums(group.present.iter().map(|&keys| keys as f64 / censuses)),
        };
        let groups: Vec<Sums> = counts.groups.iter().map(group).collect();
        let total = |of: fn(&Sums) -> &Vec<f64>| {
            let bins = of(&groups[0]).len();
            (0..bins).map(|bin| groups.iter().map(|group| of(group)[bin]).sum()).collect()
        };
        Self {
            rate,
            accesses: counts.accesses as f64,
            repeats: counts.repeats as f64,
            tail_accesses: (counts.accesses - counts.hot_accesses) as f64,
            sampled_accesses: groups.iter().map(|group| group.accesses).sum(),
            hot_hits: running(&counts.hot_hits),
            tail_hits: total(|group| &group.hits),
            present: total(|group| &group.present),
            groups,
            warmup_accesses: warmup as f64,
            hot_keys: keys.0,
            tail_keys: keys.1,
        }
    }

    /// How many different keys there are, as far as the sample tells; each is accessed.
    pub fn distinct(&self) -> f64 {
        let keys = self.hot_keys as f64 + self.tail_keys as f64 / self.rate;
        keys.min(self.accesses + self.warmup_accesses)
    }

    /// Accesses, sampled or not.
    pub fn accesses(&self) -> u64 {
        crate::units::whole(self.accesses)
    }

    /// The smallest size that can be judged, if there is one.
    pub fn judged_from(&self) -> Option<u64> {
        let most = crate::units::whole(self.distinct()).max(1);
        let judged = |&size: &u64| self.at(size).is_some();
        super::super::bins::edges(most).find(judged)
    }

    /// The hit ratio at this size; nothing where the sample is too thin to tell.
    pub fn at(&self, size: u64) -> Option<Band> {
        let size = size as f64;
        let exact = self.rate >= 1.0 || self.tail_accesses < 1.0;
        if !exact && up_to(&self.present, size) < KEYS_MIN {
            return None;
        }
        let best = self.ratio(size);
        if exact {
            return Some(Band { low: best, best, high: best });
        }
        let stretch = DEVIATIONS * self.stretch(size);
        let (below, above) = (self.ratio(size - stretch), self.ratio(size + stretch));
        // Depths that are only known to within `stretch` smooth the curve, which bends it.
        let bend = (below.midpoint(above) - best).abs() / DEVIATIONS.powi(2);
        let keys = DEVIATIONS * self.which_keys(size);
        let low = best - keys.hypot(best - below) - bend;
        let high = best + keys.hypot(above - best) + bend;
        Some(Band { low: low.max(0.0), best, high: high.min(1.0) })
    }

    /// Estimated hits over accesses at this size.
    fn ratio(&self, size: f64) -> f64 {
        let hot = up_to(&self.hot_hits, size);
        let tail = up_to(&self.tail_hits, size) * self.weight();
        if self.accesses > 0.0 { (hot + tail) / self.accesses } else { 0.0 }
    }

    /// Accesses of the tail that one of the sample stands for.
    fn weight(&self) -> f64 {
        if self.sampled_accesses > 0.0 { self.tail_accesses / self.sampled_accesses } else { 0.0 }
    }

    /// Standard deviation of the hit ratio from which keys are in the sample.
    fn which_keys(&self, size: f64) -> f64 {
        let expected = up_to(&self.tail_hits, size) / self.sampled_accesses.max(1.0);
        let spread = spread(
            self.groups.iter().map(|group| up_to(&group.hits, size) - expected * group.accesses),
        );
        ((1.0 - self.rate) * spread).sqrt() * self.weight() / self.accesses
    }

    /// Standard deviation of the size that an estimated size stands for.
    fn stretch(&self, size: f64) -> f64 {
        let spread = spread(self.groups.iter().map(|group| up_to(&group.present, size)));
        ((1.0 - self.rate) * spread).sqrt() / self.rate
    }
}

/// Sum of squared deviations, as if of the members: keys are in groups by chance, so the squares
/// of groups sum up to those of their keys.
fn spread(groups: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = GROUPS as f64;
    let mean = groups.clone().sum::<f64>() / count;
    groups.map(|group| (group - mean).powi(2)).sum::<f64>() * count / (count - 1.0)
}
