//! Capture by perf tracepoints: every access of one task and its descendants.
//!
//! One ring for each processor, shared by all tracepoints there. Losses are what the events' own
//! counters say beyond what was received: that also finds what the ring never reported as lost.
//! Cost: 0.7 microseconds an event in the command, 0.4 in the recorder until the trace is written.

mod attach;
mod error;
mod others;

pub use error::Error;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use perf_event_open_sys::bindings;

use super::events::{Layout, Sample, Source, TaskIn};
use super::log::Event;
use super::programs::Programs;
use super::running::Running;
use crate::sys::perf;
use crate::sys::process::monotonic_ns;
use crate::sys::ring::Ring;
use crate::sys::tracefs::Tracefs;
use crate::trace::Reclaimed;
use error::refused;
use others::{Others, Unreadable};

const RING_BYTES_MAX: usize = 8 << 20;
/// Room for all rings together, so that a machine of 256 processors is not asked for 2 GiB.
const RINGS_BYTES_MAX: usize = 512 << 20;

/// The tracepoints of a recording, known but not yet attached.
#[derive(Debug)]
pub struct Perf {
    layouts: Vec<Layout>,
    others: Others,
    /// Records the tracepoints that it has, in place of events.
    programs: Option<Programs>,
    processors: Vec<i32>,
    ring_bytes: usize,
    task_in: TaskIn,
    attached: Option<Attached>,
    received: u64,
    unreadable: u64,
    batch: Vec<Sample>,
}

#[derive(Debug, Default)]
struct Attached {
    events: Vec<perf::Event>,
    rings: Vec<Ring>,
    /// Indices into `events` of those that own a ring, to wait for.
    leaders: Vec<usize>,
}

impl Perf {
    /// Finds the tracepoints and reads their layouts.
    pub fn prepare(sources: &[Source]) -> Result<Self, Error> {
        let tracefs = Tracefs::open().map_err(refused)?;
        let mut layouts = Vec::new();
        for source in sources {
            match tracefs.read(&format!("events/{}/format", source.path)) {
                Ok(text) => layouts.push(Layout::parse(source, &text)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if source.required {
                        return Err(Error::NoTracepoint(source.path));
                    }
                }
                Err(error) => return Err(refused(error)),
            }
        }
        let processors = super::machine::processors_online()?;
        let share = RINGS_BYTES_MAX / processors.len().max(1);
        let ring_bytes = RING_BYTES_MAX.min(previous_power_of_two(share)).max(64 << 10);
        // Elsewhere the number in a record is not the one that the task goes by.
        let in_record = layouts.iter().all(|layout| layout.says_task)
            && super::machine::is_in_first_pid_namespace();
        let task_in = if in_record { TaskIn::Record } else { TaskIn::Sample };
        let (attached, batch) = (None, Vec::new());
        Ok(Self {
            layouts,
            others: Others::default(),
            programs: None,
            processors,
            ring_bytes,
            task_in,
            attached,
            received: 0,
            unreadable: 0,
            batch,
        })
    }

    /// The same without opening a tracepoint, which costs a third of a second: what stands in the way of
    /// root, which fails in time all the same if it is something else.
    pub fn probe_quickly() -> Result<(), Error> {
        let this = Self::prepare(&super::events::SOURCES)?;
        let processor = this.processors.first().copied();
        processor.map_or(Ok(()), |processor| perf::probe(processor).map_err(refused))
    }

    /// Whether programs in the kernel can record what runs; really tries.
    pub fn probe_programs() -> io::Result<()> {
        Programs::probe()
    }

    /// Whether everything that a recording needs can be had here; really tries, on ourselves.
    pub fn probe() -> Result<(), Error> {
        let this = Self::prepare(&super::events::SOURCES)?;
        let (Some(layout), Some(&processor)) = (this.layouts.first(), this.processors.first())
        else {
            return Ok(());
        };
        // Disabled until we execute something, which we never do.
        let sampling = perf::Sampling { wakeup_bytes: 1, says_task: true, ..Default::default() };
        perf::open(layout.id.into(), 0, processor, sampling).map(drop).map_err(refused)
    }

    /// Asks for smaller rings than the default; for provoking losses in tests.
    #[must_use]
    pub fn with_ring_bytes(mut self, bytes: usize) -> Self {
        self.ring_bytes = previous_power_of_two(bytes.max(4096));
        self
    }

    /// Records the page cache of what runs by programs in the kernel, where that can be had; call it when the size
    /// of rings is known. For root alone.
    #[must_use]
    pub fn with_programs(mut self, sources: &[Source], running: &Running, sampled: bool) -> Self {
        // Events serve where programs do not: `nbuf doctor` says why.
        self.programs = Programs::open(sources, running, self.ring_bytes, sampled).ok();
        self
    }

    /// The programs in the kernel that record the page cache, where they do.
    pub(super) fn programs(&self) -> Option<&Programs> {
        self.programs.as_ref()
    }

