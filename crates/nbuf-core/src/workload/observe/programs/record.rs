//! From records of the programs to what happened to a thread.
//!
//! A record has time, kind and thread; what follows is by its kind. Pure; never panics on whatever is handed over.

use super::super::calls::{self, WAITS};
use super::super::decode::{Seen, long, place, word};
use crate::meter::activity::{Act, File, Mark};
use crate::meter::split::{Event, Leaving, Place, State, What};
use crate::sys::architecture::registers;

/// Bytes of a record with registers.
pub(super) const LONG_BYTES: i32 = 80;
/// Bytes of a record of a file.
pub(super) const FILE_BYTES: i32 = 48;
/// Bytes of a record of a call.
pub(super) const CALL_BYTES: i32 = 32;
/// Bytes of any other.
pub(super) const SHORT_BYTES: i32 = 24;

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    In = 1,
    Out = 2,
    Born = 3,
    Died = 4,
    Requests = 5,
    Enters = 6,
    Leaves = 7,
    Looks = 8,
}

const KINDS: [Kind; 8] = [
    Kind::In,
    Kind::Out,
    Kind::Born,
    Kind::Died,
    Kind::Requests,
    Kind::Enters,
    Kind::Leaves,
    Kind::Looks,
];

/// `PF_KTHREAD` and `PF_USER_WORKER`: a task without a program.
const HAS_NO_PROGRAM: u32 = 0x0020_0000 | 0x4000;
/// `PF_MEMALLOC`: a task looks for memory, and may use up the reserves for that.
const RECLAIMS: u32 = 0x800;
/// Reads a record; nothing of one that is cut short.
pub(crate) fn decode(record: &[u8], into: &mut Vec<Seen>) {
    let _ = read(record, into);
}

fn read(record: &[u8], into: &mut Vec<Seen>) -> Option<()> {
    let (time_ns, kind, thread) = (long(record, 0)?, word(record, 8)?, word(record, 12)?);
    let of = |what| Event { time_ns, thread, what };
    let kind = KINDS.into_iter().find(|&known| known as u32 == kind)?;
    let mark = |instruction, act| Seen::Mark(Mark { time_ns, thread, instruction, act });
    let mut push = |what| into.push(Seen::Thread(of(what)));
    match kind {
        Kind::In => push(What::In),
        Kind::Died => push(What::Died),
        Kind::Requests => push(What::Requests),
        Kind::Born => {
            let (parent, process) = (word(record, 16)?, word(record, 20)?);
            into.push(Seen::Born { event: of(What::Born), parent, is_process: process == thread });
        }
        Kind::Enters => {
            let (call, instruction) = (long(record, 16)?, long(record, 24)?);
            into.push(mark(instruction, Act::Enters(call, calls::does(call))));
        }
        Kind::Leaves => into.push(mark(0, Act::Leaves(long(record, 16)?.cast_signed()))),
        Kind::Looks => {
            let (device, inode) = (u32::try_from(long(record, 16)?).ok()?, long(record, 24)?);
            let (since_ns, call) = (long(record, 32)?, long(record, 40)?);
            if since_ns > 0 {
                into.push(mark(0, Act::IsIn(call, calls::does(call), since_ns)));
            }
            into.push(mark(0, Act::LooksIn(File { device, inode })));
        }
        Kind::Out => {
            let flags = word(record, 20)?;
            let left = left(record, flags)?;
            let reclaims = flags & RECLAIMS != 0;
            if reclaims {
                push(What::Reclaims(true));
            }
            left.into_iter().flatten().for_each(&mut push);
            if reclaims {
                push(What::Reclaims(false));
            }
        }
    }
    Some(())
}

/// The call that a thread is in, if its waits have a meaning, and how it left the processor.
fn left(record: &[u8], flags: u32) -> Option<[Option<What>; 2]> {
    let preempted = long(record, 24)? != 0;
    let state = if preempted { State::Runnable } else { state(word(record, 16)?) };
    let [ax, number, first, second, stack, instruction] =
        [32, 40, 48, 56, 64, 72].map(|at| long(record, at));
    let mut values = [0; registers::COUNT];
    values.iter_mut().zip([ax?, stack?, instruction?]).for_each(|(to, value)| *to = value);
    let arguments = [first?, second?];
    let number = number?;
    let has_program = flags & HAS_NO_PROGRAM == 0;
    let in_call = registers::in_call(values).filter(|_| has_program);
    let known = WAITS.iter().filter(|_| in_call == Some(true));
    let known = known.into_iter().find(|(known, _)| known.cast_unsigned() == number);
    // A call without such a meaning has no place: it is not mistaken for one before it.
    let waits = known.and_then(|(_, meaning)| meaning(arguments));
    let place = waits.map_or_else(Place::default, |_| place(values));
    let calls = waits.map(|waits| What::Calls(waits, place));
    Some([calls, Some(What::Out(Leaving { state, in_call, place }))])
}

