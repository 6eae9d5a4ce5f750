//! Tracepoint events in sampling mode: `perf_event_open(2)`.
//!
//! An event is bound to one task and one processor, is inherited by every child of the task, and
//! starts when the task calls `execve`. Its own count grows with every hit, whether or not the
//! sample found room in the ring: that is the counter losses are measured against.
//! Cost: about 0.7 microseconds for each sample (docs/support.md shows how to measure it).

mod faults;
pub(crate) mod profile;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use perf_event_open_sys::bindings as b;

use super::architecture::registers;
use super::rights::capability::raise;
pub(crate) use faults::{FaultEvents, Faults, open_fault_pairs, open_faults};

// The C libraries disagree about the type of the number.
const SET_OUTPUT: libc::Ioctl = b::SET_OUTPUT as libc::Ioctl;
const SET_FILTER: libc::Ioctl = b::SET_FILTER as libc::Ioctl;
const ENABLE: libc::Ioctl = b::ENABLE as libc::Ioctl;
const DISABLE: libc::Ioctl = b::DISABLE as libc::Ioctl;

/// One tracepoint on one processor, for one task and its descendants.
#[derive(Debug)]
pub(crate) struct Event {
    fd: OwnedFd,
}

/// What an event's own counter says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Times the tracepoint was hit.
    pub hits: u64,
    /// Samples the kernel knows it could not write (0 on kernels before 6.0, which do not say).
    pub lost: u64,
}

/// How a tracepoint is sampled.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a bit of the kernel's own structure")]
pub(crate) struct Sampling {
    /// The number of bytes after which readers are woken; 0 for after each sample.
    pub wakeup_bytes: u32,
    /// Whether samples begin with the numbers of process and thread.
    pub says_task: bool,
    /// Whether there are records of threads and processes that begin and end, too.
    pub says_threads: bool,
    /// Whether there are records of names that threads take, each with its time at its end.
    pub says_names: bool,
    /// Whether there are records of each time that a thread gets a processor, or leaves it.
    pub says_switches: bool,
    /// Whether there are records of code that is mapped, each with task and time at its end.
    pub says_code: bool,
    /// Whether samples end with [`registers::COUNT`] registers of the program.
    pub says_registers: bool,
    /// Whether it counts from now on, and not from `execve` on.
    pub begins_now: bool,
}

/// Opens the tracepoint with number `id` for `pid` on processor `cpu`, disabled until `execve`.
///
/// Samples carry process and thread if they are to, time (`CLOCK_MONOTONIC`) and the raw record, in
/// that order.
///
/// # Errors
/// `EACCES`/`EPERM` without `CAP_PERFMON` or root; `EMFILE`; `ENODEV`; `ESRCH` when the task ended.
pub(crate) fn open(id: u64, pid: i32, cpu: i32, sampling: Sampling) -> io::Result<Event> {
    open_known(attributes(id, sampling), pid, cpu)
}

/// Opens an event that never happens, on all of a processor: who may do that may open tracepoints, as far as
/// rights and filters of calls go. Costs nothing, unlike a tracepoint.
///
/// # Errors
/// As [`open`].
pub(crate) fn probe(cpu: i32) -> io::Result<()> {
    let attr = b::perf_event_attr {
        type_: b::PERF_TYPE_SOFTWARE,
        size: u32::try_from(size_of::<b::perf_event_attr>()).unwrap_or(0),
        config: b::PERF_COUNT_SW_DUMMY.into(),
        ..Default::default()
    };
    open_with(&attr, -1, cpu).map(drop)
}

/// Opens an event that never happens, for its records of threads and switches alone. An ordinary user may do
/// so for his own processes.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_silent(pid: i32, cpu: i32, sampling: Sampling) -> io::Result<Event> {
    let mut attr = attributes(b::PERF_COUNT_SW_DUMMY.into(), sampling);
    attr.type_ = b::PERF_TYPE_SOFTWARE;
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(1);
    attr.sample_type &= !u64::from(b::PERF_SAMPLE_RAW);
    open_known(attr, pid, cpu)
}

