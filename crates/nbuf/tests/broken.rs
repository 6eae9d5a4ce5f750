//! Recordings that break off: killed, interrupted, out of room. Nothing is left running, and what
//! was recorded can be read.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nbuf::internal::sys::process::signal;
use nbuf::internal::workload::record::salvage;
use nbuf::trace::{CacheEvent, Trace};
use support::apart::Apart;
use support::pids::NOT_JOINED;
use support::{
    Need, Place, Recorded, bytes, groups_of, is_alive, requires, requires_shared, until, with_word,
};

/// A script that reads `known`, says who it is and stays.
const STAYS: &str = "cat known >/dev/null; echo $$ > pid; exec sleep 1000";

fn null() -> Stdio {
    Stdio::null()
}

fn salvaged(log: &Path) -> Option<Trace> {
    Some(salvage(File::open(log).ok()?).ok()?.trace)
}

fn recovered(place: &Place, log: &str) -> Recorded {
    let output = place.nbuf(["trace", "recover", log, "-o", "r.parquet"]).output().unwrap();
    Recorded::of(output, &place.path("r.parquet"))
}

#[test]
fn a_killed_nbuf_leaves_a_log_and_nothing_else() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let known = place.file("known", 20 * 4096);
    let mut command = place.nbuf(["record", "-o", "t.parquet", "--", "sh", "-c", STAYS]);
    let mut child = command.stderr(null()).spawn().unwrap();
    let log = place.path("t.parquet.log");
    until("the file is in the log", || {
        place.path("pid").exists()
            && salvaged(&log).is_some_and(|trace| bytes(&trace, &known, CacheEvent::Read).is_some())
    });
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    assert!(is_alive(&pid));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the command is gone", || !is_alive(&pid));
    until("no group is left", || groups_of(child.id()).is_empty());

    assert!(!place.path("t.parquet").exists());
    let again = place.record("true");
    assert_eq!(again.status, 125);
    assert!(again.stderr.contains("nbuf trace recover t.parquet.log -o t.parquet"), "{again:?}");
    let recovered = recovered(&place, "t.parquet.log");
    assert_eq!(recovered.status, 0);
    assert!(recovered.stderr.contains("entries salvaged, 0 frames skipped; torn at byte "));
    assert_eq!(bytes(recovered.trace(), &known, CacheEvent::Read), Some(20 * 4096));
    let warnings = &recovered.trace().facts.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("broke off")), "{warnings:?}");
    assert_eq!(recovered.trace().facts.exit_status, None);
}

/// Rounds run at once, in groups apart: most of the time they wait.
const LANES: usize = 4;

#[test]
fn whichever_of_us_is_killed_whenever_nothing_is_left() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let lanes = Apart::lanes(LANES);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for apart in &lanes {
            let next = &next;
            scope.spawn(move || {
                let place = Place::new();
                place.file("known", 4 << 20);
                let rounds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                let rounds = rounds.take_while(|&round| round < 100);
                rounds.for_each(|round| kill_one(round, &place, apart));
            });
        }
    });
}

