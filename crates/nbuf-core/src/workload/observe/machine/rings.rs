//! The events of all processors: opened and drained.

use std::io;

use perf_event_open_sys::bindings;

use super::decode::{Layout, SOURCES, Seen, decode, decode_exit, decode_switch};
use crate::sys::linger::close_later;
use crate::sys::perf::{self, Event, Faults, Sampling};
use crate::sys::ring::Ring;
use crate::sys::tracefs::Tracefs;
use crate::workload::observe::refusal;
use crate::workload::record::machine;

/// Room of a processor's ring: ten thousand switches.
const RING_BYTES: usize = 1 << 20;
/// Room for page faults. What does not fit is passed over, so that it bounds the cost too: 512 faults
/// a drain.
const FAULT_RING_BYTES: usize = 8 << 10;

/// One record with the processor it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) time_ns: u64,
    pub(super) processor: usize,
    pub(super) what: What,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Seen(Seen),
    /// A thread left the run queue.
    Exit,
    Fault,
    /// Faults before the next one of this processor were passed over.
    FaultsLost,
}

/// All events and their rings, in the order of the processors.
#[derive(Debug, Default)]
pub(super) struct Rings {
    layouts: Vec<Layout>,
    events: Vec<Event>,
    switches: Vec<Ring>,
    /// The number of each processor.
    numbers: Vec<usize>,
    faults: Vec<Ring>,
    /// Records of switches and requests that did not reach us.
    lost: u64,
    records: u64,
}

impl Rings {
    /// Opens all, and says what stands in the way.
    pub(super) fn open() -> Result<Self, String> {
        if !machine::is_in_first_pid_namespace() {
            return Err("threads have other numbers in this container than for the kernel".into());
        }
        let said = |error: io::Error| refusal(&error);
        let tracefs = Tracefs::open().map_err(said)?;
        let mut rings = Self::default();
        for source in &SOURCES {
            let text = tracefs.read(&format!("events/{}/format", source.path)).map_err(said)?;
            let layout = Layout::parse(source, &text);
            let missing = || format!("this kernel has no tracepoint {} as we know it", source.path);
            rings.layouts.push(layout.ok_or_else(missing)?);
        }
        rings.open_events().map_err(said)?;
        Ok(rings)
    }

    fn open_events(&mut self) -> io::Result<()> {
        // Nothing waits for a ring: they are drained at intervals.
        let wakeup_bytes = u32::MAX;
        let sampling = Sampling { wakeup_bytes, begins_now: true, ..Sampling::default() };
        for processor in machine::processors_online()? {
            self.numbers.push(usize::try_from(processor).unwrap_or(usize::MAX));
            let leader = self.events.len();
            for (source, layout) in SOURCES.iter().zip(&self.layouts) {
                let says_registers = layout.says_registers();
                let sampling = Sampling { says_registers, ..sampling };
                let event = perf::open(layout.id.into(), -1, processor, sampling)?;
                if let Some(filter) = source.filter {
                    event.filter(filter)?;
                }
                if self.events.len() == leader {
                    self.switches.push(Ring::map(event.descriptor(), RING_BYTES)?);
                } else {
                    event.redirect_to(&self.events[leader])?;
                }
                self.events.push(event);
            }
            // Tracepoints are no use for that: on some machines the idle thread of a processor leaves none.
            let sampling = Sampling { says_task: true, says_switches: true, ..sampling };
            let silent = perf::open_silent(-1, processor, sampling)?;
            silent.redirect_to(&self.events[leader])?;
            let major = perf::open_faults(Faults::Major, processor, wakeup_bytes)?;
            major.redirect_to(&self.events[leader])?;
            let all = perf::open_faults(Faults::All, processor, wakeup_bytes)?;
            self.faults.push(Ring::map(all.descriptor(), FAULT_RING_BYTES)?);
            self.events.extend([silent, major, all]);
        }
        Ok(())
    }

    /// How many processors there are.
    pub(super) fn processors(&self) -> usize {
        self.switches.len()
    }

    /// The number of each processor, in the order of the rings.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.numbers.iter().copied()
    }

    /// Takes what the rings have.
    pub(super) fn drain(&mut self, into: &mut Vec<Record>) {
        let Self { layouts, switches, faults, lost, records, .. } = self;
        for (processor, ring) in switches.iter_mut().enumerate() {
            ring.drain(|record| match record.kind {
                bindings::PERF_RECORD_LOST => *lost += record.lost(),
                bindings::PERF_RECORD_SAMPLE => {
                    *records += 1;
                    if let Some((time_ns, seen)) = decode(layouts, record.body) {
                        into.push(Record { time_ns, processor, what: What::Seen(seen) });
                    }
                }
                bindings::PERF_RECORD_SWITCH_CPU_WIDE => {
                    *records += 1;
                    let has = |flag| u32::from(record.misc) & flag != 0;
                    let leaves = has(bindings::PERF_RECORD_MISC_SWITCH_OUT);
                    let is_taken = has(bindings::PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
                    if let Some(time_ns) = decode_exit(leaves, is_taken, record.body) {
                        into.push(Record { time_ns, processor, what: What::Exit });
                    }
                    if let Some((time_ns, seen)) = decode_switch(leaves, record.body) {
                        into.push(Record { time_ns, processor, what: What::Seen(seen) });
                    }
                }
                _ => {}
            });
        }
        for (processor, ring) in faults.iter_mut().enumerate() {
            let mut last_ns = 0;
            ring.drain(|record| {
                let what = match record.kind {
                    bindings::PERF_RECORD_LOST => What::FaultsLost,
                    bindings::PERF_RECORD_SAMPLE => What::Fault,
                    _ => return,
                };
                let time = record.body.get(..8).and_then(|bytes| bytes.try_into().ok());
                if let (What::Fault, Some(time)) = (what, time) {
                    *records += 1;
                    last_ns = u64::from_ne_bytes(time);
                }
                // The loss comes right after the fault before it.
                into.push(Record { time_ns: last_ns, processor, what });
            });
        }
    }

    /// Records so far, and those of switches and requests that were lost.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.records, self.lost)
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        self.switches.clear();
        self.faults.clear();
        let events = std::mem::take(&mut self.events);
        if !events.is_empty() {
            close_later(events.into_iter().map(Event::into_descriptor).collect());
        }
    }
}
