//! `nbuf ping` as people meet it: documents, early ends, machines with one processor. That every
//! mechanism works is tested in the library (`crates/nbuf-core/tests/ping.rs`).

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nbuf::experiment::result::{PingDocument, PingOutcome, PingSampleLine};
use nbuf::internal::path::wake::WAKES;
use nbuf::internal::sys::process::signal;
use support::{Need, Place, is_alive, requires, until};

fn document(output: &Output) -> PingDocument {
    let told = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

#[test]
fn the_document_has_a_row_for_each_mechanism_and_placement() {
    let place = Place::new();
    let wanted = ["ping", "--quick", "--json", "--only", "pipe,spin"];
    let arguments = [&wanted[..], &["--html", "p.html", "--samples-out", "s.jsonl"]].concat();
    let output = place.nbuf(&arguments).output().unwrap();
    let document = document(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(document.schema, PingDocument::SCHEMA);
    let rows: Vec<String> =
        document.rows.iter().map(|row| format!("{} {}", row.mechanism, row.placement)).collect();
    let want = ["pipe", "spin"].map(|name| {
        ["same core", "other core", "unpinned"].map(|placement| format!("{name} {placement}"))
    });
    assert_eq!(rows, want.concat());
    for row in &document.rows {
        let is_measured = row.outcome == PingOutcome::Measured;
        // One that hangs on a busy machine has what it had before.
        assert!(!is_measured || row.round_trips_per_second > Some(0.0), "{row:?}");
        assert_eq!(is_measured, row.reason.is_none());
        assert_eq!(row.histogram.iter().map(|bin| bin.samples).sum::<u64>(), row.samples);
        assert_eq!(row.histogram.iter().map(|bin| bin.clean).sum::<u64>(), row.clean);
        assert!(row.low <= row.round_trips_per_second && row.round_trips_per_second <= row.high);
    }
    let marks: Vec<f64> =
        document.references.iter().map(|mark| mark.round_trips_per_second).collect();
    assert_eq!(marks, [60.0, 10_000.0]);
    let page = std::fs::read_to_string(place.path("p.html")).unwrap();
    assert!(page.contains("class=\"spark\"") && page.ends_with("</html>\n"));
    let lines = std::fs::read_to_string(place.path("s.jsonl")).unwrap();
    let lines: Vec<PingSampleLine> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let samples: u64 = document.rows.iter().map(|row| row.samples).sum();
    assert!(samples > 0 && lines.len() as u64 == samples, "{samples}");
    let again = place.nbuf(&arguments).output().unwrap();
    assert_eq!(again.status.code(), Some(125));
    assert!(String::from_utf8(again.stderr).unwrap().contains("p.html exists"));
}

#[test]
fn with_one_processor_there_is_no_other_core() {
    let Some(_lock) = requires(&[Need::Program("taskset")]) else { return };
    let place = Place::new();
    // Which processors there are for us is what the program itself says.
    let whole = place.nbuf(["ping", "--quick", "--json", "--only", "futex"]).output().unwrap();
    let first = document(&whole).machine.processors[0].to_string();
    let mut command = Command::new("taskset");
    command.args([
        "-c",
        &first,
        support::NBUF,
        "ping",
        "--quick",
        "--json",
        "--only",
        "futex,spin",
    ]);
    let document = document(&command.output().unwrap());
    let outcomes: Vec<PingOutcome> = document.rows.iter().map(|row| row.outcome).collect();
    let (yes, no) = (PingOutcome::Measured, PingOutcome::NotApplicable);
    // Another program may have the one processor all the time.
    assert!([yes, PingOutcome::Busy].contains(&outcomes[0]), "{outcomes:?}");
    assert_eq!(outcomes[1..], [no; 5]);
    let reasons: Vec<&str> = document.rows.iter().filter_map(|row| row.reason.as_deref()).collect();
    assert_eq!(reasons[0], "one processor");
}

/// All of it, begun and not waited for; and the child that it measures in.
fn begun(place: &Place) -> (Child, i32) {
    let mut command = place.nbuf(["ping", "--json"]);
    let parent = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let number = i32::try_from(parent.id()).unwrap();
    let path = format!("/proc/{number}/task/{number}/children");
    let mut child = 0;
    until("it measures", || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        child = text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
        child > 0
    });
    (parent, child)
}

#[test]
fn what_was_measured_is_left_when_somebody_ends_it() {
    let place = Place::new();
    let (mut parent, _) = begun(&place);
    std::thread::sleep(Duration::from_secs(2));
    signal(i32::try_from(parent.id()).unwrap(), 2).unwrap();
    let mut text = String::new();
    parent.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(parent.wait().unwrap().code(), Some(130));
    let document: PingDocument = serde_json::from_str(&text).unwrap();
    assert_eq!(document.rows.len(), 3 * WAKES.len());
    let count = |outcome| document.rows.iter().filter(|row| row.outcome == outcome).count();
    assert!(count(PingOutcome::NotMeasured) > 0);
    let mut warnings = document.warnings.iter().map(ToString::to_string);
    assert!(warnings.any(|warning| warning.starts_with("it was ended early")));
}

#[test]
fn nothing_is_left_of_a_parent_that_is_killed() {
    let place = Place::new();
    let (mut parent, child) = begun(&place);
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("its child is gone", || !is_alive(&child.to_string()));
}
