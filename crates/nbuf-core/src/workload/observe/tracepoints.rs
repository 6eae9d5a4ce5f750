//! The events of a command's threads: opened, drained, counted and closed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use perf_event_open_sys::bindings;

use super::decode::{Layout, SOURCES, Seen, decode};
use crate::sys::linger::close_later;
use crate::sys::perf::{self, Event, Sampling};
use crate::sys::ring::Ring;
use crate::sys::tracefs::Tracefs;
use crate::workload::record::events;
use crate::workload::record::machine;

/// Room of a ring, and what an ordinary user may lock on every system.
const RING_BYTES: usize = 2 << 20;
const RING_BYTES_ORDINARY: usize = 64 << 10;

/// The look-ups in the page cache that are counted, the misses last.
const LOOKUPS: [&str; 4] = [
    "filemap/mm_filemap_get_pages",
    "filemap/mm_filemap_fault",
    "filemap/mm_filemap_map_pages",
    "readahead/page_cache_sync_ra",
];

/// How much can be seen of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All.
    #[default]
    Tracepoints,
    /// When threads run, and not what they wait for; with the reason.
    Switches(String),
    /// Nothing; with the reason.
    Nothing(String),
}

/// Look-ups in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lookups {
    /// Reads of up to 31 pages in a row, and faults on mapped files.
    pub all: u64,
    /// Those of the reads that found a page missing.
    pub misses: u64,
}

/// All events of a command.
#[derive(Debug, Default)]
pub(super) struct Tracepoints {
    layouts: Vec<Layout>,
    counted: Vec<u16>,
    /// Why there are no tracepoints.
    refused: Option<String>,
    /// The first of each processor has its ring.
    events: Vec<Event>,
    leaders: Vec<usize>,
    rings: Vec<Ring>,
    counters: Vec<Event>,
    lost: u64,
    nothing: Option<String>,
}

impl Tracepoints {
    pub(super) fn prepare() -> Self {
        let mut this = Self::default();
        if let Err(reason) = this.find() {
            this.layouts.clear();
            this.refused = Some(reason);
        }
        this
    }

    /// Finds the tracepoints, and says what stands in the way.
    fn find(&mut self) -> Result<(), String> {
        if !machine::is_in_first_pid_namespace() {
            return Err("threads have other numbers in this container than for the kernel".into());
        }
        let tracefs = Tracefs::open().map_err(|error| said(&error))?;
        for source in &SOURCES {
            let text = match tracefs.read(&format!("events/{}/format", source.path)) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                Err(error) => return Err(said(&error)),
            };
            match Layout::parse(source, &text) {
                Some(layout) => self.layouts.push(layout),
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
        self.counted = LOOKUPS.iter().map(id).collect::<Option<_>>().unwrap_or_default();
        Ok(())
    }

    /// Attaches to a task that has not executed yet. What is refused is missing from then on.
    pub(super) fn attach(&mut self, pid: i32) {
        if self.refused.is_none()
            && let Err(error) = self.open(pid, RING_BYTES)
        {
            self.clear();
            self.layouts.clear();
            self.refused = Some(said(&error));
        }
        if self.refused.is_some()
            && let Err(error) = self.open(pid, RING_BYTES_ORDINARY)
        {
            self.clear();
            self.nothing = Some(said(&error));
        }
    }

    fn clear(&mut self) {
        self.rings.clear();
        self.events.clear();
        self.leaders.clear();
        self.counters.clear();
    }

    fn open(&mut self, pid: i32, ring_bytes: usize) -> io::Result<()> {
        let wakeup_bytes = u32::try_from(ring_bytes / 4).unwrap_or(u32::MAX);
        let says_switches = true;
        let base =
            Sampling { wakeup_bytes, says_task: true, begins_now: true, ..Sampling::default() };
        for processor in machine::processors_online()? {
            let leader = self.events.len();
            let sampling = Sampling { says_threads: true, says_switches, ..base };
            let event = perf::open_silent(pid, processor, sampling)?;
            self.rings.push(Ring::map(event.descriptor(), ring_bytes)?);
            self.leaders.push(leader);
            self.events.push(event);
            for layout in &self.layouts {
                let says_registers = layout.says_registers();
                let sampling = Sampling { says_registers, ..base };
                let task = if layout.is_of_machine() { -1 } else { pid };
                let event = perf::open(layout.id.into(), task, processor, sampling)?;
                if let Some(filter) = layout.filter() {
                    event.filter(&std::ffi::CString::new(filter)?)?;
                }
                event.redirect_to(&self.events[leader])?;
                self.events.push(event);
            }
        }
        for &id in &self.counted {
            self.counters.push(perf::open_counter(id.into(), pid)?);
        }
        Ok(())
    }

    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.leaders.iter().map(|&leader| self.events[leader].descriptor().as_fd()).collect()
    }

    /// Takes what the rings have, each in order.
    pub(super) fn drain(&mut self, into: &mut Vec<Seen>) {
        let Self { rings, layouts, lost, .. } = self;
        let is_whole = !layouts.is_empty();
        for ring in rings {
            ring.drain(|record| {
                if record.kind == bindings::PERF_RECORD_LOST {
                    let count = record.body.get(8..16).and_then(|bytes| bytes.try_into().ok());
                    *lost += count.map_or(1, u64::from_ne_bytes);
                }
                into.extend(decode(layouts, record.kind, record.misc, record.body, is_whole));
            });
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    pub(super) fn lookups(&self) -> Option<Lookups> {
        let counts: Option<Vec<u64>> =
            self.counters.iter().map(|event| Some(event.count().ok()?.hits)).collect();
        match counts?[..] {
            [reads, faults, windows, misses] => {
                let all = reads + faults + windows;
                Some(Lookups { all, misses: misses.min(all) })
            }
            _ => None,
        }
    }

    pub(super) fn reach(&self) -> Reach {
        match (&self.refused, &self.nothing) {
            (_, Some(reason)) => Reach::Nothing(reason.clone()),
            (Some(reason), None) => Reach::Switches(reason.clone()),
            (None, None) => Reach::Tracepoints,
        }
    }

    /// Closes all, without a wait.
    pub(super) fn close(mut self) {
        self.rings.clear();
        let all = self.events.into_iter().chain(self.counters);
        close_later(all.map(Event::into_descriptor).collect());
    }
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "no permission to use the kernel's tracepoints".to_owned()
        }
        _ => format!("the kernel's tracepoints cannot be opened: {error}"),
    }
}
