//! `nbuf size --loop`, `--iops`, `--bps`: a private disc, and a rate for it.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::{Command, Stdio};

use nbuf::internal::sys::process::signal;
use serde_json::Value;
use support::{Need, Place, groups_of, requires, requires_shared, until, with_word};

const NEEDS: [Need; 4] =
    [Need::Tracepoints, Need::Program("mkfs.ext4"), Need::Loop, Need::Program("cp")];

/// Loop devices whose files lie in a place.
fn loops(place: &Place) -> Vec<String> {
    let output = Command::new("losetup").args(["-nO", "NAME,BACK-FILE"]).output().unwrap();
    let (all, here) = (String::from_utf8(output.stdout).unwrap(), place.path(""));
    let is_here = |line: &&str| line.contains(here.to_str().unwrap());
    all.lines().filter(is_here).map(str::to_owned).collect()
}

/// The readahead of every disc that is no loop.
fn windows() -> Vec<(String, String)> {
    let devices = fs::read_dir("/sys/block").unwrap().map(|entry| entry.unwrap().path());
    let of = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str().filter(|name| !name.starts_with("loop"))?.to_owned();
        Some((name, fs::read_to_string(path.join("queue/read_ahead_kb")).ok()?))
    };
    let mut windows: Vec<(String, String)> = devices.filter_map(of).collect();
    windows.sort();
    windows
}

fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("data")).unwrap();
    place.file("data/file", 8 << 20);
    place
}

#[test]
fn a_directory_is_sized_on_a_disc_of_its_own_at_a_rate() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = place();
    let script = "dd if=data/file of=/dev/null bs=4k 2>/dev/null; echo new >data/new";
    let options = "--json --loop 64MiB --data data --loop-readahead 16KiB --iops 2000 --force \
        --verify-at 50%";
    let options: Vec<&str> = options.split_whitespace().collect();
    let sized = place.size(&options, &["sh", "-c", script]);
    let report = sized.json();
    assert_eq!(report["capture"]["readahead_bytes"], 16 << 10);
    assert_eq!(report["time"]["iops"], 2000);
    assert!(report["time"]["points"].as_array().unwrap().len() > 2);
    for run in report["verify"].as_array().unwrap() {
        let number = |key: &str| run[key].as_f64().unwrap();
        assert!(number("predicted_seconds_low") <= number("predicted_seconds_high"), "{run:#}");
        // 512 requests of 16 KiB. Whatever else the machine does, a rate is not exceeded by more
        // than what it lets through at once.
        assert!(number("measured_seconds") > 0.1, "{run:#}");
        assert!(number("predicted_seconds_high") > 0.1, "{run:#}");
    }
    // What was written went to the copy.
    assert!(!place.path("data/new").exists());
    until("no loop device is left", || loops(&place).is_empty());
}

#[test]
fn killed_it_leaves_no_disc() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = place();
    let word = format!("86400.5{}", std::process::id());
    let script = format!("touch data/mark; exec sleep {word}");
    let options = ["size", "-y", "--loop", "64MiB", "--data", "data", "--", "sh", "-c", &script];
    let mut nbuf = place.nbuf(options);
    let mut child = nbuf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the command runs", || !with_word(&word).is_empty() && !loops(&place).is_empty());
    signal(i32::try_from(child.id()).unwrap(), 9).unwrap();
    child.wait().unwrap();
    until("nothing runs", || with_word(&word).is_empty());
    until("no group is left", || groups_of(child.id()).is_empty());
    until("no loop device is left", || loops(&place).is_empty());
    assert!(!place.path("data/mark").exists());
}

#[test]
fn what_cannot_be_is_told_in_a_line() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let place = place();
    let cases = [
        (&["--loop", "4MiB", "--data", "data"][..], "give --loop more room"),
        (&["--loop", "64MiB", "--data", "none"], "give --data a directory"),
        (&["--loop", "64MiB", "--data", "data/file"], "give --data a directory"),
        (&["--loop", "64MiB", "--data", "/"], "it is the root directory; give --data a directory"),
        (
            &["--loop", "64MiB", "--data", "data", "--trace-out", "data/t.parquet"],
            "data/t.parquet would be on the private disc",
        ),
        (
            &["--loop", "64MiB", "--data", ".", "--html", "page.html"],
            "page.html would be on the private disc",
        ),
    ];
    let devices = windows();
    for (options, told) in cases {
        let sized = place.size(options, &["true"]);
        assert_eq!(sized.status, 125, "{sized:?}");
        assert!(sized.stderr.contains(told), "{sized:?}");
        assert_eq!(sized.stderr.lines().count(), 1, "{sized:?}");
        assert_eq!(sized.stdout, "");
    }
    assert_eq!(windows(), devices, "no disc of the machine is touched");
    for options in [&["--loop", "64MiB"][..], &["--iops", "0"], &["--bps", "0"], &["--data", "."]] {
        assert_eq!(place.size(options, &["true"]).status, 2, "{options:?}");
    }
    let sized = place.size(&["--json", "--no-verify", "--bps", "1MiB"], &["cat", "data/file"]);
    assert_eq!(sized.json()["time"]["bytes_per_second"], 1 << 20);
    assert_eq!(sized.json()["verify"], Value::Array(Vec::new()));
    until("no loop device is left", || loops(&place).is_empty());
}
