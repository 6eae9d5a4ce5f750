//! Streams of events whose times are known.

use super::*;
use crate::meter::split::{Leaving, Place, State, Waker};

const EXECUTE: u64 = 59;
const FORK: u64 = 57;
const OPEN: u64 = 257;

fn mark(time_ns: u64, thread: u32, act: Act) -> Mark {
    Mark { time_ns, thread, instruction: 0, act }
}

fn event(time_ns: u64, thread: u32, what: What) -> Event {
    Event { time_ns, thread, what }
}

fn out(state: State) -> What {
    What::Out(Leaving { state, in_call: None, place: Place::default() })
}

/// A command of thread 7 that has just executed, at 100.
fn begun() -> Activity {
    let mut activity = Activity::default();
    activity.take_event(&event(0, 7, What::Born), None);
    activity.take_event(&event(0, 7, What::In), None);
    activity.take(&mark(50, 7, Act::Enters(1, Does::Other)));
    activity.take(&mark(60, 7, Act::Leaves(0)));
    activity.take(&mark(70, 7, Act::Enters(EXECUTE, Does::Executes)));
    activity.take(&mark(80, 7, Act::Leaves(-2)));
    activity.take(&mark(90, 7, Act::Enters(EXECUTE, Does::Executes)));
    activity.take(&mark(100, 7, Act::Leaves(0)));
    activity
}

/// Count and sum of a kind.
fn of(times: &BTreeMap<Kind, Times>, kind: Kind) -> (u64, u64) {
    times.get(&kind).map_or((0, 0), |times| (times.count(), times.sum().0))
}

#[test]
fn what_comes_before_the_command_executes_is_not_its_own() {
    let times = begun().finish();
    assert_eq!(of(&times, Kind::Call(EXECUTE)), (1, 10));
    assert_eq!(times.len(), 1);
}

#[test]
fn a_call_lasts_from_entry_to_exit() {
    let mut activity = begun();
    for begin in [200, 300] {
        activity.take(&mark(begin, 7, Act::Enters(OPEN, Does::LooksUp)));
        activity.take(&mark(begin + 25, 7, Act::Leaves(3)));
    }
    // One without an end, and one of a stranger.
    activity.take(&mark(400, 7, Act::Enters(231, Does::Other)));
    activity.take(&mark(410, 8, Act::Enters(OPEN, Does::LooksUp)));
    activity.take(&mark(420, 8, Act::Leaves(3)));
    let times = activity.finish();
    assert_eq!(of(&times, Kind::Call(OPEN)), (2, 50));
    assert_eq!(of(&times, Kind::PathLookup), (2, 50));
    assert_eq!(of(&times, Kind::Call(231)), (0, 0));
}

#[test]
fn the_steps_of_a_fault_add_up_to_it() {
    let mut activity = begun();
    let sectors = Sectors { disc: 1, first: 64, count: 16, is_write: false };
    let part = |first, count| Sectors { first, count, ..sectors };
    activity.take(&mark(1000, 7, Act::Faults(0xabc)));
    activity.take_event(&event(1010, 7, What::Reclaims(true)), None);
    activity.take_event(&event(1040, 7, What::Reclaims(false)), None);
    activity.take(&mark(1100, 7, Act::Queued(sectors)));
    // The disc gets it in two parts; another's request is next to it.
    activity.take(&mark(1150, 7, Act::Issued(part(60, 12))));
    activity.take(&mark(1160, 7, Act::Issued(part(72, 8))));
    activity.take_event(&event(1170, 7, out(State::Uninterruptible)), None);
    activity.take(&mark(1300, 9, Act::Completed(part(60, 12))));
    activity.take(&mark(1400, 9, Act::Completed(part(72, 8))));
    activity.take_event(&event(1410, 7, What::Woken(Waker::Interrupt)), None);
    activity.take_event(&event(1450, 7, What::In), None);
    activity.take(&mark(1500, 7, Act::Faulted { address: 0xabc, is_major: true }));
    let times = activity.finish();
    assert_eq!(of(&times, Kind::MajorFault), (1, 500));
    let steps = [
        (Kind::FaultFind, 70),
        (Kind::FaultReclaim, 30),
        (Kind::FaultQueue, 50),
        (Kind::FaultDevice, 250),
        (Kind::FaultWakeup, 50),
        (Kind::FaultMap, 50),
    ];
    for (kind, ns) in steps {
        assert_eq!(of(&times, kind), (1, ns), "{kind:?}");
    }
    assert_eq!(of(&times, Kind::FaultShared), (0, 0));
    assert_eq!(of(&times, Kind::ReadDevice), (1, 250));
    assert_eq!(of(&times, Kind::Runnable), (1, 40));
}

