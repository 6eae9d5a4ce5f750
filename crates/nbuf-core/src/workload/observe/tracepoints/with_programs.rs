//! Programs in the kernel in place of most events.

use std::io;

use super::super::programs::Programs;
use super::super::sources::{Layout, WAKEUP};
use super::Tracepoints;
use crate::sys::perf::{self, Sampling};
use crate::sys::ring::Ring;
use crate::sys::tracefs::Tracefs;
use crate::workload::record::machine;

/// Room for the wake-ups of a processor.
const RING_BYTES: usize = 512 << 10;

impl Tracepoints {
    /// Whether programs may be used: before a task is attached to.
    pub(in super::super) fn allow_programs(&mut self, allows: bool) {
        self.allows_programs = allows;
    }

    /// Programs say all but what wakes a thread, which is sampled for all of the machine.
    pub(super) fn attach_programs(&mut self, pid: i32) -> io::Result<()> {
        let programs = Programs::attach(pid)?;
        let text = Tracefs::open()?.read(&format!("events/{}/format", WAKEUP.path))?;
        let layout = Layout::parse(&WAKEUP, &text).ok_or(io::ErrorKind::Unsupported)?;
        let sampling = Sampling {
            wakeup_bytes: u32::try_from(RING_BYTES / 4).unwrap_or(u32::MAX),
            says_task: true,
            says_registers: layout.says_registers(),
            begins_now: true,
            ..Sampling::default()
        };
        for processor in machine::processors_online()? {
            let event = perf::open(layout.id.into(), -1, processor, sampling)?;
            self.rings.push(Ring::map(event.descriptor(), RING_BYTES)?);
            self.leaders.push(self.events.len());
            self.events.push(event);
        }
        (self.layouts, self.programs) = (vec![layout], Some(programs));
        Ok(())
    }

    /// Pages put into the page cache that no record says.
    pub(in super::super) fn fills(&self) -> u64 {
        self.programs.as_ref().map_or(0, Programs::fills)
    }
}