/// Opens an event that never happens, for the calling thread alone. The first event of a task on a machine makes the
/// kernel wait for all processors. While this one is open, others need not wait. An ordinary user may do so.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_first() -> io::Result<Event> {
    let mut attr = b::perf_event_attr {
        type_: b::PERF_TYPE_SOFTWARE,
        size: u32::try_from(size_of::<b::perf_event_attr>()).unwrap_or(0),
        config: b::PERF_COUNT_SW_DUMMY.into(),
        ..Default::default()
    };
    attr.set_disabled(1);
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(1);
    open_with(&attr, 0, -1)
}

/// Counts a tracepoint for a task that has not executed yet and its descendants, on all processors, from
/// `execve` on.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_counter(id: u64, pid: i32) -> io::Result<Event> {
    let mut attr = attributes(id, Sampling::default());
    attr.sample_type = 0;
    attr.__bindgen_anon_1.sample_period = 0;
    open_known(attr, pid, -1)
}

/// What is counted of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Nanoseconds on a processor.
    TaskClock,
    /// A tracepoint, by its number.
    Tracepoint(u64),
}

/// Counts for a process that runs already, and for all that it starts from now on. An ordinary user may count the
/// time of his own processes where `perf_event_paranoid` is 2 or less.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_session_counter(counted: Counted, pid: i32) -> io::Result<Event> {
    let sampling = Sampling { begins_now: true, ..Sampling::default() };
    let mut attr = match counted {
        Counted::Tracepoint(id) => attributes(id, sampling),
        Counted::TaskClock => {
            let mut attr = attributes(b::PERF_COUNT_SW_TASK_CLOCK.into(), sampling);
            attr.type_ = b::PERF_TYPE_SOFTWARE;
            // Its time is counted all the same.
            attr.set_exclude_kernel(1);
            attr.set_exclude_hv(1);
            attr
        }
    };
    attr.sample_type = 0;
    attr.__bindgen_anon_1.sample_period = 0;
    open_known(attr, pid, -1)
}

/// Opens the tracepoint as [`open`] does, for the calling thread without its children, enabled at
/// once. Its samples are read with the samples of another event, and wake no reader.
pub(crate) fn open_on_this_thread(id: u64, cpu: i32, says_task: bool) -> io::Result<Event> {
    let mut attr =
        attributes(id, Sampling { wakeup_bytes: u32::MAX, says_task, ..Sampling::default() });
    attr.set_disabled(0);
    attr.set_inherit(0);
    attr.set_enable_on_exec(0);
    open_known(attr, 0, cpu)
}

/// Opens with the count of what was lost, where the kernel has one.
fn open_known(mut attr: b::perf_event_attr, pid: i32, cpu: i32) -> io::Result<Event> {
    attr.read_format = u64::from(b::PERF_FORMAT_LOST);
    match open_with(&attr, pid, cpu) {
        // Kernels before 6.0 do not know PERF_FORMAT_LOST.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            attr.read_format = 0;
            open_with(&attr, pid, cpu)
        }
        other => other,
    }
}

