//! One thread: what it does now, and the rules that explain its waits.

use super::part::Part;
use super::{Call, Leaving, Place, State, Waker, What};

/// A thread goes from one part to another. It comes from no part when it begins, and goes to none when
/// it ends. Changes are in the order of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) time_ns: u64,
    pub(super) from: Option<Part>,
    pub(super) to: Option<Part>,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now {
    /// It has ended.
    Over,
    /// It is in this part.
    In(Part),
    /// It waits, and what wakes it says for what.
    Undecided {
        /// Whether it was in a system call.
        in_call: Option<bool>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) now: Now,
    since_ns: u64,
    /// The last call whose waits have a meaning.
    call: Option<(Call, Place)>,
    reclaims: bool,
    /// It was woken as it was about to leave the processor.
    woken_early: Option<Waker>,
}

impl Thread {
    pub(super) fn born(time_ns: u64) -> Self {
        let now = Now::In(Part::Runnable);
        Self { now, since_ns: time_ns, call: None, reclaims: false, woken_early: None }
    }

    pub(super) fn undecided_since_ns(&self) -> Option<u64> {
        matches!(self.now, Now::Undecided { .. }).then_some(self.since_ns)
    }

    /// `requests` says whether the command ever sent a request to a disc.
    pub(super) fn take(
        &mut self,
        time_ns: u64,
        what: What,
        requests: bool,
        changes: &mut Vec<Change>,
    ) {
        match what {
            What::In => {
                let waker = self.woken_early;
                self.go(time_ns, Part::OnCpu, waker, requests, changes);
                self.woken_early = None;
            }
            What::Out(leaving) => match self.leave(leaving, requests) {
                Now::In(part) => self.go(time_ns, part, None, requests, changes),
                undecided => {
                    let Now::In(from) = self.now else { return };
                    changes.push(Change { time_ns, from: Some(from), to: None });
                    (self.now, self.since_ns) = (undecided, time_ns);
                }
            },
            What::Woken(waker) => match self.now {
                Now::In(Part::OnCpu) => self.woken_early = Some(waker),
                Now::In(Part::Runnable) => {}
                _ => self.go(time_ns, Part::Runnable, Some(waker), requests, changes),
            },
            What::Calls(call, place) => self.call = Some((call, place)),
            What::Reclaims(begins) => self.reclaims = begins,
            What::Died => self.end(time_ns, changes),
            What::Born | What::Requests => {}
        }
    }

    /// What a thread does that leaves the processor.
    fn leave(&mut self, leaving: Leaving, requests: bool) -> Now {
        let Leaving { state, in_call, place } = leaving;
        let waits = !matches!(state, State::Runnable);
        let call = self.call.filter(|&(_, of)| of == place).map(|(call, _)| call);
        if waits && call.is_none() {
            self.call = None;
        }
        let part = match state {
            State::Runnable => Part::Runnable,
            State::Stopped => Part::Asleep,
            State::Dead | State::Unsaid => Part::Unknown,
            State::Interruptible | State::Uninterruptible if self.reclaims => Part::Memory,
            State::Uninterruptible => return Now::Undecided { in_call },
            State::Interruptible => match call {
                Some(Call::Sleep) => Part::Asleep,
                Some(Call::Completion) if requests => Part::Disc,
                _ if in_call != Some(false) => Part::LockOrPipe,
                _ => Part::Unknown,
            },
        };
        Now::In(part)
    }

    /// Goes to another part, and closes the one before.
    fn go(
        &mut self,
        time_ns: u64,
        to: Part,
        waker: Option<Waker>,
        requests: bool,
        changes: &mut Vec<Change>,
    ) {
        match self.now {
            Now::Over => return,
            Now::In(from) => changes.push(Change { time_ns, from: Some(from), to: Some(to) }),
            Now::Undecided { in_call } => {
                let part = explain(waker, in_call, requests);
                self.close_undecided(time_ns, part, Some(to), changes);
            }
        }
        (self.now, self.since_ns) = (Now::In(to), time_ns);
    }

    fn close_undecided(
        &self,
        time_ns: u64,
        part: Part,
        to: Option<Part>,
        changes: &mut Vec<Change>,
    ) {
        changes.push(Change { time_ns: self.since_ns, from: None, to: Some(part) });
        changes.push(Change { time_ns, from: Some(part), to });
    }

    pub(super) fn end(&mut self, time_ns: u64, changes: &mut Vec<Change>) {
        match self.now {
            Now::Over => {}
            Now::In(from) => changes.push(Change { time_ns, from: Some(from), to: None }),
            Now::Undecided { .. } => self.close_undecided(time_ns, Part::Unknown, None, changes),
        }
        self.now = Now::Over;
    }
}

/// What an uninterruptible wait was for. A device's interrupt, or a thread of the kernel, ends a wait for
/// a disc. A program ends a wait for a lock of the kernel, or of a parent for its `vfork`.
fn explain(waker: Option<Waker>, in_call: Option<bool>, requests: bool) -> Part {
    match waker {
        Some(Waker::Program) => Part::LockOrPipe,
        // A fault waits for nothing else; a call may wait for other work of the kernel.
        Some(Waker::Interrupt | Waker::Kernel) if requests || in_call == Some(false) => Part::Disc,
        // A wake-up on an idle processor may leave no record. A program that wakes is on no idle one.
        Some(Waker::Interrupt | Waker::Kernel) | None => Part::PerhapsDisc,
    }
}
