//! The commands of all documents are commands of this program: each is parsed, with `--help` as its last option.

#[expect(dead_code, reason = "shared with tests that need more of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::Place;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// README, CONTRIBUTING and all below docs/.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(REPOSITORY);
    let mut found = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The command lines of `console` and `sh` blocks, continued lines joined.
fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (mark, prompt) in [("```console\n", "$ "), ("```sh\n", "")] {
        for block in text.split(mark).skip(1) {
            let block = block.split("```").next().unwrap().replace("\\\n", " ");
            lines.extend(
                block.lines().filter_map(|line| line.strip_prefix(prompt)).map(str::to_owned),
            );
        }
    }
    lines
}

/// The calls of nbuf in a line, up to the command that nbuf runs, a redirection, a comment or an ampersand.
fn calls(line: &str) -> Vec<String> {
    let parts = [" && ", " | ", "; "].iter().fold(vec![line], |parts, mark| {
        parts.into_iter().flat_map(|part| part.split(mark)).collect()
    });
    let calls = parts.iter().filter_map(|part| {
        let part = part.trim().trim_start_matches("do ").trim_start_matches("sudo ");
        let call = part.strip_prefix("nbuf ")?;
        let ends =
            [" -- ", " >", " <", " #", " |", " &"].into_iter().filter_map(|end| call.find(end));
        Some(call[..ends.min().unwrap_or(call.len())].to_owned())
    });
    calls.collect()
}

#[test]
fn calls_are_found_in_a_line() {
    let line = "sudo nbuf size --json -- ./q && nbuf curve a >b; time nbuf x | nbuf curve -   # so";
    assert_eq!(calls(line), ["size --json", "curve a", "curve -  "]);
    assert_eq!(calls("nbuf serve a.img &"), ["serve a.img"]);
}

#[test]
fn every_command_of_the_documents_is_parsed() {
    let place = Place::new();
    let (mut tried, mut wrong) = (0, Vec::new());
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for call in lines(&text).iter().flat_map(|line| calls(line)) {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{} {call} --help", support::NBUF)]);
            let ran = shell.current_dir(place.path(".")).output().unwrap();
            if !ran.status.success() {
                let error = String::from_utf8_lossy(&ran.stderr).into_owned();
                wrong.push(format!("{}: nbuf {call}: {error}", document.display()));
            }
            tried += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried >= 100, "only {tried} commands were found");
}
