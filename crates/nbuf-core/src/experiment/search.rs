//! The search for the smallest limit that is enough, by runs: what to try next, and when to stop.
//!
//! A limit is enough if a run under it reaches its end and fills at most a tenth more pages than a run
//! without a limit. Limits that are enough are taken to lie above those that are not; a run that
//! contradicts an earlier one moves the bracket up, because the larger limit is the safe one. Pure.
//! Cost: a division of the bracket for each run. Not for commands that do something else each time.

use crate::units::{Bytes, whole};

/// More fills than without a limit that still count as enough, as a share.
const MORE_SHARE: f64 = 0.10;
/// And as pages, for commands that fill few: other processes bring and drop libraries.
const MORE_PAGES: u64 = 256;
/// The bracket is narrow when its upper end is this many times its lower.
const NARROW: f64 = 1.05;
/// The least difference that a limit of whole mebibytes can show.
const STEP: Bytes = Bytes(2 << 20);

/// The most fills that are enough, where a run without a limit had this many.
pub(super) fn enough(unlimited: u64) -> u64 {
    unlimited + whole(unlimited as f64 * MORE_SHARE).max(MORE_PAGES)
}

/// Slack of a measured size, as one part in this many.
const SLACK_PART: u64 = 50;

/// The number to set, where runs found this limit to be enough: in whole mebibytes.
pub(super) fn with_slack(enough: Bytes) -> Bytes {
    Bytes((enough.0 + enough.0.div_ceil(SLACK_PART)).next_multiple_of(1 << 20))
}

/// Between a limit that is too small and one that is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bracket {
    /// Too small, by a run, or because other memory alone takes as much.
    pub(super) low: Bytes,
    /// Enough, by a run, or because the run without a limit took no more.
    pub(super) high: Bytes,
}

impl Bracket {
    /// Whether nothing is left to find.
    pub(super) fn is_narrow(&self) -> bool {
        let (low, high) = (self.low.0 as f64, self.high.0 as f64);
        high <= low * NARROW || self.high.0 <= self.low.0.saturating_add(STEP.0)
    }

    /// The limit to try next: `guess` if it is inside, else the geometric middle. In whole mebibytes.
    pub(super) fn next(&self, guess: Option<Bytes>) -> Bytes {
        let middle = (self.low.0 as f64).max(1.0).sqrt() * (self.high.0 as f64).sqrt();
        let inside = |at: &Bytes| {
            at.0 as f64 >= self.low.0 as f64 * NARROW && at.0 as f64 <= self.high.0 as f64 / NARROW
        };
        let at = guess.filter(inside).unwrap_or(Bytes(whole(middle)));
        Bytes(at.0.next_multiple_of(1 << 20).min(self.high.0))
    }

    /// What is known after a run with a limit inside.
    pub(super) fn after(self, limit: Bytes, is_enough: bool) -> Self {
        if is_enough && limit <= self.low {
            // An equal or larger limit was too small: this run had luck.
            self
        } else if is_enough {
            Self { high: limit.min(self.high), ..self }
        } else {
            Self { low: limit.max(self.low), high: self.high.max(limit) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_tenth_more_or_some_pages_more_are_enough() {
        assert_eq!([enough(0), enough(1000), enough(100_000)], [256, 1256, 110_000]);
    }

    #[test]
    fn the_guess_comes_first_if_it_can_teach_anything() {
        let bracket = Bracket { low: Bytes(100 * MIB), high: Bytes(400 * MIB) };
        let tried = |guess| bracket.next(guess).0 / MIB;
        assert_eq!(tried(Some(Bytes(150 * MIB))), 150);
        assert_eq!(tried(Some(Bytes(101 * MIB))), 200);
        assert_eq!(tried(Some(Bytes(900 * MIB))), 200);
        assert_eq!(tried(None), 200);
    }

    #[test]
    fn a_limit_that_was_enough_below_one_that_was_not_teaches_nothing() {
        let start = Bracket { low: Bytes(10 * MIB), high: Bytes(100 * MIB) };
        let bracket = start.after(Bytes(60 * MIB), false);
        assert_eq!(bracket.after(Bytes(50 * MIB), true), bracket);
        assert_eq!(bracket.after(Bytes(60 * MIB), true), bracket);
        assert_eq!(bracket.after(Bytes(70 * MIB), true).high, Bytes(70 * MIB));
        // The other way round the bracket moves up.
        let bracket = start.after(Bytes(50 * MIB), true).after(Bytes(60 * MIB), false);
        assert_eq!((bracket.low, bracket.high), (Bytes(60 * MIB), Bytes(60 * MIB)));
    }

    proptest! {
        #[test]
        fn the_lower_end_stays_below_the_upper(
            runs in proptest::collection::vec((11_u64..99, proptest::bool::ANY), 0..20),
        ) {
            let mut bracket = Bracket { low: Bytes(10 * MIB), high: Bytes(100 * MIB) };
            for (limit, is_enough) in runs {
                bracket = bracket.after(Bytes(limit * MIB), is_enough);
                prop_assert!(bracket.low <= bracket.high, "{bracket:?}");
            }
        }

        #[test]
        fn any_need_is_found_in_seven_runs(
            low in 1_u64..200, room in 4_u64..4000, part in 0.0..1.0_f64, guess in 0_u64..5000,
        ) {
            let (low, high) = (Bytes(low * MIB), Bytes((low + room) * MIB));
            let need = Bytes(low.0 + 1 + whole((high.0 - low.0 - 1) as f64 * part));
            let mut bracket = Bracket { low, high };
            let mut guess = Some(Bytes(guess * MIB));
            let mut runs = 0;
            while !bracket.is_narrow() {
                let limit = bracket.next(guess.take());
                prop_assert!(bracket.low < limit && limit < bracket.high, "{bracket:?} {limit:?}");
                bracket = bracket.after(limit, limit >= need);
                prop_assert!(bracket.low < need && need <= bracket.high, "{bracket:?} {need:?}");
                runs += 1;
            }
            // log2(ln(ratio) / ln(1.05)) of a ratio of 4000 is 7.4; the guess may waste one.
            prop_assert!(runs <= 9, "{runs}");
        }
    }
}
