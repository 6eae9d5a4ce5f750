//! How long a command takes that recording stops at each of its calls: it is run once more for that.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::Stdio;

use nbuf::internal::clock::Stopwatch;
use nbuf::internal::sys::process::signal;
use nbuf::internal::workload::record::traced;
use serde_json::Value;
use support::{Lock, Place, Recorded, requires, skip, until};

/// Sizes a script, recorded by calls; its trace is `t.parquet`.
const SIZE: [&str; 6] = ["size", "-y", "--json", "--force", "--capture", "calls"];
const TRACE: [&str; 2] = ["--trace-out", "t.parquet"];

/// None, said aloud, where no command can be traced.
fn place() -> Option<(Place, Lock)> {
    if let Err(error) = traced::probe() {
        skip(&format!("recording by system calls: {error}"));
        return None;
    }
    let lock = requires(&[])?;
    let place = Place::new();
    place.file("file", 8 << 20);
    Some((place, lock))
}

fn size(place: &Place, options: &[&str], script: &str) -> Recorded {
    let _ = fs::remove_file(place.path("t.parquet"));
    let mut nbuf = place.nbuf(SIZE);
    nbuf.args(TRACE).args(options).args(["--", "sh", "-c", script]);
    Recorded::of(nbuf.output().unwrap(), &place.path("t.parquet"))
}

/// A script that leaves a line for each time it was run.
fn counted(script: &str) -> String {
    format!("echo ran >>runs; cat file file >/dev/null; {script}")
}

fn runs(place: &Place) -> usize {
    fs::read_to_string(place.path("runs")).unwrap_or_default().lines().count()
}

#[test]
fn a_command_is_timed_without_being_recorded() {
    let Some((place, _lock)) = place() else { return };
    // Asleep, it makes no calls: it takes as long as it sleeps.
    let began = Stopwatch::start();
    let sized = size(&place, &["--target", "slowdown=2", "--runs", "0"], &counted("sleep 0.3"));
    let took_ns = began.elapsed().as_nanos();
    assert!(sized.stderr.contains("running the command once more"), "{}", sized.stderr);
    let facts = &sized.trace().facts;
    let timed = facts.timed.unwrap();
    assert!(timed.elapsed_ns >= 300_000_000, "{timed:?}");
    assert!(u128::from(timed.elapsed_ns + facts.elapsed_ns) <= took_ns, "{timed:?}");
    let document = sized.json();
    let verified = document["verify"].as_array().unwrap().iter();
    let verified: usize = verified.map(|run| run["samples"].as_array().unwrap().len()).sum();
    assert_eq!(runs(&place), 2 + verified, "recorded, timed, and verified: {document}");
    // A disc of memory has no time to tell.
    if let Some(work) = document["time"]["work_seconds"].as_f64() {
        assert!(work >= 0.3, "{document}");
        assert_eq!(document["target"]["met"], true, "{document}");
        let every = document["verify"].as_array().into_iter().flatten();
        assert!(every.clone().all(|run| run["predicted_seconds_low"].as_f64() >= Some(0.3)));
    }

    // The trace keeps it.
    let again = place.nbuf(["size", "--json", "--force", "--trace", "t.parquet", "--iops", "1000"]);
    let again = Recorded::of({ again }.output().unwrap(), &place.path("none"));
    let document = again.json();
    let time = &document["time"];
    assert!(time["work_seconds"].as_f64() >= Some(0.3), "{}", again.stderr);
    // Its times are of the sizes that the report names, and of no others close by.
    let points = time["points"].as_array().unwrap();
    for size in ["cache_bytes", "floor_bytes"] {
        let size = &document["recommend"][size];
        assert!(points.iter().any(|point| point["cache_bytes"] == *size), "{document:#}");
    }
}

#[test]
fn without_a_second_run_no_time_is_known() {
    let Some((place, _lock)) = place() else { return };
    let sized = size(&place, &["--no-verify", "--target", "slowdown=2"], &counted("true"));
    assert_eq!((sized.status, runs(&place)), (0, 1), "{}", sized.stderr);
    let document = sized.json();
    assert!(document["time"].is_null() && document["target"]["met"] == false, "{document}");
    let is_told = |warning: &Value| {
        warning.as_str().is_some_and(|text| text.contains("stopped the command at each"))
    };
    assert!(document["warnings"].as_array().unwrap().iter().any(is_told), "{document}");

    // What ends otherwise than when it was recorded did something else.
    let script = counted("[ $(wc -l <runs) -ne 3 ]");
    let sized = size(&place, &["--verify-at", "50%"], &script);
    let told = "nbuf: not timed: it ended with status 1, unlike the recording";
    assert!(sized.stderr.contains(told), "{}", sized.stderr);
    assert_eq!(sized.trace().facts.timed, None);

    let script = counted("[ $(wc -l <runs) -eq 1 ] || exec sleep 100");
    fs::remove_file(place.path("runs")).unwrap();
    let sized = size(&place, &["--max-time", "3s"], &script);
    assert!(sized.stderr.contains("not timed: the time was up"), "{}", sized.stderr);
    assert!(
        sized.json()["curve"].as_array().is_some_and(|curve| !curve.is_empty()),
        "{}",
        sized.stderr
    );
}

#[test]
fn an_interrupted_timing_keeps_what_was_recorded() {
    let Some((place, _lock)) = place() else { return };
    let script = counted("[ $(wc -l <runs) -eq 1 ] || { echo $$ >pid; exec sleep 100; }");
    let mut nbuf = place.nbuf(SIZE);
    nbuf.args(TRACE).args(["--", "sh", "-c", &script]);
    let nbuf = nbuf.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = nbuf.spawn().unwrap();
    until("it is run again", || {
        fs::read_to_string(place.path("pid")).is_ok_and(|pid| pid.ends_with('\n'))
    });
    signal(i32::try_from(child.id()).unwrap(), 2).unwrap();
    let sized = Recorded::of(child.wait_with_output().unwrap(), &place.path("t.parquet"));
    assert_eq!(sized.status, 130, "{}", sized.stderr);
    assert!(sized.stderr.contains("interrupted: the time it takes is unknown"), "{}", sized.stderr);
    assert_eq!(sized.trace().facts.timed, None);
    let document = sized.json();
    assert!(document["verify"].as_array().is_none_or(Vec::is_empty), "{document}");
    assert!(document["curve"].as_array().is_some_and(|curve| !curve.is_empty()), "{document}");
    assert_eq!(runs(&place), 2);
    let pid = fs::read_to_string(place.path("pid")).unwrap();
    until("it is gone", || !support::is_alive(&pid));
}
