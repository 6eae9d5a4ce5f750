//! How busy processors and discs were, from time to time in a step: the kernel's counters of the whole
//! machine.

use std::collections::HashMap;
use std::io;

use crate::meter::probe::counts::{Counts, Ticks};
use crate::meter::probe::{disc_counts, tasks};
use crate::sys::process::monotonic_ns;

/// A look at the counters.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    /// When.
    pub(super) time_ns: u64,
    pub(super) counts: Counts,
    disc_busy_ms: HashMap<String, u64>,
}

/// Shares of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Busy {
    /// The share of the time of the processors in which they were not idle.
    pub(super) processors: Option<f64>,
    /// The same by samples, and the part of the time that was idle while tasks waited for a disc.
    pub(super) sampled: Option<(f64, f64)>,
    /// The busiest disc, and the share of time in which it had a request.
    pub(super) disc: Option<(String, f64)>,
    /// Pages of the machine that were read again after reclaim took them.
    pub(super) refaults: u64,
}

impl Look {
    pub(super) fn now() -> io::Result<Self> {
        let discs = disc_counts::read().unwrap_or_default();
        Ok(Self {
            time_ns: monotonic_ns(),
            counts: Counts::read()?,
            disc_busy_ms: discs.into_iter().map(|(name, disc)| (name, disc.busy_ms)).collect(),
        })
    }

    /// Whether a processor without any switch was idle from here to `later`, by its ticks.
    pub(super) fn was_idle(&self, later: &Self, processor: usize) -> bool {
        self.idle_share(later, processor).is_some_and(|idle| idle > 0.5)
    }

    /// Idle time of a processor, by its place in the kernel's list.
    fn idle_share(&self, later: &Self, processor: usize) -> Option<f64> {
        let ticks = |look: &Self| look.counts.idle_by_processor.get(processor).copied();
        let idle = ticks(later)?.saturating_sub(ticks(self)?);
        let passed_seconds = later.time_ns.saturating_sub(self.time_ns) as f64 / 1e9;
        let ticks = passed_seconds * tasks::ticks_per_second() as f64;
        (ticks > 0.0).then(|| (idle as f64 / ticks).min(1.0))
    }

    /// What was busy from this look to a later one; of processors these only, if there are any.
    fn until(&self, later: &Self, these: Option<&[usize]>) -> Busy {
        let passed_ms = later.time_ns.saturating_sub(self.time_ns) as f64 / 1e6;
        let share = |(name, busy): (&String, &u64)| {
            let before = self.disc_busy_ms.get(name).unwrap_or(busy);
            let share = busy.saturating_sub(*before) as f64 / passed_ms;
            (name.clone(), share.clamp(0.0, 1.0))
        };
        let discs = later.disc_busy_ms.iter().filter(|_| passed_ms > 0.0).map(share);
        let all = self.idle_ticks(later).map(|(idle, all)| 1.0 - (idle / all).min(1.0));
        let of_these = |these: &[usize]| {
            let idle: Option<f64> =
                these.iter().map(|&processor| self.idle_share(later, processor)).sum();
            idle.map(|idle| 1.0 - idle / these.len().max(1) as f64)
        };
        let refaults = |look: &Self| look.counts.memory.refaulted + look.counts.memory.swapped_back;
        Busy {
            processors: these.map_or(all, of_these),
            sampled: None,
            // By name where two are alike, so that one is named each time.
            disc: discs.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0))),
            refaults: refaults(later).saturating_sub(refaults(self)),
        }
    }

    /// Idle ticks of all processors, and all of their ticks.
    fn idle_ticks(&self, later: &Self) -> Option<(f64, f64)> {
        let (old, new) = (&self.counts.times, &later.counts.times);
        let all =
            |ticks: &Ticks| ticks.user + ticks.system + ticks.interrupt + ticks.stolen + ticks.idle;
        let ticks = all(new).saturating_sub(all(old));
        (ticks > 0).then(|| (new.idle.saturating_sub(old.idle) as f64, ticks as f64))
    }
}

