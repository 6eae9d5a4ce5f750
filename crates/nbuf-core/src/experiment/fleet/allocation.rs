//! A budget of pages split over volumes, so that the fewest accesses miss.
//!
//! The lower hulls of all curves are cut into segments, and the segments are taken by their slopes until the
//! budget ends. The hulls' own sum at that point is a lower bound for any split. A segment that does not fit
//! ends its volume; others that fit go on, and the rest goes to the first one that did not.
//! Invariant: the shares never sum to more than the budget; without the drop of the segment that the budget
//! cuts, the misses are at most the bound.
//! Cost: O(S log S) for S corners. Source: H. Stone and others, *Optimal Partitioning of Cache Memory*, 1992;
//! N. Beckmann and D. Sanchez, *Talus*, 2015, for hulls.

use super::super::hull::lower_hull;
use crate::meter::steps::Steps;
use crate::units::Bytes;

/// Corners of the lower hull: pages and misses.
pub(super) type Hull = Vec<(u64, u64)>;

/// The lower hull of a curve.
pub(super) fn hull(steps: &Steps) -> Hull {
    let points = steps.pairs().iter().map(|&(pages, misses)| (Bytes(pages), misses));
    lower_hull(points).into_iter().map(|(pages, misses)| (pages.0, misses)).collect()
}

/// How the budget is split by hulls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Split {
    /// Pages of each volume.
    pub(super) pages: Vec<u64>,
    /// Misses that no split can be below.
    pub(super) bound: f64,
}

/// An edge of a hull.
struct Edge {
    volume: usize,
    pages: u64,
    misses: u64,
}

impl Edge {
    fn slope(&self) -> f64 {
        self.misses as f64 / self.pages as f64
    }
}

/// All edges, the steepest first; those of one volume stay in their order.
fn edges(hulls: &[Hull]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for (volume, hull) in hulls.iter().enumerate() {
        let own = hull.windows(2).map(|ends| {
            let (pages, misses) = (ends[1].0 - ends[0].0, ends[0].1 - ends[1].1);
            Edge { volume, pages, misses }
        });
        edges.extend(own.filter(|edge| edge.misses > 0));
    }
    edges.sort_by(|a, b| b.slope().total_cmp(&a.slope()));
    edges
}

/// Splits the budget.
pub(super) fn by_hulls(hulls: &[Hull], budget: u64) -> Split {
    let mut bound: f64 =
        hulls.iter().filter_map(|hull| hull.first()).map(|first| first.1 as f64).sum();
    let (mut pages, mut is_closed) = (vec![0; hulls.len()], vec![false; hulls.len()]);
    let (mut left, mut cut) = (budget, None);
    for edge in edges(hulls) {
        if cut.is_none() {
            // The hulls themselves, of which a part of an edge can be had.
            let taken = edge.pages.min(left);
            bound -= edge.slope() * taken as f64;
            if edge.pages > left {
                cut = Some(edge.volume);
            }
        }
        if edge.pages > left {
            is_closed[edge.volume] = true;
        } else if !is_closed[edge.volume] {
            pages[edge.volume] += edge.pages;
            left -= edge.pages;
        }
    }
    if let Some(volume) = cut {
        pages[volume] += left;
    }
    Split { pages, bound: bound.max(0.0) }
}

/// The smallest budget whose bound is at most this many misses; nothing where no budget is enough.
pub(super) fn budget_for(hulls: &[Hull], misses: f64) -> Option<u64> {
    let mut left: f64 =
        hulls.iter().filter_map(|hull| hull.first()).map(|first| first.1 as f64).sum();
    let mut budget = 0;
    for edge in edges(hulls) {
        if left <= misses + 1e-6 {
            break;
        }
        let over = ((left - misses) / edge.slope() - 1e-6).ceil();
        let pages = edge.pages.min(crate::units::whole(over));
        budget += pages;
        left -= edge.slope() * pages as f64;
    }
    // Sums of many edges are exact to a part of an access, as is what an edge lacks.
    (left <= misses + 0.5).then_some(budget)
}

/// A budget split by numbers: equal numbers give equal shares.
pub(super) fn by_numbers(numbers: &[u64], budget: u64) -> Vec<u64> {
    let sum: u128 = numbers.iter().copied().map(u128::from).sum();
    let share = |&number: &u64| {
        let share = u128::from(budget) * u128::from(number) / sum.max(1);
        u64::try_from(share).unwrap_or(u64::MAX)
    };
    numbers.iter().map(share).collect()
}

