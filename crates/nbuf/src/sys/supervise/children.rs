//! Signals, reaping and killing with async-signal-safe calls only.

use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

/// A descriptor that becomes readable when a child ends.
pub(super) unsafe fn block_child_signal() -> RawFd {
    // SAFETY: `sigemptyset` initialises the set before it is used.
    unsafe {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// Signals that a terminal sends to the whole foreground group: the supervisor outlives them.
const FROM_TERMINAL: [c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTSTP];

/// How the terminal's signals were taken before: ignored under `nohup` and in background jobs.
pub(in crate::sys) type Dispositions = [libc::sighandler_t; 4];

/// Ignores what the terminal sends; gives back how it was taken before.
pub(in crate::sys) unsafe fn ignore_terminal() -> Dispositions {
    // SAFETY: no handler is installed.
    FROM_TERMINAL.map(|signal| unsafe { libc::signal(signal, libc::SIG_IGN) })
}

/// Gives the command the signals it would have had without us.
pub(super) unsafe fn restore_signals(before: &Dispositions) {
    // SAFETY: `sigemptyset` initialises the set before it is used; our process has no handlers of
    // its own that could be restored here.
    unsafe {
        for (&signal, &disposition) in FROM_TERMINAL.iter().zip(before) {
            libc::signal(signal, disposition);
        }
        // Rust's runtime ignores it from the start, so that nobody knows how it was before.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Reaps what has ended; true when no child is left.
pub(super) unsafe fn reap(mut each: impl FnMut(c_int, c_int)) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a live local.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if pid > 0 {
            each(pid, status);
        } else {
            // SAFETY: reading this thread's errno.
            return pid < 0 && unsafe { *libc::__errno_location() } == libc::ECHILD;
        }
    }
}

pub(super) unsafe fn seconds() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec
}

/// Signals every child of this process. Grandchildren fall to us as their parents end, so that
/// calling this until none is left ends them all.
pub(super) unsafe fn signal_children(signal: c_int) {
    // SAFETY: a constant path.
    unsafe { signal_listed(c"/proc/thread-self/children".as_ptr(), signal) };
}

/// Signals every process listed in a file of decimal numbers.
pub(in crate::sys) unsafe fn signal_listed(path: *const c_char, signal: c_int) {
    // SAFETY: the buffer is a live local of the size that is passed; the path is a C string.
    unsafe {
        let fd = libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return;
        }
        let mut buffer = [0u8; 4096];
        let mut pid = 0;
        loop {
            let got = libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len());
            let Ok(got @ 1..) = usize::try_from(got) else {
                break;
            };
            for &byte in &buffer[..got] {
                if byte.is_ascii_digit() {
                    pid = pid * 10 + c_int::from(byte - b'0');
                } else {
                    if pid > 1 {
                        libc::kill(pid, signal);
                    }
                    pid = 0;
                }
            }
        }
        if pid > 1 {
            libc::kill(pid, signal);
        }
        libc::close(fd);
    }
}

/// Closes every descriptor from `from` on but those to `keep`, so that we hold nothing open
/// (traces, rings, listeners, ends of pipes) that our process wants to see closed.
pub(in crate::sys) unsafe fn close_all_but(mut from: RawFd, keep: &[RawFd]) {
    // SAFETY: closing numbers is always sound; nothing in this process uses them afterwards.
    unsafe {
        loop {
            let next = keep.iter().copied().filter(|&fd| fd >= from).min();
            let last = next.map_or(c_int::MAX, |fd| fd - 1);
            if last >= from {
                libc::syscall(libc::SYS_close_range, from, last, 0);
            }
            match next {
                Some(fd) => from = fd + 1,
                None => break,
            }
        }
    }
}
