//! The events of a command's threads: opened, drained, counted and closed.

mod early;
mod with_programs;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::decode::{Seen, decode, decode_fault};
use super::programs::Programs;
use super::refusal;
use super::sources::{Layout, Means};
use crate::sys::linger::close_later;
use crate::sys::perf::{self, Event, FaultEvents, Sampling};
use crate::sys::ring::Ring;
use crate::workload::record::machine;
use early::{Early, Found};
use with_programs::{Coming, is_life};

/// Room of a ring, and what an ordinary user may lock on every system.
const RING_BYTES: usize = 2 << 20;
const RING_BYTES_ORDINARY: usize = 64 << 10;
/// The same with meters: a program may call the system a million times a second.
const RING_BYTES_METERS: usize = 8 << 20;

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
    has_meters: bool,
    layouts: Vec<Layout>,
    counted: Vec<u16>,
    /// Why there are no tracepoints.
    refused: Option<String>,
    /// The first of each processor has its ring.
    events: Vec<Event>,
    leaders: Vec<usize>,
    rings: Vec<Ring>,
    counters: Vec<Event>,
    /// In their place, where they say all that is asked for.
    programs: Option<Programs>,
    /// Before there is a task.
    coming: Option<Coming>,
    /// The same without programs.
    early: Option<Early>,
    /// Descriptors that are dear to close, too.
    late: Vec<OwnedFd>,
    /// Where system calls are counted, too.
    counts_calls: bool,
    calls: Option<Event>,
    /// One of each processor: faults have rings of their own.
    faults: Vec<FaultEvents>,
    fault_rings: Vec<Ring>,
    lost: u64,
    nothing: Option<String>,
}

impl Tracepoints {
    /// Nothing is asked of the kernel before a task is attached to.
    pub(super) fn later(has_meters: bool) -> Self {
        Self { has_meters, ..Self::default() }
    }

    /// Finds the tracepoints and waits for the first event from now on, before there is a task.
    pub(super) fn begin_events(&mut self) {
        self.early = Early::begin(self.has_meters);
    }

    fn prepare(&mut self) {
        let early = self.arrived_early();
        match early.unwrap_or_else(|| Found::find(self.has_meters)) {
            Ok(Found { layouts, counted, tracefs }) => {
                (self.layouts, self.counted) = (layouts, counted);
                self.late.push(tracefs.into_descriptor());
            }
            Err(reason) => {
                self.layouts.clear();
                self.refused = Some(reason);
            }
        }
    }

    /// What was found meanwhile. The first event stays open until all are closed.
    fn arrived_early(&mut self) -> Option<Result<Found, String>> {
        let (found, first) = self.early.take()?.arrive();
        self.late.extend(first);
        found
    }

    /// Opens the events of all tasks of the machine at once, without the page cache.
    pub(super) fn of_machine() -> Self {
        let mut this = Self::later(false);
        this.prepare();
        this.layouts.retain(|layout| layout.means != Means::Fill);
        this.counted.clear();
        if this.refused.is_none()
            && let Err(error) = this.open(-1, RING_BYTES)
        {
            this.clear();
            this.refused = Some(refusal(&error));
        }
        this
    }

    /// Attaches to a task that has not executed yet. What is refused is missing from then on.
    pub(super) fn attach(&mut self, pid: i32) {
        if self.coming.is_some() && self.attach_programs(pid).is_ok() {
            return;
        }
        if let Some(programs) = self.programs.take() {
            close_later(programs.into_descriptors());
        }
        self.clear();
        self.prepare();
        if self.refused.is_none()
            && let Err(error) =
                self.open(pid, if self.has_meters { RING_BYTES_METERS } else { RING_BYTES })
        {
            self.clear();
            self.layouts.clear();
            self.refused = Some(refusal(&error));
        }
        if self.refused.is_some()
            && let Err(error) = self.open(pid, RING_BYTES_ORDINARY)
        {
            self.clear();
            self.nothing = Some(refusal(&error));
        }
    }

    fn clear(&mut self) {
        self.rings.clear();
        self.events.clear();
        self.leaders.clear();
        self.counters.clear();
        self.calls = None;
        self.faults.clear();
        self.fault_rings.clear();
    }

