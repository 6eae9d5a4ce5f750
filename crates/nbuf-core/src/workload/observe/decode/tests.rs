//! Records as kernels write them, and rubbish.

use proptest::prelude::*;

use super::super::sources::SOURCES;
use super::*;
use crate::meter::split::Call;

const SWITCH: &str = "ID: 372
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
";
const WAKEUP: &str = "ID: 374
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
";
const ENTER: &str = "ID: 443
\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;
\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;
";

fn layouts() -> Vec<Layout> {
    let of = |at: usize, text| Layout::parse(&SOURCES[at], text).unwrap();
    vec![of(0, SWITCH), of(1, WAKEUP), of(2, ENTER)]
}

/// A sample of thread 11 at 99, of a raw record with these numbers in it, and registers.
fn body(id: u16, numbers: &[(usize, &[u8])], registers: &[u64]) -> Vec<u8> {
    let mut raw = vec![0_u8; 68];
    raw[..2].copy_from_slice(&id.to_ne_bytes());
    for &(at, bytes) in numbers {
        raw[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let mut body = Vec::new();
    body.extend(10_u32.to_ne_bytes());
    body.extend(11_u32.to_ne_bytes());
    body.extend(99_u64.to_ne_bytes());
    body.extend(68_u32.to_ne_bytes());
    body.extend(raw);
    for value in registers {
        body.extend(value.to_ne_bytes());
    }
    body
}

fn seen(body: &[u8]) -> Option<What> {
    match decode(&layouts(), b::PERF_RECORD_SAMPLE, 0, body, true) {
        Some(Seen::Thread(event) | Seen::Both(event, _)) if event.time_ns == 99 => Some(event.what),
        _ => None,
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_thread_leaves_in_a_call_or_outside() {
    let no_result = i64::from(-libc::ENOSYS).cast_unsigned();
    for (ax, in_call) in [(no_result, true), (0, false)] {
        let body = body(372, &[(32, &2_u64.to_ne_bytes())], &[2, ax, 9, 7]);
        let place = Place { instruction: 7, stack: 9 };
        let state = State::Uninterruptible;
        let leaving = Leaving { state, in_call: Some(in_call), place };
        assert_eq!(seen(&body), Some(What::Out(leaving)));
    }
}

#[test]
fn wakers_are_told_apart() {
    let registers = [2, 0, 9, 7];
    for (flags, registers, waker) in [
        (0, &registers[..], Waker::Program),
        (0x08, &registers, Waker::Interrupt),
        (0x10, &[0], Waker::Interrupt),
        (0, &[0], Waker::Kernel),
    ] {
        let body = body(374, &[(2, &[flags]), (24, &33_u32.to_ne_bytes())], registers);
        assert_eq!(seen(&body), Some(What::Woken(waker)));
    }
}

#[test]
fn the_states_of_the_kernel() {
    for (bits, want) in [
        (0, State::Runnable),
        (0x100, State::Runnable),
        (1, State::Interruptible),
        (2, State::Uninterruptible),
        (0x80, State::Uninterruptible),
        (4, State::Stopped),
        (8, State::Stopped),
        (0x10, State::Dead),
        (0x20, State::Dead),
    ] {
        assert_eq!(state(bits), want, "{bits:#x}");
    }
}

#[test]
fn a_name_is_what_stands_before_the_zeroes() {
    // Process, thread, name, process, thread, time.
    let mut body = [7_u32.to_ne_bytes(), 9_u32.to_ne_bytes()].concat();
    body.extend(b"sort\0\0\0\0");
    body.extend([7_u32.to_ne_bytes(), 9_u32.to_ne_bytes()].concat());
    body.extend(55_u64.to_ne_bytes());
    let mut name = [0; 16];
    name[..4].copy_from_slice(b"sort");
    let want = Seen::Named { time_ns: 55, thread: 9, name };
    assert_eq!(decode(&[], b::PERF_RECORD_COMM, 0, &body, true), Some(want));
}

#[test]
fn a_poll_of_no_descriptor_is_a_sleep() {
    for (count, call) in [(0_u64, Some(Call::Sleep)), (1, None)] {
        let id = libc::SYS_ppoll.to_ne_bytes();
        let body = body(443, &[(8, &id), (24, &count.to_ne_bytes())], &[2, 0, 9, 7]);
        let place = Place { instruction: 7, stack: 9 };
        assert_eq!(seen(&body), call.map(|call| What::Calls(call, place)));
    }
}

#[test]
fn every_call_of_the_filter_has_a_meaning() {
    let filter = layouts()[2].filter().unwrap();
    assert_eq!(filter.split("||").count(), WAITS.len());
    assert!(layouts()[0].filter().is_none());
}

proptest! {
    #[test]
    fn rubbish_does_not_panic(kind in 0_u32..20, misc: u16, bytes: Vec<u8>, cut in 0_usize..130) {
        decode(&layouts(), kind, misc, &bytes, true);
        decode(&layouts(), kind, misc, &bytes, false);
        for id in [372, 374, 443] {
            let whole = body(id, &[], &[2, 0, 9, 7]);
            let cut = &whole[..cut.min(whole.len())];
            decode(&layouts(), b::PERF_RECORD_SAMPLE, misc, cut, true);
        }
    }
}
