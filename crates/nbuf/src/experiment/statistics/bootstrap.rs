//! How sure a median is: the percentile bootstrap (Efron 1979).
//!
//! The measurements are drawn again with replacement, many times; the interval holds the middle 95 %
//! of the medians of those draws. Measurements from several processes are drawn in two steps,
//! processes first: what differs from one process to the next (where its pages lie) is the same for
//! all samples in it, and drawing samples alone would call sure what is not. Cost: 1000 draws and
//! selections. Not for fewer than five measurements, of which it promises too much; such an interval
//! is the whole range.

use super::spread::Spread;
use crate::clock::Random;

/// Draws.
const DRAWS: usize = 1000;
/// Of fewer measurements the interval is their range.
const COUNT_MIN: usize = 5;

/// A median and where it lies, nineteen times of twenty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The median itself.
    pub median: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Wider by a part of the median that is independent of what it holds: ends lie apart by the root
    /// of the sum of squares. For medians above 0.
    #[must_use]
    pub fn widened(self, part: f64) -> Self {
        let Self { low, median, high } = self;
        let apart = |end: f64| (median - end).abs().hypot(part * median);
        Self { low: (median - apart(low)).max(0.0), median, high: median + apart(high) }
    }
}

/// Of independent measurements, in any order; what is no number does not count.
pub fn interval_of_median(values: &[f64], seed: u64) -> Option<Interval> {
    let groups: Vec<Vec<f64>> = values.iter().map(|&value| vec![value]).collect();
    interval_of_groups(&groups, seed)
}

/// Of measurements from several processes, a group each; the median is that of all of them together.
pub fn interval_of_groups(groups: &[Vec<f64>], seed: u64) -> Option<Interval> {
    let groups: Vec<Vec<f64>> = groups
        .iter()
        .map(|group| group.iter().copied().filter(|value| value.is_finite()).collect())
        .filter(|group: &Vec<f64>| !group.is_empty())
        .collect();
    let all: Vec<f64> = groups.iter().flatten().copied().collect();
    let Spread { count, low, median, high } = Spread::of(all)?;
    if count < COUNT_MIN {
        return Some(Interval { low, median, high });
    }
    let mut random = Random::new(seed);
    let mut drawn = Vec::with_capacity(count);
    let mut medians: Vec<f64> = (0..DRAWS)
        .map(|_| {
            drawn.clear();
            for _ in 0..groups.len() {
                let group = &groups[any(&mut random, groups.len())];
                drawn.extend((0..group.len()).map(|_| group[any(&mut random, group.len())]));
            }
            middle(&mut drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    // The interval always holds the median that is shown with it.
    let (low, high) = (medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40]);
    Some(Interval { low: low.min(median), median, high: high.max(median) })
}

/// Any place of so many.
fn any(random: &mut Random, places: usize) -> usize {
    usize::try_from(random.below(places as u64)).unwrap_or(0)
}

/// The median, without sorting everything. Not of nothing.
fn middle(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if is_even => f64::midpoint(lower, *upper),
        _ => *upper,
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the same numbers, or none lost on the way")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How often, in percent, the interval holds the true median of what it was drawn from.
    fn coverage(groups: usize, each: usize, between: f64) -> usize {
        const TRIALS: usize = 300;
        let mut random = Random::new(7);
        let held = (0..TRIALS).filter(|&trial| {
            let values: Vec<Vec<f64>> = (0..groups)
                .map(|_| {
                    let shift = between * random.normal();
                    (0..each).map(|_| shift + random.normal()).collect()
                })
                .collect();
            let interval = interval_of_groups(&values, trial as u64).unwrap();
            interval.low <= 0.0 && 0.0 <= interval.high
        });
        held.count() * 100 / TRIALS
    }

    #[test]
    fn the_interval_holds_the_truth_nineteen_times_of_twenty() {
        // Independent ones; samples in processes that do not differ; and in some that do.
        for (groups, each, between) in [(20, 1, 0.0), (40, 1, 0.0), (10, 8, 0.0), (16, 8, 1.0)] {
            let held = coverage(groups, each, between);
            assert!((88..=100).contains(&held), "{groups} x {each}, {between}: {held} %");
        }
    }

    #[test]
    fn drawing_samples_alone_would_be_too_sure_of_processes_that_differ() {
        let mut random = Random::new(3);
        let groups: Vec<Vec<f64>> = (0..8)
            .map(|_| {
                let shift = random.normal();
                (0..20).map(|_| shift + random.normal() / 10.0).collect()
            })
            .collect();
        let together: Vec<f64> = groups.iter().flatten().copied().collect();
        let width = |interval: Interval| interval.high - interval.low;
        let by_group = width(interval_of_groups(&groups, 1).unwrap());
        let by_sample = width(interval_of_median(&together, 1).unwrap());
        assert!(by_group > 1.5 * by_sample, "{by_group} {by_sample}");
    }

    #[test]
    fn of_few_the_interval_is_the_range() {
        assert_eq!(interval_of_median(&[], 1), None);
        assert_eq!(interval_of_median(&[f64::NAN], 1), None);
        let three = interval_of_median(&[3.0, 1.0, 2.0], 1);
        assert_eq!(three, Some(Interval { low: 1.0, median: 2.0, high: 3.0 }));
    }

    proptest! {
        #[test]
        fn the_median_of_the_spread_lies_in_it(
            values in prop::collection::vec(-1e6..1e6_f64, 1..60), seed: u64,
        ) {
            let spread = Spread::of(values.iter().copied()).unwrap();
            let interval = interval_of_median(&values, seed).unwrap();
            prop_assert_eq!(interval.median, spread.median);
            prop_assert!(spread.low <= interval.low && interval.low <= interval.median);
            prop_assert!(interval.median <= interval.high && interval.high <= spread.high);
            prop_assert_eq!(interval_of_median(&values, seed), Some(interval), "same seed");
        }

        #[test]
        fn the_middle_is_that_of_the_sorted(mut values in prop::collection::vec(-9..9_i32, 1..20)) {
            let spread = Spread::of(values.iter().copied().map(f64::from)).unwrap();
            let mut floats: Vec<f64> = values.drain(..).map(f64::from).collect();
            prop_assert_eq!(middle(&mut floats), spread.median);
        }
    }
}
