//! An ordinary user's verification: real limits in a group that was handed down, and fills by what
//! the processes read from discs, for the tracepoints are closed.

#![expect(clippy::print_stderr, reason = "the figures are wanted beside the verdict")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nbuf::internal::sys::cgroup::Hierarchies;
use nbuf::internal::workload::record::traced;
use serde_json::Value;
use support::{NBUF, Need, Place, Recorded, requires, skip};

const NOBODY: u32 = 65534;

/// Groups that `nobody` may divide, gone with this value.
struct Delegated {
    directories: Vec<PathBuf>,
}

impl Delegated {
    /// None, said aloud, where no such group can be made.
    fn new() -> Option<Self> {
        let Hierarchies { memory_v1, unified, .. } = Hierarchies::of_this_process();
        let Some(memory) = memory_v1 else {
            skip("no memory controller of version 1 to hand down");
            return None;
        };
        let mut made = Self { directories: Vec::new() };
        for parent in [Some(memory), unified].into_iter().flatten() {
            let directory = parent.join(format!("test-nbuf-{}", std::process::id()));
            if let Err(error) = fs::create_dir(&directory) {
                skip(&format!("no group can be handed down: {error}"));
                return None;
            }
            made.directories.push(directory.clone());
            for name in ["", "cgroup.procs", "tasks", "cgroup.threads"] {
                let path = directory.join(name);
                if path.exists() {
                    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
                }
            }
        }
        Some(made)
    }

    /// A shell that goes into the groups, becomes `nobody` and executes what follows.
    fn command(&self, place: &Place) -> Command {
        let enter =
            |directory: &PathBuf| format!("echo $$ >{}/cgroup.procs && ", directory.display());
        let mut script: String = self.directories.iter().map(enter).collect();
        script += "exec setpriv --reuid 65534 --regid 65534 --clear-groups -- \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).current_dir(place.path(""));
        command.env("HOME", "/nonexistent").env_remove("SUDO_UID").env_remove("SUDO_GID");
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        for directory in &self.directories {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn runs(document: &Value) -> &[Value] {
    document["verify"].as_array().unwrap_or_else(|| panic!("{document}"))
}

#[test]
fn nobody_verifies_under_real_limits() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Nobody, Need::Program("setpriv")]) else {
        return;
    };
    if let Err(error) = traced::probe() {
        skip(&format!("recording by system calls: {error}"));
        return;
    }
    let Some(place) = Place::open_to_all() else {
        skip("/var/tmp is not on a disc");
        return;
    };
    let Some(groups) = Delegated::new() else { return };
    place.program();
    for number in 0..6 {
        place.file(&format!("file{number}"), 8 << 20);
    }
    let script = "cat file? file? file? >/dev/null";
    let size = |options: &[&str]| {
        let mut command = groups.command(&place);
        command.arg(place.path("nbuf")).args(["size", "-y", "--json", "--force"]).args(options);
        let output = command.args(["--", "sh", "-c", script]).output().unwrap();
        Recorded::of(output, &place.path("none"))
    };
    let sized = size(&["--verify-at", "120%,50%"]);
    let document = sized.json();
    assert_eq!(document["capture"]["backend"], "calls", "{sized:?}");
    let runs = runs(&document);
    assert_eq!(runs.len(), 3, "{sized:?}");
    for run in runs {
        assert_eq!(run["meter"], "bytes_read");
        // All is read once, or each time except some pages that the kernel keeps: 19 were seen.
        let times = if run["cache_bytes"].as_u64() < Some(30 << 20) { 3 } else { 1 };
        let (want, got) = (times * 6 * 2048, run["measured_fills"].as_u64().unwrap());
        assert!((want - want / 20..want + want / 10).contains(&got), "{times} times: {run:#}");
        let predicted = run["predicted_fills_high"].as_u64().unwrap();
        assert!(predicted >= want && predicted < want + want / 10, "{run:#}");
        eprintln!("nobody, {times} times: {predicted} predicted, {got} measured");
        assert_eq!(run["within_band"], true, "{run:#}");
    }

