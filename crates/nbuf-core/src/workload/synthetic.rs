//! Keys that no process asked for: patterns whose curves are known.
//!
//! `zipf`: key of rank i with weight 1 / (i+1)^alpha, drawn by the inverse of the cumulative
//! distribution; `uniform`: all alike; `loop`: 0 to n-1 again and again; `scan`: every key once.
//! Invariant: the same parameters give the same keys on every machine. Cost: 12 bytes a key of memory
//! for `zipf`, none for the others.
//!
//! Apart from keys, [`tools`] has people who type commands.
//!
//! ```
//! use nbuf::workload::synthetic::{Keys, Pattern};
//!
//! let zipf = |seed| Keys::new(Pattern::Zipf { alpha: 1.0 }, 1000, seed).take(100).collect::<Vec<_>>();
//! assert_eq!(zipf(42), zipf(42));
//! ```

pub mod shot;
pub mod tools;

use crate::clock::Random;

/// Where keys come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Few keys often, many seldom.
    Zipf {
        /// How steep: 1.0 is Zipf's law, 0 is uniform.
        alpha: f64,
    },
    /// Every key as often.
    Uniform,
    /// One after the other, and from the beginning again.
    Loop,
    /// One after the other, without end.
    Scan,
}

/// Keys of `zipf` at most: they take 1.5 GiB.
const ZIPF_KEYS_MAX: u32 = 1 << 27;

/// Keys that would not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{keys} keys are too many for zipf, which takes 12 bytes of memory for each: write {ZIPF_KEYS_MAX} or fewer"
)]
pub struct TooManyKeys {
    /// How many were asked for.
    pub keys: u32,
}

impl Pattern {
    /// Whether this many keys fit into memory: to be asked before they are made.
    pub fn must_fit(self, keys: u32) -> Result<(), TooManyKeys> {
        match self {
            Self::Zipf { .. } if keys > ZIPF_KEYS_MAX => Err(TooManyKeys { keys }),
            _ => Ok(()),
        }
    }
}

/// The cumulative distribution of ranks, and where in it to begin to look.
#[derive(Clone, Debug)]
struct Ranks {
    up_to: Vec<f64>,
    /// By a part of the unit interval, the first rank that may be it.
    first: Vec<u32>,
}

impl Ranks {
    fn new(keys: u32, alpha: f64) -> Self {
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = (0..keys)
            .map(|rank| {
                sum += (f64::from(rank) + 1.0).powf(alpha).recip();
                sum
            })
            .collect();
        for part in &mut up_to {
            *part /= sum;
        }
        let mut first = Vec::with_capacity(keys as usize);
        let mut rank = 0;
        for part in 0..keys {
            let begin = f64::from(part) / f64::from(keys);
            while rank + 1 < keys && up_to[rank as usize] < begin {
                rank += 1;
            }
            first.push(rank);
        }
        Self { up_to, first }
    }

    /// The first rank whose cumulative weight reaches `unit`.
    fn rank(&self, unit: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to below 1")]
        let part = (unit * self.first.len() as f64) as usize;
        let mut rank = self.first[part.min(self.first.len() - 1)] as usize;
        while rank + 1 < self.up_to.len() && self.up_to[rank] < unit {
            rank += 1;
        }
        rank as u64
    }
}

/// Keys without end.
#[derive(Clone, Debug)]
pub struct Keys {
    pattern: Pattern,
    below: u32,
    random: Random,
    ranks: Option<Ranks>,
    number: u64,
}

impl Keys {
    /// Keys below `keys` (at least one is taken), except [`Pattern::Scan`], which has no end.
    pub fn new(pattern: Pattern, keys: u32, seed: u64) -> Self {
        let keys = keys.max(1);
        let ranks = match pattern {
            Pattern::Zipf { alpha } => Some(Ranks::new(keys, alpha)),
            _ => None,
        };
        Self { pattern, below: keys, random: Random::new(seed), ranks, number: 0 }
    }
}

impl Iterator for Keys {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let number = self.number;
        self.number += 1;
        Some(match (self.pattern, &self.ranks) {
            (Pattern::Zipf { .. }, Some(ranks)) => ranks.rank(self.random.unit()),
            (Pattern::Loop, _) => number % u64::from(self.below),
            (Pattern::Scan, _) => number,
            _ => self.random.below(u64::from(self.below)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_as_their_weights_say() {
        let mut counts = [0_u32; 10];
        for key in Keys::new(Pattern::Zipf { alpha: 1.0 }, 10, 42).take(1_000_000) {
            counts[usize::try_from(key).unwrap()] += 1;
        }
        let sum: f64 = (1..=10).map(|rank| 1.0 / f64::from(rank)).sum();
        for (rank, count) in (1_u32..).zip(counts) {
            let want = 1_000_000.0 / f64::from(rank) / sum;
            assert!((f64::from(count) - want).abs() < 5.0 * want.sqrt(), "{rank}: {count}, {want}");
        }
    }

    #[test]
    fn only_zipf_remembers_its_keys() {
        let zipf = Pattern::Zipf { alpha: 1.0 };
        assert_eq!(zipf.must_fit(ZIPF_KEYS_MAX), Ok(()));
        let said = zipf.must_fit(u32::MAX).unwrap_err().to_string();
        assert!(said.contains("4294967295 keys") && said.contains("134217728 or fewer"), "{said}");
        for pattern in [Pattern::Uniform, Pattern::Loop, Pattern::Scan] {
            assert_eq!(pattern.must_fit(u32::MAX), Ok(()));
        }
    }

    #[test]
    fn the_guide_finds_what_a_search_finds() {
        let ranks = Ranks::new(1000, 0.8);
        let mut random = Random::new(7);
        for _ in 0..10_000 {
            let unit = random.unit();
            let searched = ranks.up_to.partition_point(|up_to| *up_to < unit);
            assert_eq!(ranks.rank(unit), searched.min(999) as u64);
        }
    }

    #[test]
    fn the_plain_patterns_are_plain() {
        let take = |pattern| Keys::new(pattern, 3, 1).take(7).collect::<Vec<u64>>();
        assert_eq!(take(Pattern::Loop), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(take(Pattern::Scan), [0, 1, 2, 3, 4, 5, 6]);
        let mut counts = [0_u32; 3];
        for key in Keys::new(Pattern::Uniform, 3, 1).take(30_000) {
            counts[usize::try_from(key).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (9600..10_400).contains(count)), "{counts:?}");
    }
}
