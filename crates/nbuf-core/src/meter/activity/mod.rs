//! How long each thing takes that a command does: a meter for each kind of event.
//!
//! Pure: it pairs the beginnings and ends that the kernel reports, and adds the times to histograms. What begins
//! and never ends, as `exit`, is not in it.
//!
//! On some machines a processor's idle thread leaves no records, completions among them (docs/run.md). Where none
//! was seen, a thread that waited for its request was woken by the completion.
//! Cost: some 50 ns an event, 11 KiB a kind that was seen, a few words a living thread, and 24 bytes a touched file.
//! Source: Saltzer, "Multics Performance", 1969: the meters of faults and of each primitive; docs/run.md.

mod fault;
mod keyed;
mod kind;
mod linking;
mod requests;
mod thread;

use std::collections::{BTreeMap, HashSet};

use super::split::{Event, What};
use super::times::Times;
use crate::units::Nanos;
pub(crate) use keyed::{By, Key, Keyed, Sums};
pub(crate) use kind::Kind;
pub(crate) use linking::Code;
pub(crate) use requests::Sectors;
use requests::{Requests, Served};
use thread::Threads;

/// What the kernel reports, in addition to the events of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The thread that had the processor.
    pub thread: u32,
    /// The instruction of the program at which it entered the kernel; 0 where that is unknown.
    pub instruction: u64,
    /// What.
    pub act: Act,
}

/// A file, as the kernel's page cache has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct File {
    /// The device of its file system.
    pub device: u32,
    /// Its inode there.
    pub inode: u64,
}

/// The kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It entered the system call with this number.
    Enters(u64, Does),
    /// It is in the system call with this number, since then.
    IsIn(u64, Does, u64),
    /// It left its system call, with this result.
    Leaves(i64),
    /// It touched an address whose page is not there.
    Faults(u64),
    /// The fault at this address was served.
    Faulted {
        /// Where.
        address: u64,
        /// Whether a read was waited for.
        is_major: bool,
    },
    /// An interrupt began, or ended.
    Interrupts(bool),
    /// Work that an interrupt had put off began, or ended.
    Softirqs(bool),
    /// It looked for a page of this file in the page cache.
    LooksIn(File),
    /// Code of a file was mapped for it.
    Maps(Code),
    /// It sent a request to a disc.
    Queued(Sectors),
    /// A request was given to the device, for whatever thread.
    Issued(Sectors),
    /// A device completed a request, of whatever thread.
    Completed(Sectors),
}

/// What a system call means in addition to its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// It makes a process or a thread.
    Creates,
    /// It executes another program.
    Executes,
    /// It looks up a path, and does little else.
    LooksUp,
    /// Nothing of these.
    Other,
}

/// All meters of a command.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    times: BTreeMap<Kind, Times>,
    threads: Threads,
    requests: Requests,
    /// Files that it has touched.
    touched: HashSet<File>,
    /// The same for each of something, where that was asked for.
    keyed: Option<Keyed>,
    /// The command has executed. What came before is the work of our own process.
    is_begun: bool,
}

impl Activity {
    /// Keeps the meters also for each of these.
    pub(crate) fn by(by: By) -> Self {
        Self { keyed: Some(Keyed::new(by)), ..Self::default() }
    }

    /// The meters of each so far.
    pub(crate) fn keyed(&self) -> Option<&Keyed> {
        self.keyed.as_ref()
    }

    /// A thread was created: before its event.
    pub(crate) fn belongs(&mut self, thread: u32, parent: u32, is_process: bool) {
        if let Some(keyed) = &mut self.keyed {
            keyed.born(thread, parent, is_process);
        }
    }

    /// Takes what happened to a thread; `parent` is the thread that made it. In the order of times, as all marks.
    pub(crate) fn take_event(&mut self, event: &Event, parent: Option<u32>) {
        let Event { time_ns, thread, what } = *event;
        let Self { threads, requests, times, keyed, is_begun, .. } = self;
        let file = threads.file(thread);
        let mut add = |kind, ns| {
            if *is_begun {
                add_to(times, keyed.as_mut(), (thread, file), kind, ns);
            }
        };
        match what {
            What::Born => threads.born(thread, parent, time_ns),
            What::Died => threads.died(thread),
            What::In => {
                let unanswered = threads.unanswered(thread, time_ns);
                let assumed = unanswered.and_then(|(since_ns, until_ns)| {
                    requests.assume_first(thread, since_ns, until_ns)
                });
                if let Some(served) = assumed {
                    add_served(&served, &mut add);
                    threads.served_unseen(served);
                }
                threads.runs(thread, time_ns, &mut add);
            }
            What::Out(leaving) => threads.stops(thread, time_ns, leaving.state),
            What::Woken(_) => threads.woken(thread, time_ns),
            What::Reclaims(begins) => threads.reclaims(thread, begins, time_ns, &mut add),
            What::Calls(..) | What::Requests => {}
        }
    }

