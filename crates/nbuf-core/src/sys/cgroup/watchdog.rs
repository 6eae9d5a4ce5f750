//! A process that outlives ours for as long as it takes to remove a group.
//!
//! It is forked before the group is made and waits for a pipe to close, which our death does too.
//! The supervisor cannot stand in for it: it starts later and ends with the command.
//! Async-signal-safe calls only, no allocation after the fork.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::nested::end_below;
use crate::sys::check;
use crate::sys::supervise::GroupPaths;
use crate::sys::supervise::children::{close_all_but, ignore_terminal};
use crate::sys::supervise::kill::kill_all;
use crate::sys::supervise::owner::{self, Owner};

/// Our end of a watchdog. Dropping it lets the watchdog go, which removes what is still there.
#[derive(Debug)]
pub(super) struct Watchdog {
    pid: i32,
    leash: Option<OwnedFd>,
}

impl Watchdog {
    /// Starts to watch over directories, which need not exist yet, and their lists of processes. Directories
    /// above them are removed if they are empty.
    pub(super) fn start(groups: &[GroupPaths], above: &[GroupPaths]) -> io::Result<Self> {
        let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        // SAFETY: the child runs `watch`, which keeps to async-signal-safe calls.
        let pid = unsafe { libc::fork() };
        check(pid.into())?;
        if pid == 0 {
            // SAFETY: we are the only thread of a fresh process.
            unsafe { watch(theirs.as_raw_fd(), groups, above) }
        }
        // What a command sends to its process group, `SIGKILL` even, meets ours and not the watchdog. By us,
        // so that it holds before anything is started.
        // SAFETY: a number of our own child.
        unsafe { libc::setpgid(pid, pid) };
        Ok(Self { pid, leash: Some(ours) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.leash.take());
        // SAFETY: waiting for our own child; nothing is written. Interrupted, a zombie is left to
        // us, which goes when we do.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// Looks at the groups, a millisecond apart, before what is left is given up.
const LOOKS: usize = 10_000;

/// Waits until the other end is closed, then ends what is in the groups, removes them and goes.
unsafe fn watch(leash: i32, groups: &[GroupPaths], above: &[GroupPaths]) -> ! {
    // SAFETY: plain system calls on numbers and on C strings that live until `_exit`.
    unsafe {
        ignore_terminal();
        let owner = Owner::parent();
        close_all_but(0, &[leash, owner.descriptor()]);
        let mut end = libc::pollfd { fd: leash, events: libc::POLLIN, revents: 0 };
        while libc::poll(&raw mut end, 1, owner::LOOK_MS) <= 0 && !owner.is_dying() {}
        for _ in 0..LOOKS {
            let mut left = false;
            for group in groups {
                end_below(group.directory.as_ptr());
                // A cgroup that is in use says EBUSY; other answers do not change by waiting.
                left |= libc::rmdir(group.directory.as_ptr()) != 0
                    && *libc::__errno_location() == libc::EBUSY;
            }
            if !left {
                break;
            }
            kill_all(groups);
            libc::poll(std::ptr::null_mut(), 0, 1);
        }
        for group in above {
            libc::rmdir(group.directory.as_ptr());
        }
        libc::_exit(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_in_a_process_group_of_its_own() {
        let watchdog = Watchdog::start(&[], &[]).unwrap();
        // SAFETY: no memory is involved.
        assert_eq!(unsafe { libc::getpgid(watchdog.pid) }, watchdog.pid);
    }

    #[test]
    fn it_removes_what_was_made_after_it_started() {
        let place = tempfile::tempdir().unwrap();
        let group = place.path().join("group");
        let watchdog = Watchdog::start(&[GroupPaths::of(&group)], &[]).unwrap();
        std::fs::create_dir(&group).unwrap();
        assert!(group.exists());
        drop(watchdog);
        assert!(!group.exists());
    }
}
