//! Advice checked by doing: the whole job in each way again, in fresh processes, in turn.
//!
//! All ways do the job in two rounds, also those that the samples found slow. The fastest, and the one
//! that is advised, do it again in more rounds, and only those count: the best of twenty is always better
//! than it is. Each round has its files on other pages. What is compared are rates, since a slow way does
//! a part of the job. Cost: up to a second a job where it begins cold.

use super::Error;
use super::advise::effort;
use super::measure::Bench;
use super::rows::rates;
use super::table::Test;
use crate::clock::Random;
use crate::experiment::result::{AdviceCheck, CheckedWay};
use crate::experiment::statistics::{Interval, Spread, rerun_interval};

/// Rounds of all ways.
const ROUNDS_ALL: usize = 2;
/// Ways that go on.
const BEST: usize = 4;
/// Rounds of those.
const ROUNDS: usize = 9;
/// For the order of jobs in a round.
const SEED: u64 = 0x0061_6476;

/// Processes of a check, for progress.
pub(super) const fn steps(ways: usize) -> usize {
    ROUNDS_ALL * (ways + 1) + ROUNDS * (BEST + 2)
}

/// The job of now and those of the ways; nothing where now cannot be done. `advised` has path and block.
pub(super) fn run(
    bench: &mut Bench<'_>,
    now: &Test,
    ways: &[Test],
    advised: Option<&(String, u64)>,
    step: &mut dyn FnMut(&str),
) -> Result<Option<AdviceCheck>, Error> {
    let all: Vec<&Test> = std::iter::once(now).chain(ways).collect();
    let first = rounds(bench, &all, ROUNDS_ALL, step)?;
    let mut order: Vec<usize> =
        (1..all.len()).filter(|&way| ratio(&first, way).is_some()).collect();
    let first_ratio = |way: usize| ratio(&first, way).map_or(0.0, |ratio| ratio.median);
    order.sort_by(|&a, &b| first_ratio(b).total_cmp(&first_ratio(a)));
    let is_advised = |test: &Test| {
        advised.is_some_and(|(path, block)| (test.path, test.block_bytes) == (path, *block))
    };
    let chosen: Vec<&Test> = order
        .iter()
        .enumerate()
        .filter(|&(place, &way)| place < BEST || is_advised(all[way]))
        .map(|(_, &way)| all[way])
        .collect();
    let again: Vec<&Test> = std::iter::once(now).chain(chosen.iter().copied()).collect();
    let found = rounds(bench, &again, ROUNDS, step)?;
    let Some(now_rate) = median(found.iter().filter_map(|round| round[0])) else { return Ok(None) };
    let way = |(place, test): (usize, &&Test)| {
        let Interval { low, median, high } = ratio(&found, place)?;
        let (path, block_bytes) = (test.path.to_owned(), test.block_bytes);
        Some(CheckedWay { path, block_bytes, ratio: median, low, high })
    };
    let mut ways: Vec<CheckedWay> = again.iter().enumerate().skip(1).filter_map(way).collect();
    ways.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let job_bytes = now.touched_bytes;
    Ok(Some(AdviceCheck { job_bytes, now_seconds: job_bytes as f64 / now_rate, ways }))
}

/// The rates of a round, in bytes a second; nothing of what cannot be done.
type Round = Vec<Option<f64>>;

fn rounds(
    bench: &mut Bench<'_>,
    jobs: &[&Test],
    count: usize,
    step: &mut dyn FnMut(&str),
) -> Result<Vec<Round>, Error> {
    let mut random = Random::new(SEED);
    let mut rounds = Vec::with_capacity(count);
    for _ in 0..count {
        bench.renew()?;
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        random.shuffle(&mut order);
        let mut round = vec![None; jobs.len()];
        for job in order {
            step(&jobs[job].name);
            // As now does: what goes past memory does the job once, too, where now begins cold.
            let (_, said) = bench.process(jobs[job], effort(jobs[0].state))?;
            round[job] = rates(&[said.samples]).0.first().copied();
        }
        rounds.push(round);
    }
    Ok(rounds)
}

/// How many times the rate of now, round by round.
fn ratio(rounds: &[Round], way: usize) -> Option<Interval> {
    let ratios = rounds.iter().filter_map(|round| Some(round[way]? / round[0]?));
    rerun_interval(&ratios.collect::<Vec<_>>())
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    Spread::of(values).map(|spread| spread.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_compared_round_by_round() {
        let rounds: Vec<Round> = vec![
            vec![Some(10.0), Some(20.0), None],
            vec![Some(100.0), Some(300.0), Some(50.0)],
            vec![None, Some(1.0), Some(1.0)],
        ];
        assert_eq!(ratio(&rounds, 1), Some(Interval { low: 2.0, median: 2.5, high: 3.0 }));
        assert_eq!(ratio(&rounds, 2), Some(Interval { low: 0.5, median: 0.5, high: 0.5 }));
        assert_eq!(ratio(&[vec![Some(1.0), None]], 1), None);
    }
}
