//! How this process was started: which signals were ignored or blocked, which of the standard descriptors
//! were closed. A command that we run is given the same.
//!
//! It is looked at before `main`, for Rust's runtime ignores `SIGPIPE` and opens what is closed.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

/// Signals that were ignored, and those that were blocked: signal `n` is bit `n - 1`.
static IGNORED: AtomicU64 = AtomicU64::new(0);
static BLOCKED: AtomicU64 = AtomicU64::new(0);
/// Standard descriptors that were closed, by bit.
static CLOSED: AtomicU64 = AtomicU64::new(0);

/// The kernel's largest signal.
const SIGNALS: libc::c_int = 64;

#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Run by the dynamic linker, or by the C library of a static program, before `main`.
extern "C" fn look() {
    let mut ignored = 0;
    let mut blocked = 0;
    let mut closed = 0;
    // SAFETY: plain system calls that only ask; the structures are live locals, for which all zeros is
    // valid.
    unsafe {
        let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
        let mask = mask.assume_init();
        for signal in 1..=SIGNALS {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
            if action.assume_init().sa_sigaction == libc::SIG_IGN {
                ignored |= 1 << (signal - 1);
            }
            if libc::sigismember(&raw const mask, signal) == 1 {
                blocked |= 1 << (signal - 1);
            }
        }
        for descriptor in 0..3 {
            if libc::fcntl(descriptor, libc::F_GETFD) < 0 {
                closed |= 1 << descriptor;
            }
        }
    }
    IGNORED.store(ignored, Ordering::Relaxed);
    BLOCKED.store(blocked, Ordering::Relaxed);
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Prepares this process to wait for its children, whatever its parent has set. Makes a limit on
/// the size of files an error of a write. To be called at the beginning of `main`.
pub fn prepare() {
    // SAFETY: no handler is installed.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Whether a signal was ignored when this process was started.
pub(super) fn was_ignored(signal: libc::c_int) -> bool {
    has(&IGNORED, signal - 1)
}

/// Whether a standard descriptor was closed then.
pub(super) fn was_closed(descriptor: libc::c_int) -> bool {
    has(&CLOSED, descriptor)
}

/// The signals that were blocked then. Async-signal-safe.
pub(super) fn blocked() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `sigemptyset` initialises the set before it is used.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in 1..=SIGNALS {
            if has(&BLOCKED, signal - 1) {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
        }
        set.assume_init()
    }
}

fn has(set: &AtomicU64, bit: libc::c_int) -> bool {
    set.load(Ordering::Relaxed) >> bit & 1 == 1
}
