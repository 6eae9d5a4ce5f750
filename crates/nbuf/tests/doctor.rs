//! `nbuf doctor`, as the user who runs the tests and as `nobody`.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::os::unix::process::CommandExt;
use std::process::Command;

use nbuf::internal::sys::process;
use support::{Need, Place, Recorded, requires, skip};

fn state<'a>(document: &'a serde_json::Value, name: &str) -> &'a str {
    let capabilities = document["capabilities"].as_array().unwrap();
    let found = capabilities.iter().find(|capability| capability["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {document}"))["state"].as_str().unwrap()
}

#[test]
fn root_can_do_the_whole_job_and_nothing_is_left() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let child = place.nbuf(["doctor", "--json"]).stdout(std::process::Stdio::piped()).spawn();
    let child = child.unwrap();
    let pid = child.id();
    let recorded = Recorded::of(child.wait_with_output().unwrap(), &place.path("none"));
    let document = recorded.json();
    assert_eq!(state(&document, "capture by tracepoints"), "works");
    assert_eq!(document["whole"], recorded.status == 0);
    assert_eq!(support::groups_of(pid), Vec::<String>::new());

    let table = Recorded::of(place.nbuf(["doctor"]).output().unwrap(), &place.path("none"));
    assert_eq!(table.status, recorded.status);
    let verdict = table.stdout.lines().last().unwrap();
    assert_eq!(verdict == "nbuf size can do its whole job here", table.status == 0, "{table:?}");
}

#[test]
fn nobody_is_told_what_is_closed_and_what_would_open_it() {
    let Some(_lock) = requires(&[]) else { return };
    let Some(place) = Place::open_to_all().filter(|_| process::is_root()) else {
        skip("doctor as nobody: neither root nor a disc that all can walk to");
        return;
    };
    let nbuf = place.program();
    let run = |option: &[&str]| {
        let mut command = Command::new(&nbuf);
        let output = command.arg("doctor").args(option).uid(65534).gid(65534).output().unwrap();
        Recorded::of(output, &place.path("none"))
    };
    let recorded = run(&["--json"]);
    let document = recorded.json();
    assert_eq!(recorded.status, 1);
    assert_eq!(document["whole"], false);
    for name in ["capture by tracepoints", "names of files", "memory limits"] {
        assert_eq!(state(&document, name), "fails");
    }
    let table = run(&[]).stdout;
    assert!(table.contains("-> run as root; or sudo setcap"), "{table}");
    if state(&document, "capture by system calls") == "works" {
        assert!(table.contains("\nnbuf size can record by system calls"), "{table}");
    }
}
