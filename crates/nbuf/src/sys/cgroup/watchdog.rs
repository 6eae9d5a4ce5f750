//! A process that outlives ours for as long as it takes to remove a group.
//!
//! It is forked before the group is made and waits for a pipe to close, which our death does too.
//! The supervisor cannot stand in for it: it starts later and ends with the command.
//! Async-signal-safe calls only, no allocation after the fork.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys::check;
use crate::sys::supervise::children::{close_all_but, ignore_terminal, signal_listed};

/// Our end of a watchdog. Dropping it lets the watchdog go, which removes what is still there.
#[derive(Debug)]
pub(super) struct Watchdog {
    pid: i32,
    leash: Option<OwnedFd>,
}

impl Watchdog {
    /// Starts to watch over directories, which need not exist yet, and their lists of processes.
    pub(super) fn start(groups: &[(CString, CString)]) -> io::Result<Self> {
        let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        // SAFETY: the child runs `watch`, which keeps to async-signal-safe calls.
        let pid = unsafe { libc::fork() };
        check(pid.into())?;
        if pid == 0 {
            // SAFETY: we are the only thread of a fresh process.
            unsafe { watch(theirs.as_raw_fd(), groups) }
        }
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

/// Waits until the other end is closed, then removes the groups and goes: two seconds at most.
unsafe fn watch(leash: i32, groups: &[(CString, CString)]) -> ! {
    // SAFETY: plain system calls on numbers and on C strings that live until `_exit`.
    unsafe {
        ignore_terminal();
        close_all_but(0, &[leash]);
        let mut byte = 0u8;
        while libc::read(leash, (&raw mut byte).cast(), 1) < 0
            && *libc::__errno_location() == libc::EINTR
        {}
        for _ in 0..2000 {
            let mut left = false;
            for (directory, processes) in groups {
                // A cgroup that is in use says EBUSY; other answers do not change by waiting.
                if libc::rmdir(directory.as_ptr()) != 0 && *libc::__errno_location() == libc::EBUSY
                {
                    left = true;
                    signal_listed(processes.as_ptr(), libc::SIGKILL);
                }
            }
            if !left {
                break;
            }
            libc::usleep(1000);
        }
        libc::_exit(0)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn it_removes_what_was_made_after_it_started() {
        let place = tempfile::tempdir().unwrap();
        let group = place.path().join("group");
        let c = |path: &std::path::Path| CString::new(path.as_os_str().as_bytes()).unwrap();
        let watchdog = Watchdog::start(&[(c(&group), c(&group.join("cgroup.procs")))]).unwrap();
        std::fs::create_dir(&group).unwrap();
        assert!(group.exists());
        drop(watchdog);
        assert!(!group.exists());
    }
}
