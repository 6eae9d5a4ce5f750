//! Where the time of many brief commands went, each on its own: the split of `nbuf run`, from events of the
//! whole machine.
//!
//! The events are opened once for all commands, so that none of them waits for that. Threads that no command
//! has are passed over.
//! Cost: as much as [`super::machine`] again, for each switch and wake-up of the machine; no page fault is recorded.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::decode::Seen;
use super::tracepoints::{Reach, Tracepoints};
use crate::meter::split::{Event, Split, Times, What};

/// A record has its time before it has its place in the ring. After so long it has both.
const SETTLED_NS: u64 = 1_000_000;

/// A command begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    time_ns: u64,
    /// The first thread of the command.
    thread: u32,
    /// At its end, whether its figures count, and whether the kernel counted bytes of a disc for it.
    end: Option<(bool, bool)>,
}

/// What begins and ends, as those who run the commands say it.
#[derive(Debug, Default)]
pub(crate) struct Changes(Mutex<Vec<Change>>);

impl Changes {
    /// A command may execute from now on.
    pub(crate) fn begins(&self, thread: u32, time_ns: u64) {
        self.add(Change { time_ns, thread, end: None });
    }

    /// All of a command has ended. Figures of a failed one do not count.
    pub(crate) fn ends(&self, thread: u32, time_ns: u64, counts: bool, used_disc: bool) {
        self.add(Change { time_ns, thread, end: Some((counts, used_disc)) });
    }

    fn add(&self, change: Change) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(change);
    }

    fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A command that ended, and where its real time went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// When.
    pub(crate) ended_ns: u64,
    /// Instants, in parts.
    pub(crate) real_time: Times,
}

/// The commands that run now, each with its threads.
#[derive(Debug, Default)]
struct Splits {
    /// The command of each thread.
    command: HashMap<u32, u32>,
    running: HashMap<u32, Split>,
    /// Whether any of them sent a request to a disc: others may wait for it.
    has_requests: bool,
}

impl Splits {
    fn change(&mut self, change: Change) -> Option<Done> {
        let Change { time_ns, thread, end } = change;
        let Some((counts, used_disc)) = end else {
            self.command.insert(thread, thread);
            let born = Event { time_ns, thread, what: What::Born };
            self.running.entry(thread).or_default().take(&born);
            return None;
        };
        let split = self.running.remove(&thread)?;
        self.command.retain(|_, command| *command != thread);
        let result = split.finish(time_ns, used_disc || self.has_requests);
        counts.then_some(Done { ended_ns: time_ns, real_time: result.real_time })
    }

    fn take(&mut self, event: &Event, parent: Option<u32>) {
        let of = parent.unwrap_or(event.thread);
        let Some(&command) = self.command.get(&of) else { return };
        if parent.is_some() {
            self.command.insert(event.thread, command);
        }
        self.has_requests |= event.what == What::Requests;
        if let Some(split) = self.running.get_mut(&command) {
            split.take(event);
        }
        if event.what == What::Died && event.thread != command {
            self.command.remove(&event.thread);
        }
    }
}

/// Follows commands that run at the same time.
#[derive(Debug)]
pub(crate) struct Commands {
    tracepoints: Tracepoints,
    splits: Splits,
    batch: Vec<Seen>,
    changes: Vec<Change>,
}

impl Commands {
    /// Begins now; says what stands in the way.
    pub(crate) fn begin() -> Result<Self, String> {
        let tracepoints = Tracepoints::of_machine();
        match tracepoints.reach() {
            Reach::Tracepoints => {
                let (splits, batch, changes) = (Splits::default(), Vec::new(), Vec::new());
                Ok(Self { tracepoints, splits, batch, changes })
            }
            Reach::Switches(reason) | Reach::Nothing(reason) => Err(reason),
        }
    }

    /// Takes what has come, and gives the commands that ended. To be called at least ten times a second.
    pub(crate) fn drain(&mut self, changes: &Changes, now_ns: u64, done: &mut Vec<Done>) {
        self.tracepoints.drain(&mut self.batch);
        // After the rings: the begin of a command is said before its first record.
        self.changes.extend(changes.take());
        self.batch.sort_by_key(Seen::time_ns);
        self.changes.sort_by_key(|change| change.time_ns);
        let until_ns = now_ns.saturating_sub(SETTLED_NS);
        let events = self.batch.partition_point(|seen| seen.time_ns() <= until_ns);
        let ready = self.changes.partition_point(|change| change.time_ns <= until_ns);
        let mut changes = self.changes.drain(..ready).peekable();
        for seen in self.batch.drain(..events) {
            let is_before = |change: &Change| change.time_ns < seen.time_ns();
            while let Some(change) = changes.next_if(is_before) {
                done.extend(self.splits.change(change));
            }
            match seen {
                Seen::Thread(event) | Seen::Both(event, _) => self.splits.take(&event, None),
                Seen::Born { event, parent, .. } => self.splits.take(&event, Some(parent)),
                Seen::Mark(_) | Seen::Fill { .. } | Seen::Named { .. } => {}
            }
        }
        done.extend(changes.filter_map(|change| self.splits.change(change)));
    }

    /// Records that did not reach us so far.
    pub(crate) fn lost(&self) -> u64 {
        self.tracepoints.lost()
    }

    /// Closes all, without a wait.
    pub(crate) fn close(self) {
        self.tracepoints.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::split::{Leaving, Part, Place, State, Waker};

    /// Two commands at once: the first waits for a lock that the child of the second lets go.
    #[test]
    fn each_command_has_its_own_split_and_strangers_have_none() {
        let mut splits = Splits::default();
        let begins = |thread, time_ns| Change { time_ns, thread, end: None };
        let ends = |thread, time_ns, counts| Change { time_ns, thread, end: Some((counts, false)) };
        let out = What::Out(Leaving {
            state: State::Interruptible,
            in_call: Some(true),
            place: Place::default(),
        });
        let take = |splits: &mut Splits, time_ns, thread, what, parent| {
            splits.take(&Event { time_ns, thread, what }, parent);
        };
        assert_eq!(splits.change(begins(10, 0)), None);
        assert_eq!(splits.change(begins(20, 0)), None);
        take(&mut splits, 5, 10, What::In, None);
        take(&mut splits, 6, 21, What::Born, Some(20));
        take(&mut splits, 7, 99, What::Born, Some(98));
        take(&mut splits, 8, 99, What::In, None);
        take(&mut splits, 10, 10, out, None);
        take(&mut splits, 10, 21, What::In, None);
        take(&mut splits, 110, 10, What::Woken(Waker::Program), None);
        take(&mut splits, 120, 10, What::In, None);
        take(&mut splits, 130, 10, What::Died, None);
        let first = splits.change(ends(10, 130, true)).unwrap().real_time;
        assert_eq!(
            (first[Part::OnCpu], first[Part::LockOrPipe], first[Part::Runnable]),
            (15, 100, 15)
        );
        assert_eq!(splits.change(ends(20, 140, false)), None);
        assert!(splits.command.is_empty() && splits.running.is_empty(), "{splits:?}");
    }
}
