//! Histories of threads whose times are known, and an oracle that sums them instant by instant.

use proptest::prelude::*;

use super::part::PARTS;
use super::*;

const IN_CALL: Leaving = Leaving {
    state: State::Interruptible,
    in_call: Some(true),
    place: Place { instruction: 7, stack: 9 },
};

fn leaving(state: State) -> What {
    What::Out(Leaving { state, ..IN_CALL })
}

fn result(events: &[(u64, u32, What)], end_ns: u64) -> Result {
    let mut split = Split::default();
    for &(time_ns, thread, what) in events {
        split.take(&Event { time_ns, thread, what });
    }
    split.finish(end_ns, false)
}

fn check(events: &[(u64, u32, What)], thread_time: &[(Part, u64)], real_time: &[(Part, u64)]) {
    let got = result(events, 100);
    let times = |want: &[(Part, u64)]| {
        let mut times = Times::default();
        for &(part, ns) in want {
            times[part] = ns;
        }
        times
    };
    assert_eq!(got.thread_time, times(thread_time), "thread time of {events:?}");
    assert_eq!(got.real_time, times(real_time), "real time of {events:?}");
}

#[test]
fn each_wait_has_its_part() {
    use Part::{Asleep, Disc, LockOrPipe, Memory, OnCpu, Runnable, Unknown};
    let sleep = What::Calls(Call::Sleep, IN_CALL.place);
    let elsewhere = What::Calls(Call::Sleep, Place::default());
    let outside = |state| What::Out(Leaving { state, in_call: Some(false), ..IN_CALL });
    let interrupt = What::Woken(Waker::Interrupt);
    let cases: [(&[What], What, Part); 12] = [
        (&[], leaving(State::Interruptible), LockOrPipe),
        (&[sleep], leaving(State::Interruptible), Asleep),
        (&[elsewhere], leaving(State::Interruptible), LockOrPipe),
        (
            &[What::Calls(Call::Completion, IN_CALL.place)],
            leaving(State::Interruptible),
            LockOrPipe,
        ),
        (
            &[What::Requests, What::Calls(Call::Completion, IN_CALL.place)],
            leaving(State::Interruptible),
            Disc,
        ),
        (&[], outside(State::Interruptible), Unknown),
        (&[], leaving(State::Stopped), Asleep),
        (&[What::Requests], leaving(State::Uninterruptible), Disc),
        (&[], leaving(State::Uninterruptible), Unknown),
        (&[], outside(State::Uninterruptible), Disc),
        (&[What::Reclaims(true)], leaving(State::Uninterruptible), Memory),
        (
            &[What::Reclaims(true), What::Reclaims(false), What::Requests],
            leaving(State::Uninterruptible),
            Disc,
        ),
    ];
    for (before, out, part) in cases {
        let mut events = vec![(0, 1, What::Born), (10, 1, What::In)];
        events.extend(before.iter().map(|&what| (20, 1, what)));
        events.extend([(30, 1, out), (70, 1, interrupt), (80, 1, What::In), (100, 1, What::Died)]);
        let want = [(Runnable, 20), (OnCpu, 40), (part, 40)];
        check(&events, &want, &want);
    }
}

#[test]
fn a_request_that_is_held_back_is_a_wait_for_a_disc() {
    let mut split = Split::default();
    for (time_ns, what) in [
        (0, What::Born),
        (0, What::In),
        (10, leaving(State::Uninterruptible)),
        (90, What::Woken(Waker::Kernel)),
        (90, What::In),
        (100, What::Died),
    ] {
        split.take(&Event { time_ns, thread: 1, what });
    }
    let got = split.finish(100, true);
    assert_eq!((got.real_time[Part::Disc], got.thread_time[Part::Disc]), (80, 80));
}

#[test]
fn a_program_that_wakes_ends_a_wait_for_a_lock() {
    let events = [
        (0, 1, What::Born),
        (0, 1, What::In),
        (5, 1, What::Requests),
        (10, 1, leaving(State::Uninterruptible)),
        (90, 1, What::Woken(Waker::Program)),
        (90, 1, What::In),
        (100, 1, What::Died),
    ];
    let want = [(Part::OnCpu, 20), (Part::LockOrPipe, 80)];
    check(&events, &want, &want);
}

