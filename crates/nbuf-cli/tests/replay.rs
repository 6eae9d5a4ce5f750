//! `nbuf replay` as people meet it: pipes, Ctrl-C, real files, and what must not be written over.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{NBUF, Place};

fn replay(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new(NBUF);
    command.arg("replay").args(arguments).current_dir(place.path("."));
    command.stdin(Stdio::null()).output().unwrap()
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What is refused, and in which words: a line.
fn refused(place: &Place, arguments: &[&str], want: &str) {
    let output = replay(place, arguments);
    assert_eq!(output.status.code(), Some(125), "{arguments:?}: {output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    let line = told.lines().last().unwrap_or_default();
    assert!(line.contains(want), "{arguments:?}: {told}");
    assert!(output.stdout.is_empty(), "{output:?}");
}

/// A trace of fio: one file, reads and some writes, by times.
fn blocks(place: &Place) {
    let mut text = "fio version 2 iolog\n/a add\n/a open\n".to_owned();
    for at in 0..2_000_u64 {
        let action = if at % 10 == 9 { "write" } else { "read" };
        writeln!(text, "/a {action} {} 4096", at * at % 997 % 50 * 4096).unwrap();
    }
    fs::write(place.path("blocks.log"), text + "/a close\n").unwrap();
}

#[test]
fn a_pipe_gives_what_its_file_gives() {
    let place = Place::new();
    blocks(&place);
    let of_file = document(&replay(&place, &["blocks.log", "--size", "20", "--json"]));
    let mut command = Command::new(NBUF);
    command.args(["replay", "-", "--size", "20", "--json"]).current_dir(place.path("."));
    command.stdin(fs::File::open(place.path("blocks.log")).unwrap());
    let mut of_file_again = of_file.clone();
    of_file_again["workload"] = "-".into();
    // A redirected file is no pipe to the kernel; a real one comes from another program.
    let piped = Command::new("sh")
        .args(["-c", &format!("cat blocks.log | {NBUF} replay - --size 20 --json")])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    for output in [command.output().unwrap(), piped] {
        assert_eq!(document(&output), of_file_again);
    }
    let total: u64 = of_file["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["count"].as_u64().unwrap())
        .sum();
    assert_eq!(total, 2_000);
    refused(&place, &["-", "--size", "0..20:10"], "- is empty");
}

#[test]
fn the_same_seed_gives_the_same_and_sizes_are_those_of_single_runs() {
    let place = Place::new();
    let of = |size: &str| {
        let made = "zipf:keys=500,requests=3000,writes=0.1";
        let options = ["--size", size, "--disc", "sata-hdd", "--processes", "3", "--json"];
        document(&replay(&place, &[&[made][..], &options].concat()))
    };
    let range = of("0..400:200");
    assert_eq!(range, of("0..400:200"));
    for (at, size) in ["0", "200", "400"].iter().enumerate() {
        let one = of(size);
        for field in ["elapsed_seconds", "hit_ratio", "disc_utilisation", "cpu_utilisation"] {
            assert_eq!(range["sizes"][at][field], one[field], "{field} at {size}");
        }
    }
}

#[test]
fn ctrl_c_shows_what_was_replayed() {
    let place = Place::new();
    let run = |size: &str| {
        let mut command = Command::new(NBUF);
        command.args(["replay", "zipf:requests=4000000000", "--json", "--size", size]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(place.path("."));
        let child = command.spawn().unwrap();
        // It listens before it makes its first request, or the signal ends it in the ordinary way.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        child.wait_with_output().unwrap()
    };
    let one = run("100");
    assert_eq!(one.status.code(), Some(130), "{one:?}");
    let document: Value = serde_json::from_slice(&one.stdout).unwrap();
    assert!(document["response"]["count"].as_u64().unwrap() > 0);
    assert!(document["cautions"][0].as_str().unwrap().starts_with("it was ended after"));
    let range = run("0..100:50");
    assert_eq!(range.status.code(), Some(130), "{range:?}");
    assert!(String::from_utf8_lossy(&range.stderr).contains("nothing to show"));
}

#[test]
fn a_real_file_is_written_to_only_by_leave() {
    let place = Place::new();
    blocks(&place);
    fs::write(place.path("precious"), vec![7; 50 * 4096]).unwrap();
    let precious = ["blocks.log", "--size", "10", "--closed", "--disc", "file:precious"];
    refused(&place, &precious, "give it up with --destroy");
    assert_eq!(fs::read(place.path("precious")).unwrap(), vec![7; 50 * 4096]);

    let made = ["blocks.log", "--size", "10", "--closed", "--json", "--disc", "file:made"];
    let first = document(&replay(&place, &made));
    assert_eq!(fs::metadata(place.path("made")).unwrap().len(), 50 * 4096);
    // What the cache decides is the same in real time and in virtual time.
    let modelled = document(&replay(&place, &["blocks.log", "--size", "10", "--closed", "--json"]));
    assert_eq!(first["requests"], modelled["requests"]);
    assert_eq!(first["unit_hits"], modelled["unit_hits"]);
    assert!(first["elapsed_seconds"].as_f64().unwrap() > 0.0);

    let destroyed = replay(&place, &[&precious[..], &["--destroy"]].concat());
    assert!(destroyed.status.success(), "{destroyed:?}");
    let bytes = fs::read(place.path("precious")).unwrap();
    assert!(bytes.contains(&0) && bytes.len() == 50 * 4096);

    // What only reads may read what is there.
    let reading = ["uniform:keys=50,requests=200", "--disc", "file:made", "--size", "5"];
    assert!(replay(&place, &reading).status.success());
    fs::write(place.path("small"), "x").unwrap();
    for (disc, want) in [
        ("file:/dev/null", "is no regular file"),
        ("file:.", "is no regular file"),
        ("file:small", "ends at 1 B"),
        ("file:nowhere/at/all", "nowhere/at/all"),
    ] {
        let asked = ["uniform:keys=50,requests=200", "--size", "5", "--destroy", "--disc", disc];
        refused(&place, &asked, want);
    }
    refused(&place, &["uniform", "--size", "5", "--destroy"], "--destroy is for a real file");
    let few = "uniform:keys=50,requests=200";
    let range = [few, "--size", "0..20:10", "--disc", "file:made"];
    refused(&place, &range, "give one --size");
}

#[test]
fn a_page_is_never_written_over() {
    let place = Place::new();
    let made = ["loop:keys=20,requests=500", "--size", "0..40:10", "--html", "page.html"];
    assert!(replay(&place, &made).status.success());
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("no more gain"));
    refused(&place, &made, "page.html exists");
    assert_eq!(fs::read_to_string(place.path("page.html")).unwrap(), page);
}
