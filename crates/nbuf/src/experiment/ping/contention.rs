//! How long others had the processors that threads of ours wanted.
//!
//! Waiting for a processor is not yet contention: on one core, each thread waits while its partner
//! runs. What both were without is. On one processor that others leave alone, somebody of ours runs all
//! the time that somebody of ours waits; so what others had is at most the waiting, and at most the time
//! in which none of ours ran. The smaller of the two is told, for each processor.

use std::collections::BTreeMap;

use crate::meter::probe::turns::Turns;

/// A share of a sample up to which others are not felt.
const SHARE_MAX: f64 = 0.01;

/// Time that others had during a sample of `elapsed_ns`; nothing where the kernel does not tell how
/// long threads wait. Threads come with the processor that they are bound to.
///
/// Threads that are bound to none and run on several processors at once are taken to have waited for
/// others only: that is too much where they also waited for each other.
pub(super) fn foreign_ns(
    elapsed_ns: u64,
    threads: &[(Option<usize>, Turns)],
    never_sleep: bool,
) -> Option<u64> {
    let mut processors: BTreeMap<Option<usize>, (u64, u64)> = BTreeMap::new();
    for (processor, turns) in threads {
        let (ran, waited) = processors.entry(*processor).or_default();
        *ran += turns.ran_ns;
        *waited += turns.waited_ns?;
    }
    let foreign = processors.iter().map(|(processor, &(ran_ns, waited_ns))| {
        let several = ran_ns > elapsed_ns + elapsed_ns / 20 || never_sleep;
        if processor.is_none() && several {
            return waited_ns;
        }
        waited_ns.min(elapsed_ns.saturating_sub(ran_ns))
    });
    Some(foreign.sum())
}

/// Whether others had so little that a sample is clean.
pub(super) fn is_clean(elapsed_ns: u64, foreign_ns: Option<u64>) -> bool {
    foreign_ns.is_some_and(|foreign| foreign as f64 <= elapsed_ns as f64 * SHARE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(ran_ns: u64, waited_ns: u64) -> Turns {
        Turns { ran_ns, waited_ns: Some(waited_ns), ..Turns::default() }
    }

    #[test]
    fn waiting_for_each_other_is_not_contention() {
        let check = |what: &str, threads: &[(Option<usize>, Turns)], spin, want| {
            assert_eq!(foreign_ns(1000, threads, spin), Some(want), "{what}");
        };
        let (a, b) = (Some(0), Some(1));
        check("by turns", &[(a, turns(500, 490)), (a, turns(500, 480))], false, 0);
        check("somebody came", &[(a, turns(300, 690)), (a, turns(300, 680))], false, 400);
        check("both slept", &[(a, turns(100, 0)), (a, turns(100, 0))], false, 0);
        check("both span", &[(a, turns(1000, 0)), (b, turns(1000, 0))], true, 0);
        check(
            "one span, one was sent away",
            &[(a, turns(1000, 0)), (b, turns(40, 960))],
            true,
            960,
        );
        check("apart", &[(a, turns(300, 0)), (b, turns(300, 250))], false, 250);
        check("free, by turns", &[(None, turns(500, 400)), (None, turns(500, 400))], false, 0);
        check("free, at once", &[(None, turns(900, 90)), (None, turns(900, 0))], false, 90);
        check("free, spinning", &[(None, turns(1000, 0)), (None, turns(30, 970))], true, 970);
        check("four in turn", &[(a, turns(250, 700)); 4], false, 0);
        let untold = [(a, turns(500, 0)), (a, Turns::default())];
        assert_eq!(foreign_ns(1000, &untold, false), None);
    }

    #[test]
    fn one_part_in_a_hundred_is_clean() {
        let cases = [(Some(0), true), (Some(10), true), (Some(11), false), (None, false)];
        for (foreign, want) in cases {
            assert_eq!(is_clean(1000, foreign), want, "{foreign:?}");
        }
    }
}
