//! How busy processors and discs were, from time to time in a step: the kernel's counters of the whole
//! machine.

use std::collections::HashMap;
use std::io;

use crate::meter::probe::counts::{Counts, Ticks};
use crate::meter::probe::disc_counts;
use crate::sys::process::monotonic_ns;

/// A look at the counters.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// When.
    pub(super) time_ns: u64,
    ticks: Ticks,
    disc_busy_ms: HashMap<String, u64>,
}

/// Shares of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Busy {
    /// The share of the time of all processors in which they were not idle.
    pub(super) processors: Option<f64>,
    /// The busiest disc, and the share of time in which it had a request.
    pub(super) disc: Option<(String, f64)>,
}

impl Look {
    pub(super) fn now() -> io::Result<Self> {
        let discs = disc_counts::read().unwrap_or_default();
        Ok(Self {
            time_ns: monotonic_ns(),
            ticks: Counts::read_now()?.times,
            disc_busy_ms: discs.into_iter().map(|(name, disc)| (name, disc.busy_ms)).collect(),
        })
    }

    /// What was busy from this look to a later one.
    fn until(&self, later: &Self) -> Busy {
        let passed_ms = later.time_ns.saturating_sub(self.time_ns) as f64 / 1e6;
        let idle = later.ticks.idle.saturating_sub(self.ticks.idle);
        let all =
            |ticks: &Ticks| ticks.user + ticks.system + ticks.interrupt + ticks.stolen + ticks.idle;
        let ticks = all(&later.ticks).saturating_sub(all(&self.ticks));
        let share = |(name, busy): (&String, &u64)| {
            let before = self.disc_busy_ms.get(name).unwrap_or(busy);
            let share = busy.saturating_sub(*before) as f64 / passed_ms;
            (name.clone(), share.clamp(0.0, 1.0))
        };
        let discs = later.disc_busy_ms.iter().filter(|_| passed_ms > 0.0).map(share);
        Busy {
            processors: (ticks > 0).then(|| 1.0 - (idle as f64 / ticks as f64).min(1.0)),
            // By name where two are alike, so that one is named each time.
            disc: discs.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0))),
        }
    }
}

/// What was busy between two times, by the nearest looks inside.
pub(super) fn between(looks: &[Look], from_ns: u64, to_ns: u64) -> Busy {
    let first = looks.iter().find(|look| look.time_ns >= from_ns);
    let last = looks.iter().rev().find(|look| look.time_ns <= to_ns);
    match (first, last) {
        (Some(first), Some(last)) if first.time_ns < last.time_ns => first.until(last),
        _ => Busy::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(ms: u64, busy: u64, idle: u64, discs: &[(&str, u64)]) -> Look {
        Look {
            time_ns: ms * 1_000_000,
            ticks: Ticks { user: busy, idle, ..Ticks::default() },
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
        let want = |processors, name: &str, share| Busy {
            processors: Some(processors),
            disc: Some((name.to_owned(), share)),
        };
        assert_eq!(between(&looks, 900_000_000, 2_100_000_000), want(0.25, "vdb", 0.4));
        assert_eq!(between(&looks, 2_000_000_000, 3_000_000_000), want(1.0, "vda", 1.0));
        assert_eq!(between(&looks, 1_500_000_000, 2_500_000_000), Busy::default());
        assert!(Look::now().unwrap().ticks.user > 0);
    }
}
