//! `nbuf demo`: the answer, its explanations, and nothing left behind. The tests of the README run it as root.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

#[path = "demo/explanations.rs"]
mod explanations;

use std::process::{Command, Stdio};

use explanations::{explained, left};
use nbuf::internal::sys::process::signal;
use support::{Need, Place, requires, skip, until};

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
