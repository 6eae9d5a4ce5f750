//! Processes that a caller without root may not trace: a refusal for each reason, and nothing is attached.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nbuf::internal::sys::cgroup::Hierarchies;

use super::service::Group;
use super::support::{Need, Place, requires_shared, skip, until};

const AS_USER: [&str; 5] = ["--reuid=65534", "--regid=65534", "--clear-groups", "--", "sleep"];

/// A process that is ended and waited for.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// As the user, with more words for `setpriv`.
    fn of_user(more: &[&str]) -> Self {
        let mut setpriv = Command::new("setpriv");
        let process = Self::start(setpriv.args(more).args(AS_USER).arg("60"));
        process.is_sleeping();
        process
    }

    /// Waits until it is the program at the end of its chain.
    fn is_sleeping(&self) {
        let name = format!("/proc/{}/comm", self.0.id());
        until("it sleeps", || fs::read_to_string(&name).is_ok_and(|name| name == "sleep\n"));
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What nbuf says to that user, who may not have it.
fn refused(place: &Place, program: &Path, words: &[&str]) -> String {
    let mut nbuf = Command::new("setpriv");
    nbuf.args(&AS_USER[..4]).arg(program).args(["size", "--for", "1s"]).args(words);
    nbuf.current_dir(place.path("")).env("HOME", "/nonexistent");
    let output = nbuf.env_remove("SUDO_UID").env_remove("SUDO_GID").output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{words:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn processes_that_a_caller_may_not_trace_are_refused() {
    let needs =
        [Need::Tracepoints, Need::Nobody, Need::Program("setpriv"), Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let Some(place) = Place::open_to_all() else { return };
    let program = place.program();
    let check = |process: &Process, what: &str, is_refused: bool| {
        let pid = process.pid();
        let text = refused(&place, &program, &["--pid", &pid]);
        let want = format!("you may not trace process {pid}");
        assert_eq!(text.contains(&want), is_refused, "{what}: {text}");
    };
    // Without a reason it is not refused so: the kernel's answer to the recording itself is another one.
    check(&Process::of_user(&[]), "theirs", false);
    check(&Process::start(Command::new("sleep").arg("60")), "root's", true);
    let script = "import os, time
os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
print('ready', flush=True); time.sleep(60)";
    // A process that changed its account has memory of root's.
    let changed =
        Process::start(Command::new("python3").args(["-c", script]).stdout(Stdio::null()));
    let status = format!("/proc/{}/status", changed.pid());
    let is_changed = || fs::read_to_string(&status).is_ok_and(|it| it.contains("Uid:\t65534"));
    until("it has changed its account", is_changed);
    check(&changed, "changed", true);
    let saved = ["--ruid=65534", "--euid=65533", "--regid=65534", "--clear-groups", "sleep", "60"];
    let several = Process::start(Command::new("setpriv").args(saved));
    several.is_sleeping();
    check(&several, "of several accounts", true);
    let able = ["--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"];
    let mut setpriv = Command::new("setpriv");
    let works = setpriv.args(able).args(&AS_USER[..4]).arg("true").status();
    if !works.is_ok_and(|status| status.success()) {
        return skip("no capability can be given here");
    }
    let able = Process::of_user(&able);
    let status = fs::read_to_string(format!("/proc/{}/status", able.pid())).unwrap();
    assert!(!status.contains("CapPrm:\t0000000000000000"), "{status}");
    check(&able, "with a capability", true);
}

#[test]
fn a_group_with_one_process_of_another_account_is_refused() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Program("setpriv")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let Some(parent) = Hierarchies::of_this_process().memory_v1 else {
        return skip("no memory controller of version 1 for a group of our own");
    };
    let Some(place) = Place::open_to_all() else { return };
    let group = Group::make(&parent, "refused");
    let theirs = Process::of_user(&[]);
    let others = Process::start(Command::new("sleep").arg("60"));
    let enter = |process: &Process| fs::write(group.0.join("cgroup.procs"), process.pid()).unwrap();
    enter(&theirs);
    let words = ["--cgroup", group.0.to_str().unwrap()];
    let program = place.program();
    let text = refused(&place, &program, &words);
    assert!(!text.contains("you may not trace"), "{text}");
    enter(&others);
    let text = refused(&place, &program, &words);
    assert!(text.contains(&format!("you may not trace process {}", others.pid())), "{text}");
    drop((theirs, others));
}