    /// Takes a mark.
    pub(crate) fn take(&mut self, mark: &Mark) {
        let Mark { time_ns, thread, instruction, act } = *mark;
        let Self { threads, requests, times, touched, keyed, is_begun } = self;
        if let Act::Leaves(0) = act
            && threads.is_executing(thread)
        {
            *is_begun = true;
        }
        if let Act::Completed(sectors) = act {
            requests.completed(sectors, time_ns, |served| {
                let of = (served.thread, threads.file(served.thread));
                let mut add = |kind, ns| {
                    if *is_begun {
                        add_to(times, keyed.as_mut(), of, kind, ns);
                    }
                };
                add_served(&served, &mut add);
                threads.served(served);
            });
            return;
        }
        // Before the act, which may end what is about the file.
        let file = threads.file(thread);
        let mut add = |kind, ns| {
            if *is_begun {
                add_to(times, keyed.as_mut(), (thread, file), kind, ns);
            }
        };
        match act {
            Act::Enters(call, does) => {
                threads.links_no_more(thread, instruction, true, time_ns, &mut add);
                threads.enters(thread, call, does, time_ns);
            }
            Act::IsIn(call, does, since_ns) => threads.is_in(thread, call, does, since_ns),
            Act::Leaves(result) => threads.leaves(thread, result, time_ns, &mut add),
            Act::Faults(address) => {
                threads.links_no_more(thread, instruction, false, time_ns, &mut add);
                threads.faults(thread, address, time_ns);
            }
            Act::LooksIn(file) => {
                let counts = *is_begun || threads.is_executing(thread);
                let is_new = counts && touched.insert(file);
                if is_new {
                    threads.first_touch(thread, time_ns, &mut add);
                }
                threads.is_about(thread, file, is_new);
            }
            Act::Maps(code) => threads.maps(thread, code),
            Act::Faulted { address, is_major } => {
                threads.faulted(thread, address, is_major, time_ns, &mut add);
            }
            Act::Interrupts(begins) => {
                threads.interrupt(thread, Kind::Interrupt, begins, time_ns, &mut add);
            }
            Act::Softirqs(begins) => {
                threads.interrupt(thread, Kind::SoftInterrupt, begins, time_ns, &mut add);
            }
            Act::Queued(sectors) => requests.queued(sectors, thread, time_ns),
            Act::Issued(sectors) => requests.issued(sectors, time_ns),
            Act::Completed(_) => {}
        }
    }

    /// Adds calls with this number that were timed elsewhere, and are in no mark.
    pub(crate) fn add_calls(&mut self, number: u64, does: Does, times: &Times) {
        self.times.entry(Kind::Call(number)).or_default().merge(times);
        if does == Does::LooksUp {
            self.times.entry(Kind::PathLookup).or_default().merge(times);
        }
    }

    /// The histogram of each kind that was seen.
    pub(crate) fn finish(self) -> BTreeMap<Kind, Times> {
        self.times
    }
}

/// Adds a time of this thread, about this file.
fn add_to(
    times: &mut BTreeMap<Kind, Times>,
    keyed: Option<&mut Keyed>,
    (thread, file): (u32, Option<File>),
    kind: Kind,
    ns: u64,
) {
    times.entry(kind).or_default().add(Nanos(ns));
    if let Some(keyed) = keyed {
        keyed.add(keyed.key(thread, file), kind, ns);
    }
}

fn add_served(served: &Served, add: &mut impl FnMut(Kind, u64)) {
    let [queue, device] = if served.is_write {
        [Kind::WriteQueue, Kind::WriteDevice]
    } else {
        [Kind::ReadQueue, Kind::ReadDevice]
    };
    add(queue, served.issued_ns - served.queued_ns);
    add(device, served.completed_ns - served.issued_ns);
}

#[cfg(test)]
mod tests;
