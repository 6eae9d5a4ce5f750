//! Completions and manual pages: made of the definition that help comes from, for all verbs.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::Command;

use support::{Need, Place, requires};

const PAGES: &[&str] = &[
    "nbuf-bench-advise.1",
    "nbuf-bench.1",
    "nbuf-completions.1",
    "nbuf-curve.1",
    "nbuf-demo.1",
    "nbuf-doctor.1",
    "nbuf-fleet-plan.1",
    "nbuf-fleet-reduce.1",
    "nbuf-fleet-work.1",
    "nbuf-fleet.1",
    "nbuf-load.1",
    "nbuf-man.1",
    "nbuf-memreader.1",
    "nbuf-ping.1",
    "nbuf-reader.1",
    "nbuf-record.1",
    "nbuf-replay.1",
    "nbuf-run.1",
    "nbuf-serve-drain.1",
    "nbuf-serve-policy.1",
    "nbuf-serve-resize.1",
    "nbuf-serve-stats.1",
    "nbuf-serve.1",
    "nbuf-size.1",
    "nbuf-sweep.1",
    "nbuf-trace-anonymize.1",
    "nbuf-trace-convert.1",
    "nbuf-trace-formats.1",
    "nbuf-trace-generate.1",
    "nbuf-trace-head.1",
    "nbuf-trace-recover.1",
    "nbuf-trace-stat.1",
    "nbuf-trace.1",
    "nbuf-unix-boot.1",
    "nbuf-unix-sweep.1",
    "nbuf-unix.1",
    "nbuf-watch.1",
    "nbuf-writer.1",
    "nbuf.1",
];

#[test]
fn every_shell_completes_what_help_shows() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = place.nbuf(["completions", shell]).output().unwrap();
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for word in ["size", "record", "anonymize", "verify-at", "html", "quiet"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
    let Some(_lock) = requires(&[Need::Program("bash")]) else { return };
    let output = place.nbuf(["completions", "bash"]).output().unwrap();
    fs::write(place.path("nbuf.bash"), output.stdout).unwrap();
    let script = "source ./nbuf.bash; COMP_WORDS=(nbuf tr); COMP_CWORD=1; _nbuf nbuf tr nbuf
        echo \"${COMPREPLY[@]}\"";
    let bash = Command::new("bash").args(["-c", script]).current_dir(place.path("")).output();
    let bash = bash.unwrap();
    assert_eq!(String::from_utf8_lossy(&bash.stdout).trim(), "trace", "{bash:?}");
}

#[test]
fn every_verb_has_a_manual_page_that_renders() {
    let place = Place::new();
    fs::create_dir(place.path("man1")).unwrap();
    let output = place.nbuf(["-q", "man", "man1"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let mut names: Vec<String> = fs::read_dir(place.path("man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, PAGES);
    let refused = place.nbuf(["man", "man1"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(125));
    let whole = place.nbuf(["man"]).output().unwrap().stdout;
    assert_eq!(whole, fs::read(place.path("man1/nbuf.1")).unwrap());

    let Some(_lock) = requires(&[Need::Program("man"), Need::Program("groff")]) else { return };
    for name in PAGES {
        let mut man = Command::new("man");
        man.args(["--warnings", "-l", name]).current_dir(place.path("man1"));
        let output = man.env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8").output().unwrap();
        let page = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(page.contains("NAME") && page.contains("SYNOPSIS"), "{page}");
    }
}
