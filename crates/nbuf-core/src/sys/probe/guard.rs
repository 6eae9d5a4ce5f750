//! A process that puts a limit back when ours cannot: it died, or it was stopped.
//!
//! It is forked before the limit is written and waits for a pipe to close, which our death does too. It writes only
//! where it reads a value that is ours. Async-signal-safe calls only, no allocation after the fork.

use std::ffi::{CString, c_int};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::pipe::PipeFlags;

use crate::sys::check;
use crate::sys::supervise::children::{close_all_but, ignore_terminal};
use crate::sys::supervise::owner::{self, Owner};

/// How long our process may give no sign of life while the limit is ours.
const SILENCE_MS: c_int = 10_000;
/// Tries to put the limit back, a millisecond apart.
const TRIES: usize = 10_000;

/// What the guard has charge of.
#[derive(Debug)]
pub(crate) struct Charge<'a> {
    /// The file of the limit.
    pub(crate) limit: BorrowedFd<'a>,
    /// Keeps the lock of the group.
    pub(crate) lock: BorrowedFd<'a>,
    /// What was there before.
    pub(crate) before: String,
    /// Values that we may have written.
    pub(crate) ours: Vec<String>,
    /// The file for the case that both die, which goes when the limit is back.
    pub(crate) state: Option<(BorrowedFd<'a>, CString)>,
}

/// Our end of a guard. Dropping it lets the guard go, which puts back what is still ours.
#[derive(Debug)]
pub(crate) struct Guard {
    pid: i32,
    leash: Option<OwnedFd>,
}

impl Guard {
    pub(super) fn start(charge: &Charge<'_>) -> io::Result<Self> {
        let (theirs, ours) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // SAFETY: the child runs `watch`, which keeps to async-signal-safe calls.
        let pid = unsafe { libc::fork() };
        check(pid.into())?;
        if pid == 0 {
            // SAFETY: we are the only thread of a fresh process.
            unsafe { watch(theirs.as_raw_fd(), charge) }
        }
        Ok(Self { pid, leash: Some(ours) })
    }

    /// A sign of life.
    pub(crate) fn beat(&self) {
        if let Some(leash) = &self.leash {
            let _ = rustix::io::write(leash.as_fd(), b".");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.leash.take());
        // SAFETY: waiting for our own child; nothing is written.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// Waits until our process is gone, or silent for too long, and puts the limit back. Ends after the first.
unsafe fn watch(leash: RawFd, charge: &Charge<'_>) -> ! {
    let state = charge.state.as_ref();
    let state_fd = state.map_or(leash, |(directory, _)| directory.as_raw_fd());
    // SAFETY: plain system calls on numbers and on buffers and texts that live until `_exit`.
    unsafe {
        // What a terminal or a manager of services sends to our group does not meet this one.
        libc::setsid();
        ignore_terminal();
        libc::signal(libc::SIGTERM, libc::SIG_IGN);
        let owner = Owner::parent();
        let keep = [
            leash,
            owner.descriptor(),
            charge.limit.as_raw_fd(),
            charge.lock.as_raw_fd(),
            state_fd,
        ];
        close_all_but(0, &keep);
        let mut silent_ms = 0;
        loop {
            let mut end = libc::pollfd { fd: leash, events: libc::POLLIN, revents: 0 };
            let is_dying = owner.is_dying();
            let wait_ms = if is_dying { 1 } else { owner::LOOK_MS };
            let ready = libc::poll(&raw mut end, 1, wait_ms);
            if ready > 0 {
                let mut beats = [0u8; 64];
                let got = libc::read(leash, beats.as_mut_ptr().cast(), beats.len());
                if got == 0 {
                    break;
                }
                silent_ms = 0;
            } else {
                silent_ms += wait_ms;
            }
            // A thread of a dying process may still write: the end of the pipe comes after it.
            if is_dying || silent_ms >= SILENCE_MS {
                put_back(charge);
                silent_ms = 0;
            }
        }
        for _ in 0..TRIES {
            if put_back(charge) {
                if let Some((directory, name)) = state {
                    libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0);
                }
                break;
            }
            libc::poll(std::ptr::null_mut(), 0, 1);
        }
        libc::_exit(0)
    }
}

/// Writes the value from before if the one that is there is ours. Whether nothing is left to do.
unsafe fn put_back(charge: &Charge<'_>) -> bool {
    let limit = charge.limit.as_raw_fd();
    let mut text = [0u8; 64];
    // SAFETY: buffers that live as long as the calls, of the lengths that are passed.
    unsafe {
        let got = libc::pread(limit, text.as_mut_ptr().cast(), text.len(), 0);
        let Ok(got) = usize::try_from(got) else {
            // The group is gone, and its limit with it.
            return *libc::__errno_location() == libc::ENODEV;
        };
        let now = text[..got].trim_ascii();
        if !charge.ours.iter().any(|ours| ours.as_bytes() == now) {
            return true;
        }
        libc::ftruncate(limit, 0);
        let before = charge.before.as_bytes();
        let put = libc::pwrite(limit, before.as_ptr().cast(), before.len(), 0);
        usize::try_from(put).is_ok_and(|put| put == before.len())
    }
}