    /// Adds the writes on btrfs, where the kernel has a tracepoint for them as we know it; gives
    /// back whose writes are seen.
    pub fn with_btrfs(mut self, systems: Vec<([u8; 16], u32)>) -> (Self, impl Fn(u32) -> bool) {
        self.others.add_btrfs(systems);
        let btrfs = self.others.btrfs.clone();
        (self, move |device| btrfs.as_ref().is_some_and(|btrfs| btrfs.sees(device)))
    }

    /// Adds the calls that go past the page cache, and pages that reclaim takes, where the kernel has
    /// tracepoints for them.
    #[must_use]
    pub fn with_detours(mut self) -> Self {
        self.others.add_direct();
        self.others.add_reclaim();
        self
    }

    /// Adds advice about how files will be read, where the kernel has a tracepoint for it.
    #[must_use]
    pub fn with_advice(mut self) -> Self {
        self.others.add_advice();
        self
    }

    /// Adds the calls that move bytes of files through a pipe, where the kernel has tracepoints for them.
    #[must_use]
    pub fn with_pipes(mut self) -> Self {
        self.others.add_pipes();
        self
    }

    /// Adds the system calls that write.
    pub fn with_calls(mut self) -> Result<Self, Error> {
        self.others.add_calls()?;
        // Descriptors belong to processes.
        self.task_in = TaskIn::Sample;
        Ok(self)
    }

    /// What to wait for: readable when a ring is a quarter full.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let attached = self.attached.iter();
        attached
            .flat_map(|a| a.leaders.iter().map(|&leader| a.events[leader].descriptor().as_fd()))
            .collect()
    }

    /// Takes the events out of the rings, in time order.
    pub fn drain(&mut self, mut each: impl FnMut(&Event) -> io::Result<()>) -> io::Result<()> {
        self.drain_batch(|batch| {
            batch.iter().try_for_each(|sample| match sample {
                Sample::Event(event) => each(event),
                _ => Ok(()),
            })?;
            Ok(batch.len())
        })
    }

    /// Hands over everything that happened until now and was not handed over yet, in time order. As
    /// many as are not taken come again.
    pub fn drain_batch(
        &mut self,
        take: impl FnOnce(&[Sample]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let Some(attached) = &mut self.attached else { return Ok(()) };
        // The rings are read one after the other. What comes into the last one meanwhile may be
        // later than what the first one still holds, and waits.
        let until = monotonic_ns();
        for ring in &mut attached.rings {
            ring.drain(|record| {
                match record.kind {
                    bindings::PERF_RECORD_SAMPLE => {}
                    bindings::PERF_RECORD_FORK => {
                        return self.batch.extend(Sample::thread(record.body));
                    }
                    bindings::PERF_RECORD_COMM => {
                        return self.batch.extend(Sample::worker(record.body));
                    }
                    _ => return,
                }
                self.received += 1;
                match self.others.sample(&self.layouts, self.task_in, record.body) {
                    Ok(sample) => self.batch.extend(sample),
                    Err(Unreadable) => self.unreadable += 1,
                }
            });
        }
        if let Some(programs) = &mut self.programs {
            programs.drain(|event| self.batch.push(Sample::Event(event)));
        }
        self.batch.sort_by_key(Sample::time_ns);
        let ready = self.batch.partition_point(|sample| sample.time_ns() <= until);
        let taken = take(&self.batch[..ready]);
        // What an error is about does not come again.
        let done = taken.as_ref().map_or(ready, |&taken| taken.min(ready));
        self.batch.drain(..done);
        taken.map(drop)
    }

    /// Closes the books: events counted by the kernel, and those of them that never reached us.
    /// Call after the last [`Self::drain`].
    pub fn losses(&self) -> io::Result<(u64, u64)> {
        let mut hits = 0;
        for event in self.attached.iter().flat_map(|attached| &attached.events) {
            hits += event.count()?.hits;
        }
        let lost = hits.saturating_sub(self.received) + self.unreadable;
        let (seen, unseen) = self.programs.as_ref().map_or((0, 0), Programs::losses);
        Ok((hits + seen, lost + unseen))
    }

    /// Pages that reclaimers took meanwhile, where programs in the kernel count them.
    pub fn reclaimed(&self) -> Vec<Reclaimed> {
        self.programs.as_ref().map(Programs::reclaimed).unwrap_or_default()
    }

    /// The fullest any ring has been.
    pub fn ring_high_water_bytes(&self) -> u64 {
        let rings = self.attached.iter().flat_map(|attached| &attached.rings);
        let programs = self.programs.as_ref().map(Programs::ring_high_water_bytes);
        rings.map(Ring::high_water_bytes).chain(programs).max().unwrap_or(0)
    }
}

fn previous_power_of_two(bytes: usize) -> usize {
    1 << bytes.max(1).ilog2()
}
