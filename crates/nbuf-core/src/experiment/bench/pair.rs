//! Two tests against each other: pairs of fresh processes in turn, and the floor that the same
//! gives for a test against itself.
//!
//! Each process gives one number and a pair the ratio of two; the median over the pairs is the
//! answer, with its bootstrap interval. Where the data is in memory, the number is the best of a few short
//! clean samples: what disturbs makes it slower, never faster, and many short processes leave less
//! noise than a few long ones (`docs/experiments/cs61.md` has the figures of other designs). What comes
//! from a device varies by itself, and its number is the median. The floor is measured in the same run,
//! with as many pairs. Where the machine is so noisy that the floor is above what was aimed at, both get
//! more of them.

use super::Error;
use super::measure::{Bench, Effort};
use super::process::Sampled;
use super::table::Test;
use crate::experiment::result::BenchSample;
use crate::experiment::statistics::{Floor, Ratio, Spread, Turn, abba};

/// How a comparison is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Design {
    /// Pairs of fresh processes.
    pub pairs: usize,
    /// Up to this many, by doubling, while the floor is above [`AIM_PERCENT`].
    pub pairs_max: usize,
    /// What each process does.
    pub effort: Effort,
    /// Comparisons of a test with itself, for the floor.
    pub same: usize,
    /// Whether a process gives its best clean sample, instead of the median of them.
    pub takes_best: bool,
}

impl Design {
    /// For what is in memory.
    pub(super) const MEMORY: Self = Self {
        pairs: 64,
        pairs_max: 512,
        effort: Effort {
            processes: 1,
            processes_device: 1,
            clean: 4,
            samples_max: 12,
            sample_ns: 300_000,
            time_ns_max: 20_000_000,
            is_whole_pass: false,
        },
        same: 24,
        takes_best: true,
    };
    /// For what comes from a device.
    pub(super) const DEVICE: Self = Self {
        pairs: 12,
        pairs_max: 12,
        effort: Effort {
            processes: 1,
            processes_device: 1,
            clean: 6,
            samples_max: 12,
            sample_ns: 1_000_000,
            time_ns_max: 80_000_000,
            is_whole_pass: false,
        },
        same: 24,
        takes_best: false,
    };
}

impl Design {
    /// The same, and no more pairs whatever the noise: for who has no time.
    #[must_use]
    pub(super) const fn brief(self) -> Self {
        Self { pairs_max: self.pairs, ..self }
    }

    /// Times that the floor is measured at most, each time with twice the pairs.
    pub(super) fn rounds(&self) -> usize {
        std::iter::successors(Some(self.pairs), |pairs| self.next(*pairs)).count()
    }

    /// How many pairs come after this many.
    fn next(&self, pairs: usize) -> Option<usize> {
        pairs.checked_mul(2).filter(|&more| more > pairs && more <= self.pairs_max)
    }
}

/// The floor for which more pairs are made, in percent.
pub(super) const AIM_PERCENT: f64 = 1.5;
/// For the bootstrap.
const SEED: u64 = 0xabba;
/// Pairs after which files in memory are made again, on other pages: where they are is worth a factor of
/// two to mappings.
const PAIRS_ON_PAGES: usize = 16;

/// How often that is with this many pairs.
pub(super) const fn renewals(pairs: usize) -> u64 {
    (pairs.saturating_sub(1) / PAIRS_ON_PAGES) as u64
}

/// Fewer clean samples than this are not better than all.
const CLEAN_MIN: usize = 3;

/// What came of a comparison: the ratio of rates, B to A; or what refuses.
pub(super) type Outcome = Result<Ratio, String>;

/// Compares; A and B may be the same.
pub(super) fn compare(
    bench: &mut Bench<'_>,
    a: &Test,
    b: &Test,
    design: &Design,
) -> Result<Outcome, Error> {
    let mut rates = Vec::with_capacity(design.pairs);
    Ok(match pairs(bench, [a, b], design, &mut rates)? {
        Some(reason) => Err(reason),
        None => ratio(&rates),
    })
}

fn ratio(rates: &[(f64, f64)]) -> Outcome {
    Ratio::of(rates, SEED).ok_or_else(|| "no pair gave two rates".to_owned())
}

