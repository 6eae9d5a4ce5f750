//! `nbuf sweep` on real commands.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::{Output, Stdio};

use nbuf::experiment::result::SweepDocument;
use nbuf::internal::sys::process::signal;
use support::{Place, until};

fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = place.nbuf(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn the_help_has_its_placeholders() {
    let (status, help, _) = run(&Place::new(), &["sweep", "--help"]);
    assert_eq!(status, 0);
    for placeholder in ["{NAME}", "{jobs}"] {
        assert!(help.contains(placeholder), "{placeholder}: {help}");
    }
}

#[test]
fn every_value_has_its_turn_and_its_preparation() {
    let place = Place::new();
    let (status, said, wrong) = run(
        &place,
        &[
            "sweep",
            "--param",
            "n=1..3",
            "--samples",
            "2",
            "--json",
            "--prepare",
            "echo p{n} >>log",
            "--",
            "sh",
            "-c",
            "echo r{n} >>log",
        ],
    );
    assert_eq!((status, wrong.as_str()), (0, ""));
    let document: SweepDocument = serde_json::from_str(&said).unwrap();
    assert!(document.is_complete && document.schema == SweepDocument::SCHEMA);
    let values: Vec<_> =
        document.rows.iter().map(|row| (row.value.as_str(), row.samples.len())).collect();
    assert_eq!(values, [("1", 2), ("2", 2), ("3", 2)]);
    let order = fs::read_to_string(place.path("log")).unwrap().replace('\n', " ");
    assert_eq!(order, "p1 r1 p2 r2 p3 r3 p3 r3 p2 r2 p1 r1 ");
}

#[test]
fn the_page_is_new_or_refused_before_anything_runs() {
    let place = Place::new();
    let arguments = [
        "sweep",
        "-P",
        "n=1,2",
        "--samples",
        "2",
        "--html",
        "page.html",
        "--",
        "sh",
        "-c",
        "echo {n} >>log",
    ];
    let (status, said, wrong) = run(&place, &arguments);
    assert_eq!((status, wrong.as_str()), (0, ""), "{said}");
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{page}");
    let log = fs::read_to_string(place.path("log")).unwrap();
    let (status, _, wrong) = run(&place, &arguments);
    assert_ne!(status, 0);
    assert!(wrong.contains("page.html") && wrong.lines().count() == 1, "{wrong}");
    assert_eq!(fs::read_to_string(place.path("log")).unwrap(), log);
}

#[test]
fn what_takes_longer_is_slower() {
    let place = Place::new();
    let (status, said, _) = run(
        &place,
        &["sweep", "-P", "s=0.3,0.02", "--samples", "6", "--json", "--", "sleep", "{s}"],
    );
    let document: SweepDocument = serde_json::from_str(&said).unwrap();
    let second = &document.rows[1];
    assert!(status == 0 && second.speedup > 1.0, "{said}");
    assert!(
        second.against_previous.is_some_and(|against| against.differs && against.times > 1.0),
        "{said}"
    );
}

#[test]
fn what_makes_no_sense_is_told_in_a_line() {
    let place = Place::new();
    let check = |arguments: &[&str], status: i32, want: &str| {
        let (got, said, wrong) = run(&place, &[&["sweep"], arguments].concat());
        assert_eq!((got, said.as_str()), (status, ""), "{arguments:?}: {wrong}");
        assert!(wrong.contains(want), "{arguments:?}: {wrong}");
    };
    check(&["-P", "n=1..2", "--", "true"], 2, "no argument varies: write {n} in");
    check(&["-P", "n=2..1", "--", "true", "{n}"], 2, "its end is below its beginning");
    check(&["-P", "n", "--", "true", "{n}"], 2, "write n=1..6");
    check(
        &["-P", "n=1,2", "--samples", "0", "--", "true", "{n}"],
        2,
        "0 is none of the numbers from 1 to 65535",
    );
    check(&["-P", "n=1,2", "--", "sh", "-c", "exit {n}"], 125, "status 1 at n=1; run it by hand");
    check(
        &["-P", "n=1,2", "--prepare", "exit 3", "--", "true", "{n}"],
        125,
        "--prepare ended with status 3",
    );
    check(&["-P", "n=1,2", "--", "no-such-program", "{n}"], 127, "command not found");
}

#[test]
fn what_was_measured_before_an_interruption_is_shown() {
    let place = Place::new();
    let mut sweep = place.nbuf([
        "sweep",
        "-P",
        "n=1,2",
        "--json",
        "--",
        "sh",
        "-c",
        "echo {n} >>log; test $(wc -l <log) -lt 4 || sleep 60",
    ]);
    let child = sweep.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the fourth run", || {
        fs::read_to_string(place.path("log")).is_ok_and(|log| log.lines().count() == 4)
    });
    signal(i32::try_from(child.id()).unwrap(), 2).unwrap();
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(130));
    let document: SweepDocument = serde_json::from_slice(&stdout).unwrap();
    let counts: Vec<_> = document.rows.iter().map(|row| row.samples.len()).collect();
    assert!(!document.is_complete && counts == [1, 2], "{counts:?}");
}
