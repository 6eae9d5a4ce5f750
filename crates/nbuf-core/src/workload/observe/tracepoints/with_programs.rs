//! Programs in the kernel in place of most events.
//!
//! A thread attaches them, while the command's process is made: they look at no task before one has a mark.

use std::io;
use std::thread::{Builder, JoinHandle};

use super::super::decode::Seen;
use super::super::programs::Programs;
use super::super::sources::{Layout, WAKEUP};
use super::Tracepoints;
use crate::meter::split::What;
use crate::meter::times::Times;
use crate::sys::linger::close_later;
use crate::sys::perf::{self, Event, Sampling};
use crate::sys::ring::Ring;
use crate::sys::tracefs::Tracefs;
use crate::workload::record::machine;

/// Room for the wake-ups of a processor. The kernel needs some microseconds for each page of it.
const RING_BYTES: usize = 512 << 10;

/// What a thread attaches.
pub(super) type Coming = JoinHandle<io::Result<Attached>>;

/// Programs say all but what wakes a thread, which is sampled for all of the machine.
#[derive(Debug)]
pub(super) struct Attached {
    programs: Programs,
    layout: Layout,
    events: Vec<(Event, Ring)>,
}

/// What wakes threads, sampled on each processor.
struct Wakeups {
    layout: Layout,
    events: Vec<(Event, Ring)>,
    tracefs: Tracefs,
}

impl Wakeups {
    fn sample() -> io::Result<Self> {
        let tracefs = Tracefs::open()?;
        let text = tracefs.read(&format!("events/{}/format", WAKEUP.path))?;
        let layout = Layout::parse(&WAKEUP, &text).ok_or(io::ErrorKind::Unsupported)?;
        let sampling = Sampling {
            wakeup_bytes: u32::try_from(RING_BYTES / 4).unwrap_or(u32::MAX),
            says_task: true,
            says_registers: layout.says_registers(),
            begins_now: true,
            ..Sampling::default()
        };
        let open = |processor| {
            let event = perf::open(layout.id.into(), -1, processor, sampling)?;
            let ring = Ring::map(event.descriptor(), RING_BYTES)?;
            Ok((event, ring))
        };
        let events = machine::processors_online()?.into_iter().map(open);
        let events = events.collect::<io::Result<_>>()?;
        Ok(Self { layout, events, tracefs })
    }

    /// Without a wait.
    fn close(self) {
        let events = self.events.into_iter().map(|(event, _)| event.into_descriptor());
        close_later(events.chain([self.tracefs.into_descriptor()]).collect());
    }
}

impl Attached {
    /// The kernel checks programs and opens events on two processors at once. A detached tracefs is closed later: the
    /// kernel waits for all processors before one goes.
    fn attach(times_calls: bool) -> io::Result<Self> {
        std::thread::scope(|scope| {
            let wakeups = Builder::new().spawn_scoped(scope, Wakeups::sample)?;
            let programs = Programs::attach(times_calls);
            let wakeups = wakeups.join().map_err(|_| io::ErrorKind::Other)??;
            let mut programs = match programs {
                Ok(programs) => programs,
                Err(error) => {
                    wakeups.close();
                    return Err(error);
                }
            };
            let Wakeups { layout, events, tracefs } = wakeups;
            programs.close_late(tracefs.into_descriptor());
            Ok(Self { programs, layout, events })
        })
    }
}

impl Tracepoints {
    /// Programs will be used, for root. They are attached from now on, before there is a task.
    pub(in super::super) fn begin_programs(&mut self) {
        let times_calls = self.has_meters;
        self.coming = Builder::new()
            .name("programs".into())
            .spawn(move || Attached::attach(times_calls))
            .ok();
    }

    /// Looks at a task by them.
    pub(super) fn attach_programs(&mut self, pid: i32) -> io::Result<()> {
        let attached = self.arrived().ok_or(io::ErrorKind::Unsupported)?;
        attached.programs.look_at(pid)?;
        self.keep(attached);
        if self.has_meters { self.open_beside(pid) } else { Ok(()) }
    }

    /// Opens the events that meters need, and programs do not say.
    fn open_beside(&mut self, pid: i32) -> io::Result<()> {
        let known = std::mem::take(&mut self.layouts);
        self.prepare();
        if self.refused.is_some() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.counted.clear();
        self.layouts.retain(Layout::is_next_to_programs);
        // No record of a call is in them.
        self.open(pid, super::RING_BYTES)?;
        self.layouts.extend(known);
        Ok(())
    }

    /// What programs say. They know of reclaim as a thread leaves a processor alone: with meters, events say more.
    pub(super) fn drain_programs(&mut self, into: &mut Vec<Seen>) {
        let Some(programs) = &mut self.programs else { return };
        let from = into.len();
        programs.drain(into);
        if self.has_meters {
            let is_reclaim = |seen: &Seen| matches!(seen, Seen::Thread(event) if matches!(event.what, What::Reclaims(_)));
            let new = into.split_off(from);
            into.extend(new.into_iter().filter(|seen| !is_reclaim(seen)));
        }
    }

    /// The times of system calls that no record says.
    pub(in super::super) fn timed_calls(&self) -> Vec<(u64, Times)> {
        self.programs.as_ref().map(Programs::calls).unwrap_or_default()
    }

    /// Keeps those that no task was given to, to close them with all else.
    pub(super) fn keep_programs(&mut self) {
        if let Some(attached) = self.arrived() {
            self.keep(attached);
        }
    }

    fn arrived(&mut self) -> Option<Attached> {
        self.coming.take()?.join().ok()?.ok()
    }

    fn keep(&mut self, attached: Attached) {
        for (event, mut ring) in attached.events {
            // What came before the command has no task of it, and may have filled the ring.
            ring.drain(|_| {});
            self.leaders.push(self.events.len());
            self.events.push(event);
            self.rings.push(ring);
        }
        (self.layouts, self.programs) = (vec![attached.layout], Some(attached.programs));
    }

    /// Pages put into the page cache that no record says.
    pub(in super::super) fn fills(&self) -> u64 {
        self.programs.as_ref().map_or(0, Programs::fills)
    }
}

/// Whether a thread begins or ends, which programs say, too. The kernel adds these records to those of names and of code.
pub(super) fn is_life(seen: &Seen) -> bool {
    match seen {
        Seen::Born { .. } => true,
        Seen::Thread(event) => event.what == What::Died,
        _ => false,
    }
}
