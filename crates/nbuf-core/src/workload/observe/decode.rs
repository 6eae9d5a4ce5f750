//! From records of the kernel to what happened to a thread.
//!
//! The layout of a tracepoint's record is read from its `format` file, as for a recording. Pure; never panics on
//! whatever the kernel, or a test, hands over.

use perf_event_open_sys::bindings as b;

use crate::meter::split::{Call, Event, Leaving, Place, State, Waker, What};
use crate::sys::architecture::registers;
use crate::workload::record::events::{Field, field_named, id, number};

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Something happened to a thread.
    Thread(Event),
    /// The same, of a thread that is the first of its process.
    Process(Event),
    /// Pages were put into the page cache.
    Fill {
        /// When.
        time_ns: u64,
        /// How many.
        pages: u64,
    },
}

impl Seen {
    /// When it happened.
    pub(crate) fn time_ns(&self) -> u64 {
        match self {
            Self::Thread(event) | Self::Process(event) => event.time_ns,
            Self::Fill { time_ns, .. } => *time_ns,
        }
    }
}

/// What a tracepoint means to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Switch,
    Wakeup,
    Enter,
    Request,
    Reclaim(bool),
    Fill,
}

/// A tracepoint that is sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) path: &'static str,
    pub(super) means: Means,
    /// Its fields that are read.
    fields: &'static [&'static str],
    pub(super) is_required: bool,
}

/// Without the first two there is no split; what else a kernel has not is passed over.
pub(super) const SOURCES: [Source; 9] = [
    source("sched/sched_switch", Means::Switch, &["prev_state"], true),
    source("sched/sched_wakeup", Means::Wakeup, &["pid", "common_flags"], true),
    source("raw_syscalls/sys_enter", Means::Enter, &["id", "args"], false),
    source("block/block_bio_queue", Means::Request, &[], false),
    source("vmscan/mm_vmscan_direct_reclaim_begin", Means::Reclaim(true), &[], false),
    source("vmscan/mm_vmscan_direct_reclaim_end", Means::Reclaim(false), &[], false),
    source("vmscan/mm_vmscan_memcg_reclaim_begin", Means::Reclaim(true), &[], false),
    source("vmscan/mm_vmscan_memcg_reclaim_end", Means::Reclaim(false), &[], false),
    source("filemap/mm_filemap_add_to_page_cache", Means::Fill, &["order"], false),
];

const fn source(
    path: &'static str,
    means: Means,
    fields: &'static [&'static str],
    is_required: bool,
) -> Source {
    Source { path, means, fields, is_required }
}

/// How to read the records of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) id: u16,
    pub(super) means: Means,
    fields: Vec<Field>,
}

impl Layout {
    /// Reads a `format` file; nothing where a field is missing.
    pub(super) fn parse(source: &Source, text: &str) -> Option<Self> {
        // Kernels before 6.10 add single pages and do not say so.
        let field = |name: &&str| match field_named(text, name) {
            None if *name == "order" => Some(Field { offset: 0, bytes: 0 }),
            found => found,
        };
        let fields = source.fields.iter().map(field).collect::<Option<_>>()?;
        Some(Self { id: id(text)?, means: source.means, fields })
    }

    /// Whether its samples end with registers.
    pub(super) fn says_registers(&self) -> bool {
        matches!(self.means, Means::Switch | Means::Wakeup | Means::Enter)
    }

    /// Whether it is sampled for all of the machine: who wakes a thread is mostly no thread of the command.
    pub(super) fn is_of_machine(&self) -> bool {
        self.means == Means::Wakeup
    }

    /// What it lets through; nothing for all. Calls whose waits mean nothing of their own are not needed.
    pub(super) fn filter(&self) -> Option<String> {
        let calls = (self.means == Means::Enter).then(|| CALLS.iter())?;
        Some(calls.map(|(call, _)| format!("id=={call}")).collect::<Vec<_>>().join("||"))
    }

    fn value(&self, raw: &[u8], at: usize) -> Option<u64> {
        number(raw, *self.fields.get(at)?)
    }
}

/// A call, and what its waits mean, by its arguments.
type Meaning = fn([u64; 2]) -> Option<Call>;

/// Calls whose waits mean something other than a wait for another program.
const CALLS: &[(libc::c_long, Meaning)] = &[
    (libc::SYS_nanosleep, |_| Some(Call::Sleep)),
    (libc::SYS_clock_nanosleep, |_| Some(Call::Sleep)),
    (libc::SYS_wait4, |_| Some(Call::Sleep)),
    (libc::SYS_waitid, |_| Some(Call::Sleep)),
    (libc::SYS_rt_sigsuspend, |_| Some(Call::Sleep)),
    (libc::SYS_rt_sigtimedwait, |_| Some(Call::Sleep)),
    (libc::SYS_restart_syscall, |_| Some(Call::Sleep)),
    // Of no descriptor: a time is all that is waited for.
    (libc::SYS_ppoll, |[_, count]| (count == 0).then_some(Call::Sleep)),
    (libc::SYS_pselect6, |[count, _]| (count == 0).then_some(Call::Sleep)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_pause, |_| Some(Call::Sleep)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, |[_, count]| (count == 0).then_some(Call::Sleep)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select, |[count, _]| (count == 0).then_some(Call::Sleep)),
    (libc::SYS_io_getevents, |_| Some(Call::Completion)),
    (libc::SYS_io_uring_enter, |_| Some(Call::Completion)),
];

