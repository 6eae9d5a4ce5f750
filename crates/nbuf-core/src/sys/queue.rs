//! A POSIX message queue without a name: `mq_open(2)`, and its name is taken away at once.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// A queue of messages of eight bytes, open at both ends.
///
/// The name it has for a moment is this process's own; a process killed in that moment leaves it in
/// `/dev/mqueue`, with room for ten messages.
#[derive(Debug)]
pub(crate) struct Queue(OwnedFd);

/// Bytes of a message.
const BYTES: usize = 8;
/// Messages that fit, the kernel's own default for users without privileges.
const MESSAGES: libc::c_long = 10;

static MADE: AtomicU32 = AtomicU32::new(0);

impl Queue {
    /// An empty one. `ENOSYS` where the kernel was built without queues.
    pub(crate) fn new() -> io::Result<Self> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("nbuf-{}-{number}", std::process::id()))?;
        // SAFETY: all zeros is a value of this plain structure.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = MESSAGES;
        attributes.mq_msgsize = libc::c_long::try_from(BYTES).map_err(io::Error::other)?;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: the name is a C string and the attributes a live local, both only read; the
        // descriptor is fresh.
        unsafe {
            let made = libc::syscall(
                libc::SYS_mq_open,
                name.as_ptr(),
                flags,
                0o600,
                &raw const attributes,
            );
            let made = i32::try_from(super::check(made)?).map_err(io::Error::other)?;
            let queue = Self(OwnedFd::from_raw_fd(made));
            super::check(libc::syscall(libc::SYS_mq_unlink, name.as_ptr()))?;
            Ok(queue)
        }
    }

    /// Puts a message at the end.
    pub(crate) fn send(&self, message: u64) -> io::Result<()> {
        let bytes = message.to_ne_bytes();
        let none = std::ptr::null::<libc::timespec>();
        // SAFETY: the kernel reads the eight bytes of a live local.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_mq_timedsend,
                self.0.as_raw_fd(),
                bytes.as_ptr(),
                BYTES,
                0,
                none,
            )
        };
        super::check(sent).map(drop)
    }

    /// Sleeps for a message and takes it.
    pub(crate) fn receive(&self) -> io::Result<u64> {
        let mut bytes = [0; BYTES];
        let none = std::ptr::null::<libc::timespec>();
        let no_priority = std::ptr::null_mut::<u32>();
        // SAFETY: the kernel writes eight bytes at most into a live local.
        let got = unsafe {
            libc::syscall(
                libc::SYS_mq_timedreceive,
                self.0.as_raw_fd(),
                bytes.as_mut_ptr(),
                BYTES,
                no_priority,
                none,
            )
        };
        super::check(got)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}
