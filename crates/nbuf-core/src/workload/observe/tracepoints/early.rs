//! What is asked of the kernel while the command's process is made: where the tracepoints are, and an event of a task.
//!
//! The first event of a task makes the kernel wait for all processors, some 10 ms where no other program has one. A
//! thread waits for that meanwhile. Its event stays open until the others are closed, so that these need not wait.

use std::io;
use std::os::fd::OwnedFd;
use std::thread::{Builder, JoinHandle};

use super::super::refusal;
use super::super::sources::{Layout, METER_SOURCES, SOURCES};
use super::LOOKUPS;
use crate::sys::perf::{self, Event};
use crate::sys::tracefs::Tracefs;
use crate::workload::record::{events, machine};

/// What a thread needs here. An address space may be limited.
const STACK_BYTES: usize = 256 << 10;

/// Tracepoints that were found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) layouts: Vec<Layout>,
    pub(super) counted: Vec<u16>,
    /// The kernel waits for all processors before a detached one goes.
    pub(super) tracefs: Tracefs,
}

impl Found {
    /// Finds the tracepoints, and says what stands in the way.
    pub(super) fn find(has_meters: bool) -> Result<Self, String> {
        if !machine::is_in_first_pid_namespace() {
            return Err("threads have other numbers in this container than for the kernel".into());
        }
        let tracefs = Tracefs::open().map_err(|error| refusal(&error))?;
        let more: &[_] = if has_meters { &METER_SOURCES } else { &[] };
        let mut layouts = Vec::new();
        for source in SOURCES.iter().chain(more) {
            let text = match tracefs.read(&format!("events/{}/format", source.path)) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                Err(error) => return Err(refusal(&error)),
            };
            match Layout::parse(source, &text) {
                Some(layout) => layouts.push(layout),
                None if source.is_required => {
                    return Err(format!("this kernel has no tracepoint {}", source.path));
                }
                None => {}
            }
        }
        let id = |path: &&str| {
            let text = tracefs.read(&format!("events/{path}/format")).ok()?;
            events::id(&text)
        };
        let counted = LOOKUPS.iter().map(id).collect::<Option<_>>().unwrap_or_default();
        Ok(Self { layouts, counted, tracefs })
    }
}

/// A thread that finds, and one that waits.
#[derive(Debug)]
pub(super) struct Early {
    finding: JoinHandle<Result<Found, String>>,
    first: Option<JoinHandle<io::Result<Event>>>,
}

impl Early {
    /// Nothing where no thread can be made.
    pub(super) fn begin(has_meters: bool) -> Option<Self> {
        let thread = |name: &str| Builder::new().name(name.into()).stack_size(STACK_BYTES);
        // It takes longer.
        let first = thread("first event").spawn(perf::open_first).ok();
        let finding = thread("tracepoints").spawn(move || Found::find(has_meters)).ok()?;
        Some(Self { finding, first })
    }

    /// What was found, where the thread came to its end, and the event, where it is permitted.
    pub(super) fn arrive(self) -> (Option<Result<Found, String>>, Option<OwnedFd>) {
        let found = self.finding.join().ok();
        let first = self.first.and_then(|first| first.join().ok()?.ok());
        (found, first.map(Event::into_descriptor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_find_what_the_caller_finds() {
        for has_meters in [false, true] {
            let (found, first) = Early::begin(has_meters).unwrap().arrive();
            let described = |found: Result<Found, String>| {
                found.map(|found| (format!("{:?}", found.layouts), found.counted))
            };
            assert_eq!(described(found.unwrap()), described(Found::find(has_meters)));
            assert_eq!(first.is_some(), perf::open_first().is_ok());
        }
    }
}
