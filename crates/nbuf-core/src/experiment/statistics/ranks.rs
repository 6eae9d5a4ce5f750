//! Whether two groups of values differ by more than chance, and how many such questions were asked.
//!
//! The rank test of Wilcoxon, Mann and Whitney (1947): if both came from one distribution, all
//! interleavings would be equally likely, so the chance of one as lopsided as this is counted, not
//! approximated. Where many are tested, some are lopsided by chance: Holm (*A simple sequentially
//! rejective multiple test procedure*, 1979) keeps the chance of any false one at the given level.
//! Not for values that depend on each other. Cost: a table of n x m x n m numbers, some hundred
//! thousand steps for twenty values each.

use std::cmp::Ordering;

/// The chance that one distribution gives two groups as far apart as these, either way; 1 of nothing.
pub(crate) fn rank_test(a: &[f64], b: &[f64]) -> f64 {
    // Half a point where two are equal.
    let points = |(a, b): &(f64, f64)| match a.total_cmp(b) {
        Ordering::Greater => 2,
        Ordering::Equal => 1,
        Ordering::Less => 0,
    };
    let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
    let doubled: usize = pairs.map(|pair| points(&pair)).sum();
    let all = a.len() * b.len();
    // An odd half goes to the side of chance.
    let least = doubled.min(2 * all - doubled).div_ceil(2);
    let ways = ways(a.len(), b.len());
    let total: f64 = ways.iter().sum();
    let tail: f64 = ways.iter().take(least + 1).sum();
    (2.0 * tail / total).min(1.0)
}

/// Counts the interleavings of two groups by the pairs in which the first group's value is above
/// the second's. The index is the number of these pairs.
fn ways(first: usize, second: usize) -> Vec<f64> {
    // One group's table after the other: `table[m]` is for `n` values against `m`.
    let mut table: Vec<Vec<f64>> = vec![vec![1.0]; second + 1];
    for n in 1..=first {
        for m in 1..=second {
            // The largest is of the first group, above all of the second, or it is of the second.
            let (above, below) = (&table[m], &table[m - 1]);
            let sum = (0..=n * m).map(|points| {
                let of_first = points.checked_sub(m).and_then(|rest| above.get(rest));
                of_first.unwrap_or(&0.0) + below.get(points).unwrap_or(&0.0)
            });
            table[m] = sum.collect();
        }
    }
    table.pop().unwrap_or_default()
}

/// Which of several chances are below `level` together, in the order given.
pub(crate) fn holm(chances: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    let mut is_below = vec![false; chances.len()];
    for (done, &number) in order.iter().enumerate() {
        if chances[number] * (chances.len() - done) as f64 > level {
            break;
        }
        is_below[number] = true;
    }
    is_below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    #[test]
    fn chances_are_those_of_the_published_table() {
        // Mann and Whitney's table: with 4 and 4 values, U at most 0 has 0.014 on one side, 1 0.029.
        let check = |a: &[f64], b: &[f64], want: f64| {
            for (a, b) in [(a, b), (b, a)] {
                assert!((rank_test(a, b) - want).abs() < 5e-4, "{}", rank_test(a, b));
            }
        };
        check(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 2.0 / 70.0);
        check(&[1.0, 2.0, 3.0, 5.0], &[4.0, 6.0, 7.0, 8.0], 4.0 / 70.0);
        check(&[1.0, 2.0], &[1.0, 2.0], 1.0);
        check(&[], &[1.0], 1.0);
        // All interleavings of 8 and 7 counted by another program: U = 10.
        let b = [3.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5];
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 6.0, 12.0], &b, 0.04009);
    }

    #[test]
    fn of_all_interleavings_each_is_counted() {
        for (n, m, want) in [(3, 3, 20.0), (5, 2, 21.0), (15, 15, 155_117_520.0)] {
            let all: f64 = ways(n, m).iter().sum();
            assert!((all - want).abs() < 1e-3, "{n} {m}: {all}");
        }
    }

    #[test]
    fn one_distribution_is_called_two_as_often_as_the_level_says() {
        let mut random = Random::new(5);
        let mut draw =
            |shift: f64| -> Vec<f64> { (0..11).map(|_| shift + random.normal()).collect() };
        let found = (0..2000).filter(|_| rank_test(&draw(0.0), &draw(0.0)) <= 0.05).count();
        assert!((60..=125).contains(&found), "{found} of 2000");
        let found = (0..200).filter(|_| rank_test(&draw(0.0), &draw(3.0)) <= 0.001).count();
        assert!(found > 190, "{found} of 200");
    }

    #[test]
    fn many_questions_make_each_harder() {
        assert_eq!(holm(&[0.01, 0.04, 0.03], 0.05), [true, false, false]);
        assert_eq!(holm(&[0.01, 0.02, 0.04], 0.05), [true, true, true]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }
}
