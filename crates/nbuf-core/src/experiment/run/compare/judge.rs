//! Whether the runs of two documents differ in one figure by more than their noise.
//!
//! The runs of two documents are no neighbours in time, so that pairs of them would mean nothing. Their
//! ranks are compared instead, as `nbuf bench --compare` does ([`Ranks`], [`holm`]). Three runs of each
//! cannot be of different ranks by more than chance. So a difference counts, too, that is larger than
//! twice the ranges of both sides together. Cost: the table of ranks, once for each pair of numbers of
//! runs.

use crate::experiment::result::Difference;
use crate::experiment::statistics::{Ranks, Spread, holm};

/// How often one comparison may have any false verdict by ranks.
const LEVEL: f64 = 0.05;
/// Fewer runs of a side have no range to speak of.
const RUNS_MIN: usize = 3;
/// Ranges of both sides that a difference is larger than, where the runs are few.
const RANGES: f64 = 2.0;

/// The values of one figure in the runs of both sides.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// The values of A.
    pub a: Vec<f64>,
    /// The values of B.
    pub b: Vec<f64>,
    /// B less A, of typical runs.
    pub apart: f64,
    /// Two documents of one program may differ by so much.
    pub floor: f64,
}

/// What the ranks and the ranges say of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    /// The verdict.
    pub difference: Difference,
    /// Larger than the floor, and of other ranks: but perhaps not by as much as the floor.
    pub is_unsure: bool,
    /// The ends of the interval of the difference; infinite for fewer than four runs of each.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// A smaller difference means nothing; nothing where a side has one run.
    pub noise: Option<f64>,
}

/// The verdicts on several figures of the same runs.
pub(super) fn judge(pairs: &[Pair]) -> Vec<Judged> {
    let mut ranks = Ranks::default();
    let chances: Vec<f64> = pairs.iter().map(|pair| ranks.chance(&pair.a, &pair.b)).collect();
    let firm = holm(&chances, LEVEL);
    let rows = pairs.iter().zip(firm);
    rows.map(|(pair, is_of_other_ranks)| one(pair, is_of_other_ranks, &mut ranks)).collect()
}

fn one(pair: &Pair, is_of_other_ranks: bool, ranks: &mut Ranks) -> Judged {
    let width = |values: &[f64]| Spread::of(values.iter().copied()).map_or(0.0, |of| of.width());
    let interval = ranks.difference(&pair.a, &pair.b);
    // The interval always holds the difference that is shown with it.
    let (low, high) = (interval.start().min(pair.apart), interval.end().max(pair.apart));
    let ranges = width(&pair.a) + width(&pair.b);
    let runs = pair.a.len().min(pair.b.len());
    let is_beyond = low > pair.floor || high < -pair.floor;
    let is_wide = runs >= RUNS_MIN && pair.apart.abs() > (RANGES * ranges).max(pair.floor);
    let is_firm = (is_of_other_ranks && is_beyond) || is_wide;
    let difference = match runs {
        0 | 1 => Difference::NotJudged,
        _ if is_firm && pair.apart > 0.0 => Difference::More,
        _ if is_firm => Difference::Less,
        _ => Difference::NotSeen,
    };
    // How far the difference may be from 0, or for a firm one from what it is.
    let reach = match (low.is_finite() && high.is_finite(), is_firm) {
        (true, true) => (pair.apart - low).max(high - pair.apart),
        (true, false) => low.abs().max(high.abs()),
        (false, true) => ranges,
        (false, false) => ranges.max(pair.apart.abs()),
    };
    Judged {
        difference,
        is_unsure: difference == Difference::NotSeen
            && is_of_other_ranks
            && pair.apart.abs() > pair.floor,
        low,
        high,
        noise: (runs > 1).then_some(reach.max(pair.floor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    fn pair(a: &[f64], b: &[f64], floor: f64) -> Pair {
        let middle = |of: &[f64]| Spread::of(of.iter().copied()).unwrap().median;
        Pair { a: a.to_vec(), b: b.to_vec(), apart: middle(b) - middle(a), floor }
    }

    #[test]
    fn what_is_said_of_two_sides() {
        use Difference::{Less, More, NotJudged, NotSeen};
        let check = |a: &[f64], b: &[f64], want: Difference, unsure: bool| {
            let found = judge(&[pair(a, b, 4.0)])[0];
            assert_eq!(
                (found.difference, found.is_unsure),
                (want, unsure),
                "{a:?} {b:?} {found:?}"
            );
            assert_eq!(found.noise.is_none(), want == NotJudged);
            assert!(found.noise.is_none_or(|noise| noise >= 4.0), "{found:?}");
            if want == NotSeen && !unsure {
                assert!((b[b.len() / 2] - a[a.len() / 2]).abs() <= found.noise.unwrap());
            }
        };
        check(&[100.0], &[200.0; 9], NotJudged, false);
        check(&[100.0, 101.0], &[200.0, 201.0], NotSeen, false);
        check(&[100.0, 101.0, 102.0], &[200.0, 201.0, 202.0], More, false);
        check(&[200.0, 201.0, 202.0], &[100.0, 101.0, 102.0], Less, false);
        // Three runs which overlap say nothing; nor does what two documents of one program differ by.
        check(&[100.0, 150.0, 102.0], &[120.0, 121.0, 122.0], NotSeen, false);
        check(&[100.0; 5], &[103.0; 5], NotSeen, false);
        check(&[100.0; 5], &[105.0; 5], More, false);
        // The ranks differ, but perhaps not by as much as the floor.
        let wide = [94.0, 97.0, 100.0, 103.0, 106.0];
        check(&wide, &wide.map(|value| value + 14.0), More, false);
        check(&wide, &[107.0, 107.5, 108.0, 109.0, 110.0], NotSeen, true);
    }

    #[test]
    fn the_same_thing_differs_in_at_most_one_comparison_of_twenty() {
        const TRIALS: usize = 400;
        let mut random = Random::new(5);
        for runs in [3, 4, 5, 7, 10] {
            let mut any = || -> Vec<f64> { (0..runs).map(|_| random.normal()).collect() };
            let is_false = |_: &usize| {
                // As many figures as a document has.
                let pairs: Vec<Pair> = (0..30).map(|_| pair(&any(), &any(), 0.0)).collect();
                judge(&pairs).iter().any(|found| found.difference != Difference::NotSeen)
            };
            let wrong = (0..TRIALS).filter(is_false).count();
            assert!(wrong * 20 <= TRIALS + 20 * 8, "{runs} runs: {wrong} of {TRIALS}");
        }
    }
}