/// `TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ` in `common_flags`.
const IN_INTERRUPT: u64 = 0x08 | 0x10;

/// Reads a record of a ring, of samples of `TID | TIME | RAW` and perhaps registers. `is_whole` says that the
/// scheduler's tracepoints are there, so that records of leaving a processor add nothing.
pub(super) fn decode(
    layouts: &[Layout],
    kind: u32,
    misc: u16,
    body: &[u8],
    is_whole: bool,
) -> Option<Seen> {
    match kind {
        b::PERF_RECORD_SAMPLE => sample(layouts, body),
        b::PERF_RECORD_FORK | b::PERF_RECORD_EXIT => {
            let (process, thread) = (word(body, 0)?, word(body, 8)?);
            let what = if kind == b::PERF_RECORD_FORK { What::Born } else { What::Died };
            let event = Event { time_ns: long(body, 16)?, thread, what };
            let is_process = what == What::Born && process == thread;
            Some(if is_process { Seen::Process(event) } else { Seen::Thread(event) })
        }
        b::PERF_RECORD_SWITCH => {
            let misc = u32::from(misc);
            let what = match (misc & b::PERF_RECORD_MISC_SWITCH_OUT != 0, is_whole) {
                (false, _) => What::In,
                (true, true) => return None,
                (true, false) => {
                    let preempted = misc & b::PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0;
                    let state = if preempted { State::Runnable } else { State::Unsaid };
                    What::Out(Leaving { state, in_call: None, place: Place::default() })
                }
            };
            Some(Seen::Thread(Event { time_ns: long(body, 8)?, thread: word(body, 4)?, what }))
        }
        _ => None,
    }
}

fn sample(layouts: &[Layout], body: &[u8]) -> Option<Seen> {
    let (thread, time_ns) = (word(body, 4)?, long(body, 8)?);
    let raw_end = 20_usize.checked_add(usize::try_from(word(body, 16)?).ok()?)?;
    let raw = body.get(20..raw_end)?;
    let id = u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?);
    let layout = layouts.iter().find(|layout| layout.id == id)?;
    let program = if layout.says_registers() { program(body, raw_end)? } else { None };
    let place = program.map_or_else(Place::default, place);
    let of = |thread, what| Some(Seen::Thread(Event { time_ns, thread, what }));
    match layout.means {
        Means::Switch => {
            let state = state(layout.value(raw, 0)?);
            let in_call = program.and_then(registers::in_call);
            of(thread, What::Out(Leaving { state, in_call, place }))
        }
        Means::Wakeup => {
            let waker = match program {
                _ if layout.value(raw, 1)? & IN_INTERRUPT != 0 => Waker::Interrupt,
                None => Waker::Kernel,
                Some(_) => Waker::Program,
            };
            of(u32::try_from(layout.value(raw, 0)?).ok()?, What::Woken(waker))
        }
        Means::Enter => {
            let call = layout.value(raw, 0)?;
            let arguments = layout.fields.get(1)?.offset;
            let arguments = [long(raw, arguments)?, long(raw, arguments + 8)?];
            let (_, meaning) = CALLS.iter().find(|(known, _)| known.cast_unsigned() == call)?;
            of(thread, What::Calls(meaning(arguments)?, place))
        }
        Means::Request => of(thread, What::Requests),
        Means::Reclaim(begins) => of(thread, What::Reclaims(begins)),
        Means::Fill => {
            let order = layout.value(raw, 0).unwrap_or(0).min(32);
            Some(Seen::Fill { time_ns, pages: 1 << order })
        }
    }
}

/// The registers of the program, which a thread of the kernel has not. The outer nothing is a record that is
/// cut short.
#[expect(clippy::option_option, reason = "a record may end early, and a thread may have none")]
fn program(body: &[u8], raw_end: usize) -> Option<Option<[u64; registers::COUNT]>> {
    if long(body, raw_end)? == 0 {
        return Some(None);
    }
    let mut values = [0; registers::COUNT];
    for (at, value) in values.iter_mut().enumerate() {
        *value = long(body, raw_end + 8 + 8 * at)?;
    }
    Some(Some(values))
}

fn place(values: [u64; registers::COUNT]) -> Place {
    let (stack, instruction) = registers::place(values);
    Place { instruction, stack }
}

/// `prev_state`: `TASK_*` of `include/linux/sched.h`; above them the mark of a preempted thread.
fn state(bits: u64) -> State {
    match bits & 0xff {
        0 => State::Runnable,
        1 => State::Interruptible,
        // `TASK_IDLE` too.
        bits if bits & 2 != 0 || bits & 0x80 != 0 => State::Uninterruptible,
        bits if bits & (4 | 8 | 0x40) != 0 => State::Stopped,
        _ => State::Dead,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
