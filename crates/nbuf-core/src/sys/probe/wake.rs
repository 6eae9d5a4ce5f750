//! The kernel's notices of version 1: by an eventfd, when the use of memory passes a mark and when it ran out
//! (`Documentation/admin-guide/cgroup-v1/memory.rst`, 9 and 10).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::event::{EventfdFlags, eventfd};

use crate::units::Bytes;

/// Becomes readable at a notice. The kernel forgets the mark when this is dropped.
#[derive(Debug)]
pub(crate) struct Wake(OwnedFd);

impl Wake {
    pub(super) fn at(
        control: &File,
        usage: &File,
        events: Option<&File>,
        mark: Bytes,
    ) -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let number = wake.as_raw_fd();
        let passes = format!("{number} {} {}", usage.as_raw_fd(), mark.0);
        control.write_at(passes.as_bytes(), 0)?;
        if let Some(events) = events {
            let ran_out = format!("{number} {}", events.as_raw_fd());
            // Kernels may drop this file first; the mark is the guard that counts.
            let _ = control.write_at(ran_out.as_bytes(), 0);
        }
        Ok(Self(wake))
    }

    /// Takes the notice, so that the next one can be waited for.
    pub(crate) fn take(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.0, &mut count);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
