//! Signals, descriptors and reaping with async-signal-safe calls only.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

use crate::sys::start;

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

/// Ignores what the terminal sends.
pub(in crate::sys) unsafe fn ignore_terminal() {
    for signal in FROM_TERMINAL {
        // SAFETY: no handler is installed.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Gives the command the signals it would have had without us: what we, and Rust's runtime, have changed.
pub(super) unsafe fn restore_signals() {
    let ours = [libc::SIGPIPE, libc::SIGCHLD, libc::SIGXFSZ];
    for signal in FROM_TERMINAL.into_iter().chain(ours) {
        let before = if start::was_ignored(signal) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: no handler is installed.
        unsafe { libc::signal(signal, before) };
    }
    let blocked = start::blocked();
    // SAFETY: the set is a live local.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const blocked, std::ptr::null_mut()) };
}

/// Reaps what has ended; true when no child is left.
///
/// One that asked to be traced by its parent (`PTRACE_TRACEME`) has us for it, and would stop for ever at
/// its first signal: it is let go.
pub(super) unsafe fn reap(mut each: impl FnMut(c_int, c_int)) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a live local.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if pid > 0 && libc::WIFSTOPPED(status) {
            let signal = libc::WSTOPSIG(status);
            // The trap is the kernel's word for an exec, and not meant for it.
            let deliver = if signal == libc::SIGTRAP { 0 } else { signal };
            // SAFETY: numbers only; a request that takes no address.
            unsafe { libc::ptrace(libc::PTRACE_DETACH, pid, 0, deliver) };
        } else if pid > 0 {
            each(pid, status);
        } else {
            // SAFETY: reading this thread's errno.
            return pid < 0 && unsafe { *libc::__errno_location() } == libc::ECHILD;
        }
    }
}

pub(super) unsafe fn milliseconds() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
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
