//! The meters of a step: the idle split of `nbuf watch`, and for each command the split of `nbuf run`.

use std::collections::HashMap;
use std::sync::Arc;

use super::gauge::Look;
use crate::meter::idle_split::Idle;
use crate::meter::probe::{disc_counts, tasks};
use crate::meter::split::{Part, Times};
use crate::workload::observe::commands::{Changes, Commands, Done};
use crate::workload::observe::machine::Machine;

/// A record has its time before it has its place in the ring. After so long it has both.
const SETTLED_NS: u64 = 2_000_000;

/// The idle time of processors between two looks.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from_ns: u64,
    to_ns: u64,
    idle: Idle,
}

/// Follows a step from look to look.
#[derive(Debug)]
pub(super) struct Meters {
    machine: Option<Machine>,
    commands: Option<Commands>,
    changes: Arc<Changes>,
    before: Look,
    begin_ns: u64,
    intervals: Vec<Interval>,
    done: Vec<Done>,
    lost: u64,
    /// What stands in the way of one of them.
    missing: Option<String>,
}

/// What they saw.
#[derive(Clone, Debug, Default)]
pub(super) struct Metered {
    intervals: Vec<Interval>,
    done: Vec<Done>,
    /// Records of the kernel that were lost.
    pub(super) lost: u64,
    /// Why something was not seen.
    pub(super) missing: Option<String>,
}

impl Meters {
    /// Opens all events. `changes` is said to by those who run the commands, if there are any.
    /// Idle time is of these processors, if there are any.
    pub(super) fn begin(
        changes: Arc<Changes>,
        has_commands: bool,
        these: Option<&[usize]>,
        before: Look,
    ) -> Self {
        let machine = Machine::begin_on(these, tasks::uninterruptible_threads);
        let commands = has_commands.then(Commands::begin);
        let failed = commands.as_ref().and_then(|commands| commands.as_ref().err());
        let missing = machine.as_ref().err().or(failed).cloned();
        Self {
            machine: machine.ok(),
            commands: commands.and_then(Result::ok),
            changes,
            begin_ns: before.time_ns,
            before,
            intervals: Vec::new(),
            done: Vec::new(),
            lost: 0,
            missing,
        }
    }

    /// Takes what has come by a look. To be called ten times a second.
    pub(super) fn take(&mut self, look: &Look) {
        if let Some(commands) = &mut self.commands {
            commands.drain(&self.changes, look.time_ns, &mut self.done);
        }
        let Some(machine) = &mut self.machine else { return };
        let is_quiet =
            disc_counts::read().is_ok_and(|discs| discs.values().all(|disc| disc.in_flight == 0));
        machine.drain(is_quiet.then_some(look.time_ns));
        let to_ns = look.time_ns.saturating_sub(SETTLED_NS);
        if to_ns <= self.begin_ns {
            return;
        }
        let assumed = |processor| self.before.was_idle(look, processor);
        let blocked = look.counts.blocked;
        let seen = machine.finish(to_ns, blocked, assumed, tasks::uninterruptible_threads);
        self.lost += seen.lost;
        self.intervals.push(Interval { from_ns: self.begin_ns, to_ns, idle: seen.idle });
        self.begin_ns = to_ns;
        self.before = look.clone();
    }

    /// Ends them, with what commands did until now.
    pub(super) fn finish(mut self, now_ns: u64) -> Metered {
        if let Some(mut commands) = self.commands.take() {
            // All that ended is settled once it was waited for.
            commands.drain(&self.changes, now_ns + SETTLED_NS, &mut self.done);
            self.lost += commands.lost();
            commands.close();
        }
        let Self { intervals, done, lost, missing, .. } = self;
        Metered { intervals, done, lost, missing }
    }
}

impl Metered {
    /// Idle time in a window, and the length of what was seen of it.
    pub(super) fn idle(&self, from_ns: u64, to_ns: u64) -> Option<(Idle, u64)> {
        let inside = |one: &&Interval| one.from_ns >= from_ns && one.to_ns <= to_ns;
        let all = self.intervals.iter().filter(inside);
        all.map(|one| (one.idle, one.to_ns - one.from_ns)).reduce(|(a, of_a), (b, of_b)| {
            let idle = Idle {
                all_ns: a.all_ns + b.all_ns,
                multiprogramming_ns: a.multiprogramming_ns + b.multiprogramming_ns,
                waits_ns: a.waits_ns + b.waits_ns,
            };
            (idle, of_a + of_b)
        })
    }

    /// Where the time of each command went, by the time of its end.
    pub(super) fn by_end(&self) -> HashMap<u64, Times> {
        self.done.iter().map(|done| (done.ended_ns, done.real_time)).collect()
    }

    /// The sums of the commands that ended in a window, and their number; nothing where none did.
    pub(super) fn commands(&self, from_ns: u64, to_ns: u64) -> Option<(u64, Sums)> {
        let inside = |done: &&Done| done.ended_ns > from_ns && done.ended_ns <= to_ns;
        let mut sums = Sums::default();
        let commands = self.done.iter().filter(inside).map(|done| sums.add(&done.real_time));
        let count = commands.count() as u64;
        (count > 0).then_some((count, sums))
    }
}

/// Nanoseconds by part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums(Times);

impl Sums {
    fn add(&mut self, times: &Times) {
        for part in crate::meter::split::PARTS {
            self.0[part] += times[part];
        }
    }

    pub(super) fn seconds(&self, part: Part) -> f64 {
        self.0[part] as f64 / 1e9
    }
}
