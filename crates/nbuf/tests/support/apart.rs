//! Control groups of a lane's own. An nbuf removes what a dead one left directly below the group that it runs in:
//! in groups apart, none tidies up what another one should have removed itself.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use nbuf::internal::sys::cgroup::Hierarchies;
use nbuf::internal::sys::process::signal;

use super::{groups_below, groups_of, pids, until};

/// A group in each hierarchy in which nbuf makes groups. Dropping it kills what is in it and below it, and removes all.
#[derive(Debug)]
pub(crate) struct Apart {
    /// None where no groups can be made: then it is our own group that counts.
    groups: Vec<PathBuf>,
}

impl Apart {
    /// As many lanes, which do not tidy up for each other. One where no groups of version 1 can be made.
    pub(crate) fn lanes(count: usize) -> Vec<Self> {
        let lanes: Option<Vec<Self>> = (0..count).map(|_| Self::new()).collect();
        lanes.unwrap_or_else(|| vec![Self { groups: Vec::new() }])
    }

    /// Below our own groups.
    fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Hierarchies { memory_v1, unified, blkio_v1 } = Hierarchies::of_this_process();
        let parents = [Some(memory_v1?), unified, blkio_v1];
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("nbuftest-apart-{}-{count}", std::process::id());
        let mut this = Self { groups: Vec::new() };
        for parent in parents.into_iter().flatten() {
            let group = parent.join(&name);
            match fs::create_dir(&group) {
                Ok(()) => this.groups.push(group),
                // It is most likely from an earlier process with our number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    panic!("{} is there already; remove it", group.display())
                }
                Err(_) => return None,
            }
        }
        Some(this)
    }

    /// The same command, started in the groups, with the process number that it has anyway.
    pub(crate) fn within(&self, command: &Command) -> Command {
        pids::joined(self.groups.iter().map(|group| group.join("cgroup.procs")), command)
    }

    /// Groups of the nbuf with this process number, which runs here.
    pub(crate) fn groups_of(&self, nbuf: u32) -> Vec<String> {
        if self.groups.is_empty() {
            return groups_of(nbuf);
        }
        groups_below(self.groups.iter().cloned(), nbuf)
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        until("the groups are gone", || {
            self.groups.iter().for_each(|group| end(group));
            self.groups.iter().all(|group| !group.exists())
        });
    }
}

/// Kills what is in a group and below it, and removes what is empty, the deepest first.
fn end(group: &Path) {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    below.for_each(|entry| end(&entry.path()));
    let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    // Zero stands for a process that we cannot see, and would be all of our own.
    let processes = list.lines().filter_map(|pid| pid.parse().ok()).filter(|&pid: &i32| pid > 0);
    processes.for_each(|pid| drop(signal(pid, 9)));
    let _ = fs::remove_dir(group);
}
