//! The threads that take part: each where the placement puts it, and known to the meter.

use std::io;
use std::sync::mpsc;
use std::thread::JoinHandle;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::meter::probe::turns::Thread;

/// Where the threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All on one processor.
    SameCore,
    /// The first on one, its partner on another.
    OtherCore,
    /// Wherever the kernel puts them, which changes while they run.
    Unpinned,
}

impl Placement {
    /// All three.
    pub const ALL: [Self; 3] = [Self::SameCore, Self::OtherCore, Self::Unpinned];

    /// What it is called everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameCore => "same core",
            Self::OtherCore => "other core",
            Self::Unpinned => "unpinned",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|placement| placement.name() == name)
    }
}

/// What is done with the failure of a thread that nobody waits for: tell it and end the process. The
/// others may sleep for a message that will never come.
pub type Failed = fn(&io::Error) -> !;

/// What a way is opened with.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Where the threads run.
    pub placement: Placement,
    /// The processors to use: the first for the caller's thread, the others for its partners. One at
    /// least, two for [`Placement::OtherCore`].
    pub processors: &'a [usize],
    /// Called from a thread that cannot go on.
    pub failed: Failed,
}

impl Setting<'_> {
    /// The processor of a thread, by its number; none where the kernel chooses.
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
    /// What it is asked by.
    pub thread: Thread,
    /// Where it was put.
    pub processor: Option<usize>,
}

/// The others: their threads, which all give the number of messages that they had in the end.
#[derive(Debug)]
pub(super) struct Crew {
    members: Vec<Member>,
    others: Vec<JoinHandle<u64>>,
    failed: Failed,
}

impl Crew {
    /// Puts the calling thread where it belongs.
    pub(super) fn gather(setting: &Setting<'_>) -> io::Result<Self> {
        let member = join(setting.processor(0))?;
        Ok(Self { members: vec![member], others: Vec::new(), failed: setting.failed })
    }

    /// Starts a thread in the place of the one with this number, has it prepare itself, and then do its
    /// work. What it cannot prepare is the error.
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
            // Whoever started us is waiting for this.
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

    /// All of them, the calling thread first.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Waits for the others, which have been told to end, and holds their counts against what they
    /// were sent.
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

/// Puts the calling thread onto a processor, and makes it known.
fn join(processor: Option<usize>) -> io::Result<Member> {
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        set.set(processor);
        sched_setaffinity(None, &set)?;
    }
    Ok(Member { thread: Thread::current()?, processor })
}

/// An error for messages that are not what was sent.
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
