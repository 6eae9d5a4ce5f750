//! A group made by systemd, for those who cannot make one: a transient scope, of the system's manager
//! for root and of their own for others.
//!
//! `systemd-run --scope` starts a process that holds the scope open until a pipe of ours
//! closes, which our death does too; the scope goes with its last process, so that nothing needs to
//! be removed.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::hierarchy::Hierarchies;
use super::v2::V2;
use super::{Limiter, Usage};
use crate::sys::{process, programs};
use crate::units::Bytes;

/// For the user's own manager.
const USERS: &[&str] = &["--user"];

/// A scope with a process of ours in it.
#[derive(Debug)]
pub(super) struct Scope {
    unit: String,
    /// The arguments that select the manager for systemd's programs.
    manager: &'static [&'static str],
    group: V2,
    holder: Child,
    /// Closing it ends the holder.
    leash: Option<ChildStdin>,
}

impl Scope {
    /// Has the manager make a scope by this name.
    pub(super) fn start(name: &str) -> io::Result<Self> {
        let manager = if process::is_root() { &[][..] } else { USERS };
        let program = programs::find("systemd-run").ok_or(io::ErrorKind::NotFound)?;
        Self::start_with(&program, manager, name, |holder| {
            let groups = fs::read_to_string(format!("/proc/{holder}/cgroup")).ok()?;
            let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
            Hierarchies::parse(&groups, &mounts).unified
        })
    }

    fn start_with(
        program: &Path,
        manager: &'static [&'static str],
        name: &str,
        locate: impl Fn(u32) -> Option<PathBuf>,
    ) -> io::Result<Self> {
        let unit = format!("{name}.scope");
        let mut command = ask(program, manager);
        command.args(["--scope", "--quiet", "--collect"]);
        command.arg(format!("--unit={unit}"));
        command.args(["-p", "MemoryMax=infinity", "-p", "MemorySwapMax=0"]);
        // It hands the controllers of memory and discs down to the scope.
        command.args(["-p", "MemoryAccounting=yes", "-p", "IOAccounting=yes"]);
        // A manager moves processes only into units that it hands over.
        command.args(["-p", "Delegate=yes", "--", "cat"]);
        // What a terminal sends is for the command.
        command.process_group(0);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut holder = pipes.spawn()?;
        let leash = holder.stdin.take();
        // Our hand on it from here on: dropped on any way out, it ends the holder.
        let group = V2::new(PathBuf::new());
        let mut scope = Self { unit, manager, group, holder, leash };
        scope.wait_until_made()?;
        let directory = locate(scope.holder.id());
        let directory = directory.filter(|directory| directory.join("memory.max").exists());
        let none = || io::Error::other("the scope it made has no memory controller");
        scope.group = V2::new(directory.ok_or_else(none)?);
        Ok(scope)
    }

    /// The holder answers once it runs, which it does inside the scope.
    fn wait_until_made(&mut self) -> io::Result<()> {
        let mut byte = [0];
        let asked = self.leash.as_mut().map(|leash| leash.write_all(b"\n"));
        let answer = self.holder.stdout.as_mut().map(|out| out.read_exact(&mut byte));
        if let (Some(Ok(())), Some(Ok(()))) = (asked, answer) {
            return Ok(());
        }
        let mut why = String::new();
        self.leash = None;
        if let Some(error) = &mut self.holder.stderr {
            error.read_to_string(&mut why)?;
        }
        Err(io::Error::other(format!("systemd-run: {}", why.trim())))
    }

    /// Asks the manager to move a process: from a login session the scope is beyond a group of
    /// root's.
    fn move_by_manager(&self, pid: i32) -> io::Result<()> {
        let address = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1"];
        let program = programs::find("busctl").ok_or(io::ErrorKind::NotFound)?;
        let mut command = ask(&program, self.manager);
        command.arg("call").args(address);
        command.args(["org.freedesktop.systemd1.Manager", "AttachProcessesToUnit", "ssau"]);
        command.args([&self.unit, "", "1", &pid.to_string()]).stdin(Stdio::null());
        let moved = command.output()?;
        if moved.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&moved.stderr);
        Err(io::Error::other(format!("cannot move the command to its scope: {}", why.trim())))
    }
}