fn attributes(id: u64, sampling: Sampling) -> b::perf_event_attr {
    let task = if sampling.says_task { b::PERF_SAMPLE_TID } else { 0 };
    let registers = if sampling.says_registers { b::PERF_SAMPLE_REGS_USER } else { 0 };
    let mut attr = b::perf_event_attr {
        type_: b::PERF_TYPE_TRACEPOINT,
        size: u32::try_from(size_of::<b::perf_event_attr>()).unwrap_or(0),
        config: id,
        sample_type: u64::from(task | b::PERF_SAMPLE_TIME | b::PERF_SAMPLE_RAW | registers),
        sample_regs_user: if sampling.says_registers { registers::MASK } else { 0 },
        clockid: libc::CLOCK_MONOTONIC,
        ..Default::default()
    };
    attr.__bindgen_anon_1.sample_period = 1;
    // Its samples may go into the ring of another event: their number counts there, but no bytes.
    let each = sampling.wakeup_bytes == 0;
    attr.__bindgen_anon_2.wakeup_watermark = if each { 1 } else { sampling.wakeup_bytes };
    attr.set_disabled(u64::from(!sampling.begins_now));
    attr.set_inherit(1);
    attr.set_enable_on_exec(u64::from(!sampling.begins_now));
    attr.set_watermark(u64::from(!each));
    attr.set_task(u64::from(sampling.says_threads));
    attr.set_context_switch(u64::from(sampling.says_switches));
    attr.set_comm(u64::from(sampling.says_names));
    attr.set_mmap(u64::from(sampling.says_code));
    attr.set_mmap2(u64::from(sampling.says_code));
    // Records of switches and of names have no task and no time of their own.
    attr.set_sample_id_all(u64::from(sampling.says_switches || sampling.says_names));
    attr.set_use_clockid(1);
    attr
}

fn open_with(attr: &b::perf_event_attr, pid: i32, cpu: i32) -> io::Result<Event> {
    let mut attr = *attr;
    let _raised = raise();
    // SAFETY: `attr` is a valid, initialised structure whose size field is right; the kernel only
    // reads it. The call returns a new descriptor or a negative error.
    let fd = unsafe {
        perf_event_open_sys::perf_event_open(
            &raw mut attr,
            pid,
            cpu,
            -1,
            u64::from(b::PERF_FLAG_FD_CLOEXEC),
        )
    };
    super::check(fd.into())?;
    // SAFETY: `fd` was just returned by the kernel and has no other owner.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(Event { fd })
}

impl Event {
    /// Sends this event's samples to the ring of `leader`, which must be on the same processor.
    pub(crate) fn redirect_to(&self, leader: &Self) -> io::Result<()> {
        // SAFETY: both descriptors are open perf events owned by `self` and `leader`.
        let done = unsafe { libc::ioctl(self.fd.as_raw_fd(), SET_OUTPUT, leader.fd.as_raw_fd()) };
        super::check(done.into()).map(drop)
    }

    /// Lets through only records for which `filter` holds: `Documentation/trace/events.rst`,
    /// section 5. What it holds back is not counted either.
    pub(crate) fn filter(&self, filter: &std::ffi::CStr) -> io::Result<()> {
        // SAFETY: an open perf event and a C string that outlives the call.
        let done = unsafe { libc::ioctl(self.fd.as_raw_fd(), SET_FILTER, filter.as_ptr()) };
        super::check(done.into()).map(drop)
    }

    /// Begins or ends counting, for the task and all its descendants so far.
    pub(crate) fn switch(&self, on: bool) -> io::Result<()> {
        let what = if on { ENABLE } else { DISABLE };
        // SAFETY: an open perf event; the call takes no memory.
        let done = unsafe { libc::ioctl(self.fd.as_raw_fd(), what, 0) };
        super::check(done.into()).map(drop)
    }

    /// Reads the event's counter, summed over the task and all its descendants so far.
    pub(crate) fn count(&self) -> io::Result<Count> {
        let mut buffer = [0u8; 16];
        let bytes = rustix::io::read(&self.fd, &mut buffer)?;
        let word = |at: usize| {
            buffer
                .get(at..at + 8)
                .filter(|_| bytes >= at + 8)
                .and_then(|w| w.try_into().ok())
                .map_or(0, u64::from_ne_bytes)
        };
        Ok(Count { hits: word(0), lost: word(8) })
    }

    /// The descriptor alone.
    pub(crate) fn into_descriptor(self) -> OwnedFd {
        self.fd
    }

    /// The descriptor, to map a ring on or to wait for.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }
}
