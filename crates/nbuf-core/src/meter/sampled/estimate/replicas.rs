//! The curves that other samples of the same trace might have drawn: what follows from the whole of
//! a curve, as its knee does, gets its band from them.
//!
//! A replica takes as many groups of tail keys as there are, by chance, some of them several times
//! and some not at all (B. Efron, *Bootstrap Methods: Another Look at the Jackknife*, 1979). The
//! errors of its sizes belong together, which bands at single sizes do not know. Groups that are a
//! large part of all keys stray less; with all keys followed every replica is the curve itself.
//!
//! Cost: two additions for each group and bin.

use super::super::super::bins::{edge, edges};
use super::{Estimate, GROUPS};
use crate::units::whole;

/// A size in pages and what LRU misses of it.
pub type SizeMisses = (u64, u64);

impl Estimate {
    /// The misses of a cache of one page: counted, not estimated.
    pub fn misses_at_one(&self) -> u64 {
        whole(self.accesses - self.repeats)
    }

    /// The curve at the ends of all bins, judged or not.
    pub fn curve(&self) -> Vec<SizeMisses> {
        self.drawn(&[1.0; GROUPS])
    }

    /// The curve that another sample might have drawn; another number is another sample.
    pub fn replica(&self, number: u64) -> Vec<SizeMisses> {
        let mut taken = [0.0; GROUPS];
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
        for _ in 0..GROUPS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // The high bits of such a generator are the random ones.
            taken[usize::try_from(state >> 33).unwrap_or(0) % GROUPS] += 1.0;
        }
        let strays = (1.0 - self.rate).max(0.0).sqrt();
        self.drawn(&taken.map(|times| 1.0 + strays * (times - 1.0)))
    }

    /// Returns the curve of the groups, each counted as many times as `taken` gives for it.
    fn drawn(&self, taken: &[f64; GROUPS]) -> Vec<SizeMisses> {
        let bins = edges(whole(self.distinct()).max(1)).count() + 1;
        let (mut hits, mut shift) = (vec![0.0; bins], vec![0.0; bins]);
        let mut accesses = 0.0;
        for (group, times) in self.groups.iter().zip(taken) {
            accesses += group.accesses * times;
            for ((hits, shift), (of_group, present)) in
                hits.iter_mut().zip(&mut shift).zip(group.hits.iter().zip(&group.present))
            {
                *hits += of_group * times;
                *shift += present * (times - 1.0);
            }
        }
        let weight = if accesses > 0.0 { self.tail_accesses / accesses } else { 0.0 };
        let mut curve: Vec<SizeMisses> = vec![(1, self.misses_at_one())];
        for bin in 1..bins {
            let left = self.accesses - self.hot_hits[bin] - hits[bin] * weight;
            // What it takes for a size is as many keys more or less as its groups hold.
            let size = whole((edge(bin) as f64 + shift[bin] / self.rate).max(1.0));
            let (before, at_most) = *curve.last().expect("it begins with one");
            let left = whole(left.max(0.0)).min(at_most);
            if size > before {
                curve.push((size, left));
            } else if before > 1 {
                curve.pop();
                curve.push((before, left));
            }
        }
        curve
    }
}
