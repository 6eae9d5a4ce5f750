//! The processes of a container, which its engine starts in a group of ours.
//!
//! An engine makes the first process of a container, puts it into its group, and lets it wait there before it
//! executes the caller's program (OCI `create` and `start`). What watches attaches meanwhile; all that the
//! process starts is inherited. Others enter the group later (`podman exec`).

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use crate::sys::cgroup::Group;

/// How often the group is looked at until something is in it, and then.
const FIRST: Duration = Duration::from_millis(2);
const LATER: Duration = Duration::from_millis(20);

/// A watch over the group of a container.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    group: &'a Group,
    /// Threads that are followed.
    threads: HashSet<u32>,
    /// Those of the last look that were not. One that is just forked is known with the next events.
    unknown: HashSet<u32>,
    looks_left: u32,
}

/// Looks in quick succession after the first process: an engine makes it in stages, each a process.
const QUICK_LOOKS: u32 = 100;

impl<'a> Container<'a> {
    /// The watch, if the group is for a container.
    pub(crate) fn of(group: Option<&'a Group>) -> Option<Self> {
        let group = group.filter(|group| group.parent_for_engine().is_some())?;
        let (threads, unknown) = (HashSet::new(), HashSet::new());
        Some(Self { group, threads, unknown, looks_left: QUICK_LOOKS })
    }

    /// How soon to look again.
    pub(crate) fn look_every(&self) -> Duration {
        if self.looks_left > 0 { FIRST } else { LATER }
    }

    /// A thread that is followed has started this one.
    pub(crate) fn started(&mut self, thread: u32) {
        self.threads.insert(thread);
    }

    /// Processes to attach to, with their threads. Call it when the events until now were taken.
    pub(crate) fn entered(&mut self) -> Vec<(u32, Vec<u32>)> {
        let members = self.group.container_processes();
        if !members.is_empty() {
            self.looks_left = self.looks_left.saturating_sub(1);
        }
        let mut unknown = HashSet::new();
        let mut entered = Vec::new();
        for process in members {
            let threads: Vec<u32> =
                threads_of(process).into_iter().filter(|it| !self.threads.contains(it)).collect();
            let (again, first): (Vec<u32>, Vec<u32>) =
                threads.into_iter().partition(|thread| self.unknown.contains(thread));
            unknown.extend(first);
            if !again.is_empty() {
                self.threads.extend(&again);
                entered.push((process, again));
            }
        }
        self.unknown = unknown;
        entered
    }
}

fn threads_of(process: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    let names = entries.into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
