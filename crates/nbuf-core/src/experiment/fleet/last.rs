//! Whether a split lasts: made for the first part of the time, judged by the rest.
//!
//! The hits of the rest are those of all accesses without those of the first part, so caches are warm when the rest
//! begins. Invariant: no rule misses less than the best one. Exact, where the pieces of a volume follow each other.

use super::curve::Curve;
use super::split::{Fleet, rule};
use crate::experiment::result::FleetLast;

/// The curves of both parts, of the same volumes in the same order.
pub(super) struct Halves {
    early: Vec<Curve>,
    late: Vec<Curve>,
    /// Volumes of which the parts are not kept.
    pub(super) without: Vec<String>,
}

impl Halves {
    /// Those of all volumes.
    pub(super) fn of(curves: &[Curve]) -> Self {
        let (mut early, mut late, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for curve in curves {
            if let Some([before, after]) = curve.halves() {
                early.push(before);
                late.push(after);
            } else {
                without.push(curve.name.clone());
            }
        }
        Self { early, late, without }
    }

    /// The comparison; nothing where one part has no accesses.
    pub(super) fn last(&self, until_us: i64, budget: u64) -> Option<FleetLast> {
        let accesses = |curves: &[Curve]| curves.iter().map(|curve| curve.accesses).sum::<u64>();
        let (before, after) = (accesses(&self.early), accesses(&self.late));
        if before == 0 || after == 0 {
            return None;
        }
        let (past, rest) = (Fleet::of(&self.early), Fleet::of(&self.late));
        let (mut old, _, _) = past.best(budget);
        // What no volume needed yet is shared out: it changes no misses of the past, and would not lie idle.
        let idle = budget.saturating_sub(old.iter().sum());
        for (pages, more) in old.iter_mut().zip(past.by(|_| 1, idle)) {
            *pages += more;
        }
        let (new, best, _) = rest.best(budget);
        let kept = rest.misses(&old);
        // The search for the best split is not exhaustive, and the old split is one more candidate.
        let (new, best) = if kept < best { (&old, kept) } else { (&new, best) };
        let moved: u64 = old.iter().zip(new).map(|(&old, &new)| new.saturating_sub(old)).sum();
        let equal = rest.misses(&rest.by(|_| 1, budget));
        Some(FleetLast {
            until_us,
            budget_pages: budget,
            volumes: self.late.len() as u64,
            accesses_before: before,
            accesses: after,
            rules: vec![
                rule("best", after, best),
                rule("before", after, kept),
                rule("equal", after, equal),
            ],
            moved_pages: moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::curve::tests::{curve, naive_misses};
    use super::*;
    use crate::meter::segment::tests::segment;
    use crate::meter::steps::Hits;

    /// A curve that knows its accesses before a place.
    fn cut_curve(pages: &[u64], cut: usize) -> Curve {
        let early = segment(&pages[..cut], u32::MAX);
        let mut curve = curve("v", pages);
        curve.keep_early(early.accesses, &early.hits);
        curve
    }

    proptest! {
        #[test]
        fn a_split_of_the_past_is_judged_by_what_a_list_misses_later(
            volumes in prop::collection::vec(prop::collection::vec(0..9_u64, 4..40), 1..5),
            budget in 0..30_u64,
        ) {
            let cut = |pages: &[u64]| pages.len() / 2;
            let curves: Vec<Curve> =
                volumes.iter().map(|pages| cut_curve(pages, cut(pages))).collect();
            let halves = Halves::of(&curves);
            for (pages, late) in volumes.iter().zip(&halves.late) {
                for size in 0..12 {
                    prop_assert_eq!(late.steps().at(size as u64), naive_misses(pages, cut(pages), size));
                }
            }
            let last = halves.last(7, budget).unwrap();
            let [best, before, equal] = &last.rules[..] else { panic!("{last:?}") };
            prop_assert!(best.misses <= before.misses && best.misses <= equal.misses, "{:?}", last);
            let share = usize::try_from(budget).unwrap() / volumes.len();
            let want: u64 = volumes.iter().map(|pages| naive_misses(pages, cut(pages), share)).sum();
            prop_assert_eq!(equal.misses, want);
            prop_assert!(last.moved_pages <= budget);
        }
    }

    #[test]
    fn a_fleet_without_parts_says_nothing() {
        let hits = Hits::from_depths(vec![1]);
        let halves = Halves::of(&[Curve::new("v".to_owned(), 2, 1, &hits, None)]);
        assert_eq!((halves.without.len(), halves.last(1, 1)), (1, None));
    }
}
