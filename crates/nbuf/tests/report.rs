//! Where the report of `nbuf size` goes, and what comes first in it.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::Stdio;

use support::{Need, Place, Recorded, requires};

#[test]
fn the_answer_comes_first_and_leaves_standard_output_to_the_command() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 64 << 20);
    let run = |options: &[&str]| {
        let mut nbuf = place.nbuf(["size", "--no-verify"]);
        nbuf.args(options).args(["--", "sh", "-c", "cat file file file | wc -c"]);
        Recorded::of(nbuf.stdin(Stdio::null()).output().unwrap(), &place.path("none"))
    };
    let sized = run(&[]);
    assert_eq!(sized.stdout, "201326592\n", "{sized:?}");
    let report = sized.stderr.lines().skip_while(|line| line.starts_with("nbuf: "));
    answer_first(&report.collect::<Vec<_>>());
    let sized = run(&["-o", "report.txt"]);
    assert_eq!(sized.stdout, "201326592\n", "{sized:?}");
    let report = fs::read_to_string(place.path("report.txt")).unwrap();
    answer_first(&report.lines().collect::<Vec<_>>());
    // What is there is not written over.
    let again = run(&["-o", "report.txt"]);
    assert_eq!(again.status, 125, "{again:?}");
    assert!(again.stderr.contains("report.txt exists; move it away"), "{again:?}");
    let sized = run(&["-o", "-"]);
    let (_, report) = sized.stdout.split_once("201326592\n").unwrap();
    answer_first(&report.lines().collect::<Vec<_>>());
}

/// Fails unless these lines begin with the size and its parts, and go on with what to paste.
#[track_caller]
fn answer_first(lines: &[&str]) {
    assert!(lines[0].contains(" MiB. "), "{lines:#?}");
    assert!(lines[1].starts_with("  = "), "{lines:#?}");
    assert_eq!(lines[2..4], ["", "To paste"], "{lines:#?}");
    let from = lines.iter().position(|line| *line == "  resources:").unwrap();
    let limit = lines[0].split('.').next().unwrap();
    let memory = format!("      memory: {limit}Mi");
    let want = ["  resources:", "    requests:", &memory, "    limits:", &memory, ""];
    assert_eq!(lines[from..from + 6], want, "{lines:#?}");
}

#[test]
fn runs_that_disagree_are_undecided_and_not_a_miss() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 64 << 20);
    place.file("more", 8 << 20);
    fs::write(place.path("n"), "0\n").unwrap();
    // Every second run reads an eighth more. All is read once: no size is on a cliff.
    let script = "read n <n; echo $((n + 1)) >n; cat file >/dev/null
        [ $((n % 2)) = 0 ] || cat more >/dev/null";
    let drop = "dd if=more iflag=nocache count=0 status=none";
    let options = ["--json", "--force", "--verify-at", "100%", "--prepare", drop];
    let sized = place.size(&options, &["sh", "-c", script]);
    let document = sized.json();
    let runs = document["verify"].as_array().unwrap();
    let samples = |is_within: bool| {
        let run = runs.iter().find(|run| run["within_band"] == is_within).unwrap();
        (run["samples"].as_array().unwrap().len(), run["samples_within_band"].as_u64().unwrap())
    };
    assert_eq!((samples(true), samples(false)), ((1, 1), (5, 2)), "{document:#}");
    assert_eq!(document["verdict"], "undecided", "{document:#}");
    assert_eq!(document["repeatable"].as_bool().filter(|is| !is), None, "{document:#}");
    assert_eq!(sized.status, 4, "{sized:?}");
}