fn kill_one(round: u64, place: &Place, apart: &Apart) {
    for name in ["t.parquet", "t.parquet.log"] {
        let _ = fs::remove_file(place.path(name));
    }
    // No other process sleeps for this long. A recording stays; of a sizing, the recording and
    // the limited runs behind it all take a while.
    let sizes = round % 2 == 1;
    let whole = if sizes { 0 } else { 86_400 };
    let word = format!("{whole}.2{:07}{round:03}", std::process::id());
    let script = format!("(setsid sleep {word} &); cat known >/dev/null; sleep {word}");
    let mut arguments = vec!["record", "-o", "t.parquet", "--", "sh", "-c", &script];
    if sizes {
        arguments.splice(..3, ["size", "-y", "--force", "--verify-at", "50%,25%"]);
    }
    let mut nbuf = apart.within(&place.nbuf(arguments));
    let mut child = nbuf.stdout(null()).stderr(null()).spawn().unwrap();
    // Scattered over the time that it takes to start, and some more.
    let step = if sizes { 10_000 } else { 1500 };
    std::thread::sleep(Duration::from_micros(round * 37 % 100 * step));
    let nbuf = i32::try_from(child.id()).unwrap();
    let ours = fs::read_to_string(format!("/proc/{nbuf}/task/{nbuf}/children"));
    let ours = ours.unwrap_or_default();
    let mut ours = ours.split_whitespace().map(|pid| pid.parse::<i32>().unwrap());
    let victim = match round / 2 % 4 {
        0 => ours.next(),
        1 => ours.next_back(),
        _ => None,
    };
    // A helper may have ended meanwhile.
    let _ = signal(victim.unwrap_or(nbuf), 9);
    // The others notice by themselves, but one whose watchdog is gone has no reason to end.
    let _ = signal(nbuf, 15);
    let status = child.wait().unwrap();
    assert_ne!(status.code(), Some(NOT_JOINED), "round {round}");
    until("no process is left", || with_word(&word).is_empty());
    until("no group is left", || apart.groups_of(child.id()).is_empty());
    // Nor where it would have made them without a group of its own.
    assert_eq!(groups_of(child.id()), [""; 0], "round {round}");
}

#[test]
fn an_interrupted_recording_is_a_trace() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("script")]) else {
        return;
    };
    for by_terminal in [false, true] {
        let place = Place::new();
        let known = place.file("known", 20 * 4096);
        fs::write(place.path("stays"), STAYS).unwrap();
        let mut command = if by_terminal {
            let mut command = Command::new("script");
            let line = format!(
                "exec env --default-signal=INT,QUIT {} record -o t.parquet -- sh stays",
                support::NBUF
            );
            command.args(["-qec", &line, "/dev/null"]).current_dir(place.path(""));
            command
        } else {
            place.nbuf(["record", "-o", "t.parquet", "--", "sh", "stays"])
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        until("the command stays", || {
            fs::read_to_string(place.path("pid")).is_ok_and(|pid| pid.ends_with('\n'))
        });
        let mut keyboard = child.stdin.take().unwrap();
        if by_terminal {
            keyboard.write_all(b"\x03").unwrap();
        } else {
            signal(-i32::try_from(child.id()).unwrap(), 2).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        drop(keyboard);
        let recorded = Recorded::of(output, &place.path("t.parquet"));
        // The group got SIGINT; whether SIGTERM came before it was handled is a race of the two.
        assert!([130, 143].contains(&recorded.status), "{recorded:?}");
        assert_eq!(
            bytes(recorded.trace(), &known, CacheEvent::Read),
            Some(20 * 4096),
            "{recorded:?}"
        );
        let warnings = &recorded.trace().facts.warnings;
        assert!(warnings.iter().any(|warning| warning.contains("signal 2")), "{warnings:?}");
        assert!(!place.path("t.parquet.log").exists());
    }
}

#[test]
fn a_full_disc_stops_the_log_and_not_the_command() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let place = Place::new();
    place.file("known", 4096);
    fs::create_dir(place.path("small")).unwrap();
    // The mount is private to `unshare` and goes with it.
    let script = "mount -t tmpfs -o size=1m none small || exit 99
        \"$0\" record -o small/t.parquet -- \
            sh -c 'for i in $(seq 100); do dd if=known of=/dev/null bs=1 status=none; done;
                   echo completed'
        echo status $?
        \"$0\" trace recover small/t.parquet.log -o r.parquet";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, support::NBUF]).current_dir(place.path(""));
    let recorded = Recorded::of(command.output().unwrap(), &place.path("r.parquet"));
    assert_eq!(recorded.stdout, "completed\nstatus 125\n", "{}", recorded.stderr);
    let told = "the command ran, but there is no trace: the log broke off: \
                No space left on device (os error 28); make one with \
                `nbuf trace recover small/t.parquet.log -o ANOTHER/PLACE.parquet`";
    assert!(recorded.stderr.contains(told), "{}", recorded.stderr);
    let known = place.path("known");
    let first = bytes(recorded.trace(), &known, CacheEvent::Read).unwrap_or(0);
    assert!(first > 3 * 4096, "what fitted is there: {first}");
}
