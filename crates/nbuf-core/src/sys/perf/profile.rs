//! Samples for a profile: of processors' time, of page faults, and of pages that enter the page cache.
//!
//! One event of each processor samples time, and has the records of mappings, names, threads and processes. The
//! others share its ring. Each sample begins with the identifier of its event. All begin with `execve`.
//! Cost: docs/run.md has what a profile adds to a command.

use std::io;

use perf_event_open_sys::bindings as b;

use super::faults::identifier;
use super::{Event, Sampling, attributes, open_known};

/// Time between two samples of a running thread. A prime number a second, so that no timer keeps step.
pub(crate) const PERIOD_NS: u64 = 1_000_000_000 / 997;

/// Samples of a task and its descendants on one processor.
#[derive(Debug)]
pub(crate) struct ProfileEvents {
    events: Vec<Event>,
    identifiers: Vec<u64>,
}

/// What is sampled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sampled {
    /// The kernel, too; not allowed to ordinary users.
    pub kernel: bool,
    /// The tracepoint of pages that enter the page cache.
    pub fill: Option<u16>,
    /// The number of bytes after which readers are woken.
    pub wakeup_bytes: u32,
}

/// Opens the samples of time, of minor and of major faults, and perhaps of filled pages, in this order.
///
/// # Errors
/// As [`super::open`].
pub(crate) fn open(pid: i32, cpu: i32, sampled: Sampled) -> io::Result<ProfileEvents> {
    let sampling = Sampling { wakeup_bytes: sampled.wakeup_bytes, ..Sampling::default() };
    let place = b::PERF_SAMPLE_IDENTIFIER | b::PERF_SAMPLE_IP | b::PERF_SAMPLE_TID;
    let base = u64::from(place | b::PERF_SAMPLE_TIME);
    let software = |which: u32, more: u32| {
        let mut attr = attributes(which.into(), sampling);
        attr.type_ = b::PERF_TYPE_SOFTWARE;
        attr.sample_type = base | u64::from(more);
        let hides = u64::from(!sampled.kernel);
        attr.set_exclude_kernel(hides);
        attr.set_exclude_hv(hides);
        attr
    };
    let mut clock = software(b::PERF_COUNT_SW_CPU_CLOCK, b::PERF_SAMPLE_CALLCHAIN);
    clock.__bindgen_anon_1.sample_period = PERIOD_NS;
    clock.set_exclude_callchain_kernel(u64::from(!sampled.kernel));
    clock.set_mmap(1);
    clock.set_mmap2(1);
    clock.set_mmap_data(1);
    clock.set_comm(1);
    clock.set_comm_exec(1);
    clock.set_task(1);
    clock.set_sample_id_all(1);
    let mut all = vec![
        clock,
        software(b::PERF_COUNT_SW_PAGE_FAULTS_MIN, b::PERF_SAMPLE_ADDR),
        software(b::PERF_COUNT_SW_PAGE_FAULTS_MAJ, b::PERF_SAMPLE_ADDR),
    ];
    if let Some(id) = sampled.fill {
        let mut attr = attributes(id.into(), sampling);
        attr.sample_type = base | u64::from(b::PERF_SAMPLE_CALLCHAIN | b::PERF_SAMPLE_RAW);
        attr.set_exclude_callchain_kernel(1);
        all.push(attr);
    }
    let events: Vec<Event> =
        all.into_iter().map(|attr| open_known(attr, pid, cpu)).collect::<io::Result<_>>()?;
    let identifiers = events.iter().map(identifier).collect::<io::Result<_>>()?;
    Ok(ProfileEvents { events, identifiers })
}

impl ProfileEvents {
    /// The event that has the ring.
    pub(crate) fn leader(&self) -> &Event {
        &self.events[0]
    }

    /// Sends all samples to the leader's ring, which has to be mapped before.
    pub(crate) fn share_ring(&self) -> io::Result<()> {
        self.events.iter().skip(1).try_for_each(|event| event.redirect_to(&self.events[0]))
    }

    /// In the order of [`open`].
    pub(crate) fn identifiers(&self) -> &[u64] {
        &self.identifiers
    }

    /// The events alone, to be closed.
    pub(crate) fn into_events(self) -> Vec<Event> {
        self.events
    }
}
