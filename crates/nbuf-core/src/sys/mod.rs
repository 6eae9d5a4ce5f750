//! Raw kernel calls: the only unsafe code of the workspace, each file one interface of the kernel.
//!
//! Everything here is a thin, safe wrapper that owns what it opens; policy lives with the callers.

#[cfg(feature = "paths")]
pub(crate) mod activation;
#[cfg(feature = "system")]
pub(crate) mod architecture;
#[cfg(feature = "system")]
pub(crate) mod block_device;
#[cfg(feature = "system")]
pub(crate) mod bpf;
#[cfg(feature = "system")]
pub(crate) mod cache;
#[cfg(feature = "system")]
pub(crate) mod calls;
#[cfg(feature = "system")]
pub(crate) mod cgroup;
#[cfg(feature = "system")]
pub(crate) mod direct;
#[cfg(feature = "system")]
pub(crate) mod extents;
#[cfg(feature = "system")]
pub(crate) mod fanotify;
#[cfg(feature = "system")]
pub(crate) mod file_ring;
#[cfg(feature = "system")]
pub(crate) mod files;
#[cfg(feature = "system")]
pub(crate) mod handle;
#[cfg(feature = "system")]
pub(crate) mod heap;
#[cfg(feature = "system")]
pub(crate) mod input;
#[cfg(feature = "system")]
pub(crate) mod linger;
#[cfg(feature = "system")]
pub(crate) mod loop_device;
#[cfg(feature = "system")]
pub(crate) mod mapping;
#[cfg(feature = "system")]
pub(crate) mod memory;
#[cfg(feature = "system")]
pub(crate) mod namespace;
#[cfg(feature = "system")]
pub(crate) mod perf;
pub(crate) mod prefetch;
#[cfg(feature = "capture")]
pub(crate) mod probe;
#[cfg(feature = "system")]
pub(crate) mod process;
#[cfg(feature = "system")]
pub(crate) mod programs;
#[cfg(feature = "system")]
pub(crate) mod pthread;
#[cfg(feature = "system")]
pub(crate) mod ptrace;
#[cfg(feature = "system")]
pub(crate) mod publish;
#[cfg(feature = "system")]
pub(crate) mod queue;
#[cfg(feature = "system")]
pub(crate) mod rights;
#[cfg(feature = "system")]
pub(crate) mod ring;
#[cfg(feature = "paths")]
pub(crate) mod room;
#[cfg(feature = "system")]
pub(crate) mod seccomp;
#[cfg(feature = "system")]
pub(crate) mod semaphore;
#[cfg(feature = "system")]
pub(crate) mod signal;
#[cfg(feature = "system")]
pub(crate) mod socket;
#[cfg(feature = "system")]
pub(crate) mod start;
#[cfg(feature = "system")]
pub(crate) mod stdio;
#[cfg(feature = "system")]
pub(crate) mod supervise;
#[cfg(feature = "tokio")]
pub(crate) mod task_wake;
#[cfg(feature = "system")]
pub(crate) mod thread;
#[cfg(feature = "system")]
pub(crate) mod tracefs;
#[cfg(feature = "system")]
pub(crate) mod usage;
#[cfg(feature = "system")]
pub(crate) mod wake_ring;
pub(crate) mod wide;

#[cfg(feature = "system")]
use std::io;

/// Turns a libc return value into a result: negative means `errno`.
#[cfg(feature = "system")]
fn check(value: libc::c_long) -> io::Result<libc::c_long> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}
