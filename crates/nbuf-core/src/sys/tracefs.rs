//! The kernel's directory of tracepoints, wherever it is and without mounting it anywhere.

use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};

use super::rights::capability::raise;

/// More than a `format` file has.
const FILE_BYTES: usize = 16 << 10;

/// An open tracefs.
#[derive(Debug)]
pub(crate) struct Tracefs {
    root: OwnedFd,
}

impl Tracefs {
    /// Opens tracefs where it is mounted, or a detached instance of it (`fsopen(2)`) that no
    /// mount table shows.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` for an ordinary user.
    pub(crate) fn open() -> io::Result<Self> {
        let _raised = raise();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for path in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
            let Ok(root) = rustix::fs::open(path, flags, Mode::empty()) else {
                continue;
            };
            let here = Self { root };
            match here.read("events/filemap/mm_filemap_get_pages/id") {
                Ok(_) => return Ok(here),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { root: detached()? })
    }

    /// The root: the last descriptor of a detached instance takes some milliseconds to close.
    pub(crate) fn into_descriptor(self) -> OwnedFd {
        self.root
    }

    /// Reads a file below the root, such as `events/filemap/mm_filemap_fault/format`.
    pub(crate) fn read(&self, path: &str) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let _raised = raise();
        let file = openat(&self.root, path, flags, Mode::empty())?;
        // The kernel waits for others before each read: one takes a whole file.
        let mut text = String::with_capacity(FILE_BYTES);
        std::fs::File::from(file).read_to_string(&mut text)?;
        Ok(text)
    }
}

/// A new instance of tracefs that is mounted nowhere and goes with its descriptor.
fn detached() -> io::Result<OwnedFd> {
    const CREATE: libc::c_long = 6; // FSCONFIG_CMD_CREATE
    let own = |fd: libc::c_long| -> io::Result<OwnedFd> {
        let fd = i32::try_from(super::check(fd)?).map_err(io::Error::other)?;
        // SAFETY: the kernel just returned this descriptor to us.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    };
    // SAFETY: plain system calls on a constant string and on descriptors owned here.
    unsafe {
        use std::os::fd::AsRawFd;
        let context = own(libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), 1))?;
        super::check(libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            CREATE,
            std::ptr::null::<u8>(),
            std::ptr::null::<u8>(),
            0,
        ))?;
        own(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), 1, 0))
    }
}
