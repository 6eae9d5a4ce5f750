//! The threads that take part. Each runs where the placement puts it, and registers with the meter.

use std::io;
use std::sync::mpsc;
use std::thread::JoinHandle;

use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::meter::probe::turns::Thread;

/// The processors on which the threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// All threads on one processor.
    #[serde(rename = "same core")]
    SameCore,
    /// The first thread on one processor, its partner on another.
    #[serde(rename = "other core")]
    OtherCore,
    /// The kernel chooses the processors, and may change them during the run.
    #[serde(rename = "unpinned")]
    Unpinned,
}

impl Placement {
    /// Every placement.
    pub const ALL: [Self; 3] = [Self::SameCore, Self::OtherCore, Self::Unpinned];

    /// The name in options, tables and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameCore => "same core",
            Self::OtherCore => "other core",
            Self::Unpinned => "unpinned",
        }
    }

    /// The placement with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|placement| placement.name() == name)
    }
}

/// Handles the failure of a thread that no other thread joins: reports it and ends the process. The
/// other threads may sleep for a message that will never arrive.
pub type Failed = fn(&io::Error) -> !;

/// The arguments for opening a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The processors on which the threads run.
    pub placement: Placement,
    /// The processors to use: the first for the caller's thread, the others for its partners. At
    /// least one, and two for [`Placement::OtherCore`].
    pub processors: &'a [usize],
    /// Called by a thread that cannot continue.
    pub failed: Failed,
}

impl Setting<'_> {
    /// The processor of a thread, by its number; `None` if the kernel chooses.
    fn processor(&self, thread: usize) -> Option<usize> {
        let (&first, others) = self.processors.split_first()?;
        match self.placement {
            Placement::Unpinned => None,
            Placement::SameCore => Some(first),
            Placement::OtherCore if thread == 0 || others.is_empty() => Some(first),
            Placement::OtherCore => Some(others[(thread - 1) % others.len()]),
        }
    }
}

/// A thread that takes part.
#[derive(Debug)]
pub struct Member {
    /// The handle by which the meter reads its times.
    pub thread: Thread,
    /// The processor to which it is pinned.
    pub processor: Option<usize>,
}

/// The partner threads. Each returns the number of messages that it received.
#[derive(Debug)]
pub(super) struct PinnedThreads {
    members: Vec<Member>,
    others: Vec<JoinHandle<u64>>,
    failed: Failed,
}

impl PinnedThreads {
    /// Pins the calling thread according to the placement.
    pub(super) fn gather(setting: &Setting<'_>) -> io::Result<Self> {
        let member = join(setting.processor(0))?;
        Ok(Self { members: vec![member], others: Vec::new(), failed: setting.failed })
    }

    /// Starts a thread, pins it by its number, prepares it, and runs its work. A failed preparation
    /// is the error.
    pub(super) fn start<S: Send + 'static>(
        &mut self,
        setting: &Setting<'_>,
        place: usize,
        mut state: S,
        prepare: impl FnOnce(&mut S) -> io::Result<()> + Send + 'static,
        work: impl FnOnce(S) -> io::Result<u64> + Send + 'static,
    ) -> io::Result<()> {
        let (ready, is_ready) = mpsc::channel();
        let (processor, failed) = (setting.processor(place), self.failed);
        let builder = std::thread::Builder::new().name(format!("wake {}", self.members.len()));
        let thread = builder.spawn(move || {
            let member = join(processor).and_then(|member| prepare(&mut state).map(|()| member));
            let is_refused = member.is_err();
            // The starting thread is waiting for this message.
            let _ = ready.send(member);
            if is_refused {
                return 0;
            }
            work(state).unwrap_or_else(|error| failed(&error))
        })?;
        let gone = |_| io::Error::other("a thread was gone before it was ready");
        self.members.push(is_ready.recv().map_err(gone)??);
        self.others.push(thread);
        Ok(())
    }

    /// All threads, the calling one first.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Waits for the partners after their stop message, and checks their counts of messages.
    pub(super) fn dismiss(self, want: u64) -> io::Result<()> {
        for (number, thread) in self.others.into_iter().enumerate() {
            let had = thread.join().map_err(|_| io::Error::other("a thread broke off"))?;
            if had != want {
                let number = number + 1;
                return Err(broken(format_args!("thread {number} had {had} of {want} messages")));
            }
        }
        Ok(())
    }
}

/// Pins the calling thread to a processor, and registers it.
fn join(processor: Option<usize>) -> io::Result<Member> {
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        set.set(processor);
        sched_setaffinity(None, &set)?;
    }
    Ok(Member { thread: Thread::current()?, processor })
}

/// The error for a wrong message or count.
pub(super) fn broken(what: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: a wake-up was lost or came twice"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_placement_puts_each_thread() {
        let check = |placement, processors: &[usize], want: [Option<usize>; 4]| {
            let failed = |_: &io::Error| panic!();
            let setting = Setting { placement, processors, failed };
            let got = [0, 1, 2, 3].map(|thread| setting.processor(thread));
            assert_eq!(got, want, "{placement:?} {processors:?}");
        };
        check(Placement::SameCore, &[4, 6], [Some(4); 4]);
        check(Placement::OtherCore, &[4, 6], [Some(4), Some(6), Some(6), Some(6)]);
        check(Placement::OtherCore, &[4, 6, 7], [Some(4), Some(6), Some(7), Some(6)]);
        check(Placement::OtherCore, &[4], [Some(4); 4]);
        check(Placement::Unpinned, &[4, 6], [None; 4]);
        for placement in Placement::ALL {
            assert_eq!(Placement::named(placement.name()), Some(placement));
        }
    }
}
