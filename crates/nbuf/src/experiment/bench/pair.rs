//! Two tests against each other: pairs of fresh processes in turn, and the floor that the same
//! gives for a test against itself.
//!
//! Each process gives one number, the median of its clean samples; a pair gives the ratio of
//! two; the median over the pairs is the answer, with its bootstrap interval. The floor is measured in
//! the same run, with as many pairs. A process is short, so that both of a pair meet the same weather.

use super::Error;
use super::measure::{Bench, Effort};
use super::table::Test;
use super::watch::Heard;
use crate::experiment::result::BenchSample;
use crate::experiment::statistics::{Floor, Ratio, Spread, Turn, abba};

/// How a comparison is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Pairs of fresh processes.
    pub pairs: usize,
    /// What each process does.
    pub effort: Effort,
    /// Comparisons of a test with itself, for the floor.
    pub same: usize,
}

impl Design {
    /// For what is in memory.
    pub const MEMORY: Self = Self {
        pairs: 10,
        effort: Effort {
            processes: 1,
            clean: 9,
            samples_max: 24,
            sample_ns: 700_000,
            time_ns_max: 40_000_000,
        },
        same: 24,
    };
    /// For what comes from a device.
    pub const DEVICE: Self = Self {
        pairs: 10,
        effort: Effort {
            processes: 1,
            clean: 9,
            samples_max: 16,
            sample_ns: 1_000_000,
            time_ns_max: 80_000_000,
        },
        same: 24,
    };
}

/// For the bootstrap.
const SEED: u64 = 0xabba;
/// Fewer clean samples than this are not better than all.
const CLEAN_MIN: usize = 3;

/// What came of a comparison: the ratio of rates, B to A; or what refuses.
pub type Outcome = Result<Ratio, String>;

/// Compares; A and B may be the same.
pub fn compare(
    bench: &mut Bench<'_>,
    a: &Test,
    b: &Test,
    design: &Design,
) -> Result<Outcome, Error> {
    let mut pairs = Vec::with_capacity(design.pairs);
    for turns in abba(design.pairs) {
        let mut rates = [0.0; 2];
        for turn in turns {
            let (test, place) = match turn {
                Turn::A => (a, 0),
                Turn::B => (b, 1),
            };
            let (task, heard) = bench.process(test, &design.effort)?;
            if let Some(reason) = refusal(&task, &heard) {
                return Ok(Err(format!("{}: {reason}", test.name)));
            }
            rates[place] = rate(&heard.samples);
        }
        pairs.push((rates[0], rates[1]));
    }
    Ok(Ratio::of(&pairs, SEED).ok_or_else(|| "no pair gave two rates".to_owned()))
}

/// The floor: tests against themselves, in turn. `step` is told after each comparison.
pub fn floor(
    bench: &mut Bench<'_>,
    tests: &[Test],
    design: &Design,
    step: &mut dyn FnMut(),
) -> Result<Option<Floor>, Error> {
    let mut ratios = Vec::with_capacity(design.same);
    for test in tests.iter().cycle().take(design.same) {
        ratios.extend(compare(bench, test, test, design)?);
        step();
    }
    Ok(Floor::of(&ratios))
}

/// What a row of the table would be refused for is refused here, too.
fn refusal(task: &crate::experiment::result::BenchTask, heard: &Heard) -> Option<String> {
    let proof = super::proof::of(&heard.samples);
    heard.refused.clone().or_else(|| super::proof::contradiction(task, &proof))
}

/// The median rate of the clean samples; of all, where hardly any is clean.
fn rate(samples: &[BenchSample]) -> f64 {
    let of = |only_clean: bool| {
        let kept = samples.iter().filter(|sample| sample.is_clean || !only_clean);
        Spread::of(kept.map(BenchSample::bytes_per_second))
    };
    let clean = of(true).filter(|spread| spread.count >= CLEAN_MIN);
    clean.or_else(|| of(false)).map_or(0.0, |spread| spread.median)
}
