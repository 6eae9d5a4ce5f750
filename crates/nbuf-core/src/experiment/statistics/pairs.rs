//! Whether two things differ: pairs of measurements, taken in turn, and the ratio of each pair.
//!
//! The two of a pair are neighbours in time, so that what drifts (clocks, writeback, other
//! people's work) meets both; the order A B B A cancels what drifts in a line. The result is the median
//! of the logarithms of the ratios, with its interval. Below the noise floor of the same run
//! nothing is said to differ, however narrow the interval. Cost: a bootstrap.

use super::bootstrap::{Interval, interval_of_median};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The first.
    A,
    /// The second.
    B,
}

/// Yields the turns of this many pairs: A B, B A, A B, ...
pub(crate) fn abba(pairs: usize) -> impl Iterator<Item = [Turn; 2]> {
    (0..pairs).map(|pair| if pair % 2 == 0 { [Turn::A, Turn::B] } else { [Turn::B, Turn::A] })
}

/// How many times A goes into B, with the interval of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// The lower end of the interval.
    pub low: f64,
    /// The median over the pairs.
    pub middle: f64,
    /// The upper end.
    pub high: f64,
    /// Pairs that count.
    pub pairs: usize,
}

/// What a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// B has more of it: above the floor, and so has the whole interval.
    More,
    /// B has less of it.
    Less,
    /// The difference is below the noise floor.
    NoneSeen,
    /// Above the floor, but the interval holds "no difference": more pairs would tell.
    Unsure,
}

/// A ratio, and its verdict against the noise floor of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Finding {
    /// B to A.
    pub ratio: Ratio,
    /// What it says.
    pub verdict: Verdict,
}

impl Ratio {
    /// The ratio of pairs (a, b) of rates or times; what is not above 0 does not count.
    pub(crate) fn of(pairs: &[(f64, f64)], seed: u64) -> Option<Self> {
        let is_rate = |value: f64| value.is_finite() && value > 0.0;
        let logs: Vec<f64> = pairs
            .iter()
            .filter(|&&(a, b)| is_rate(a) && is_rate(b))
            .map(|&(a, b)| (b / a).ln())
            .collect();
        let Interval { low, median, high } = interval_of_median(&logs, seed)?;
        Some(Self { low: low.exp(), middle: median.exp(), high: high.exp(), pairs: logs.len() })
    }

    /// The size of the difference: |ln| of the ratio, about its percent over a hundred.
    pub(crate) fn magnitude(&self) -> f64 {
        self.middle.ln().abs()
    }

    /// What it says where differences up to `floor` (|ln|) are noise.
    pub(crate) fn judge(self, floor: f64) -> Finding {
        let verdict = if self.magnitude() <= floor {
            Verdict::NoneSeen
        } else if self.low > 1.0 {
            Verdict::More
        } else if self.high < 1.0 {
            Verdict::Less
        } else {
            Verdict::Unsure
        };
        Finding { ratio: self, verdict }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Random;

    #[test]
    fn turns_are_abba() {
        use Turn::{A, B};
        let turns: Vec<Turn> = abba(4).flatten().collect();
        assert_eq!(turns, [A, B, B, A, A, B, B, A]);
    }

    #[test]
    fn a_drift_in_a_line_cancels() {
        // Each measurement is 1 % faster than the one before; nothing else differs.
        let mut rate = 1.0;
        let pairs: Vec<(f64, f64)> = abba(8)
            .map(|turns| {
                let [first, second] = turns.map(|turn| {
                    rate *= 1.01;
                    (turn, rate)
                });
                if first.0 == Turn::A { (first.1, second.1) } else { (second.1, first.1) }
            })
            .collect();
        let ratio = Ratio::of(&pairs, 1).unwrap();
        assert!(ratio.magnitude() < 1e-9, "{ratio:?}");
        let in_a_row: Vec<(f64, f64)> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        assert!(Ratio::of(&in_a_row, 1).unwrap().magnitude() > 0.009, "A B A B would not");
    }

    #[test]
    fn what_is_said_of_ratios() {
        let check = |pairs: &[(f64, f64)], floor, want| {
            assert_eq!(Ratio::of(pairs, 1).map(|ratio| ratio.judge(floor).verdict), want);
        };
        let steady = |b: f64| vec![(1.0, b); 8];
        check(&[], 0.01, None);
        check(&[(0.0, 1.0), (1.0, f64::NAN)], 0.01, None);
        check(&steady(1.0), 0.0, Some(Verdict::NoneSeen));
        check(&steady(1.009), 0.01, Some(Verdict::NoneSeen));
        check(&steady(1.02), 0.01, Some(Verdict::More));
        check(&steady(0.5), 0.01, Some(Verdict::Less));
        check(&[(1.0, 2.0), (1.0, 0.9), (1.0, 1.5)], 0.01, Some(Verdict::Unsure));
    }

    proptest! {
        #[test]
        fn a_known_shift_is_found(shift in 0.2..5.0_f64, noise in 0.0..0.05_f64, seed: u64) {
            let mut random = Random::new(seed);
            let pairs: Vec<(f64, f64)> = (0..24)
                .map(|_| {
                    let both = (noise * random.normal()).exp();
                    let own = (noise * random.normal()).exp();
                    (both, shift * both * own)
                })
                .collect();
            let ratio = Ratio::of(&pairs, seed).unwrap();
            prop_assert!((ratio.middle / shift).ln().abs() <= noise * 1.5 + 1e-9, "{ratio:?}");
            prop_assert!(ratio.low <= ratio.middle && ratio.middle <= ratio.high);
        }

        #[test]
        fn a_thing_does_not_differ_from_itself(values in prop::collection::vec(0.1..1e9_f64, 1..30)) {
            let pairs: Vec<(f64, f64)> = values.iter().map(|&value| (value, value)).collect();
            let ratio = Ratio::of(&pairs, 1).unwrap();
            prop_assert_eq!((ratio.low, ratio.middle, ratio.high), (1.0, 1.0, 1.0));
            prop_assert_eq!(ratio.judge(0.0).verdict, Verdict::NoneSeen);
        }

        #[test]
        fn exchanging_the_two_inverts_the_ratio(
            pairs in prop::collection::vec((0.1..10.0_f64, 0.1..10.0_f64), 1..30),
        ) {
            let back: Vec<(f64, f64)> = pairs.iter().map(|&(a, b)| (b, a)).collect();
            let (there, back) = (Ratio::of(&pairs, 1).unwrap(), Ratio::of(&back, 1).unwrap());
            prop_assert!((there.middle * back.middle - 1.0).abs() < 1e-9);
        }
    }
}
