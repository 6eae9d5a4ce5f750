//! Descriptors that wake tasks of tokio.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the runtime of this thread watch when a descriptor can be read.
///
/// # Errors
/// The kernel refuses to watch it.
///
/// # Panics
/// Outside a runtime with I/O enabled.
pub(crate) fn watched(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names one open descriptor until it is dropped, and `AsyncFd` ends the watch before that.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}
