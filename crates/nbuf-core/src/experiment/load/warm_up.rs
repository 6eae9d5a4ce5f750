//! Where the beginning of a step ends: the rule MSER-5.
//!
//! The first interactions of a step meet empty queues and cold caches. The rule leaves out as many of them
//! as make the mean of the others surest: it minimises the variance of the mean, estimated from batch
//! means of five, over all cuts in the first half.
//!
//! Source: K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output",
//! *Simulation* 69(6), 1997; K. P. White, M. J. Cobb, S. C. Spratt, "A Comparison of Five Steady-State
//! Truncation Heuristics for Simulation", Winter Simulation Conference 2000.

/// Values in a batch.
const BATCH: usize = 5;
/// With fewer batches there is nothing to judge by.
const BATCHES_MIN: usize = 10;

/// What the rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// This number of values belongs to the beginning.
    After(usize),
    /// The best cut is at the last one that the rule may take: the beginning may not be over.
    NoSteadyState(usize),
    /// There are too few values.
    TooFew,
}

impl Cut {
    /// How many values are left out.
    pub(super) fn values(self) -> usize {
        match self {
            Self::After(values) | Self::NoSteadyState(values) => values,
            Self::TooFew => 0,
        }
    }
}

/// How many of the first values to leave out. Cost: linear.
pub(super) fn mser5(values: &[f64]) -> Cut {
    let means: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if means.len() < BATCHES_MIN {
        return Cut::TooFew;
    }
    let last = means.len() / 2;
    // From the end to the front: the sums of what a cut leaves, by the method of Welford.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (at, &value) in means.iter().enumerate().rev() {
        count += 1.0;
        let step = value - mean;
        mean += step / count;
        squares += step * (value - mean);
        let uncertainty: f64 = squares / (count * count);
        // The earliest of equal ones: nothing is left out without a reason.
        if at <= last && uncertainty <= best.0 {
            best = (uncertainty, at);
        }
    }
    let values = best.1 * BATCH;
    if best.1 == last { Cut::NoSteadyState(values) } else { Cut::After(values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    #[test]
    fn a_slow_beginning_is_left_out_and_nothing_else() {
        let mut random = Random::new(5);
        for beginning in [0, 50, 100] {
            let value =
                |at: usize, noise: f64| if at < beginning { 9.0 + noise } else { 1.0 + noise };
            let values: Vec<f64> = (0..400).map(|at| value(at, 0.1 * random.normal())).collect();
            let Cut::After(cut) = mser5(&values) else { panic!("{beginning}") };
            assert!((beginning..=beginning + 60).contains(&cut), "{cut} for {beginning}");
        }
    }

    #[test]
    fn what_only_grows_has_no_steady_state() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(mser5(&values), Cut::NoSteadyState(100));
    }

    #[test]
    fn equal_values_are_all_kept_and_few_are_not_judged() {
        assert_eq!(mser5(&[2.0; 100]), Cut::After(0));
        assert_eq!(mser5(&[2.0; 49]), Cut::TooFew);
        assert_eq!(mser5(&[]).values(), 0);
    }
}
