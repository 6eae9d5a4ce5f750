//! A pids cgroup of a test's own: what runs in it can be counted and bounded, whatever it is called.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::until;

/// A group with a limit. Dropping it kills what is in it and removes it.
#[derive(Debug)]
pub(crate) struct Pids {
    directory: PathBuf,
}

impl Pids {
    /// One below our own group of the v1 hierarchy; none where there is no such hierarchy, or we may not.
    pub(crate) fn of(most: u32) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let ours = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let is_pids = parts.next()?.split(',').any(|name| name == "pids");
            parts.next().filter(|_| is_pids)
        })?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("nbuftest-{}-{count}", std::process::id());
        let parent = PathBuf::from("/sys/fs/cgroup/pids").join(ours.trim_start_matches('/'));
        let directory = parent.join(name);
        fs::create_dir(&directory).ok()?;
        let this = Self { directory };
        fs::write(this.directory.join("pids.max"), most.to_string()).ok()?;
        Some(this)
    }

    /// The same command, started in the group, with the process number that it has anyway.
    pub(crate) fn within(&self, command: &Command) -> Command {
        joined(std::iter::once(self.directory.join("cgroup.procs")), command)
    }

    /// What runs in it; zombies do not.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let list = fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default();
        list.lines().filter_map(|line| line.parse().ok()).collect()
    }
}

impl Drop for Pids {
    fn drop(&mut self) {
        until("the group is empty", || {
            for pid in self.processes() {
                let _ = nbuf::internal::sys::process::signal(pid, 9);
            }
            self.processes().is_empty()
        });
        until("the group is gone", || fs::remove_dir(&self.directory).is_ok());
    }
}

/// Status of a command that could not be put into a group; nbuf has no such status of its own.
pub(crate) const NOT_JOINED: i32 = 99;

/// The same command, which puts itself on these lists of processes first. Its process number is as without.
/// Where it cannot, it ends as [`NOT_JOINED`] says, which a caller checks.
pub(crate) fn joined(lists: impl Iterator<Item = PathBuf>, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    let script = format!(
        "while [ \"$1\" != -- ]; do echo $$ >\"$1\" || exit {NOT_JOINED}; shift; done; shift; exec \"$@\""
    );
    shell.args(["-c", &script, "sh"]).args(lists).arg("--");
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        shell.current_dir(directory);
    }
    shell
}