/// Returns the command of a program of systemd's that talks to this manager. After `su` the
/// environment lacks the address of a user's manager, or contains the one of another user.
fn ask(program: &Path, manager: &'static [&'static str]) -> Command {
    let mut command = programs::command(program);
    command.args(manager);
    if manager.is_empty() {
        return command;
    }
    let place = Path::new("/run/user").join(process::user().to_string());
    let given = env::var_os("XDG_RUNTIME_DIR");
    if given.as_deref() != Some(place.as_os_str()) && place.is_dir() {
        command.env("XDG_RUNTIME_DIR", place);
    } else {
        let kept = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
        command.envs(kept.iter().filter_map(|&name| Some((name, env::var_os(name)?))));
    }
    command
}

impl Limiter for Scope {
    fn version(&self) -> &'static str {
        if self.manager.is_empty() {
            "cgroup v2, a scope of systemd"
        } else {
            "cgroup v2, a scope of the user's systemd"
        }
    }

    fn directory(&self) -> &Path {
        self.group.directory()
    }

    fn limit(&self, limit: Option<Bytes>) -> io::Result<()> {
        self.group.limit(limit)
    }

    fn limited(&self) -> Option<Bytes> {
        self.group.limited()
    }

    fn oom_kills(&self) -> u64 {
        self.group.oom_kills()
    }

    fn usage(&self) -> io::Result<Usage> {
        self.group.usage()
    }

    fn admit(&self, pid: i32) -> io::Result<()> {
        let list = self.directory().join("cgroup.procs");
        match fs::OpenOptions::new().write(true).open(list) {
            Ok(mut list) => list.write_all(format!("{pid}\n").as_bytes()),
            Err(error) => Err(error),
        }
        .or_else(|_| self.move_by_manager(pid))
    }

    fn empty(&self) {
        self.group.empty();
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        drop(self.leash.take());
        let _ = self.holder.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes another process write a script. If we held it open for writing while another test
    /// forks, its child would hold it too, and no process could execute it.
    fn stand_in(directory: &Path, script: &str) -> PathBuf {
        let path = directory.join("systemd-run");
        let write = "printf '%s\\n' '#!/bin/sh' \"$1\" >\"$0\" && chmod 755 \"$0\"";
        let mut shell = Command::new("sh");
        assert!(shell.args(["-c", write]).arg(&path).arg(script).status().unwrap().success());
        path
    }

    #[test]
    fn a_scope_limits_admits_and_goes_with_us() {
        let place = tempfile::tempdir().unwrap();
        let here = place.path();
        for file in ["memory.max", "memory.swap.max", "cgroup.procs"] {
            fs::write(here.join(file), "").unwrap();
        }
        fs::write(here.join("memory.stat"), "anon 4096\nfile 8192\n").unwrap();
        let told = here.join("told");
        let script = format!(
            "echo \"$@\" >{}; while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"",
            told.display()
        );
        let program = stand_in(here, &script);
        let locate = |_| Some(here.to_owned());
        let scope = Scope::start_with(&program, USERS, "nbuf-1-2-3-4", locate).unwrap();
        let want = "--user --scope --quiet --collect --unit=nbuf-1-2-3-4.scope -p \
                    MemoryMax=infinity -p MemorySwapMax=0 -p MemoryAccounting=yes -p IOAccounting=yes -p \
                    Delegate=yes -- cat\n";
        assert_eq!(fs::read_to_string(told).unwrap(), want);
        scope.limit(Some(Bytes(64 << 20))).unwrap();
        scope.admit(77).unwrap();
        let read = |file| fs::read_to_string(here.join(file)).unwrap();
        assert_eq!((read("memory.max"), read("cgroup.procs")), ("67108864".into(), "77\n".into()));
        assert_eq!(scope.usage().unwrap().anonymous, Bytes(4096));
        let holder = i32::try_from(scope.holder.id()).unwrap();
        assert!(process::start_ticks(holder).is_some());
        drop(scope);
        assert_eq!(process::start_ticks(holder), None, "it ended with its leash");
    }

    #[test]
    fn what_systemd_says_is_the_reason() {
        let place = tempfile::tempdir().unwrap();
        let program = stand_in(place.path(), "echo no bus >&2; exit 1");
        let error = Scope::start_with(&program, &[], "x", |_| None).unwrap_err();
        assert_eq!(error.to_string(), "systemd-run: no bus");
        let program = stand_in(place.path(), "exec cat");
        let error = Scope::start_with(&program, &[], "x", |_| None).unwrap_err();
        assert_eq!(error.to_string(), "the scope it made has no memory controller");
    }
}
