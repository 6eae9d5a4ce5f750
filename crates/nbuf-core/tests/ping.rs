//! The ways to wake a thread, each in a process of its own as `nbuf ping` has them: every message comes
//! once and in order, a hang is ended and reported, and what the kernel refuses is reported and the rest goes
//! on.
//!
//! This program is its own child, so that a mechanism that hangs and a kernel that refuses need not be
//! known to anybody else.

#[path = "support/mod.rs"]
mod support;

use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use nbuf::experiment::ping::{Plan, machine, measure, serve};
use nbuf::experiment::result::{PingDocument, PingOutcome, PingRow, PingSampleLine};
use nbuf::experiment::session::{Interim, Observer, Session};
use nbuf::internal::path::wake::{
    Member, Placement, ROUNDS, Row, Setting, Tally, WAKES, Waits, Wake,
};
use nbuf::internal::sys::seccomp;

/// Begins like any other, and never comes back from its last batch.
struct Hangs {
    batches: u32,
}

impl Wake for Hangs {
    fn run(&mut self, rounds: u64) -> io::Result<Tally> {
        self.batches += 1;
        if self.batches > 46 {
            loop {
                std::thread::park();
            }
        }
        std::thread::sleep(Duration::from_micros(10));
        Ok(Tally { rounds, sends: rounds, wakes: rounds })
    }

