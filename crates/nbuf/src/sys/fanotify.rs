//! Names of files as they are opened: `fanotify(7)`, notification class only, so that nobody is
//! ever held up by us.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use std::os::unix::ffi::OsStrExt;

/// A listener for opens on whole file systems.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    buffer: Vec<u8>,
}

/// What came of one look at the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Files handed over.
    pub files: u64,
    /// Whether the kernel's queue had overflowed.
    pub overflowed: bool,
}

impl Listener {
    /// Starts a listener that hears nothing yet.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`.
    pub fn new() -> io::Result<Self> {
        let flags = libc::FAN_CLASS_NOTIF
            | libc::FAN_CLOEXEC
            | libc::FAN_NONBLOCK
            | libc::FAN_UNLIMITED_QUEUE;
        let open = libc::O_RDONLY | libc::O_LARGEFILE | libc::O_CLOEXEC | libc::O_NOATIME;
        // SAFETY: a plain system call; it returns a new descriptor or an error.
        let fd = unsafe { libc::fanotify_init(flags, open.unsigned_abs()) };
        super::check(fd.into())?;
        // SAFETY: just returned by the kernel, owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, buffer: vec![0; 64 << 10] })
    }

    /// Hears every open on the file system that `mount_point` is on.
    pub fn hear(&self, mount_point: &Path) -> io::Result<()> {
        let path = std::ffi::CString::new(mount_point.as_os_str().as_bytes())?;
        // SAFETY: `path` is a C string that outlives the call.
        let done = unsafe {
            libc::fanotify_mark(
                self.fd.as_raw_fd(),
                libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM,
                libc::FAN_OPEN,
                libc::AT_FDCWD,
                path.as_ptr(),
            )
        };
        super::check(done.into()).map(drop)
    }

    /// Hands an open descriptor of every file opened since the last call to `each`, and the process
    /// that opened it.
    pub fn drain(&mut self, mut each: impl FnMut(OwnedFd, i32)) -> io::Result<Seen> {
        const EVENT_BYTES: usize = size_of::<libc::fanotify_event_metadata>();
        let mut seen = Seen::default();
        loop {
            let bytes = match rustix::io::read(&self.fd, &mut self.buffer[..]) {
                Ok(bytes) => bytes,
                Err(rustix::io::Errno::INTR) => continue,
                // Empty; or out of descriptors, and the queue waits for the next call.
                Err(
                    rustix::io::Errno::AGAIN | rustix::io::Errno::MFILE | rustix::io::Errno::NFILE,
                ) => return Ok(seen),
                Err(_) => {
                    seen.overflowed = true;
                    return Ok(seen);
                }
            };
            let mut at = 0;
            while at + EVENT_BYTES <= bytes {
                // SAFETY: the kernel wrote a whole event here; it may be unaligned for us.
                let event: libc::fanotify_event_metadata = unsafe {
                    self.buffer
                        .as_ptr()
                        .add(at)
                        .cast::<libc::fanotify_event_metadata>()
                        .read_unaligned()
                };
                if event.mask & libc::FAN_Q_OVERFLOW != 0 {
                    seen.overflowed = true;
                }
                if event.fd >= 0 {
                    seen.files += 1;
                    // SAFETY: the event carries a descriptor opened for this process.
                    each(unsafe { OwnedFd::from_raw_fd(event.fd) }, event.pid);
                }
                at += (event.event_len as usize).max(EVENT_BYTES);
            }
        }
    }

    /// The descriptor, to wait for.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }
}
