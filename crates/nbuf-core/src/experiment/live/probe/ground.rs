//! The group that is probed, as the kernel has it.

use std::cell::RefCell;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::super::session::Cancellation;
use super::drive::Ground;
use crate::sys::cgroup::unified_directory;
use crate::sys::probe::{Guard, Look, Probed, Version, Wake};
use crate::units::Bytes;
use crate::workload::record::running::members;

/// A group with its guard.
pub(super) struct Real<'a> {
    pub(super) probed: &'a Probed,
    pub(super) directory: &'a Path,
    pub(super) guard: &'a Guard,
    pub(super) cancellation: &'a Cancellation,
    pub(super) wake: RefCell<Option<Wake>>,
}

impl Ground for Real<'_> {
    fn limit(&self) -> io::Result<Option<Bytes>> {
        self.probed.limit()
    }

    fn set(&self, limit: Option<Bytes>) -> io::Result<()> {
        self.guard.beat();
        self.probed.set(limit)
    }

    fn reclaim(&self, bytes: Bytes) -> io::Result<bool> {
        self.guard.beat();
        self.probed.reclaim(bytes)
    }

    fn look(&self) -> io::Result<Look> {
        self.guard.beat();
        self.probed.look()
    }

    fn calls(&self) -> u64 {
        let processes = members(self.directory).unwrap_or_default();
        let texts = processes.iter().map(|it| std::fs::read_to_string(format!("/proc/{it}/io")));
        texts.map(|text| calls(&text.unwrap_or_default())).sum()
    }

    fn is_alive(&self) -> bool {
        members(self.directory).is_ok_and(|processes| !processes.is_empty())
    }

    fn wait(&self, time: Duration) -> bool {
        let time = Timespec::try_from(time).unwrap_or_default();
        let wake = self.wake.borrow();
        let mut waiting = Vec::new();
        let signals = self.cancellation.listen().ok();
        waiting.extend(
            signals.map(|it| PollFd::from_borrowed_fd(it.descriptor().as_fd(), PollFlags::IN)),
        );
        waiting.extend(wake.as_ref().map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)));
        // Interrupted, it was a shorter wait.
        let _ = poll(&mut waiting, Some(&time));
        if let Some(wake) = &*wake {
            wake.take();
        }
        self.cancellation.poll().is_some()
    }

    fn watch(&self, limit: Option<Bytes>) -> io::Result<()> {
        let wake = match limit {
            // Full but for 1/32.
            Some(limit) if self.probed.version() == Version::V1 => {
                Some(self.probed.wake_at(Bytes(limit.0 - limit.0 / 32))?)
            }
            _ => None,
        };
        self.wake.replace(wake);
        Ok(())
    }
}

/// Calls that read, of `/proc/PID/io`.
fn calls(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The group of the unified hierarchy that has these processes and no other: its pressure is theirs.
pub(super) fn unified(processes: &[u32]) -> Option<PathBuf> {
    let path = |process: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
    };
    let mut paths = processes.iter().map(path);
    let first = paths.next()??;
    if first == "/" || paths.any(|path| path.as_deref() != Some(&first)) {
        return None;
    }
    let directory = unified_directory(&first)?;
    let all = members(&directory).ok()?;
    all.iter().all(|process| processes.contains(process)).then_some(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read() {
        assert_eq!(calls("rchar: 9\nwchar: 8\nsyscr: 7\nsyscw: 6\n"), 7);
        assert_eq!(calls("syscr: x"), 0);
    }
}