/// `__state` of a task: `TASK_*` of `include/linux/sched.h`.
fn state(bits: u32) -> State {
    match bits {
        0 => State::Runnable,
        bits if bits & 0x80 != 0 => State::Dead,
        bits if bits & (4 | 8) != 0 => State::Stopped,
        bits if bits & 1 != 0 => State::Interruptible,
        // A lock that sleeps, a frozen task, and one that is parked wait for the kernel.
        _ => State::Uninterruptible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::split::Call;
    use proptest::prelude::*;

    const IN_CALL: u64 = (-38_i64).cast_unsigned();

    /// A record of thread 11 at 99.
    fn record(kind: u32, words: &[u64]) -> Vec<u8> {
        let mut bytes = 99_u64.to_ne_bytes().to_vec();
        bytes.extend([kind, 11].into_iter().flat_map(u32::to_ne_bytes));
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    fn pair(first: u32, second: u32) -> u64 {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&first.to_ne_bytes());
        bytes[4..].copy_from_slice(&second.to_ne_bytes());
        u64::from_ne_bytes(bytes)
    }

    fn whats(bytes: &[u8]) -> Vec<What> {
        let mut seen = Vec::new();
        decode(bytes, &mut seen);
        let what = |seen: &Seen| match seen {
            Seen::Thread(event) if (event.time_ns, event.thread) == (99, 11) => event.what,
            other => panic!("{other:?}"),
        };
        seen.iter().map(what).collect()
    }

    #[test]
    fn short_records_say_what_happened() {
        for (kind, what) in [(1, What::In), (4, What::Died), (5, What::Requests)] {
            assert_eq!(whats(&record(kind, &[7])), [what]);
        }
        let mut seen = Vec::new();
        decode(&record(3, &[pair(10, 11)]), &mut seen);
        decode(&record(3, &[pair(10, 10)]), &mut seen);
        let event = Event { time_ns: 99, thread: 11, what: What::Born };
        let born = |is_process| Seen::Born { event, parent: 10, is_process };
        assert_eq!(seen, [born(true), born(false)]);
        for kind in [0, 9, u32::MAX] {
            assert!(whats(&record(kind, &[0; 8])).is_empty());
        }
    }

    #[test]
    fn calls_and_looks_are_marks() {
        let mark =
            |instruction, act| Seen::Mark(Mark { time_ns: 99, thread: 11, instruction, act });
        let number = libc::SYS_execve.cast_unsigned();
        let file = Act::LooksIn(File { device: 3, inode: 5 });
        let is_in = Act::IsIn(number, calls::does(number), 90);
        let no_result = (-2_i64).cast_unsigned();
        for (kind, words, want) in [
            (6, &[number, 7][..], vec![mark(7, Act::Enters(number, calls::does(number)))]),
            (7, &[no_result], vec![mark(0, Act::Leaves(-2))]),
            (8, &[3, 5, 90, number], vec![mark(0, is_in), mark(0, file)]),
            (8, &[3, 5, 0, number], vec![mark(0, file)]),
        ] {
            let mut seen = Vec::new();
            decode(&record(kind, words), &mut seen);
            assert_eq!(seen, want);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_thread_leaves_in_a_call_that_means_something_or_not() {
        let number = |call: libc::c_long| call.cast_unsigned();
        let out = |state: u32, preempted, flags, registers: [u64; 6]| {
            let words = [&[pair(state, flags), preempted][..], &registers].concat();
            whats(&record(2, &words))
        };
        let leaves = |state, in_call, place| What::Out(Leaving { state, in_call, place });
        let place = Place { instruction: 7, stack: 9 };
        let nowhere = Place::default();
        let sleeps = [IN_CALL, number(libc::SYS_nanosleep), 1, 2, 9, 7];
        let want = leaves(State::Interruptible, Some(true), place);
        assert_eq!(out(1, 0, 0, sleeps), [What::Calls(Call::Sleep, place), want]);
        let reads = [IN_CALL, number(libc::SYS_read), 1, 2, 9, 7];
        let want = leaves(State::Uninterruptible, Some(true), nowhere);
        assert_eq!(out(2, 0, 0, reads), [want]);
        // What is left in the registers of a program that computes means nothing.
        let computes = [5, number(libc::SYS_nanosleep), 1, 2, 9, 7];
        assert_eq!(out(1, 1, 0, computes), [leaves(State::Runnable, Some(false), nowhere)]);
        let reclaims = [What::Reclaims(true), want, What::Reclaims(false)];
        assert_eq!(out(2, 0, RECLAIMS, reads), reclaims);
        let want = leaves(State::Interruptible, None, nowhere);
        assert_eq!(out(1, 0, 0x4000, sleeps), [want]);
        for (count, call) in [(0, Some(Call::Sleep)), (3, None)] {
            let polls = [IN_CALL, number(libc::SYS_poll), 5, count, 9, 7];
            let seen = out(1, 0, 0, polls).first().copied();
            assert_eq!(matches!(seen, Some(What::Calls(Call::Sleep, _))), call.is_some());
        }
    }

    #[test]
    fn states_are_those_of_the_scheduler() {
        for (bits, want) in [
            (0, State::Runnable),
            (1, State::Interruptible),
            (2, State::Uninterruptible),
            // To be killed, idle, for a lock, frozen.
            (0x102, State::Uninterruptible),
            (0x402, State::Uninterruptible),
            (0x1000, State::Uninterruptible),
            (0x8000, State::Uninterruptible),
            (4, State::Stopped),
            (8, State::Stopped),
            (0x80, State::Dead),
        ] {
            assert_eq!(state(bits), want, "{bits:x}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_is_no_panic(rubbish: Vec<u8>, kind in 0..9_u32, words: Vec<u64>, cut in 0..90_usize) {
            let mut seen = Vec::new();
            decode(&rubbish, &mut seen);
            let mut bytes = record(kind, &words);
            bytes.truncate(cut);
            decode(&bytes, &mut seen);
            prop_assert!(seen.len() < 9);
        }

        #[test]
        fn what_is_cut_short_is_nothing(cut in 0..80_usize) {
            let mut seen = Vec::new();
            decode(&record(2, &[0; 8])[..cut], &mut seen);
            prop_assert!(seen.is_empty());
        }
    }
}