/// What was busy between two times, by the nearest looks inside.
pub(super) fn between(looks: &[Look], from_ns: u64, to_ns: u64, these: Option<&[usize]>) -> Busy {
    let begin = looks.iter().position(|look| look.time_ns >= from_ns);
    let end = looks.iter().rposition(|look| look.time_ns <= to_ns);
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => {
            let busy = looks[begin].until(&looks[end], these);
            Busy { sampled: sampled(&looks[begin..=end], these), ..busy }
        }
        _ => Busy::default(),
    }
}

/// Idle ticks of a sample count for at most the tasks that wait for a disc at its end.
fn sampled(looks: &[Look], these: Option<&[usize]>) -> Option<(f64, f64)> {
    let (mut idle, mut waiting, mut all) = (0.0, 0.0, 0.0);
    for pair in looks.windows(2) {
        let Some((of_idle, of_all)) = pair[0].idle_ticks(&pair[1]) else { continue };
        let count = pair[1].counts.idle_by_processor.len();
        let processors = these.map_or(count, <[usize]>::len).max(1) as f64;
        let of_these = |these: &[usize]| {
            let share = |&processor: &usize| pair[0].idle_share(&pair[1], processor);
            these.iter().map(share).sum::<Option<f64>>().map(|sum| sum / processors)
        };
        let of_all = of_all * processors / count.max(1) as f64;
        let of_idle = match these {
            Some(these) => of_these(these).map_or(of_idle, |share| share * of_all),
            None => of_idle,
        };
        let bound = of_all / processors * pair[1].counts.blocked as f64;
        idle += of_idle;
        waiting += of_idle.min(bound);
        all += of_all;
    }
    (all > 0.0).then(|| (1.0 - (idle / all).min(1.0), waiting / all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(ms: u64, busy: u64, idle: u64, discs: &[(&str, u64)]) -> Look {
        let times = Ticks { user: busy, idle, ..Ticks::default() };
        Look {
            time_ns: ms * 1_000_000,
            counts: Counts { times, ..Counts::default() },
            disc_busy_ms: discs.iter().map(|&(name, ms)| (name.to_owned(), ms)).collect(),
        }
    }

    #[test]
    fn shares_are_those_of_the_looks_inside() {
        let looks = [
            look(0, 0, 0, &[("vda", 0)]),
            look(1000, 100, 100, &[("vda", 500), ("vdb", 0)]),
            look(2000, 150, 250, &[("vda", 600), ("vdb", 400)]),
            look(3000, 350, 250, &[("vda", 1600), ("vdb", 400)]),
        ];
        let of = |from_ms: u64, to_ms: u64| {
            between(&looks, from_ms * 1_000_000, to_ms * 1_000_000, None)
        };
        let busy = |from_ms, to_ms| {
            let busy = of(from_ms, to_ms);
            (busy.processors, busy.disc)
        };
        let want =
            |processors, name: &str, share| (Some(processors), Some((name.to_owned(), share)));
        assert_eq!(busy(900, 2100), want(0.25, "vdb", 0.4));
        assert_eq!(busy(2000, 3000), want(1.0, "vda", 1.0));
        assert_eq!(of(1500, 2500), Busy::default());
        assert!(Look::now().unwrap().counts.times.user > 0);
    }

    /// Two processors, a second long: the first is idle throughout, and one task waits at the end.
    #[test]
    fn processors_and_tasks_that_wait_bound_the_shares() {
        let second = tasks::ticks_per_second();
        let mut looks = [look(0, 0, 0, &[]), look(1000, second, second, &[])];
        looks[0].counts.idle_by_processor = vec![0, 0];
        looks[1].counts.idle_by_processor = vec![second, 0];
        let of = |looks: &[Look], these| between(looks, 0, 1_000_000_000, these);
        assert_eq!(of(&looks, None).processors, Some(0.5));
        assert_eq!(of(&looks, Some(&[0])).processors, Some(0.0));
        assert_eq!(of(&looks, None).sampled, Some((0.5, 0.0)));
        looks[1].counts.blocked = 1;
        looks[1].counts.memory.refaulted = 7;
        let busy = of(&looks, None);
        assert_eq!((busy.sampled, busy.refaults), (Some((0.5, 0.5)), 7));
    }
}
