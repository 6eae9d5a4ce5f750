//! How much less the measurements of one run say because neighbours in time resemble each other.
//!
//! The range of a median counts independent values. A clock that changes, or a neighbour that comes for some
//! seconds, gives values that follow each other the same error. With the correlations r(k) of values that are k
//! apart, n values say as much of their mean as n / (1 + 2 Σ r(k)) independent ones (Bayley and Hammersley 1946).
//! The sum ends before the first correlation that is not positive, as in Geyer's *Practical Markov chain Monte
//! Carlo* (1992), who stops by pairs of them. By ranks, because one far value would be all of the variance. Not for
//! fewer than twenty values, where the correlations are chance: these count as independent. Cost: a sort.

/// Fewer values count as independent.
const COUNT_MIN: usize = 20;
/// Values further apart count as independent of each other.
const APART_MAX: usize = 8;

/// By what factor the range of the median of these is wider than if they were independent, at least 1. The values are
/// in order of time.
pub(crate) fn serial_factor(values: &[f64]) -> f64 {
    let ranks = centred_ranks(values);
    let all: f64 = ranks.iter().map(|rank| rank * rank).sum();
    if values.len() < COUNT_MIN || all <= 0.0 {
        return 1.0;
    }
    let correlation = |apart: usize| {
        ranks.iter().zip(&ranks[apart..]).map(|(one, other)| one * other).sum::<f64>() / all
    };
    let positive = (1..=APART_MAX).map(correlation).take_while(|&correlation| correlation > 0.0);
    (1.0 + 2.0 * positive.sum::<f64>()).sqrt()
}

/// Ranks without their mean. Equal values have the mean of their ranks.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = values.len().saturating_sub(1) as f64 / 2.0;
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let up_to = sorted.partition_point(|other| other.total_cmp(value).is_le());
        (below + up_to - 1) as f64 / 2.0 - middle
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    #[test]
    fn independent_values_keep_their_range() {
        let mut random = Random::new(7);
        let mut one = || serial_factor(&(0..60).map(|_| random.unit()).collect::<Vec<_>>());
        let mean = (0..400).map(|_| one()).sum::<f64>() / 400.0;
        assert!((1.0..1.12).contains(&mean), "{mean}");
    }

    #[test]
    fn a_walk_that_forgets_by_half_has_the_factor_of_theory() {
        // Correlations of 1/2, 1/4, ... add up to 1: a third of the values, so the root of 3.
        let mut random = Random::new(8);
        let mut value = 0.0;
        let mut step = || {
            value = value / 2.0 + random.normal();
            value
        };
        let values: Vec<f64> = (0..20_000).map(|_| step()).collect();
        let factor = serial_factor(&values);
        assert!((factor / 3f64.sqrt() - 1.0).abs() < 0.05, "{factor}");
    }

    #[test]
    fn what_says_nothing_changes_nothing() {
        let check = |values: &[f64]| assert!((serial_factor(values) - 1.0).abs() < 1e-12);
        check(&[]);
        check(&[1.0; 60]);
        check(&(0..19).map(f64::from).collect::<Vec<_>>());
        check(&(0..60).map(|at| f64::from(at % 2)).collect::<Vec<_>>());
    }
}
