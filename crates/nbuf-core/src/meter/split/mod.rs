//! Where the time of a command's threads went, from what the scheduler said of them.
//!
//! Two sums over one stream of events. *Thread time* adds up the life of each thread. *Real time*
//! gives each instant to the first [`Part`] that holds for any thread. No part is a residual: a wait
//! that no rule explains is `Unknown`.
//! Cost: some 50 ns an event. Memory: a few words a living thread, and the changes since the oldest
//! wait that is still to be explained.
//! Source: Saltzer, "Multics Performance", 1969; the rules are in docs/run.md.

mod part;
mod slices;
mod sweep;
mod thread;

use std::collections::HashMap;

pub(crate) use part::{PARTS, Part, Times};
pub(crate) use slices::{Slice, Slices};
use sweep::Sweep;
use thread::{Change, Thread};

/// What happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Its number.
    pub thread: u32,
    /// What.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It was created, and can run.
    Born,
    /// It received a processor.
    In,
    /// It left the processor.
    Out(Leaving),
    /// It can run again.
    Woken(Waker),
    /// It entered a call whose waits have a meaning of their own.
    Calls(Call, Place),
    /// It sent a request to a disc.
    Requests,
    /// It began to look for memory, or ended that.
    Reclaims(bool),
    /// It ended.
    Died,
}

/// How a thread left the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// Its state.
    pub state: State,
    /// Whether it was in a system call; nothing where the processor does not say.
    pub in_call: Option<bool>,
    /// Where it entered the kernel.
    pub place: Place,
}

/// The state of a thread without a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It can run: the processor was taken from it.
    Runnable,
    /// It sleeps, and signals wake it.
    Interruptible,
    /// It sleeps, and no signal wakes it.
    Uninterruptible,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It never runs again.
    Dead,
    /// The scheduler did not say.
    Unsaid,
}

/// What made a thread runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waker {
    /// An interrupt: a device or a timer.
    Interrupt,
    /// A thread of the kernel.
    Kernel,
    /// A thread of a program.
    Program,
}

/// What a system call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A time, a signal, or the end of a child.
    Sleep,
    /// The completion of requests that may be for a disc.
    Completion,
}

/// The program's place at a system call: two calls in turn differ in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The program's next instruction.
    pub instruction: u64,
    /// Its stack.
    pub stack: u64,
}

/// The sums of all threads so far.
#[derive(Debug, Default)]
pub(crate) struct Split {
    threads: HashMap<u32, Thread>,
    sweep: Sweep,
    threads_seen: u64,
    /// Whether any thread sent a request to a disc.
    requests: bool,
    last_ns: u64,
    changes: Vec<Change>,
    slices: Option<Slices>,
}

/// The result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Result {
    /// Lives of threads, in parts.
    pub thread_time: Times,
    /// Instants, in parts.
    pub real_time: Times,
    /// How many threads there were.
    pub threads: u64,
}

impl Split {
    /// Keeps also what each thread did one after the other.
    pub(crate) fn with_slices(mut self, slices: Slices) -> Self {
        self.slices = Some(slices);
        self
    }

    /// Takes the slices out, before the end.
    pub(crate) fn slices(&mut self) -> Option<Slices> {
        self.slices.take()
    }

    /// Takes an event. Events come in the order of their times; threads that nothing announced are
    /// passed over. Whether it was of a thread that is known.
    pub(crate) fn take(&mut self, event: &Event) -> bool {
        let Event { time_ns, thread, what } = *event;
        self.requests |= what == What::Requests;
        if what == What::Born {
            let born = Thread::born(time_ns);
            // The number of a thread that ended may come again.
            if let Some(mut old) = self.threads.insert(thread, born) {
                old.end(time_ns, &mut self.changes);
            }
            self.threads_seen += 1;
            self.changes.push(Change { time_ns, from: None, to: Some(Part::Runnable) });
        } else {
            let Some(known) = self.threads.get_mut(&thread) else { return false };
            known.take(time_ns, what, self.requests, &mut self.changes);
            if what == What::Died {
                self.threads.remove(&thread);
            }
        }
        self.last_ns = self.last_ns.max(time_ns);
        if let Some(slices) = &mut self.slices {
            // Those of the events before are settled.
            slices.take(thread, &self.changes);
        }
        self.settle();
        true
    }

    /// Forwards what is certain. What follows the oldest unexplained wait is not.
    fn settle(&mut self) {
        let changed = !self.changes.is_empty();
        for change in self.changes.drain(..) {
            self.sweep.push(change);
        }
        if changed {
            let undecided = self.threads.values().filter_map(Thread::undecided_since_ns).min();
            self.sweep.settle(undecided.unwrap_or(self.last_ns));
        }
    }

    /// Ends what still lives, and gives the sums. `used_disc` says whether the kernel counted bytes of a disc
    /// for the command: a request that a rate holds back is sent by a thread of the kernel, later.
    pub(crate) fn finish(mut self, end_ns: u64, used_disc: bool) -> Result {
        let end_ns = end_ns.max(self.last_ns);
        for thread in self.threads.values_mut() {
            thread.end(end_ns, &mut self.changes);
        }
        for change in self.changes.drain(..) {
            self.sweep.push(change);
        }
        self.sweep.settle(end_ns);
        let Sweep { mut real_time, mut thread_time, .. } = self.sweep;
        let part = if used_disc || self.requests { Part::Disc } else { Part::Unknown };
        for times in [&mut real_time, &mut thread_time] {
            times[part] += std::mem::take(&mut times[Part::PerhapsDisc]);
        }
        Result { thread_time, real_time, threads: self.threads_seen }
    }
}

#[cfg(test)]
mod tests;
