//! `nbuf demo`: the answer, its explanations, and nothing left behind.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nbuf::internal::sys::process::signal;
use support::{Need, Place, requires, skip, until};

/// The files of demonstrations in a directory.
fn left(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("nbuf-demo-")).collect()
}

/// Fails unless each line that stands for itself is explained by one of the lines behind it.
#[track_caller]
fn explained(said: &str) {
    for heading in ["Workload", "page fills by cache size", " MiB. ", "To paste"] {
        let section = said.split("\n\n").find(|part| part.contains(heading));
        let section = section.unwrap_or_else(|| panic!("no {heading}: {said}"));
        assert!(!section.is_empty());
    }
    for word in ["events", "page accesses", "mapped", "knee", "To paste", "below", "above"] {
        assert!(said.contains(&format!("> {word}: ")), "{word} is not explained: {said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn the_answer_is_explained_and_verified() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let Some(place) = Place::open_to_all() else {
        return skip("/var/tmp is not on a disc");
    };
    let output = place.nbuf(["demo"]).env("TMPDIR", place.path("")).output().unwrap();
    let (said, wrong) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{wrong}");
    explained(&said);
    assert!(said.contains("> Verified: ") && said.contains("> Proved: "), "{said}{wrong}");
    assert!(left(&place.path("")).is_empty());
}

#[test]
fn an_ordinary_user_gets_an_answer_too() {
    let Some(_lock) = requires(&[Need::Nobody, Need::Program("setpriv")]) else { return };
    let Some(place) = Place::open_to_all() else {
        return skip("/var/tmp is not on a disc");
    };
    let program = place.program();
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        .arg(program)
        .arg("demo")
        .current_dir("/")
        .env("TMPDIR", place.path(""))
        .env_remove("SUDO_UID")
        .env_remove("SUDO_GID")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (said, wrong) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{wrong}");
    explained(&said);
    assert!(left(&place.path("")).is_empty());
}

#[test]
fn nothing_is_left_however_it_ends() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let Some(place) = Place::open_to_all() else {
        return skip("/var/tmp is not on a disc");
    };
    for number in [libc::SIGINT, libc::SIGTERM, libc::SIGKILL] {
        let mut child = place
            .nbuf(["demo"])
            .env("TMPDIR", place.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the files are there", || !left(&place.path("")).is_empty());
        signal(child.id().cast_signed(), number).unwrap();
        child.wait().unwrap();
        until("the files are gone", || left(&place.path("")).is_empty());
    }
}

#[test]
fn a_place_without_a_directory_is_an_error_of_one_line() {
    let place = Place::new();
    let output = place.nbuf(["demo"]).env("TMPDIR", place.path("none")).output().unwrap();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0));
    assert!(wrong.contains("cannot make files in") && wrong.contains("TMPDIR"), "{wrong}");
}
