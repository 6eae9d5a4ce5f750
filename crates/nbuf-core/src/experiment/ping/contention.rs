//! How long others had the processors that threads of ours wanted.
//!
//! Waiting for a processor is not yet contention. On one core, each thread waits while its partner
//! runs; on two, each waits while its idle processor wakes up. The time of others is at most the
//! time for which our threads waited. It is also at most the time in which the processor neither
//! ran one of ours nor idled. For each processor, the smaller of the two counts.

use std::collections::BTreeMap;

use crate::meter::probe::turns::Turns;

/// Most time that the kernel takes to leave a processor idle and to take it up again, without the
/// idle time that it counts itself.
const SLEEP_NS: u64 = 2000;
/// A share of a sample up to which others are not felt.
const SHARE_MAX: f64 = 0.01;

/// What was seen between two moments.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// Time between them.
    pub(super) elapsed_ns: u64,
    /// The threads, each with the processor that it is bound to.
    pub(super) threads: &'a [(Option<usize>, Turns)],
    /// Time for which processors idled; nothing where they do not count it.
    pub(super) idle_ns: Option<&'a BTreeMap<usize, u64>>,
    /// Whether the threads only spin.
    pub(super) never_sleep: bool,
}

impl Seen<'_> {
    /// Time that others had; nothing where the kernel does not tell how long threads wait.
    ///
    /// Where processors do not count how long they idle, threads that sleep on several of them are taken
    /// to have waited for others only. That is too much.
    pub(super) fn foreign_ns(&self) -> Option<u64> {
        let mut processors: BTreeMap<Option<usize>, Turns> = BTreeMap::new();
        for (processor, turns) in self.threads {
            let all = processors.entry(*processor).or_default();
            all.ran_ns += turns.ran_ns;
            all.waited_ns = Some(all.waited_ns.unwrap_or(0) + turns.waited_ns?);
            all.voluntary += turns.voluntary;
        }
        let foreign = processors.into_iter().map(|(processor, all)| {
            let left_ns = self.left_ns(processor, &all);
            all.waited_ns.unwrap_or(0).min(left_ns)
        });
        Some(foreign.sum())
    }

    /// Time of a processor, or of all of them, that neither ran one of ours nor idled: threads that take
    /// turns waste none, wherever they do it.
    fn left_ns(&self, processor: Option<usize>, all: &Turns) -> u64 {
        let elapsed_ns = self.elapsed_ns;
        let several = all.ran_ns > elapsed_ns + elapsed_ns / 20 || self.never_sleep;
        let by_turns_ns = match processor {
            // They ran on several processors at once, or would have.
            None if several => u64::MAX,
            _ => elapsed_ns.saturating_sub(all.ran_ns),
        };
        let Some(idle) = self.idle_ns else { return by_turns_ns };
        let (processors, idle_ns) = match processor {
            Some(processor) => (1, idle.get(&processor).copied().unwrap_or(0)),
            None => (idle.len() as u64, idle.values().sum()),
        };
        let kernel_ns = (all.voluntary * SLEEP_NS).min(idle_ns);
        let used_ns = all.ran_ns + idle_ns + kernel_ns;
        by_turns_ns.min((elapsed_ns * processors).saturating_sub(used_ns))
    }
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
        let check = |what: &str, threads: &[(Option<usize>, Turns)], never_sleep, want| {
            let seen = Seen { elapsed_ns: 1000, threads, idle_ns: None, never_sleep };
            assert_eq!(seen.foreign_ns(), want, "{what}");
        };
        let (a, b) = (Some(0), Some(1));
        check("by turns", &[(a, turns(500, 490)), (a, turns(500, 480))], false, Some(0));
        check(
            "another program ran",
            &[(a, turns(300, 690)), (a, turns(300, 680))],
            false,
            Some(400),
        );
        check("both slept", &[(a, turns(100, 0)), (a, turns(100, 0))], false, Some(0));
        check("both span", &[(a, turns(1000, 0)), (b, turns(1000, 0))], true, Some(0));
        let away = [(a, turns(1000, 0)), (b, turns(40, 960))];
        check("one span, one was sent away", &away, true, Some(960));
        check("apart", &[(a, turns(300, 0)), (b, turns(300, 250))], false, Some(250));
        check(
            "free, by turns",
            &[(None, turns(500, 400)), (None, turns(500, 400))],
            false,
            Some(0),
        );
        check("free, at once", &[(None, turns(900, 90)), (None, turns(900, 0))], false, Some(90));
        check("free, spinning", &[(None, turns(1000, 0)), (None, turns(30, 970))], true, Some(970));
        check("four in turn", &[(a, turns(250, 700)); 4], false, Some(0));
        check("untold", &[(a, turns(500, 0)), (a, Turns::default())], false, None);
    }

    #[test]
    fn waiting_for_an_idle_processor_is_not_contention() {
        let check = |what: &str, threads: &[(Option<usize>, Turns)], idle: [u64; 2], want| {
            let idle = BTreeMap::from([(0, idle[0]), (1, idle[1])]);
            let seen = Seen { elapsed_ns: 1000, threads, idle_ns: Some(&idle), never_sleep: false };
            assert_eq!(seen.foreign_ns(), Some(want), "{what}");
        };
        let (a, b) = (Some(0), Some(1));
        check("waking up", &[(a, turns(300, 250)), (b, turns(300, 250))], [700, 690], 10);
        check("one was used", &[(a, turns(300, 250)), (b, turns(300, 500))], [700, 300], 400);
        check("used while we slept", &[(a, turns(300, 0)), (b, turns(300, 5))], [700, 0], 5);
        let often = Turns { voluntary: 5, ..turns(300, 250) };
        let idle = BTreeMap::from([(0, 40_000)]);
        let seen = Seen {
            elapsed_ns: 50_000,
            threads: &[(a, often)],
            idle_ns: Some(&idle),
            never_sleep: false,
        };
        assert_eq!(seen.foreign_ns(), Some(0), "what the kernel takes itself");
        check("free", &[(None, turns(300, 250)), (None, turns(300, 250))], [700, 650], 50);
        check(
            "free, the other used",
            &[(None, turns(500, 490)), (None, turns(500, 490))],
            [0, 0],
            0,
        );
        check("free, on one", &[(None, turns(500, 490)), (None, turns(500, 490))], [0, 1000], 0);
    }

    #[test]
    fn one_part_in_a_hundred_is_clean() {
        let cases = [(Some(0), true), (Some(10), true), (Some(11), false), (None, false)];
        for (foreign, want) in cases {
            assert_eq!(is_clean(1000, foreign), want, "{foreign:?}");
        }
    }
}
