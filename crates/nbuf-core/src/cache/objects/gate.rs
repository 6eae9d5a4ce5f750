//! Decides whether an object that missed comes in, in front of any policy.
//!
//! An object that was refused misses again at its next access. Hits are not asked for. Invariant: a gate sees every access
//! before it decides on one. Cost: by [`Admission`]: nothing, a draw, 8 bytes an object (`tinylfu`), or 24 and the tuning
//! (`adaptsize`).
//!
//! `TinyLFU` counts exactly, where a cache of the real world counts in a sketch of four bits. It asks the policy for the
//! object that would go first, the first of perhaps several. `random` and `redis` may draw another one when it comes to
//! evicting. G. Einziger, R. Friedman, B. Manes, *`TinyLFU`: A Highly Efficient Cache Admission Policy*, 2017.

use super::Object;
use super::adapt_size::AdaptSize;
use crate::cache::admission::{Admission, MILLION};
use crate::cache::table::Table;
use crate::clock::Random;

/// Counts end here, as in counters of four bits.
const COUNT_MAX: u32 = 15;

/// An admission at work in front of one cache.
pub(super) enum Gate {
    Threshold(u64),
    Probability(u32, Random),
    TinyLfu(Frequencies),
    AdaptSize(Box<AdaptSize>),
}

impl Gate {
    pub(super) fn new(admission: Admission, seed: u64, cache_bytes: u64) -> Self {
        match admission {
            Admission::Threshold { bytes } => Self::Threshold(bytes),
            Admission::Probability { millionths } => {
                Self::Probability(millionths, Random::new(seed))
            }
            Admission::TinyLfu { sample } => Self::TinyLfu(Frequencies::new(sample)),
            Admission::AdaptSize(tuning) => {
                Self::AdaptSize(Box::new(AdaptSize::new(tuning, seed, cache_bytes)))
            }
        }
    }

    /// Before an access to a cache that holds `len` objects.
    pub(super) fn see(&mut self, object: &Object, len: u32) {
        match self {
            Self::Threshold(_) | Self::Probability(..) => {}
            Self::TinyLfu(frequencies) => frequencies.add(object.number, len),
            Self::AdaptSize(adapt) => adapt.see(object),
        }
    }

    /// Whether an object comes in that missed. `rival` is the one that would go first for it, if one must.
    pub(super) fn admits(&mut self, object: &Object, rival: impl FnOnce() -> Option<u32>) -> bool {
        match self {
            Self::Threshold(most) => object.bytes <= *most,
            Self::Probability(millionths, chance) => {
                chance.below(MILLION.into()) < u64::from(*millionths)
            }
            Self::TinyLfu(frequencies) => rival().is_none_or(|rival| {
                frequencies.estimate(object.number) > frequencies.estimate(rival)
            }),
            Self::AdaptSize(adapt) => adapt.admits(object),
        }
    }
}

/// How often objects were asked for lately.
pub(super) struct Frequencies {
    /// Accesses for each object of the cache after which counts are halved.
    sample: u32,
    /// A count, and how often counts had been halved when it was counted.
    counts: Table<(u32, u32)>,
    halvings: u32,
    added: u64,
    /// The most objects that the cache held.
    len_max: u32,
}

impl Frequencies {
    fn new(sample: u32) -> Self {
        Self { sample, counts: Table::default(), halvings: 0, added: 0, len_max: 1 }
    }

    fn add(&mut self, number: u32, len: u32) {
        self.len_max = self.len_max.max(len);
        let count = self.estimate(number);
        if count < COUNT_MAX {
            *self.counts.at(number) = (count + 1, self.halvings);
            self.added += 1;
        }
        if self.added >= u64::from(self.sample) * u64::from(self.len_max) {
            self.halvings += 1;
            self.added /= 2;
        }
    }

    fn estimate(&self, number: u32) -> u32 {
        let (count, halvings) = self.counts.get(number);
        count >> (self.halvings - halvings).min(31)
    }
}

#[cfg(test)]
mod tests;
