//! Why the kernel's tracepoints cannot be had, and what would change that.

use std::io;

/// Why nothing can be captured; the message names the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An ordinary user, or a container without the capability.
    #[error("not permitted to read the kernel's tracepoints ({0})")]
    NotPermitted(io::Error),
    /// A kernel without the tracepoints (before 5.19 or so, or built without them).
    #[error("this kernel has no tracepoint {0}; nbuf needs Linux 6.4 or later with CONFIG_FTRACE")]
    NoTracepoint(&'static str),
    /// The tracepoint has another shape than we know.
    #[error(transparent)]
    Format(#[from] super::super::events::FormatError),
    /// One descriptor a tracepoint and processor.
    #[error(
        "too few descriptors for the kernel's tracepoints; raise the limit with `ulimit -n 65536`"
    )]
    Descriptors,
    /// The thread to attach to has ended.
    #[error("the thread has ended")]
    Gone,
    /// Anything else.
    #[error("cannot open the kernel's tracepoints: {0}")]
    Io(#[from] io::Error),
}

/// What the kernel's answer means.
pub(super) fn refused(error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Error::NotPermitted(error),
        Some(libc::EMFILE | libc::ENFILE) => Error::Descriptors,
        Some(libc::ESRCH) => Error::Gone,
        _ => Error::Io(error),
    }
}