/// Adds what is missing to the pairs that a design wants; why it cannot.
fn pairs(
    bench: &mut Bench<'_>,
    [a, b]: [&Test; 2],
    design: &Design,
    all: &mut Vec<(f64, f64)>,
) -> Result<Option<String>, Error> {
    for (number, turns) in abba(design.pairs.saturating_sub(all.len())).enumerate() {
        if number > 0 && number.is_multiple_of(PAIRS_ON_PAGES) {
            bench.renew_for(&[a, b])?;
        }
        let mut rates = [0.0; 2];
        for turn in turns {
            let (test, place) = match turn {
                Turn::A => (a, 0),
                Turn::B => (b, 1),
            };
            let (task, sampled) = bench.process(test, &design.effort)?;
            if let Some(reason) = refusal(&task, &sampled) {
                return Ok(Some(format!("{}: {reason}", test.name)));
            }
            rates[place] = rate(&sampled.samples, design.takes_best);
        }
        all.push((rates[0], rates[1]));
    }
    Ok(None)
}

/// The floor: tests against themselves, in turn; and the design that it holds for, which is the given
/// one with as many pairs as it took. `step` is reported after each comparison of each round, and of those of
/// the rounds that were not needed.
pub(super) fn floor(
    bench: &mut Bench<'_>,
    tests: &[Test],
    design: &Design,
    step: &mut dyn FnMut(),
) -> Result<Option<(Floor, Design)>, Error> {
    let tests = || tests.iter().cycle().take(design.same);
    let mut all: Vec<Vec<(f64, f64)>> = vec![Vec::new(); tests().count()];
    let mut design = *design;
    loop {
        let mut ratios = Vec::with_capacity(all.len());
        for (test, rates) in tests().zip(&mut all) {
            if pairs(bench, [test, test], &design, rates)?.is_none() {
                ratios.extend(ratio(rates));
            }
            step();
        }
        let floor = Floor::of(&ratios);
        let is_noisy = floor.is_some_and(|floor| floor.percent() > AIM_PERCENT);
        let Some(more) = design.next(design.pairs).filter(|_| is_noisy) else {
            (1..design.rounds()).for_each(|_| tests().for_each(|_| step()));
            return Ok(floor.map(|floor| (floor, design)));
        };
        design.pairs = more;
    }
}

/// What a row of the table would be refused for is refused here, too.
fn refusal(task: &crate::experiment::result::BenchTask, sampled: &Sampled) -> Option<String> {
    let check = super::label_check::of(&sampled.samples);
    sampled.refused.clone().or_else(|| super::label_check::contradiction(task, &check))
}

/// What a process says: its best sample, or the median, of the clean ones; of all, where hardly any
/// is clean.
fn rate(samples: &[BenchSample], takes_best: bool) -> f64 {
    let of = |only_clean: bool| {
        let kept = samples.iter().filter(|sample| sample.is_clean || !only_clean);
        Spread::of(kept.map(BenchSample::bytes_per_second))
    };
    let enough = if takes_best { 1 } else { CLEAN_MIN };
    let clean = of(true).filter(|spread| spread.count >= enough);
    let spread = clean.or_else(|| of(false));
    spread.map_or(0.0, |spread| if takes_best { spread.high } else { spread.median })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_doubled_up_to_their_most() {
        let check = |pairs, pairs_max, want| {
            let design = Design { pairs, pairs_max, ..Design::MEMORY };
            assert_eq!(design.rounds(), want, "{pairs} {pairs_max}");
            assert_eq!(design.brief().rounds(), 1);
        };
        check(64, 256, 3);
        check(64, 255, 2);
        check(12, 12, 1);
        check(12, 0, 1);
        check(0, 10, 1);
    }

    #[test]
    fn a_process_gives_its_best_or_its_median_of_what_is_clean() {
        let sample = |elapsed_ns, is_clean| BenchSample {
            bytes: 1000,
            elapsed_ns,
            is_clean,
            ..BenchSample::default()
        };
        let check = |samples: &[(u64, bool)], best: f64, median: f64| {
            let samples: Vec<BenchSample> =
                samples.iter().map(|&(elapsed, clean)| sample(elapsed, clean)).collect();
            let got = [true, false].map(|takes_best| rate(&samples, takes_best));
            let is_near = |(got, want): (f64, f64)| (got - want).abs() <= want * 1e-9;
            assert!(is_near((got[0], best)) && is_near((got[1], median)), "{got:?}");
        };
        check(&[(1000, true), (2000, true), (4000, true), (500, false)], 1e9, 5e8);
        check(&[(1000, true), (2000, false), (4000, false)], 1e9, 5e8);
        check(&[(2000, false), (4000, false), (8000, false)], 5e8, 2.5e8);
        check(&[], 0.0, 0.0);
    }
}
