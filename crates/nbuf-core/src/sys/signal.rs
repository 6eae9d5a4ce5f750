//! Signals as a descriptor: `signalfd(2)`, so that Ctrl-C is one more thing to wait for.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// `SIGINT`, `SIGTERM` and `SIGHUP`, blocked for this process and read from a descriptor. Signals
/// that were ignored are excepted (`nohup`, a background job): a blocked signal is never ignored.
/// `SIGTTOU` is blocked, and not read.
///
/// They are unblocked again when this is dropped. Make it before any thread starts.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
    before: libc::sigset_t,
}

/// A signal that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// `SIGINT`, ...
    pub number: i32,
    /// Whether the kernel sent it for a key, so that the whole foreground group has it.
    pub from_terminal: bool,
}

impl Signals {
    /// Blocks the signals and opens the descriptor.
    pub fn block() -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` initialises `set`, `pthread_sigmask` initialises `before`, all zeros
        // is a valid action; the descriptor is fresh.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                let mut action = MaybeUninit::<libc::sigaction>::zeroed();
                libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
                if action.assume_init().sa_sigaction != libc::SIG_IGN {
                    libc::sigaddset(set.as_mut_ptr(), signal);
                }
            }
            let fd = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            // So that we may take the terminal back from a command that had put us behind itself.
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTTOU);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
            super::check(fd.into())?;
            Ok(Self { fd: OwnedFd::from_raw_fd(fd), before: before.assume_init() })
        }
    }

    /// The next signal that has arrived, if any.
    pub fn next(&self) -> Option<Signal> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most one whole structure into `info`, which is valid for
        // every bit pattern.
        unsafe {
            let bytes = libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size);
            if usize::try_from(bytes) != Ok(size) {
                return None;
            }
            let info = info.assume_init();
            Some(Signal {
                number: i32::try_from(info.ssi_signo).unwrap_or(0),
                from_terminal: info.ssi_code == libc::SI_KERNEL,
            })
        }
    }

    /// Waits for a signal or for `other` to be readable. Whether it is a signal.
    pub fn comes_before(&self, other: &impl AsFd) -> io::Result<bool> {
        loop {
            let mut waiting = [
                PollFd::from_borrowed_fd(self.fd.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(other.as_fd(), PollFlags::IN),
            ];
            match poll(&mut waiting, None) {
                Ok(_) => return Ok(!waiting[0].revents().is_empty()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The descriptor, to wait for.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask this thread had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
