//! Descriptors that take long to close are closed by a process of their own, which we do not wait for.
//!
//! The kernel waits for all processors before the last descriptor of a tracepoint is closed: some 40 ms for
//! each. A user who waits for a prompt need not wait for that. The process holds nothing else. It waits for a
//! second, so that the next command finds the tracepoints still in use, and then closes them one by one with
//! pauses between: who opens one meanwhile waits for one at most.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::supervise::children::close_all_but;

const LINGER_MS: i32 = 1000;
const PAUSE_MS: i32 = 20;

/// Closes them later. Where no process can be made, now.
pub(crate) fn close_later(descriptors: Vec<OwnedFd>) {
    let Ok((over, open)) = std::io::pipe() else { return };
    let keep: Vec<RawFd> =
        descriptors.iter().map(AsRawFd::as_raw_fd).chain([over.as_raw_fd()]).collect();
    // SAFETY: the child makes async-signal-safe calls only, on memory that was prepared before.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: as above. The child of the child is no child of ours, so that none has to be waited for.
        unsafe {
            if libc::fork() == 0 {
                libc::setsid();
                close_all_but(0, &keep);
                let mut byte = 0_u8;
                // Until our process has closed its own: the last to close is the one that waits.
                libc::read(over.as_raw_fd(), (&raw mut byte).cast(), 1);
                libc::poll(std::ptr::null_mut(), 0, LINGER_MS);
                for &descriptor in &keep {
                    libc::close(descriptor);
                    libc::poll(std::ptr::null_mut(), 0, PAUSE_MS);
                }
            }
            libc::_exit(0);
        }
    }
    if pid > 0 {
        // SAFETY: a child of ours that ends at once.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    }
    drop(descriptors);
    drop(open);
}