#[test]
fn a_fault_may_wait_for_the_read_of_another() {
    let mut activity = begun();
    activity.take(&mark(1000, 7, Act::Faults(0xabc)));
    activity.take_event(&event(1030, 7, out(State::Uninterruptible)), None);
    activity.take_event(&event(1100, 7, What::Woken(Waker::Kernel)), None);
    activity.take_event(&event(1130, 7, What::In), None);
    activity.take(&mark(1140, 7, Act::Faulted { address: 0xabc, is_major: true }));
    // One that fails has no end, and the next is not taken for it.
    activity.take(&mark(1200, 7, Act::Faults(0xbad)));
    activity.take(&mark(1300, 7, Act::Faults(0xdef)));
    activity.take(&mark(1310, 7, Act::Faulted { address: 0xdef, is_major: false }));
    let times = activity.finish();
    assert_eq!(of(&times, Kind::FaultFind), (1, 30));
    assert_eq!(of(&times, Kind::FaultShared), (1, 100));
    assert_eq!(of(&times, Kind::FaultMap), (1, 10));
    assert_eq!(of(&times, Kind::MinorFault), (1, 10));
}

#[test]
fn a_process_is_created_from_the_call_until_it_runs() {
    let mut activity = begun();
    activity.take(&mark(1000, 7, Act::Enters(FORK, Does::Creates)));
    activity.take_event(&event(1050, 8, What::Born), Some(7));
    activity.take(&mark(1060, 7, Act::Leaves(8)));
    activity.take_event(&event(1090, 8, What::In), None);
    let times = activity.finish();
    assert_eq!(of(&times, Kind::Creation), (1, 90));
    assert_eq!(of(&times, Kind::Runnable), (1, 40));
}

#[test]
fn who_is_woken_before_he_sleeps_can_run_from_the_moment_he_leaves() {
    let mut activity = begun();
    activity.take_event(&event(1000, 7, What::Woken(Waker::Program)), None);
    activity.take_event(&event(1010, 7, out(State::Interruptible)), None);
    activity.take_event(&event(1025, 7, What::In), None);
    activity.take_event(&event(1100, 7, out(State::Interruptible)), None);
    activity.take_event(&event(1200, 7, What::Woken(Waker::Program)), None);
    activity.take_event(&event(1203, 7, What::In), None);
    assert_eq!(of(&activity.finish(), Kind::Runnable), (2, 18));
}

#[test]
fn interrupts_and_what_they_put_off_are_apart() {
    let mut activity = begun();
    activity.take(&mark(1000, 7, Act::Interrupts(true)));
    activity.take(&mark(1007, 7, Act::Interrupts(false)));
    activity.take(&mark(1008, 7, Act::Softirqs(true)));
    activity.take(&mark(1010, 7, Act::Interrupts(true)));
    activity.take(&mark(1012, 7, Act::Interrupts(false)));
    activity.take(&mark(1018, 7, Act::Softirqs(false)));
    let times = activity.finish();
    assert_eq!(of(&times, Kind::Interrupt), (2, 9));
    assert_eq!(of(&times, Kind::SoftInterrupt), (1, 10));
}

#[test]
fn a_wait_without_a_recorded_completion_is_ended_by_the_wake_up() {
    for woken in [Some(1250), None] {
        let mut activity = begun();
        let sectors = |first| Sectors { disc: 1, first, count: 8, is_write: false };
        activity.take(&mark(1000, 7, Act::Faults(0xabc)));
        activity.take(&mark(1100, 7, Act::Queued(sectors(8))));
        activity.take(&mark(1110, 7, Act::Issued(sectors(8))));
        // What is read ahead is not waited for.
        activity.take(&mark(1120, 7, Act::Queued(sectors(800))));
        activity.take(&mark(1130, 7, Act::Issued(sectors(800))));
        activity.take_event(&event(1140, 7, out(State::Uninterruptible)), None);
        if let Some(woken_ns) = woken {
            activity.take_event(&event(woken_ns, 7, What::Woken(Waker::Interrupt)), None);
        }
        activity.take_event(&event(1300, 7, What::In), None);
        activity.take(&mark(1310, 7, Act::Faulted { address: 0xabc, is_major: true }));
        let times = activity.finish();
        let woken_ns = woken.unwrap_or(1300);
        assert_eq!(of(&times, Kind::FaultQueue), (1, 10));
        assert_eq!(of(&times, Kind::FaultDevice), (1, woken_ns - 1110));
        assert_eq!(of(&times, Kind::FaultWakeup), (1, 1300 - woken_ns));
        assert_eq!(of(&times, Kind::ReadDevice), (1, woken_ns - 1110));
    }
}

