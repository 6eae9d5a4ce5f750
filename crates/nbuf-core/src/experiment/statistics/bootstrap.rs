//! How sure a median is: the percentile bootstrap (Efron 1979).
//!
//! The measurements are drawn again with replacement, many times; the interval holds the middle 95 %
//! of the medians of those draws. Values from one process are not independent: give one for each
//! process. Cost: 1000 draws and selections. Not for fewer than five measurements, for which it promises
//! too much: there the interval is the whole range.

use super::spread::Spread;
use crate::clock::Random;

/// Draws.
const DRAWS: usize = 1000;
/// The interval of fewer measurements is their range.
const COUNT_MIN: usize = 5;

/// A median and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The lower end.
    pub low: f64,
    /// The median itself.
    pub median: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Wider by a part of the median that is independent of what it holds: the logarithms of the ends are apart by
    /// the root of the sum of squares. For medians above 0.
    #[must_use]
    pub(crate) fn widened(self, part: f64) -> Self {
        let Self { low, median, high } = self;
        if median <= 0.0 {
            return self;
        }
        let far = |logarithm: f64| logarithm.hypot(part.ln_1p());
        let low = median * (-far((median / low).ln())).exp();
        Self { low, median, high: median * far((high / median).ln()).exp() }
    }

    /// Wider by a factor, in logarithms. For medians above 0.
    #[must_use]
    pub(crate) fn stretched(self, factor: f64) -> Self {
        let Self { low, median, high } = self;
        if median <= 0.0 {
            return self;
        }
        let end = |end: f64| median * (end / median).powf(factor);
        Self { low: end(low), median, high: end(high) }
    }
}

/// The interval of independent measurements, in any order; what is no number does not count.
pub(crate) fn interval_of_median(values: &[f64], seed: u64) -> Option<Interval> {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let Spread { count, low, median, high } = Spread::of(values.iter().copied())?;
    if count < COUNT_MIN {
        return Some(Interval { low, median, high });
    }
    let mut random = Random::new(seed);
    let mut drawn = Vec::with_capacity(count);
    let mut medians: Vec<f64> = (0..DRAWS)
        .map(|_| {
            drawn.clear();
            drawn.extend((0..count).map(|_| values[any(&mut random, count)]));
            middle(&mut drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    // The interval always holds the median that is shown with it.
    let (low, high) = (medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40]);
    Some(Interval { low: low.min(median), median, high: high.max(median) })
}

/// A place below `places`, each as likely.
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
    fn coverage(count: usize) -> usize {
        const TRIALS: usize = 300;
        let mut random = Random::new(7);
        let held = (0..TRIALS).filter(|&trial| {
            let values: Vec<f64> = (0..count).map(|_| random.normal()).collect();
            let interval = interval_of_median(&values, trial as u64).unwrap();
            interval.low <= 0.0 && 0.0 <= interval.high
        });
        held.count() * 100 / TRIALS
    }

    #[test]
    fn the_interval_holds_the_truth_nineteen_times_of_twenty() {
        for count in [20, 40, 80] {
            let held = coverage(count);
            assert!((88..=100).contains(&held), "{count}: {held} %");
        }
    }

    #[test]
    fn ends_move_and_the_median_stays() {
        let interval = Interval { low: 9.0, median: 10.0, high: 12.0 };
        // However wide, a rate is above 0.
        let widest = interval.widened(30.0);
        assert!(widest.low > 0.0 && widest.low < 0.33, "{widest:?}");
        let wide = interval.widened(0.1);
        assert!(wide.low < 9.0 && wide.median == 10.0 && wide.high > 12.0, "{wide:?}");
        let exact = Interval { low: 10.0, median: 10.0, high: 10.0 }.widened(0.1);
        assert!((exact.high - 11.0).abs() < 1e-9 && (exact.low - 10.0 / 1.1).abs() < 1e-9);
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
