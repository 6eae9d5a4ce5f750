//! Where the median of another run would lie, from the values of one: a range without a distribution.
//!
//! A confidence interval holds the true median nineteen times of twenty, but the next run's median,
//! which is off by chance too, less often. This range is for the next run's. If two samples are from one
//! distribution, all interleavings are equally likely, so the number of values below the other's
//! median has a known distribution (Fligner and Wolfe, *Some applications of sample analogues to
//! the probability integral transformation*, 1976). Ends lie on lines between neighbouring values. For
//! fewer than seven values it is from the least to the most, which promises less: 83 % with five. Not for
//! runs that differ by more than chance. Cost: a sort.

use super::bootstrap::Interval;

/// The chance that the median of another run is below the range, and equally that it is above.
const TAIL: f64 = 0.025;

/// The median of values, and the range of the median of as many others; nothing of none.
pub(crate) fn rerun_interval(values: &[f64]) -> Option<Interval> {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let median = f64::midpoint(values[last / 2], values[values.len() / 2]);
    let (rank, part) = end(values.len());
    let between = |outer: f64, inner: f64| outer + (inner - outer) * part;
    let low = between(values[rank], values[(rank + 1).min(last)]);
    let high = between(values[last - rank], values[(last - rank).saturating_sub(1)]);
    Some(Interval { low: low.min(median), median, high: high.max(median) })
}

/// Which value the range begins at, counted from 0, and what part of the way to the next one.
fn end(count: usize) -> (usize, f64) {
    let mut below = 0.0;
    for rank in 0..count {
        // The other median is below this value if at most `rank` values are below that median.
        let more = below + chance(count, rank);
        if more > TAIL {
            let part = if rank == 0 { 0.0 } else { (TAIL - below) / (more - below) };
            return (rank.saturating_sub(1), part);
        }
        below = more;
    }
    (0, 0.0)
}

/// How likely it is that this many of `count` values lie below the median of `count` others.
fn chance(count: usize, below: usize) -> f64 {
    let of_rank = |rank: usize| {
        choose(below + rank - 1, below) * choose(2 * count - below - rank, count - below)
            / choose(2 * count, count)
    };
    f64::midpoint(of_rank(count.div_ceil(2)), of_rank(count / 2 + 1))
}

fn choose(all: usize, some: usize) -> f64 {
    (0..some.min(all - some)).fold(1.0, |ways, step| ways * (all - step) as f64 / (step + 1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Random;

    /// How often, in thousandths, the range holds the median of another run, where both are drawn
    /// by `draw`.
    fn coverage(count: usize, mut draw: impl FnMut() -> f64) -> usize {
        const TRIALS: usize = 4000;
        let mut run = || rerun_interval(&(0..count).map(|_| draw()).collect::<Vec<_>>()).unwrap();
        let held = (0..TRIALS).filter(|_| {
            let (one, other) = (run(), run());
            (one.low..=one.high).contains(&other.median)
        });
        held.count() * 1000 / TRIALS
    }

    #[test]
    fn the_median_of_another_run_lies_in_the_range() {
        let mut random = Random::new(11);
        for count in [7, 8, 9, 11, 12, 15, 20, 40] {
            let even = coverage(count, || random.normal());
            assert!((930..=970).contains(&even), "{count}: {even}");
        }
        // Nothing is assumed of the distribution: one with two heads, and one with a long tail.
        let heads = coverage(11, || {
            let head = if random.below(2) == 0 { 0.0 } else { 100.0 };
            head + random.normal()
        });
        let tail = coverage(11, || (3.0 * random.normal()).exp());
        assert!((930..=970).contains(&heads) && (930..=970).contains(&tail), "{heads} {tail}");
        // No range of few values promises as much.
        let few = coverage(5, || random.normal());
        assert!((800..=870).contains(&few), "{few}");
    }

    #[test]
    fn chances_are_those_of_all_interleavings() {
        // The 20 ways to mix three and three, counted by hand: the other median has 0 below
        // it in 4 of them, and by symmetry 3; 1 in 6, and 2.
        let found: Vec<f64> = (0..=3).map(|below| chance(3, below) * 20.0).collect();
        let is_near = |(found, want): (&f64, f64)| (found - want).abs() < 1e-9;
        assert!(found.iter().zip([4.0, 6.0, 6.0, 4.0]).all(is_near), "{found:?}");
        for count in 1..50 {
            let all: f64 = (0..=count).map(|below| chance(count, below)).sum();
            assert!((all - 1.0).abs() < 1e-9, "{count}: {all}");
        }
    }

    #[test]
    fn of_few_the_range_is_all() {
        assert_eq!(rerun_interval(&[]), None);
        assert_eq!(rerun_interval(&[f64::NAN]), None);
        let one = Interval { low: 2.0, median: 2.0, high: 2.0 };
        assert_eq!(rerun_interval(&[2.0]), Some(one));
        let four = Interval { low: 1.0, median: 2.5, high: 4.0 };
        assert_eq!(rerun_interval(&[3.0, 1.0, 2.0, 4.0]), Some(four));
    }

    proptest! {
        #[test]
        fn the_median_lies_in_its_range(values in prop::collection::vec(-1e6..1e6_f64, 1..60)) {
            let Interval { low, median, high } = rerun_interval(&values).unwrap();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least <= low && low <= median && median <= high && high <= most);
        }
    }
}