    // What writes cannot be judged by reads.
    let script = "cat file0 >copy; cat copy >/dev/null; rm copy";
    for (options, told) in [
        (&["--no-verify"][..], ""),
        (&["--force"], "of the pages were written to; without the kernel's tracepoints"),
    ] {
        let mut command = groups.command(&place);
        command.arg(place.path("nbuf")).args(["size", "-y"]).args(options);
        let output = command.args(["--", "sh", "-c", script]).output().unwrap();
        let sized = Recorded::of(output, &place.path("none"));
        assert!(sized.stderr.contains(told), "{sized:?}");
        assert!(!sized.stderr.contains("Verified: "), "{sized:?}");
        assert_eq!(sized.status, 0, "{sized:?}");
    }
    // For people: what was compared.
    let mut command = groups.command(&place);
    command.arg(place.path("nbuf")).args(["size", "-y", "--force", "--verify-at", "50%"]);
    let output = command.args(["--", "sh", "-c", "cat file? file? >/dev/null"]).output().unwrap();
    let shown = Recorded::of(output, &place.path("none"));
    assert!(shown.stderr.contains("\nVerified: pages read from discs\n"), "{shown:?}");
    assert!(shown.stderr.contains("directories and inodes"), "{shown:?}");
}

#[test]
fn root_may_be_without_its_rights() {
    let needs = [Need::Tracepoints, Need::Program("setpriv"), Need::Program("unshare")];
    let Some(_lock) = requires(&needs) else { return };
    let place = Place::new();
    let file = place.file("file", 8 << 20);
    chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let run = |script: &str, options: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", NBUF, "size", "-y"]).args(options);
        command.args(["--", "cat", "file"]).current_dir(place.path("")).stdin(Stdio::null());
        Recorded::of(command.output().unwrap(), &place.path("none"))
    };
    // The kernel calls all of the file resident then, though it was dropped.
    let bare = "exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let sized = run(bare, &["--json", "--no-verify", "--capture", "calls"]);
    assert!(sized.json()["capture"]["accesses"].as_u64() >= Some(2048), "{sized:?}");
    let sized = run(bare, &["--json", "--force", "--capture", "calls"]);
    let document = sized.json();
    assert!(document["curve"][0]["lru_fills"].as_u64() >= Some(2048), "{document:#}");

    let Some(memory) = Hierarchies::of_this_process().memory_v1 else {
        skip("no memory controller of version 1 to be read only");
        return;
    };
    let mount = memory.ancestors().filter(|path| path.ends_with("memory")).last();
    let mount = mount.unwrap_or(&memory).display().to_string();
    let locked = format!("mount -o remount,bind,ro {mount} && exec \"$@\"");
    let sized = run(&format!("exec unshare -m sh -c '{locked}' sh \"$@\""), &["--json"]);
    assert_eq!(sized.status, 0, "{sized:?}");
    assert!(sized.stderr.contains("nothing will be verified"), "{sized:?}");
    assert_eq!(sized.json()["verify"], Value::Array(Vec::new()));
}

#[test]
fn what_is_read_is_what_is_filled() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut scripts = vec!["cat big big >/dev/null", "dd if=big of=/dev/null bs=4k status=none"];
    place.file("big", 24 << 20);
    fs::create_dir(place.path("tree")).unwrap();
    for number in 0..300 {
        place.file(&format!("tree/{number}"), 1000 + 97 * number);
    }
    scripts.push("for i in 1 2; do grep -rc nothing tree >/dev/null; done; true");
    for script in scripts {
        let options = ["--json", "--force", "--verify-at", "60%,25%"];
        let sized = place.size(&options, &["sh", "-c", script]);
        let document = sized.json();
        for run in runs(&document) {
            assert_eq!(run["meter"], "tracepoint");
            let filled = run["measured_fills"].as_f64().unwrap();
            let read = run["read_bytes"].as_f64().unwrap() / 4096.0;
            eprintln!("{script}: {filled} filled, {read} read");
            // Directories and inodes are some tens of pages.
            assert!(read >= filled * 0.98 && read <= filled * 1.02 + 64.0, "{script}: {run:#}");
        }
    }
}
