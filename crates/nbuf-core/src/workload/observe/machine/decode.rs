//! From records of the kernel to what happened to a processor, a thread or a request.
//!
//! Pure; never panics on whatever the kernel, or a test, hands over.

use crate::workload::record::events::{Field, field_named, id, number};

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A processor went from one thread to another. Number 0 is the idle thread.
    Switch { from: u32, to: u32 },
    /// A thread of a program sleeps from now on where no signal wakes it. Threads of the kernel wait for others,
    /// who wait too.
    Waits { thread: u32 },
    /// A thread can run.
    Wakeup {
        thread: u32,
        /// Whether a program did that, and no interrupt or thread of the kernel.
        by_program: bool,
    },
    /// A request went to its device.
    Issued(Request),
    /// A request came back.
    Completed(Request),
    /// A page fault that waited for a disc.
    MajorFault,
}

/// What identifies a request while it is with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) device: u32,
    pub(super) sector: u64,
}

/// What a tracepoint means to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Switch,
    Wakeup,
    Issue,
    Complete,
}

/// A tracepoint that is sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) path: &'static str,
    means: Means,
    fields: &'static [&'static str],
    /// What it lets through.
    pub(super) filter: Option<&'static std::ffi::CStr>,
}

/// `TASK_UNINTERRUPTIBLE` of `include/linux/sched.h`, as `prev_state` reports it. Threads of the kernel that
/// wait for work have another state there.
const UNINTERRUPTIBLE: u64 = 2;

/// `TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ` in `common_flags`.
const IN_INTERRUPT: u64 = 0x08 | 0x10;

/// Switches into a wait that may be for a disc. All others have a record of their own.
pub(super) const SOURCES: [Source; 4] = [
    Source {
        path: "sched/sched_switch",
        means: Means::Switch,
        fields: &["prev_pid", "prev_state"],
        filter: Some(c"prev_state==2"),
    },
    // Not `sched_wakeup`: another processor may carry that out, in an interrupt.
    Source {
        path: "sched/sched_waking",
        means: Means::Wakeup,
        fields: &["pid", "common_flags"],
        filter: None,
    },
    Source {
        path: "block/block_rq_issue",
        means: Means::Issue,
        fields: &["dev", "sector"],
        filter: None,
    },
    Source {
        path: "block/block_rq_complete",
        means: Means::Complete,
        fields: &["dev", "sector"],
        filter: None,
    },
];

/// How to read the records of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) id: u16,
    means: Means,
    fields: Vec<Field>,
}

impl Layout {
    /// Reads a `format` file; nothing where a field is missing.
    pub(super) fn parse(source: &Source, text: &str) -> Option<Self> {
        let fields = source.fields.iter().map(|name| field_named(text, name));
        Some(Self { id: id(text)?, means: source.means, fields: fields.collect::<Option<_>>()? })
    }

    /// Whether its samples end with registers.
    pub(super) fn says_registers(&self) -> bool {
        matches!(self.means, Means::Switch | Means::Wakeup)
    }
}

/// Reads a sample of `TIME`, and of `RAW` except for page faults; registers follow where [`Layout::says_registers`].
/// Gives its time too.
pub(super) fn decode(layouts: &[Layout], body: &[u8]) -> Option<(u64, Seen)> {
    let time_ns = u64::from_ne_bytes(body.get(..8)?.try_into().ok()?);
    if body.len() == 8 {
        return Some((time_ns, Seen::MajorFault));
    }
    let bytes = u32::from_ne_bytes(body.get(8..12)?.try_into().ok()?);
    let raw = body.get(12..12_usize.checked_add(usize::try_from(bytes).ok()?)?)?;
    let id = u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?);
    let layout = layouts.iter().find(|layout| layout.id == id)?;
    let value = |at: usize| number(raw, *layout.fields.get(at)?);
    let small = |at: usize| u32::try_from(value(at)?).ok();
    // A thread of the kernel has no registers of a program.
    let is_of_program =
        || Some(body.get(12 + raw.len()..20 + raw.len())?.iter().any(|byte| *byte != 0));
    let request = || Some(Request { device: small(0)?, sector: value(1)? });
    let seen = match layout.means {
        Means::Switch => {
            if !is_of_program()? || value(1)? != UNINTERRUPTIBLE {
                return None;
            }
            Seen::Waits { thread: small(0)? }
        }
        Means::Wakeup => {
            let by_program = value(1)? & IN_INTERRUPT == 0 && is_of_program()?;
            Seen::Wakeup { thread: small(0)?, by_program }
        }
        Means::Issue => Seen::Issued(request()?),
        Means::Complete => Seen::Completed(request()?),
    };
    Some((time_ns, seen))
}

