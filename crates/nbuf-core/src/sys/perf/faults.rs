//! Page faults by the software events of perf: one as a fault begins, and, in pairs, one of two as it is served.
//!
//! Source: `arch/x86/mm/fault.c` and `mm_account_fault` in `mm/memory.c`. A fault that fails has no end.

use std::io;
use std::os::fd::AsRawFd;

use perf_event_open_sys::bindings as b;

use super::{Event, Sampling, attributes, open_known};
use crate::sys::check;

// The C libraries disagree about the type of the number.
const IDENTIFIER: libc::Ioctl = b::ID as libc::Ioctl;

/// The faults of a task and its descendants on one processor, with one ring.
#[derive(Debug)]
pub(crate) struct FaultEvents {
    events: [Event; 3],
    identifiers: [u64; 3],
}

/// Opens them, enabled at once. Samples have the event's identifier, the instruction, process and thread, the time
/// (`CLOCK_MONOTONIC`), and the address, in that order.
///
/// # Errors
/// As [`super::open`].
pub(crate) fn open_fault_pairs(pid: i32, cpu: i32, wakeup_bytes: u32) -> io::Result<FaultEvents> {
    let open = |which: u32| {
        let mut attr = fault_attributes(which, wakeup_bytes);
        let place = b::PERF_SAMPLE_IP | b::PERF_SAMPLE_TID | b::PERF_SAMPLE_ADDR;
        attr.sample_type = u64::from(b::PERF_SAMPLE_IDENTIFIER | b::PERF_SAMPLE_TIME | place);
        open_known(attr, pid, cpu)
    };
    let all = open(b::PERF_COUNT_SW_PAGE_FAULTS)?;
    let minor = open(b::PERF_COUNT_SW_PAGE_FAULTS_MIN)?;
    let major = open(b::PERF_COUNT_SW_PAGE_FAULTS_MAJ)?;
    let identifiers = [identifier(&all)?, identifier(&minor)?, identifier(&major)?];
    Ok(FaultEvents { events: [all, minor, major], identifiers })
}

/// The kinds of page faults that the kernel says of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    /// All.
    All,
    /// Those that waited for a disc.
    Major,
}

/// Samples page faults of all of a processor, from now on. A sample is its time (`CLOCK_MONOTONIC`) alone.
///
/// # Errors
/// As [`super::open`].
pub(crate) fn open_faults(kind: Faults, cpu: i32, wakeup_bytes: u32) -> io::Result<Event> {
    let config = match kind {
        Faults::All => b::PERF_COUNT_SW_PAGE_FAULTS,
        Faults::Major => b::PERF_COUNT_SW_PAGE_FAULTS_MAJ,
    };
    let mut attr = fault_attributes(config, wakeup_bytes);
    attr.sample_type = u64::from(b::PERF_SAMPLE_TIME);
    open_known(attr, -1, cpu)
}

/// An event that samples each fault of this kind from now on.
fn fault_attributes(which: u32, wakeup_bytes: u32) -> b::perf_event_attr {
    let sampling = Sampling { wakeup_bytes, begins_now: true, ..Sampling::default() };
    let mut attr = attributes(which.into(), sampling);
    attr.type_ = b::PERF_TYPE_SOFTWARE;
    attr
}

pub(super) fn identifier(event: &Event) -> io::Result<u64> {
    let mut identifier = 0_u64;
    // SAFETY: an open perf event, and a live local that the kernel writes one number to.
    let done = unsafe { libc::ioctl(event.fd.as_raw_fd(), IDENTIFIER, &raw mut identifier) };
    check(done.into())?;
    Ok(identifier)
}

impl FaultEvents {
    /// The event that has the ring.
    pub(crate) fn leader(&self) -> &Event {
        &self.events[0]
    }

    /// Sends all samples to the leader's ring, which has to be mapped before.
    pub(crate) fn share_ring(&self) -> io::Result<()> {
        let [leader, minor, major] = &self.events;
        minor.redirect_to(leader)?;
        major.redirect_to(leader)
    }

    /// The numbers of three events: a fault begins, ends without a wait for a read, and ends with one.
    pub(crate) fn identifiers(&self) -> [u64; 3] {
        self.identifiers
    }

    /// The events alone, to be closed.
    pub(crate) fn into_events(self) -> [Event; 3] {
        self.events
    }
}
