//! The command line as people meet it: transcripts in `cmd/`, run as they stand there.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use support::{Need, Place, requires};

#[test]
fn transcripts_are_what_the_program_says() {
    trycmd::TestCases::new().env("COLUMNS", "100").case("tests/cmd/*.trycmd").run();
}

#[test]
fn the_page_on_max_iv_shows_what_the_program_says() {
    let cases = trycmd::TestCases::new();
    cases.env("COLUMNS", "100").case("../../docs/experiments/max-iv.md").run();
}

#[test]
fn the_page_on_replays_shows_what_the_program_says() {
    trycmd::TestCases::new().env("COLUMNS", "100").case("../../docs/replay.md").run();
}

/// What the page shows is of the trace of another transcript.
#[test]
fn the_page_on_shapes_shows_what_the_program_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    fs::create_dir(place.path("page.in")).unwrap();
    let trace = root.join("tests/cmd/shape.in/objects.csv");
    fs::copy(trace, place.path("page.in/objects.csv")).unwrap();
    let page = root.join("../../docs/shape.md").canonicalize().unwrap();
    symlink(page, place.path("page.md")).unwrap();
    trycmd::TestCases::new().env("COLUMNS", "80").case(place.path("page.md")).run();
}

#[test]
fn transcripts_of_recordings_are_what_the_program_says() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    trycmd::TestCases::new().env("COLUMNS", "100").case("tests/cmd_root/*.trycmd").run();
}

#[test]
fn help_that_nobody_reads_to_its_end_is_no_failure() {
    let mut child = Command::new(support::NBUF)
        .args(["record", "--help"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