#[test]
fn real_time_goes_to_the_first_part_of_any_thread() {
    let events = [
        (0, 1, What::Born),
        (0, 1, What::In),
        (10, 2, What::Born),
        (20, 2, What::In),
        // The first waits for a disc while the second computes until 60 and waits for a lock.
        (20, 1, What::Requests),
        (30, 1, leaving(State::Uninterruptible)),
        (60, 2, leaving(State::Interruptible)),
        (80, 1, What::Woken(Waker::Interrupt)),
        (90, 1, What::In),
        (100, 2, What::Died),
        (100, 1, What::Died),
    ];
    check(
        &events,
        &[(Part::OnCpu, 80), (Part::Runnable, 20), (Part::Disc, 50), (Part::LockOrPipe, 40)],
        &[(Part::OnCpu, 70), (Part::Disc, 20), (Part::Runnable, 10)],
    );
}

#[test]
fn strangers_and_what_comes_before_the_beginning_do_not_count() {
    let events = [
        (0, 9, What::In),
        (0, 1, leaving(State::Interruptible)),
        (40, 1, What::Born),
        (50, 1, What::In),
        (100, 1, What::Died),
        (100, 9, What::Died),
    ];
    let want = [(Part::Runnable, 10), (Part::OnCpu, 50)];
    check(&events, &want, &want);
    assert_eq!(result(&events, 100).threads, 1);
}

fn sum(times: &Times) -> u64 {
    PARTS.into_iter().map(|part| times[part]).sum()
}

/// Any history: what a thread does next is legal or not, as with events that were lost.
fn histories() -> impl Strategy<Value = Vec<(u64, u32, What)>> {
    let what = prop_oneof![
        Just(What::Born),
        Just(What::In),
        Just(leaving(State::Runnable)),
        Just(leaving(State::Interruptible)),
        Just(leaving(State::Uninterruptible)),
        Just(What::Woken(Waker::Interrupt)),
        Just(What::Woken(Waker::Program)),
        Just(What::Calls(Call::Sleep, IN_CALL.place)),
        Just(What::Requests),
        Just(What::Reclaims(true)),
        Just(What::Reclaims(false)),
        Just(What::Died),
    ];
    prop::collection::vec((0u64..20, 1u32..5, what), 0..200).prop_map(|steps| {
        let mut at = 0;
        let stamp = |(step, thread, what)| {
            at += step;
            (at, thread, what)
        };
        steps.into_iter().map(stamp).collect()
    })
}

/// The lives of the threads: from when they begin to when they end, without a look at their parts.
fn lives(events: &[(u64, u32, What)], end_ns: u64) -> Vec<(u64, u64)> {
    let mut began: [Option<u64>; 5] = [None; 5];
    let mut lives = Vec::new();
    for &(time_ns, thread, what) in events {
        let began = &mut began[thread as usize];
        if matches!(what, What::Born | What::Died) {
            lives.extend(began.take().map(|from| (from, time_ns)));
        }
        if what == What::Born {
            *began = Some(time_ns);
        }
    }
    lives.extend(began.into_iter().flatten().map(|from| (from, end_ns)));
    lives
}

proptest! {
    #[test]
    fn every_instant_of_every_life_is_in_one_part(events in histories()) {
        let end_ns = events.last().map_or(0, |event| event.0) + 10;
        let got = result(&events, end_ns);
        let lives = lives(&events, end_ns);
        let sum: u64 = lives.iter().map(|(from, to)| to - from).sum();
        prop_assert_eq!(self::sum(&got.thread_time), sum);
        let first = lives.iter().map(|life| life.0).min().unwrap_or(0);
        let last = lives.iter().map(|life| life.1).max().unwrap_or(0);
        prop_assert_eq!(self::sum(&got.real_time), last - first);
        for part in PARTS {
            prop_assert!(got.real_time[part] <= got.thread_time[part] || part == Part::Unknown);
        }
    }
}