#[test]
fn a_disc_may_answer_before_the_thread_has_gone_to_sleep() {
    let mut activity = begun();
    let sectors = Sectors { disc: 1, first: 8, count: 8, is_write: false };
    activity.take(&mark(1000, 7, Act::Faults(0xabc)));
    activity.take(&mark(1020, 7, Act::Queued(sectors)));
    activity.take(&mark(1030, 7, Act::Issued(sectors)));
    activity.take(&mark(1130, 7, Act::Completed(sectors)));
    activity.take(&mark(1150, 7, Act::Faulted { address: 0xabc, is_major: true }));
    let times = activity.finish();
    let steps = [
        (Kind::FaultFind, 20),
        (Kind::FaultQueue, 10),
        (Kind::FaultDevice, 100),
        (Kind::FaultWakeup, 0),
        (Kind::FaultMap, 20),
    ];
    for (kind, ns) in steps {
        assert_eq!(of(&times, kind), (1, ns), "{kind:?}");
    }
}

/// The program is at 0x1000, its linker at 0x8000, and a library at 0x20000.
#[test]
fn the_linker_works_until_the_program_runs() {
    let code = |inode, start| Act::Maps(Code { inode, start, end: start + 0x1000 });
    for (has_linker, by_call) in [(true, false), (true, true), (false, false)] {
        let mut activity = begun();
        let at = |time_ns, instruction, act| Mark { time_ns, thread: 7, instruction, act };
        let faulted = |address| Act::Faulted { address, is_major: false };
        let mut marks =
            vec![at(200, 0x1, Act::Enters(EXECUTE, Does::Executes)), at(210, 0, code(1, 0x1000))];
        if has_linker {
            marks.push(at(220, 0, code(2, 0x8000)));
        }
        marks.extend([
            at(300, 0, Act::Leaves(0)),
            at(310, 0x8010, Act::Faults(0x8010)),
            at(315, 0x8010, faulted(0x8010)),
            at(320, 0x8020, Act::Enters(OPEN, Does::LooksUp)),
            at(340, 0, Act::Leaves(3)),
            // A library is mapped, and its resolver runs in the middle of the linker's work.
            at(350, 0, code(3, 0x2_0000)),
            at(360, 0x2_0010, Act::Faults(0x2_0010)),
            at(367, 0x2_0010, faulted(0x2_0010)),
        ]);
        marks.push(if by_call {
            at(400, 0x2_0010, Act::Enters(OPEN, Does::LooksUp))
        } else {
            at(400, 0x1010, Act::Faults(0x1010))
        });
        marks.extend([at(410, 0x1010, faulted(0x1010)), at(420, 0, Act::Leaves(3))]);
        for mark in &marks {
            activity.take(mark);
        }
        let times = activity.finish();
        let want = if has_linker { [(1, 100), (2, 12), (1, 20)] } else { [(0, 0); 3] };
        let kinds = [Kind::Linker, Kind::LinkerFault, Kind::LinkerCall];
        assert_eq!(kinds.map(|kind| of(&times, kind)), want, "{by_call}");
    }
}

#[test]
fn a_file_is_touched_first_once() {
    let file = |inode| Act::LooksIn(File { device: 1, inode });
    let mut activity = begun();
    let acts = [
        (100, Act::Enters(1, Does::Other)),
        (110, file(5)),
        (120, file(5)),
        (150, Act::Leaves(0)),
        (200, Act::Enters(1, Does::Other)),
        (210, file(5)),
        (250, Act::Leaves(0)),
        // Two new ones in one call.
        (300, Act::Enters(1, Does::Other)),
        (310, file(6)),
        (320, file(7)),
        (350, Act::Leaves(0)),
        (400, Act::Faults(0xabc)),
        (410, file(8)),
        (420, Act::Faulted { address: 0xabc, is_major: false }),
    ];
    for (time_ns, act) in acts {
        activity.take(&mark(time_ns, 7, act));
    }
    assert_eq!(of(&activity.finish(), Kind::FileTouch), (4, 50 + 20 + 30 + 20));
}

/// Most calls are counted elsewhere. One that turns out to touch a file is taken over in its middle.
#[test]
fn calls_that_were_counted_elsewhere_are_added() {
    let mut activity = begun();
    activity.take(&mark(900, 7, Act::Faults(0xabc)));
    activity.take(&mark(1000, 7, Act::IsIn(OPEN, Does::LooksUp, 950)));
    activity.take(&mark(1000, 7, Act::LooksIn(File { device: 1, inode: 5 })));
    // The fault goes on.
    activity.take(&mark(1010, 7, Act::Faulted { address: 0xabc, is_major: false }));
    activity.take(&mark(1050, 7, Act::Leaves(3)));
    let mut times = Times::default();
    times.add(Nanos(30));
    activity.add_calls(OPEN, Does::LooksUp, &times);
    let times = activity.finish();
    assert_eq!(of(&times, Kind::Call(OPEN)), (2, 130));
    assert_eq!(of(&times, Kind::PathLookup), (2, 130));
    assert_eq!(of(&times, Kind::MinorFault), (1, 110));
    assert_eq!(of(&times, Kind::FileTouch), (1, 110));
    assert_eq!(times[&Kind::Call(OPEN)].longest(), Some(Nanos(100)));
}
