//! Whether pairs differ by more than chance: the signed-rank test of Wilcoxon (*Individual Comparisons by Ranking
//! Methods*, 1945).
//!
//! If neither of a pair were larger by more than chance, all signs of the differences would be equally likely. So
//! the chance of signs as lopsided as these is counted, not approximated; pairs that are equal do not count.
//! Fewer than six pairs show nothing at 5 %. Cost: n additions for each of n (n + 1) sums.

use std::cmp::Ordering;

/// The chance that signs fall as lopsided as those of these differences, either way; 1 of nothing.
pub(crate) fn signed_rank_chance(differences: &[f64]) -> f64 {
    let mut all: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    all.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&all);
    let sum: usize = ranks.iter().sum();
    let above: usize =
        all.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let fewer = above.min(sum - above);
    // How likely each sum is, when each rank counts or does not.
    let mut likely = vec![0.0; sum + 1];
    likely[0] = 1.0;
    for &rank in &ranks {
        for at in (0..=sum).rev() {
            let with = at.checked_sub(rank).map_or(0.0, |before| likely[before]);
            likely[at] = f64::midpoint(likely[at], with);
        }
    }
    (2.0 * likely[..=fewer].iter().sum::<f64>()).min(1.0)
}

/// Twice the rank of each, from 1; equal ones share theirs.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a.abs().total_cmp(&b.abs()) == Ordering::Equal) {
        let first = ranks.len() + 1;
        ranks.extend(group.iter().map(|_| 2 * first + group.len() - 1));
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chances_are_those_of_the_tables() {
        let check = |differences: &[f64], want: f64| {
            let got = signed_rank_chance(differences);
            assert!((got - want).abs() < 1e-12, "{differences:?}: {got}");
        };
        check(&[], 1.0);
        check(&[0.0, 0.0], 1.0);
        check(&[1.0], 1.0);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0 / 32.0);
        check(&[-1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4.0 / 64.0);
        check(&[1.0; 10], 2.0 / 1024.0);
        check(&[1.0, -1.0, 1.0, -1.0], 1.0);
        // R 4.2: wilcox.test(c(1, -2, 3, -4, 5, 6, 7, 8)) has V = 30, p = 0.1094.
        check(&[1.0, -2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.0], 28.0 / 256.0);
    }

    proptest! {
        #[test]
        fn all_signs_are_counted(sizes in prop::collection::vec(1_u32..6, 1..9), signs in any::<u16>()) {
            let value = |signs: u16| -> Vec<f64> {
                let sign = |at: usize| if (signs >> at) & 1 == 1 { 1.0 } else { -1.0 };
                sizes.iter().enumerate().map(|(at, &size)| f64::from(size) * sign(at)).collect()
            };
            let sorted = |mut values: Vec<f64>| {
                values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
                values
            };
            let least = |signs: u16| {
                let all = sorted(value(signs));
                let ranks = doubled_ranks(&all);
                let above: usize = all.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, r)| r).sum();
                above.min(ranks.iter().sum::<usize>() - above)
            };
            let ways = 1_u16 << sizes.len();
            let mine = least(signs % ways);
            let as_lopsided = (0..ways).filter(|&other| least(other) <= mine).count();
            let want = as_lopsided as f64 / f64::from(ways);
            prop_assert!((signed_rank_chance(&value(signs % ways)) - want.min(1.0)).abs() < 1e-9);
        }
    }
}