    fn open(&mut self, pid: i32, ring_bytes: usize) -> io::Result<()> {
        let wakeup_bytes = u32::try_from(ring_bytes / 4).unwrap_or(u32::MAX);
        // Programs say who lives and runs.
        let is_alone = self.programs.is_none();
        let base =
            Sampling { wakeup_bytes, says_task: true, begins_now: true, ..Sampling::default() };
        for processor in machine::processors_online()? {
            let leader = self.events.len();
            let (says_code, says_names) = (self.has_meters, pid > 0);
            let (says_threads, says_switches) = (is_alone, is_alone);
            let sampling = Sampling { says_threads, says_names, says_switches, says_code, ..base };
            let event = perf::open_silent(pid, processor, sampling)?;
            self.rings.push(Ring::map(event.descriptor(), ring_bytes)?);
            self.leaders.push(leader);
            self.events.push(event);
            for layout in &self.layouts {
                let says_registers = layout.says_registers();
                let sampling = Sampling { says_registers, ..base };
                let task = if layout.is_of_machine() { -1 } else { pid };
                let event = perf::open(layout.id.into(), task, processor, sampling)?;
                if let Some(filter) = layout.filter().filter(|_| !self.has_meters) {
                    event.filter(&std::ffi::CString::new(filter)?)?;
                }
                event.redirect_to(&self.events[leader])?;
                self.events.push(event);
            }
        }
        if self.has_meters && !self.layouts.is_empty() {
            self.open_faults(pid, wakeup_bytes)?;
        }
        for &id in &self.counted {
            self.counters.push(perf::open_counter(id.into(), pid)?);
        }
        let enter = self.layouts.iter().find(|layout| layout.means == Means::Enter);
        if let Some(enter) = enter.filter(|_| self.counts_calls) {
            self.calls = Some(perf::open_counter(enter.id.into(), pid)?);
        }
        Ok(())
    }

    fn open_faults(&mut self, pid: i32, wakeup_bytes: u32) -> io::Result<()> {
        for processor in machine::processors_online()? {
            let faults = perf::open_fault_pairs(pid, processor, wakeup_bytes)?;
            self.fault_rings.push(Ring::map(faults.leader().descriptor(), RING_BYTES)?);
            faults.share_ring()?;
            self.faults.push(faults);
        }
        Ok(())
    }

    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let faults = self.faults.iter().map(FaultEvents::leader);
        let all = self.leaders.iter().map(|&leader| &self.events[leader]).chain(faults);
        let programs = self.programs.iter().map(Programs::descriptor);
        all.map(|event| event.descriptor().as_fd()).chain(programs).collect()
    }

    /// Takes what the rings have, each in order.
    pub(super) fn drain(&mut self, into: &mut Vec<Seen>) {
        self.drain_programs(into);
        let Self { rings, layouts, lost, faults, fault_rings, programs, .. } = self;
        let is_whole = !layouts.is_empty();
        let identifiers: Vec<[u64; 3]> = faults.iter().map(FaultEvents::identifiers).collect();
        for ring in fault_rings {
            ring.drain(|record| {
                *lost += record.lost();
                into.extend(decode_fault(&identifiers, record.kind, record.body));
            });
        }
        for ring in rings {
            ring.drain(|record| {
                *lost += record.lost();
                let seen = decode(layouts, record.kind, record.misc, record.body, is_whole);
                into.extend(seen.filter(|seen| programs.is_none() || !is_life(seen)));
            });
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost + self.programs.as_ref().map_or(0, Programs::lost)
    }

    /// From now on: before a task is attached to.
    pub(super) fn count_calls(&mut self) {
        self.counts_calls = true;
    }

    /// System calls so far, where they are counted.
    pub(super) fn calls(&self) -> Option<u64> {
        Some(self.calls.as_ref()?.count().ok()?.hits)
    }

    pub(super) fn lookups(&self) -> Option<Lookups> {
        if let Some(programs) = &self.programs {
            return programs.lookups();
        }
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
        self.keep_programs();
        // Without a task nothing has taken it.
        let found = self.arrived_early().and_then(Result::ok);
        self.late.extend(found.map(|found| found.tracefs.into_descriptor()));
        // The kernel also waits where the last program has just left a tracepoint and the next one comes.
        let programs = self.programs.take().map(Programs::into_descriptors);
        self.rings.clear();
        self.fault_rings.clear();
        let faults = self.faults.into_iter().flat_map(FaultEvents::into_events);
        let all = self.events.into_iter().chain(self.counters).chain(self.calls).chain(faults);
        // They go first: they run at every switch of the machine, and cost all programs.
        let programs = programs.into_iter().flatten();
        close_later(programs.chain(all.map(Event::into_descriptor)).chain(self.late).collect());
    }
}
