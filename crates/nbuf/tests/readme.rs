//! The README's commands, run literally in a small place of their own.

#[expect(dead_code, reason = "shared with tests that need more of it")]
mod support;

#[path = "demo/explanations.rs"]
mod explanations;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use explanations::{explained, left};
use support::{Need, Place, requires};

fn readme() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap()
}

/// The `console` blocks of the README.
fn blocks() -> Vec<String> {
    let readme = readme();
    let blocks = readme.split("```console\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs what stands behind a `$`, with the program under test for the README's.
fn shell(place: &Place, line: &str) -> Output {
    let line = line.strip_prefix("$ ").unwrap();
    let rest =
        ["cargo run --release -- ", "nbuf "].iter().find_map(|p| line.strip_prefix(p)).unwrap();
    let line = format!("{} {rest}", support::NBUF);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line]).current_dir(place.path("."));
    command.stdin(std::process::Stdio::null());
    command.output().unwrap()
}

/// Lets digits and what units they have vary.
fn shape(line: &str) -> String {
    let masked = line.chars().map(|c| if "0123456789.,".contains(c) { '#' } else { c });
    let mut words: Vec<String> =
        masked.collect::<String>().split_whitespace().map(str::to_owned).collect();
    words.dedup();
    let mut shape = words.join(" ");
    while shape.contains("##") {
        shape = shape.replace("##", "#");
    }
    shape
}

#[test]
fn the_demonstration_shows_what_the_readme_shows() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let blocks = blocks();
    let (command, shown) = blocks[0].split_once('\n').unwrap();
    let folder = std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from);
    let before = left(&folder);
    let ran = shell(&Place::new(), command);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{out}");
    explained(&out);
    assert!(out.contains("> Verified: ") && out.contains("> Proved: "), "{out}");
    assert_eq!(left(&folder), before);
    let got: Vec<String> = out.lines().map(shape).collect();
    let starts =
        ["A demonstration", "  a program", "52.0 MiB. ", "Verified", "To paste", "  docker"];
    let certain = shown.lines().filter(|line| starts.iter().any(|start| line.starts_with(start)));
    let certain: Vec<&str> = certain.collect();
    assert_eq!(certain.len(), starts.len(), "{certain:?}");
    for line in certain {
        // How much more another size reads, if more at all, is the disc's affair.
        let shape = shape(line.split(": with").next().unwrap_or(line));
        assert!(got.iter().any(|got| got.starts_with(&shape)), "no {line}:\n{out}");
    }
}

#[test]
fn the_example_shows_what_the_readme_shows() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let block = &blocks()[1];
    let place = Place::new();
    // What a release build leaves there, in small: the letters of the README's two patterns.
    fs::create_dir_all(place.path("target/release/deps")).unwrap();
    for letter in ["a", "g", "n", "p", "z"] {
        place.file(&format!("target/release/deps/lib{letter}-1.rlib"), 32 << 20);
    }
    let (command, shown) = block.split_once('\n').unwrap();
    let ran = shell(&place, command);
    let out = String::from_utf8(ran.stdout).unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    // A run next to others may leave its band by more than 5 %.
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{out}{err}");
    // The README shows a terminal; without one the report leaves standard output to the command.
    let got: Vec<String> = err.lines().map(shape).collect();
    let certain = |line: &&str| {
        let starts = ["Workload", "  = ", "Verified", "To paste", "    limit", "  docker"];
        let also = ["  resources", "  systemd", "  above"];
        starts.iter().chain(&also).any(|start| line.starts_with(start))
    };
    let certain: Vec<&str> = shown.lines().filter(certain).collect();
    assert!(certain.len() >= 9, "{certain:?}");
    for line in certain {
        // No time is known for a slow disc: the last columns are others.
        let shaped = if line.starts_with("    limit") {
            "limit predicted measured".to_owned()
        } else if line.starts_with("  = ") {
            // Where its line breaks depends on the digits.
            shape(line.split(" + ").next().unwrap_or(line))
        } else {
            shape(line)
        };
        let has = got.iter().any(|got| got.starts_with(&shaped));
        assert!(has, "no line like `{line}` in\n{err}");
    }
    assert_eq!(out.lines().count(), 2, "the command's own output: {out}");
    assert!(err.contains("running the command 4 more times"), "{err}");
}

/// Whether an output has these lines, where `...` stands for any number of lines.
fn has_lines(output: &str, shown: &str) -> bool {
    let mut left = output;
    for (at, lines) in shown.split("...\n").enumerate() {
        match left.split_once(lines) {
            Some((before, after)) if at > 0 || before.is_empty() => left = after,
            _ => return false,
        }
    }
    true
}

#[test]
fn the_commands_on_traces_run() {
    let place = Place::new();
    let blocks = blocks();
    let commands: Vec<&str> = blocks[3..5].iter().flat_map(|block| block.lines()).collect();
    assert_eq!(commands.len(), 8);
    for command in commands {
        let ran = shell(&place, command);
        let err = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{command}: {err}");
        if command.starts_with("$ nbuf curve zipf.bin") {
            let readme = readme();
            let (_, shown) = readme.split_once("The second command prints:\n\n```text\n").unwrap();
            let shown = shown.split("```").next().unwrap();
            let out = String::from_utf8(ran.stdout).unwrap();
            assert!(has_lines(&out, shown), "not what the README shows:\n{out}");
        }
    }
    assert!(place.path("curve.html").exists());
}

#[test]
fn the_other_commands_run() {
    let needs = [Need::Tracepoints, Need::Program("make"), Need::Loop];
    let Some(_lock) = requires(&needs) else { return };
    let place = Place::new();
    place.file("data", 2 << 20);
    fs::write(place.path("Makefile"), "all:\n\tcat data > copy\nclean:\n\trm -f copy\n").unwrap();
    fs::write(place.path("query"), "#!/bin/sh\ncat data data > /dev/null\n").unwrap();
    fs::set_permissions(place.path("query"), fs::Permissions::from_mode(0o755)).unwrap();
    let commands: Vec<String> = blocks()[2].lines().map(str::to_owned).collect();
    assert_eq!(commands.len(), 9);
    for name in ["a.json", "b.json"] {
        let options = ["size", "--force", "--no-verify", "--json", "--", "./query"];
        fs::write(place.path(name), place.nbuf(options).output().unwrap().stdout).unwrap();
    }
    for command in commands {
        let ran = shell(&place, &command);
        let err = String::from_utf8_lossy(&ran.stderr);
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{command}: {err}");
        if command.contains("--json") {
            let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
            assert_eq!(report["schema"], "nbuf.size/1");
        }
    }
    assert!(place.path("run.parquet").exists());
}
