//! An `io_uring` that one thread sleeps on: for messages of other rings, or for an eventfd.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use io_uring::{IoUring, cqueue, opcode, squeue, types};

/// Requests that fit: one to send and one to wait for are the most there are.
const ENTRIES: u32 = 8;
/// Marks our own requests among completions; no message is so large.
const OURS: u64 = u64::MAX;

/// The ring. It is made by anybody and then belongs to the thread that [enters](Self::enter) it.
pub(crate) struct WakeRing {
    ring: IoUring,
    /// Where a read of an eventfd is put: at one address for as long as the ring lives.
    value: Box<AtomicU64>,
}

impl std::fmt::Debug for WakeRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WakeRing").field("fd", &self.number()).finish_non_exhaustive()
    }
}

impl WakeRing {
    /// A ring for one thread, which looks for completions only when it asks for them.
    ///
    /// `ENOSYS` or `EPERM` where the kernel or an administrator has none, `EINVAL` before Linux 6.1.
    pub(crate) fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_r_disabled()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(ENTRIES)?;
        Ok(Self { ring, value: Box::default() })
    }

    /// Binds the ring to the calling thread. Before that, no thread can use it.
    pub(crate) fn enter(&mut self) -> io::Result<()> {
        self.ring.submitter().register_enable_rings()
    }

    /// Its descriptor, by which others send to it.
    pub(crate) fn number(&self) -> RawFd {
        self.ring.as_raw_fd()
    }

    /// Puts a message among the completions of another ring of this process, by its number.
    pub(crate) fn send(&mut self, ring: RawFd, message: u32) -> io::Result<()> {
        let entry = opcode::MsgRingData::new(types::Fd(ring), 0, message.into(), None)
            .build()
            .user_data(OURS)
            .flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&entry)?;
        self.ring.submit().map(drop)
    }

    /// Sleeps for a message.
    pub(crate) fn receive(&mut self) -> io::Result<u64> {
        let entry = self.completion()?;
        match (entry.user_data(), entry.result()) {
            (OURS, failure) => Err(io::Error::from_raw_os_error(-failure)),
            (message, _) => Ok(message),
        }
    }

    /// Sleeps until an eventfd is above 0, by a read in the ring, and gives what it was.
    pub(crate) fn read(&mut self, eventfd: BorrowedFd<'_>) -> io::Result<u64> {
        let value = self.value.as_ptr().cast();
        let entry = opcode::Read::new(types::Fd(eventfd.as_raw_fd()), value, 8).build();
        self.push(&entry.user_data(OURS))?;
        match self.completion()?.result() {
            8 => Ok(self.value.load(Ordering::Relaxed)),
            failure if failure < 0 => Err(io::Error::from_raw_os_error(-failure)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: what the kernel is given to write to is the boxed value, which lives as long as
        // the ring; a ring that is closed cancels what is under way before it is gone.
        unsafe { self.ring.submission().push(entry) }
            .map_err(|_| io::Error::other("the ring is full, though each request was waited for"))
    }

    fn completion(&mut self) -> io::Result<cqueue::Entry> {
        loop {
            if let Some(entry) = self.ring.completion().next() {
                return Ok(entry);
            }
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
    }
}
