//! From records of the kernel to what happened to a thread.
//!
//! Pure; never panics on whatever the kernel, or a test, hands over.

use perf_event_open_sys::bindings as b;

use super::calls::{self, WAITS};
use super::sources::{Layout, Means};
use crate::meter::activity::{Act, Code, File, Mark, Sectors};
use crate::meter::split::{Event, Leaving, Place, State, Waker, What};
use crate::sys::architecture::registers;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Something happened to a thread.
    Thread(Event),
    /// A thread was created.
    Born {
        /// The thread.
        event: Event,
        /// The thread that made it.
        parent: u32,
        /// It is the first of its process.
        is_process: bool,
    },
    /// A thread has another name.
    Named {
        /// When.
        time_ns: u64,
        /// The thread.
        thread: u32,
        /// The name, up to the first 0.
        name: Comm,
    },
    /// Something that only meters need.
    Mark(Mark),
    /// Both.
    Both(Event, Mark),
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
            Self::Thread(event) | Self::Born { event, .. } | Self::Both(event, _) => event.time_ns,
            Self::Mark(mark) => mark.time_ns,
            Self::Fill { time_ns, .. } | Self::Named { time_ns, .. } => *time_ns,
        }
    }
}

/// A name as the kernel keeps it (`TASK_COMM_LEN`).
pub(crate) type Comm = [u8; 16];

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
            let (process, thread, parent) = (word(body, 0)?, word(body, 8)?, word(body, 12)?);
            let of = |what| Some(Event { time_ns: long(body, 16)?, thread, what });
            if kind == b::PERF_RECORD_EXIT {
                return of(What::Died).map(Seen::Thread);
            }
            let (event, is_process) = (of(What::Born)?, process == thread);
            Some(Seen::Born { event, parent, is_process })
        }
        // Process, thread, the name with zeroes behind it; task and time at the end.
        b::PERF_RECORD_COMM => {
            let (rest, time_ns) = body.split_last_chunk()?;
            let text = rest.get(8..rest.len().checked_sub(8)?)?;
            let mut name = Comm::default();
            name.iter_mut().zip(text).for_each(|(to, &byte)| *to = byte);
            Some(Seen::Named {
                time_ns: u64::from_ne_bytes(*time_ns),
                thread: word(body, 4)?,
                name,
            })
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
        b::PERF_RECORD_MMAP2 => mapped(body),
        // It is for all tasks of a processor: the thread on the other side of the switch comes first.
        b::PERF_RECORD_SWITCH_CPU_WIDE => {
            let leaves = u32::from(misc) & b::PERF_RECORD_MISC_SWITCH_OUT != 0;
            let (time_ns, thread) = (long(body, 16)?, word(body, 12)?);
            (!leaves).then_some(Seen::Thread(Event { time_ns, thread, what: What::In }))
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
    let instruction = place.instruction;
    let mark = |act| Mark { time_ns, thread, instruction, act };
    let marked = |act| Some(Seen::Mark(mark(act)));
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
            let mark = mark(Act::Enters(call, calls::does(call)));
            let known = WAITS.iter().find(|(known, _)| known.cast_unsigned() == call);
            let waits = known.and_then(|(_, meaning)| meaning(arguments));
            Some(match waits {
                Some(waits) => {
                    Seen::Both(Event { time_ns, thread, what: What::Calls(waits, place) }, mark)
                }
                None => Seen::Mark(mark),
            })
        }
        Means::Leave => marked(Act::Leaves(layout.value(raw, 0)?.cast_signed())),
        Means::Interrupt(begins) => marked(Act::Interrupts(begins)),
        Means::Softirq(begins) => marked(Act::Softirqs(begins)),
        Means::Request => {
            let event = Event { time_ns, thread, what: What::Requests };
            Some(match sectors(layout, raw) {
                Some(sectors) => Seen::Both(event, mark(Act::Queued(sectors))),
                None => Seen::Thread(event),
            })
        }
        Means::Issue => marked(Act::Issued(sectors(layout, raw)?)),
        Means::Complete => marked(Act::Completed(sectors(layout, raw)?)),
        Means::Look => marked(Act::LooksIn(File {
            device: u32::try_from(layout.value(raw, 1)?).ok()?,
            inode: layout.value(raw, 0)?,
        })),
        Means::Reclaim(begins) => of(thread, What::Reclaims(begins)),
        Means::Fill => {
            let order = layout.value(raw, 0).unwrap_or(0).min(32);
            Some(Seen::Fill { time_ns, pages: 1 << order })
        }
    }
}

/// Reads a fault of the ring of faults: its samples are of `IDENTIFIER | IP | TID | TIME | ADDR`. `identifiers` has those
/// of all faults, of the ones that waited for no read, and of those that did.
pub(super) fn decode_fault(identifiers: &[[u64; 3]], kind: u32, body: &[u8]) -> Option<Seen> {
    if kind != b::PERF_RECORD_SAMPLE {
        return None;
    }
    let (identifier, instruction, thread) = (long(body, 0)?, long(body, 8)?, word(body, 20)?);
    let (time_ns, address) = (long(body, 24)?, long(body, 32)?);
    let which = identifiers.iter().find_map(|of| of.iter().position(|&one| one == identifier))?;
    let act = match which {
        0 => Act::Faults(address),
        which => Act::Faulted { address, is_major: which == 2 },
    };
    Some(Seen::Mark(Mark { time_ns, thread, instruction, act }))
}

/// Code that is mapped of a file: what the kernel makes itself has a name in brackets. Behind the record are process,
/// thread and time.
fn mapped(body: &[u8]) -> Option<Seen> {
    let time_ns = long(body, body.len().checked_sub(8)?)?;
    let (thread, start, bytes) = (word(body, 4)?, long(body, 8)?, long(body, 16)?);
    let is_file = body.get(64..)?.first() == Some(&b'/');
    let code = Code { inode: long(body, 40)?, start, end: start.checked_add(bytes)? };
    let mark = Mark { time_ns, thread, instruction: 0, act: Act::Maps(code) };
    is_file.then_some(Seen::Mark(mark))
}

/// The part of a disc that a request is for. A flush and a discard have none.
fn sectors(layout: &Layout, raw: &[u8]) -> Option<Sectors> {
    let letters = layout.fields.get(3)?;
    let letters = raw.get(letters.offset..letters.offset.checked_add(letters.bytes)?)?;
    // Before it may stand an `F`, for a flush before the write.
    let is_write = match letters.iter().find(|letter| **letter != b'F')? {
        b'R' => false,
        b'W' => true,
        _ => return None,
    };
    let disc = u32::try_from(layout.value(raw, 0)?).ok()?;
    let (first, count) = (layout.value(raw, 1)?, layout.value(raw, 2)?);
    Some(Sectors { disc, first, count: u32::try_from(count).ok()?, is_write })
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

pub(super) fn place(values: [u64; registers::COUNT]) -> Place {
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

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(super) fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
