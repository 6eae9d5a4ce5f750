//! Ends what runs in a group, and removes it.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::sys::process;
use crate::sys::supervise::kill::kill_group;

/// Nothing holds out longer but what the kernel itself cannot end.
const GIVE_UP: Duration = Duration::from_secs(10);
/// The kernel tells of the end of a group of the unified hierarchy; others are looked at this often.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// Kills what is in the group and waits until it is gone.
pub(super) fn end_processes(directory: &Path) {
    let started_ns = process::monotonic_ns();
    let events = File::open(directory.join("cgroup.events")).ok();
    while u128::from(process::monotonic_ns() - started_ns) < GIVE_UP.as_nanos() {
        let Ok(text) = fs::read_to_string(directory.join("cgroup.procs")) else { return };
        if text.trim().is_empty() {
            return;
        }
        kill_group(directory);
        let mut waiting: Vec<PollFd<'_>> = events
            .iter()
            .map(|file| PollFd::from_borrowed_fd(file.as_fd(), PollFlags::PRI))
            .collect();
        let _ = poll(&mut waiting, Some(&LOOK));
    }
}

/// Removes an empty group; the kernel may need a moment after the last process. Whether it was us who removed it.
pub(super) fn remove(directory: &Path) -> bool {
    let started_ns = process::monotonic_ns();
    while u128::from(process::monotonic_ns() - started_ns) < GIVE_UP.as_nanos() {
        match fs::remove_dir(directory) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                let _ = poll(&mut [], Some(&LOOK));
            }
            removed => return removed.is_ok(),
        }
    }
    false
}
