//! Whether two groups of values differ by more than chance, and how many such questions were asked.
//!
//! The rank test of Wilcoxon, Mann and Whitney (1947): if both came from one distribution, all
//! interleavings would be equally likely, so the chance of one as lopsided as this is counted, not
//! approximated. Where many are tested, some are lopsided by chance: Holm (*A simple sequentially
//! rejective multiple test procedure*, 1979) keeps the chance of any false one at the given level.
//! By how much they differ: by the interval of all differences that the test would not refuse (Moses;
//! Hodges and Lehmann, *Estimates of location based on rank tests*, 1963).
//! Not for values that depend on each other. Cost: a table of n x m x n m numbers, some hundred
//! thousand steps for twenty values each, ten million for sixty, once for each pair of counts.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// One of twenty intervals does not hold the true difference.
const LEVEL: f64 = 0.05;

/// The test, with the tables that it has needed.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    ways: HashMap<(usize, usize), Vec<f64>>,
}

impl Ranks {
    fn ways(&mut self, first: usize, second: usize) -> &[f64] {
        self.ways.entry((first, second)).or_insert_with(|| ways(first, second))
    }

    /// The chance that one distribution gives two groups as far apart as these, either way; 1 of nothing.
    pub(crate) fn chance(&mut self, a: &[f64], b: &[f64]) -> f64 {
        rank_test(a, b, self.ways(a.len(), b.len()))
    }

    /// By how much values of `b` are above those of `a`: the interval that holds it in 19 of 20 cases. All
    /// of the line of fewer than four values each.
    pub(crate) fn difference(&mut self, a: &[f64], b: &[f64]) -> RangeInclusive<f64> {
        let ways = self.ways(a.len(), b.len());
        let all: f64 = ways.iter().sum();
        let below = |least: usize| 2.0 * ways.iter().take(least + 1).sum::<f64>() / all;
        let cut = (0..ways.len()).take_while(|&least| below(least) <= LEVEL).count();
        let mut apart: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect();
        apart.sort_by(f64::total_cmp);
        let ends =
            cut.checked_sub(1).and_then(|end| Some((apart.get(end)?, apart.iter().nth_back(end)?)));
        ends.map_or(f64::NEG_INFINITY..=f64::INFINITY, |(&low, &high)| low..=high)
    }
}

fn rank_test(a: &[f64], b: &[f64], ways: &[f64]) -> f64 {
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
                let chance = Ranks::default().chance(a, b);
                assert!((chance - want).abs() < 5e-4, "{chance}");
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
        let mut ranks = Ranks::default();
        let found = (0..2000).filter(|_| ranks.chance(&draw(0.0), &draw(0.0)) <= 0.05).count();
        assert!((60..=125).contains(&found), "{found} of 2000");
        let found = (0..200).filter(|_| ranks.chance(&draw(0.0), &draw(3.0)) <= 0.001).count();
        assert!(found > 190, "{found} of 200");
        let held = (0..2000).filter(|_| ranks.difference(&draw(1.0), &draw(3.0)).contains(&2.0));
        let held = held.count();
        assert!((1875..=1960).contains(&held), "{held} of 2000");
    }

    #[test]
    fn a_difference_has_an_interval_if_there_are_enough_values() {
        let mut ranks = Ranks::default();
        // By hand: of 16 differences, the least and the greatest.
        let difference = ranks.difference(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]);
        assert_eq!(difference, 7.0..=13.0);
        assert_eq!(ranks.difference(&[1.0; 3], &[9.0; 3]), f64::NEG_INFINITY..=f64::INFINITY);
        assert_eq!(ranks.difference(&[], &[]), f64::NEG_INFINITY..=f64::INFINITY);
        // The tables of many values are made once.
        let many: Vec<f64> = (0..60).map(f64::from).collect();
        assert!(ranks.difference(&many, &many).contains(&0.0));
    }

    #[test]
    fn many_questions_make_each_harder() {
        assert_eq!(holm(&[0.01, 0.04, 0.03], 0.05), [true, false, false]);
        assert_eq!(holm(&[0.01, 0.02, 0.04], 0.05), [true, true, true]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }
}
