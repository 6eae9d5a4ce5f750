//! Several programs at once: a table of the machine, with a row for each or its reason.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;

use nbuf::experiment::result::{LiveDocument, LiveMachine};
use nbuf::internal::sys::cgroup::Hierarchies;

use super::service::{Group, Service};
use super::support::{Need, Place, requires_shared, skip};

const PAGES: usize = 1500;
/// What the first group holds besides what its service reads.
const UNUSED_PAGES: usize = 4000;

/// A file whose pages will be charged to the first that reads them.
fn uncached(place: &Place, name: &str, pages: usize) -> PathBuf {
    let path = place.file(name, pages * 4096);
    let file = File::open(&path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    path
}

/// Reads a file once in a group, to which its pages are charged.
fn read_in(group: &Path, file: &Path) {
    let script = "echo $$ >$0/cgroup.procs && exec cat $1";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(group).arg(file).stdout(std::process::Stdio::null());
    assert!(shell.status().unwrap().success());
}

fn machine(output: &Output) -> LiveMachine {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn live<'a>(machine: &'a LiveMachine, end: &str) -> &'a LiveDocument {
    let row = machine.targets.iter().find(|row| row.name.ends_with(end));
    row.and_then(|row| row.live.as_ref()).unwrap_or_else(|| panic!("{end}: {machine:?}"))
}

#[test]
fn each_group_of_a_pattern_has_its_own_answer() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let Some(parent) = Hierarchies::of_this_process().memory_v1 else {
        return skip("no memory controller of version 1 to make groups of our own");
    };
    let place = Place::new();
    let [a, b] = [("a", PAGES), ("b", 2 * PAGES)].map(|(name, n)| uncached(&place, name, n));
    let unused = uncached(&place, "unused", UNUSED_PAGES);
    let outer = Group::make(&parent, "several");
    let inner = ["a.service", "b.service", "empty.service", "other.scope"].map(|name| {
        let path = outer.0.join(name);
        fs::create_dir(&path).unwrap();
        Group(path)
    });
    read_in(&inner[0].0, &unused);
    let services = [Service::start_in(&inner[0].0, &a), Service::start_in(&inner[1].0, &b)];
    let ends = Service::start(&a, "read", "now");
    let ends_pid = ends.pid();
    let pattern = format!("{}/*.service", outer.0.display());
    let words = ["size", "--cgroup", &pattern, "--pid", &ends_pid, "--pid", "4194305"];
    let mut nbuf = place.nbuf(words);
    nbuf.args(["--for", "6s", "--target", "hit=0.5", "--json"]);
    let nbuf = nbuf.stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    drop(ends);
    let machine = machine(&nbuf.wait_with_output().unwrap());

    assert_eq!(machine.targets.len(), 5, "{machine:?}");
    // Each sees its own service's file, and no more.
    for (end, pages) in [("a.service", PAGES), ("b.service", 2 * PAGES)] {
        let live = live(&machine, end);
        let touched = live.touched_bytes.0 / 4096;
        let file = pages as u64;
        // On a busy machine six seconds need not meet each page.
        assert!((file * 9 / 10..file + 1200).contains(&touched), "{end}: {touched}: {live:?}");
        assert!(live.lost == 0 && live.processes == 1 && live.answer.is_some(), "{end}: {live:?}");
        assert!(live.memory.is_charged && live.seconds > 5.0, "{end}: {live:?}");
    }
    // The unused file can be freed, so that its group comes first.
    let first = &machine.targets[0];
    let free = first.frees_bytes.map_or(0, |bytes| bytes.0 / 4096);
    let unused = UNUSED_PAGES as u64;
    assert!(first.name.ends_with("a.service"), "{machine:?}");
    assert!(free > unused / 2, "{free}: {first:?}");
    assert_eq!(live(&machine, &ends_pid).processes, 0);
    let reason = |end: &str| {
        let row = machine.targets.iter().find(|row| row.name.ends_with(end)).unwrap();
        row.failed.clone().unwrap_or_default()
    };
    assert!(reason("empty.service").contains("has no processes"), "{machine:?}");
    assert!(reason("4194305").contains("no process has the number"), "{machine:?}");
    drop(services);
}

#[test]
fn a_pattern_without_a_match_names_what_is_near() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let Some(parent) = Hierarchies::of_this_process().memory_v1 else {
        return skip("no memory controller of version 1 to make groups of our own");
    };
    let place = Place::new();
    let outer = Group::make(&parent, "pattern");
    let inner = Group(outer.0.join("nginx.service"));
    fs::create_dir(&inner.0).unwrap();
    let check = |words: &[&str], status: i32, want: &[&str]| {
        let output = place.nbuf([&["size", "--for", "1s"], words].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {text}");
        for part in want {
            assert!(text.contains(part), "{words:?}: {part}: {text}");
        }
    };
    let below = |name: &str| outer.0.join(name).display().to_string();
    check(
        &["--cgroup", &below("*.servise")],
        125,
        &["no cgroup matches", "there are nginx.service"],
    );
    // All fail: their reasons are in the table.
    let want = ["Nothing could be watched", "Not watched:"];
    check(&["--cgroup", &below("*.service")], 125, &want);
    check(&["--cgroup", &below("*"), "--html", "x.html"], 2, &["--html is a page of one program"]);
}
