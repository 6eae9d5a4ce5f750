//! The kernel's counters at one moment, and samples within an interval.

use std::collections::HashMap;
use std::io;

use super::chosen::{Chosen, ChosenCounts};
use super::interval::seconds;
use crate::meter::probe::counts::Counts;
use crate::meter::probe::disc_counts::{self, DiscCounts};
use crate::meter::probe::tasks;
use crate::sys::process::{monotonic_ns, process_time_ns};

/// All counters at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) time_ns: u64,
    pub(super) own_ns: u64,
    pub(super) counts: Counts,
    pub(super) discs: HashMap<String, DiscCounts>,
    pub(super) chosen: Option<ChosenCounts>,
}

impl Reading {
    pub(super) fn now(chosen: Option<&Chosen>) -> io::Result<Self> {
        Ok(Self {
            time_ns: monotonic_ns(),
            own_ns: process_time_ns(),
            counts: Counts::read()?,
            // A container may hide them.
            discs: disc_counts::read().unwrap_or_default(),
            chosen: chosen.map(Chosen::counts),
        })
    }

    /// Tasks that wait for block devices.
    pub(super) fn blocked(&self) -> u64 {
        self.counts.blocked
    }

    /// Whether a processor without any switch was idle from here to `now`, by its ticks.
    pub(super) fn was_idle(&self, now: &Self, processor: usize) -> bool {
        let ticks = |reading: &Self| reading.counts.idle_by_processor.get(processor).copied();
        let idle = ticks(now).unwrap_or(0).saturating_sub(ticks(self).unwrap_or(0));
        let all_seconds = seconds(now.time_ns - self.time_ns);
        idle as f64 / tasks::ticks_per_second() as f64 > all_seconds / 2.0
    }
}

/// Samples of an interval, ten a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Samples {
    pub(super) count: u64,
    pub(super) running: u64,
    pub(super) running_last: u64,
    idle_last: Option<u64>,
    /// Idle ticks, and those of them while tasks waited: the number of these tasks bounds them.
    pub(super) idle: u64,
    pub(super) idle_while_blocked: u64,
    at_ns: u64,
}

impl Samples {
    pub(super) fn add(&mut self, counts: &Counts) {
        self.add_at(counts, monotonic_ns());
    }

    fn add_at(&mut self, counts: &Counts, time_ns: u64) {
        // nbuf runs while it looks.
        self.running_last = counts.running.saturating_sub(1);
        self.running += self.running_last;
        self.count += 1;
        if let Some(before) = self.idle_last {
            let idle = counts.times.idle.saturating_sub(before);
            let span_seconds = seconds(time_ns.saturating_sub(self.at_ns));
            let span = crate::units::whole(span_seconds * tasks::ticks_per_second() as f64);
            self.idle += idle;
            self.idle_while_blocked += idle.min(span.saturating_mul(counts.blocked));
        }
        self.idle_last = Some(counts.times.idle);
        self.at_ns = time_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::probe::counts::Ticks;

    #[test]
    fn idle_time_of_a_sample_counts_for_at_most_the_tasks_that_wait() {
        let at = |idle, blocked| Counts {
            times: Ticks { idle, ..Ticks::default() },
            running: 3,
            blocked,
            ..Counts::default()
        };
        let tick_ns = 1_000_000_000 / tasks::ticks_per_second();
        let mut samples = Samples::default();
        samples.add_at(&at(100, 0), 0);
        // Two processors idle, and one task waits.
        samples.add_at(&at(120, 1), 10 * tick_ns);
        samples.add_at(&at(140, 0), 20 * tick_ns);
        samples.add_at(&at(145, 5), 30 * tick_ns);
        assert_eq!((samples.idle, samples.idle_while_blocked), (45, 15));
        assert_eq!((samples.count, samples.running, samples.running_last), (4, 8, 2));
    }
}