/// Reads `PERF_RECORD_SWITCH_CPU_WIDE` with an identity of `TID | TIME`.
///
/// A switch has two records: of the thread that leaves, and of the thread that comes. The second counts. Where
/// the idle thread comes, the first does: on some machines a processor's idle thread makes no records.
pub(super) fn decode_switch(leaves: bool, body: &[u8]) -> Option<(u64, Seen)> {
    let word = |at: usize| Some(u32::from_ne_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let time_ns = u64::from_ne_bytes(body.get(16..24)?.try_into().ok()?);
    let (other, own) = (word(4)?, word(12)?);
    match (leaves, other, own) {
        (true, 0, 1..) => Some((time_ns, Seen::Switch { from: own, to: 0 })),
        (false, _, 1..) => Some((time_ns, Seen::Switch { from: other, to: own })),
        _ => None,
    }
}

/// When a thread left the run queue, by the same record: it left its processor and cannot run. A thread whose processor
/// was taken from it still can.
pub(super) fn decode_exit(leaves: bool, is_taken: bool, body: &[u8]) -> Option<u64> {
    let own = u32::from_ne_bytes(body.get(12..16)?.try_into().ok()?);
    let time_ns = u64::from_ne_bytes(body.get(16..24)?.try_into().ok()?);
    (leaves && !is_taken && own != 0).then_some(time_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "ID: 7\n\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n\
        \tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n";

    fn sample(raw: &[u8]) -> Vec<u8> {
        let mut body = 99_u64.to_ne_bytes().to_vec();
        body.extend(u32::try_from(raw.len()).unwrap().to_ne_bytes());
        body.extend(raw);
        // The kind of registers, and no register.
        body.extend(2_u64.to_ne_bytes());
        body
    }

    #[test]
    fn a_wait_is_read() {
        let layouts = [Layout::parse(&SOURCES[0], SWITCH).unwrap()];
        let mut raw = vec![0; 28];
        raw[0] = 7;
        raw[8] = 42;
        raw[16] = 2;
        assert_eq!(decode(&layouts, &sample(&raw)), Some((99, Seen::Waits { thread: 42 })));
        let mut of_kernel = sample(&raw);
        let end = of_kernel.len() - 8;
        of_kernel[end..].fill(0);
        assert_eq!(decode(&layouts, &of_kernel), None);
        raw[16] = 0x80;
        assert_eq!(decode(&layouts, &sample(&raw)), None);
        assert_eq!(Layout::parse(&SOURCES[1], SWITCH), None);
    }

    #[test]
    fn a_switch_is_read_once_and_never_from_the_idle_thread() {
        let body = |other: u32, own: u32| {
            let words = [40, other, 50, own].map(u32::to_ne_bytes).concat();
            [words, 99_u64.to_ne_bytes().to_vec()].concat()
        };
        for (leaves, other, own, means) in [
            (false, 41, 51, Some((41, 51))),
            (true, 51, 41, None),
            // From the idle thread, and to it.
            (true, 51, 0, None),
            (false, 0, 51, Some((0, 51))),
            (true, 0, 41, Some((41, 0))),
            (false, 41, 0, None),
        ] {
            let seen = decode_switch(leaves, &body(other, own));
            let means = means.map(|(from, to)| (99, Seen::Switch { from, to }));
            assert_eq!(seen, means, "{leaves} {other} {own}");
        }
        assert_eq!(decode_switch(false, &body(41, 51)[..23]), None);
        // One that leaves by itself is no longer able to run, whichever thread comes.
        assert_eq!(decode_exit(true, false, &body(51, 41)), Some(99));
        assert_eq!(decode_exit(true, false, &body(0, 41)), Some(99));
        for (leaves, is_taken, own) in [(true, true, 41), (false, false, 41), (true, false, 0)] {
            assert_eq!(decode_exit(leaves, is_taken, &body(51, own)), None, "{leaves} {own}");
        }
        assert_eq!(decode_exit(true, false, &body(41, 51)[..23]), None);
    }

    #[test]
    fn a_wake_up_says_whether_a_program_did_it() {
        let format = "ID: 9\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
            \tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";
        let layouts = [Layout::parse(&SOURCES[1], format).unwrap()];
        let mut raw = vec![0; 12];
        raw[0] = 9;
        raw[8] = 42;
        let woken = |by_program| Some((99, Seen::Wakeup { thread: 42, by_program }));
        assert_eq!(decode(&layouts, &sample(&raw)), woken(true));
        raw[2] = 0x08;
        assert_eq!(decode(&layouts, &sample(&raw)), woken(false));
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_passed_over() {
        let layouts = [Layout::parse(&SOURCES[0], SWITCH).unwrap()];
        let mut raw = vec![0; 28];
        (raw[0], raw[16]) = (7, 2);
        let whole = sample(&raw);
        for bytes in (0..whole.len()).filter(|bytes| *bytes != 8) {
            assert_eq!(decode(&layouts, &whole[..bytes]), None, "{bytes}");
        }
        assert_eq!(decode(&layouts, &whole[..8]), Some((99, Seen::MajorFault)));
        raw[0] = 8;
        assert_eq!(decode(&layouts, &sample(&raw)), None);
    }
}
