//! The group that is probed: what a probe asks of one, and how the kernel answers.

use std::cell::RefCell;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::super::session::Cancellation;
use crate::sys::cgroup::{unified_directory, unified_path};
use crate::sys::probe::{Guard, Look, Probed, Version, Wake};
use crate::sys::process::read_calls;
use crate::units::Bytes;
use crate::workload::record::running::{may_trace, members};

/// Between two signs of life while the kernel sets a limit.
const BEAT: Duration = Duration::from_secs(1);

/// What a probe asks of a group.
pub(super) trait Ground {
    fn limit(&self) -> io::Result<Option<Bytes>>;
    fn set(&self, limit: Option<Bytes>) -> io::Result<()>;
    /// Takes so much from the group without a limit. False where there is no way.
    fn reclaim(&self, bytes: Bytes) -> io::Result<bool>;
    fn look(&self) -> io::Result<Look>;
    /// Calls that read so far, of all its processes.
    fn calls(&self) -> u64;
    /// Whether a process of it runs.
    fn is_alive(&self) -> bool;
    /// Waits for so long, or less if the group may have filled up. Whether a signal came.
    fn wait(&self, time: Duration) -> bool;
    /// Under this limit, the kernel is to end a wait when the group fills up; or no more.
    fn watch(&self, limit: Option<Bytes>) -> io::Result<()>;
}

/// A group with its guard.
pub(super) struct Real<'a> {
    pub(super) probed: &'a Probed,
    pub(super) directory: &'a Path,
    pub(super) guard: &'a Guard,
    pub(super) cancellation: &'a Cancellation,
    /// Who probes.
    pub(super) user: u32,
    pub(super) wake: RefCell<Option<Wake>>,
}

impl Ground for Real<'_> {
    fn limit(&self) -> io::Result<Option<Bytes>> {
        self.probed.limit()
    }

    fn set(&self, limit: Option<Bytes>) -> io::Result<()> {
        self.guard.beat();
        if self.probed.version() == Version::V2 {
            return self.probed.set(limit);
        }
        // The kernel takes what is above the limit first, for as long as that takes, and sets the limit then.
        thread::scope(|scope| {
            let (end, over) = mpsc::channel::<()>();
            let guard = self.guard;
            scope.spawn(move || {
                while over.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                    guard.beat();
                }
            });
            let set = self.probed.set(limit);
            drop(end);
            set
        })
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
        let may = |process: &&u32| may_trace(**process, self.user);
        processes.iter().filter(may).map(|&process| read_calls(process)).sum()
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
            // Full except 1/32.
            Some(limit) if self.probed.version() == Version::V1 => {
                Some(self.probed.wake_at(Bytes(limit.0 - limit.0 / 32))?)
            }
            _ => None,
        };
        self.wake.replace(wake);
        Ok(())
    }
}

/// The group of the unified hierarchy that has these processes and no other: its pressure is theirs.
pub(super) fn unified(processes: &[u32]) -> Option<PathBuf> {
    let mut paths = processes.iter().map(|&process| unified_path(process));
    let first = paths.next()??;
    if first == "/" || paths.any(|path| path.as_deref() != Some(&first)) {
        return None;
    }
    let directory = unified_directory(&first)?;
    let all = members(&directory).ok()?;
    all.iter().all(|process| processes.contains(process)).then_some(directory)
}