/// The split with the fewest misses on a grid of units: `misses[v][k]` are those of volume `v` with `k` units,
/// for every `k` up to the budget. Exact, whatever the curves. Cost: O(V K^2).
pub(super) fn programme(misses: &[Vec<u64>]) -> Vec<usize> {
    let Some(first) = misses.first() else { return Vec::new() };
    let mut best = vec![0_u64; first.len()];
    let mut choices: Vec<Vec<usize>> = Vec::new();
    for own in misses {
        let mut next = Vec::with_capacity(best.len());
        let mut choice = Vec::with_capacity(best.len());
        for units in 0..best.len() {
            let sums = (0..=units).map(|k| (own[k] + best[units - k], k));
            let (sum, k) = sums.min().unwrap_or_default();
            next.push(sum);
            choice.push(k);
        }
        best = next;
        choices.push(choice);
    }
    let mut left = first.len() - 1;
    let mut shares = vec![0; misses.len()];
    for (volume, choice) in choices.iter().enumerate().rev() {
        shares[volume] = choice[left];
        left -= choice[left];
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::meter::steps::Hits;

    /// Misses by size, 0 to 9 pages, of curves with cliffs.
    fn curves() -> impl Strategy<Value = Vec<Steps>> {
        let hits = prop::collection::vec((1..9_u64, 0..50_u64), 0..5);
        let curve = hits.prop_map(|falls| {
            let mut hits = Hits::default();
            let pairs = falls.iter().filter(|fall| fall.1 > 0);
            pairs.for_each(|&pair| hits.add(&Hits::from_pairs(vec![pair]).unwrap()));
            hits.steps(falls.iter().map(|fall| fall.1).sum::<u64>() + 3)
        });
        prop::collection::vec(curve, 1..4)
    }

    fn misses(curves: &[Steps], pages: &[u64]) -> u64 {
        curves.iter().zip(pages).map(|(curve, &pages)| curve.at(pages)).sum()
    }

    /// The oracle: every split there is.
    fn brute(curves: &[Steps], budget: u64) -> u64 {
        let [first, rest @ ..] = curves else { return 0 };
        (0..=budget).map(|pages| first.at(pages) + brute(rest, budget - pages)).min().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_programme_is_the_best_and_hulls_are_within_their_bound(
            curves in curves(),
            budget in 0..14_u64,
        ) {
            let best = brute(&curves, budget);
            let by_units = |curve: &Steps| (0..=budget).map(|pages| curve.at(pages)).collect();
            let exact = programme(&curves.iter().map(by_units).collect::<Vec<Vec<u64>>>());
            let exact: Vec<u64> = exact.into_iter().map(|units| units as u64).collect();
            prop_assert!(exact.iter().sum::<u64>() <= budget);
            prop_assert_eq!(misses(&curves, &exact), best);

            let hulls: Vec<Hull> = curves.iter().map(hull).collect();
            let split = by_hulls(&hulls, budget);
            prop_assert!(split.pages.iter().sum::<u64>() <= budget);
            prop_assert!(split.bound <= best as f64 + 1e-6, "{:?} {best}", split);
            let largest = edges(&hulls).iter().map(|edge| edge.misses).max().unwrap_or(0);
            let got = misses(&curves, &split.pages);
            prop_assert!(got >= best && got as f64 <= split.bound + largest as f64 + 1e-6);
            if let Some(needed) = budget_for(&hulls, split.bound) {
                prop_assert!(needed <= budget, "{needed} of {budget}");
            }
            let others = [vec![1; curves.len()], (1..=curves.len() as u64).collect()];
            for numbers in others {
                let pages = by_numbers(&numbers, budget);
                prop_assert!(pages.iter().sum::<u64>() <= budget);
                prop_assert!(misses(&curves, &pages) >= best);
            }
        }
    }

    #[test]
    fn a_hull_joins_the_feet_of_cliffs() {
        let mut hits = Hits::from_depths(vec![1; 3]);
        hits.add(&Hits::from_depths(vec![8; 70]));
        hits.add(&Hits::from_depths(vec![9; 1]));
        assert_eq!(hull(&hits.steps(80)), [(0, 80), (8, 7), (9, 6)]);
        let split = by_hulls(&[vec![(0, 80), (8, 7), (9, 6)], vec![(0, 10), (2, 6)]], 9);
        assert_eq!(split.pages, [9, 0]);
        assert!((split.bound - 15.0).abs() < 1e-9, "{split:?}");
        assert_eq!(by_numbers(&[0, 0], 5), [0, 0]);
    }
}
