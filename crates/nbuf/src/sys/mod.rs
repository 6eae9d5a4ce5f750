//! Raw kernel calls: the only unsafe code of the workspace, each file one interface of the kernel.
//!
//! Everything here is a thin, safe wrapper that owns what it opens; policy lives with the callers.

pub mod architecture;
pub mod cache;
pub mod calls;
pub mod cgroup;
pub mod direct;
pub mod extents;
pub mod fanotify;
pub mod file_ring;
pub mod files;
pub mod handle;
pub mod heap;
pub mod input;
pub mod loop_device;
pub mod mapping;
pub mod memory;
pub mod namespace;
pub mod perf;
pub(crate) mod prefetch;
pub mod process;
pub mod programs;
pub mod pthread;
pub mod ptrace;
pub mod publish;
pub mod queue;
pub mod rights;
pub mod ring;
pub mod seccomp;
pub mod semaphore;
pub mod signal;
pub mod start;
pub mod stdio;
pub mod supervise;
pub mod thread;
pub mod tracefs;
pub mod usage;
pub mod wake_ring;

use std::io;

/// Turns a libc return value into a result: negative means `errno`.
fn check(value: libc::c_long) -> io::Result<libc::c_long> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}