    fn members(&self) -> &[Member] {
        &[]
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as the table has it")]
fn open_hangs(_: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    Ok(Box::new(Hangs { batches: 0 }))
}

/// Tells that something came twice.
#[expect(clippy::unnecessary_wraps, reason = "as the table has it")]
fn open_breaks(_: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    struct Breaks;
    impl Wake for Breaks {
        fn run(&mut self, rounds: u64) -> io::Result<Tally> {
            Ok(Tally { rounds, sends: rounds, wakes: rounds })
        }
        fn members(&self) -> &[Member] {
            &[]
        }
        fn finish(self: Box<Self>) -> io::Result<()> {
            Err(io::Error::other("message 3 came instead of 2"))
        }
    }
    Ok(Box::new(Breaks))
}

fn table() -> Vec<Row> {
    let row = |name, open| Row {
        name,
        about: "",
        round: "",
        waits: Waits::Sleeping,
        threads: 1,
        rounds: ROUNDS,
        open,
    };
    let mut table = WAKES.to_vec();
    table.extend([row("hangs", open_hangs as _), row("breaks", open_breaks as _)]);
    table
}

/// A short run, with the child started in this mode.
fn measured(
    names: &[&str],
    placements: &[Placement],
    mode: &'static str,
    allowed: Duration,
) -> PingDocument {
    let table = table();
    let mechanisms: Vec<Row> =
        names.iter().map(|name| Row::named(&table, name).unwrap().clone()).collect();
    let plan = Plan {
        samples_min: 25,
        samples_max: 25,
        // Each row ends in time, however busy the machine.
        time_max: Duration::from_secs(10),
        patience: Duration::ZERO,
        placements: placements.to_vec(),
        allowed,
        ..Plan::quick(&mechanisms)
    };
    let start = |_: &str| this_program(mode);
    let seen = Seen::default();
    let mut session = Session { start: Some(&start), ..Session::new(&seen) };
    let document = measure(&plan, machine(), &mut session).unwrap();
    let (steps, all) = (seen.steps.into_inner(), seen.lines.into_inner().unwrap());
    assert_eq!(steps, plan.steps());
    assert_eq!(document.rows.len(), names.len() * placements.len());
    for row in &document.rows {
        let is_of_row = |line: &&PingSampleLine| {
            (&line.mechanism, &line.placement) == (&row.mechanism, &row.placement)
        };
        let lines: Vec<&PingSampleLine> = all.iter().filter(is_of_row).collect();
        let clean = lines.iter().filter(|line| line.is_clean).count() as u64;
        assert_eq!((lines.len() as u64, clean), (row.samples, row.clean), "{row:?}");
    }
    document
}

/// This program as a child in a mode.
fn this_program(mode: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(mode);
    Ok(command)
}

/// What an observer has seen.
#[derive(Default)]
struct Seen {
    steps: AtomicUsize,
    lines: Mutex<Vec<PingSampleLine>>,
}

impl Observer for Seen {
    fn progress(&self, _: &str, done: usize, _: usize) {
        assert_eq!(done, self.steps.fetch_add(1, Ordering::Relaxed));
    }

    fn interim(&self, interim: Interim<'_>) -> io::Result<()> {
        let Interim::PingSample(line) = interim else { panic!("{interim:?}") };
        self.lines.lock().unwrap().push(line.clone());
        Ok(())
    }
}

const PATIENT: Duration = Duration::from_mins(1);

fn every_message_comes_once_in_every_placement() {
    let names: Vec<&str> = WAKES.iter().map(|row| row.name).collect();
    let document = measured(&names, &Placement::ALL, "child", PATIENT);
    let one_processor = document.machine.used.len() < 2;
    for row in &document.rows {
        let what = format!("{} {}: {:?}", row.mechanism, row.placement, row.reason);
        let spins = row.mechanism == "spin" && row.placement == Placement::SameCore.name();
        if spins || (one_processor && row.placement != Placement::SameCore.name()) {
            assert_eq!(row.outcome, PingOutcome::NotApplicable, "{what}");
            continue;
        }
        if row.outcome == PingOutcome::Refused {
            support::skip(&format!("ping {what}"));
            continue;
        }
        // Done is only said when both sides have counted the same.
        assert!(is_told(row), "{what}");
        // More than were asked for only while fewer than ten of them are clean.
        let is_enough = row.samples <= 25 || row.clean <= 10;
        assert!(row.samples >= 20 && is_enough, "{what}: {} samples", row.samples);
        assert_eq!(row.histogram.iter().map(|bin| bin.samples).sum::<u64>(), row.samples, "{what}");
        let (sends, wakes) = (row.sends_per_round_trip.unwrap(), row.wakes_per_round_trip.unwrap());
        // Those of the batch before may be counted late, by as many as there are senders.
        assert!(wakes <= sends * 1.01, "{what}: {wakes} wakes, {sends} sends");
        assert_sleeps(row, &what);
    }
}

/// What sleeps by its name has slept, where its partner cannot run meanwhile.
fn assert_sleeps(row: &PingRow, what: &str) {
    let sleeps = row.sleeps_per_round_trip.unwrap();
    let waits = Row::named(WAKES, &row.mechanism).unwrap().waits;
    if waits == Waits::Spinning {
        assert!(sleeps < 0.1, "{what}: {sleeps} sleeps");
    }
    if waits == Waits::Sleeping && row.placement == "same core" && row.mechanism != "loop-pummel" {
        assert!(sleeps > 0.9, "{what}: {sleeps} sleeps");
    }
}

/// Those of a mechanism that can be measured here.
fn rows<'a>(document: &'a PingDocument, name: &'a str) -> impl Iterator<Item = &'a PingRow> {
    let here = |row: &&PingRow| row.outcome != PingOutcome::NotApplicable;
    document.rows.iter().filter(move |row| row.mechanism == name).filter(here)
}

fn what_hangs_is_ended_and_told_and_the_rest_goes_on() {
    let placements = [Placement::SameCore, Placement::Unpinned];
    let document =
        measured(&["hangs", "breaks", "futex"], &placements, "child", Duration::from_secs(4));
    for row in rows(&document, "hangs") {
        assert_eq!(row.outcome, PingOutcome::Hung);
        assert_eq!(row.reason.as_deref(), Some("no answer within 4 s; it was ended"));
        // What came before is reported, and distinguished.
        assert!((1..=22).contains(&row.samples), "{row:?}");
    }
    for row in rows(&document, "breaks") {
        assert_eq!(row.outcome, PingOutcome::Failed);
        assert_eq!(row.reason.as_deref(), Some("message 3 came instead of 2"));
    }
    assert!(rows(&document, "futex").all(is_told));
}

/// Measured; or busy, where other programs had the processors while it was.
fn is_told(row: &PingRow) -> bool {
    match row.outcome {
        PingOutcome::Measured => row.round_trips_per_second.is_some(),
        PingOutcome::Busy => row.clean < 10 && row.round_trips_per_second.is_none(),
        _ => false,
    }
}

/// Threads that take every processor, until they are dropped.
struct Burners(Arc<AtomicBool>, Vec<JoinHandle<()>>);

impl Burners {
    fn start(count: usize) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let burn = |is_over: Arc<AtomicBool>| {
            std::thread::spawn(move || while !is_over.load(Ordering::Relaxed) {})
        };
        let threads = (0..count).map(|_| burn(is_over.clone())).collect();
        Self(is_over, threads)
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

fn a_busy_machine_gives_no_number() {
    let plan = Plan {
        samples_min: 25,
        samples_max: 25,
        time_max: Duration::from_millis(300),
        patience: Duration::from_millis(600),
        placements: vec![Placement::OtherCore, Placement::SameCore],
        allowed: PATIENT,
        ..Plan::quick(&[Row::named(WAKES, "futex").unwrap().clone()])
    };
    let start = |_: &str| this_program("child");
    let _burners = Burners::start(4 * machine().processors.len());
    let mut session = Session { start: Some(&start), ..Session::new(&()) };
    let document = measure(&plan, machine(), &mut session).unwrap();
    for row in rows(&document, "futex") {
        assert!(is_told(row), "{row:?}");
        let has_reason = row.reason.as_ref().is_some_and(|why| why.contains("other programs had"));
        assert_eq!(has_reason, row.outcome == PingOutcome::Busy, "{row:?}");
    }
}

fn what_the_kernel_refuses_is_told_and_the_rest_goes_on() {
    if !seccomp::is_supported() {
        return support::skip("ping: no filters are known for this processor");
    }
    let names = ["ring-message", "ring-eventfd", "message-queue", "eventfd", "pipe"];
    let document = measured(&names, &Placement::ALL, "refusing child", PATIENT);
    for row in document.rows.iter().filter(|row| row.outcome != PingOutcome::NotApplicable) {
        let is_as_wanted = if row.mechanism == "pipe" {
            is_told(row)
        } else {
            row.outcome == PingOutcome::Refused
        };
        assert!(is_as_wanted, "{row:?}");
        let why = row.reason.as_deref().unwrap_or_default();
        assert_eq!(why.contains("Function not implemented"), row.mechanism != "pipe", "{row:?}");
    }
}

fn main() -> io::Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "child" => return serve(&table(), io::stdin(), io::stdout()),
        "refusing child" => {
            let calls = [libc::SYS_io_uring_setup, libc::SYS_mq_open, libc::SYS_eventfd2];
            seccomp::refuse(&calls)?;
            return serve(&table(), io::stdin(), io::stdout());
        }
        // What `cargo test -- --list` asks of every test.
        "--list" => return Ok(()),
        _ => {}
    }
    every_message_comes_once_in_every_placement();
    what_hangs_is_ended_and_told_and_the_rest_goes_on();
    what_the_kernel_refuses_is_told_and_the_rest_goes_on();
    a_busy_machine_gives_no_number();
    Ok(())
}
