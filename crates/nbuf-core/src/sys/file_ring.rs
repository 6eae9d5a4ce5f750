//! An `io_uring` for reads and writes of one file, with the memory that they use.
//!
//! Invariant: memory that the kernel may still write to is never freed: a ring that is dropped
//! waits for what is under way, or leaves the memory to it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use io_uring::{IoUring, opcode, squeue, types};

const PAGE_BYTES: usize = 4096;

/// A page, at the beginning of one.
#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// Settings that the kernel receives once, instead of at every operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setup {
    /// The most operations under way; at least 1.
    pub depth: u32,
    /// The file and the memory.
    pub registered: bool,
    /// That a thread of its own looks for submissions (`IORING_SETUP_SQPOLL`).
    pub polled: bool,
}

/// One operation: a part of the memory, and a place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// Into memory, or out of it.
    pub writes: bool,
    /// Whether the device has stored a write when it comes back (`RWF_DSYNC`).
    pub durable: bool,
    /// Where in the memory.
    pub begin: usize,
    /// How much.
    pub length: u32,
    /// Where in the file.
    pub offset_bytes: u64,
    /// Comes back with its completion.
    pub tag: u64,
}

/// The ring, its file and its memory.
pub(crate) struct FileRing {
    ring: IoUring,
    file: File,
    memory: NonNull<Page>,
    pages: usize,
    registered: bool,
    under_way: usize,
    completed: u64,
    is_abandoned: bool,
}

// SAFETY: it owns its ring, which is `Send`, and its memory, to which nothing else of the process has a pointer. No thread
// is the only one that may submit.
unsafe impl Send for FileRing {}

impl std::fmt::Debug for FileRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileRing").field("fd", &self.ring.as_raw_fd()).finish_non_exhaustive()
    }
}

/// How long the kernel's thread looks for work before it sleeps.
const POLL_IDLE_MS: u32 = 100;

impl FileRing {
    /// Makes a ring over a file, with `memory_bytes` of zeros that begin at a page.
    pub(crate) fn new(file: File, memory_bytes: usize, setup: Setup) -> io::Result<Self> {
        let mut builder = IoUring::builder();
        if setup.polled {
            builder.setup_sqpoll(POLL_IDLE_MS);
        }
        // Completions have twice the room, so that they never overflow.
        let ring = builder.build(setup.depth.next_power_of_two())?;
        let pages = memory_bytes.div_ceil(PAGE_BYTES).max(1);
        let memory = Box::into_raw(vec![Page([0; PAGE_BYTES]); pages].into_boxed_slice());
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let Setup { registered, .. } = setup;
        let (under_way, completed, is_abandoned) = (0, 0, false);
        let this =
            Self { ring, file, memory, pages, registered, under_way, completed, is_abandoned };
        if registered {
            this.register()?;
        }
        Ok(this)
    }

    fn register(&self) -> io::Result<()> {
        let submitter = self.ring.submitter();
        submitter.register_files(&[self.file.as_raw_fd()])?;
        let vector =
            libc::iovec { iov_base: self.memory.as_ptr().cast(), iov_len: self.pages * PAGE_BYTES };
        // SAFETY: memory that lives as long as the ring.
        unsafe { submitter.register_buffers(&[vector]) }
    }

    /// Fills the memory from its beginning on, before anything is under way.
    pub(crate) fn fill(&mut self, data: &[u8]) {
        assert!(self.under_way == 0 && data.len() <= self.pages * PAGE_BYTES);
        // SAFETY: the memory is at least as long as the data, and has no other user now.
        unsafe {
            let to = self.memory.as_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len());
        }
    }

    /// A byte of the memory.
    #[inline]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        assert!(at < self.pages * PAGE_BYTES);
        // SAFETY: inside of the memory; what the kernel may write at the same time is another value
        // of the byte.
        unsafe { self.memory.as_ptr().cast::<u8>().add(at).read_volatile() }
    }

    /// How many operations have not come back.
    #[inline]
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    /// How many came back: entries that the kernel put into the ring of completions.
    pub(crate) fn completed(&self) -> u64 {
        self.completed
    }

    /// Puts an operation into the ring. It begins with the next [wait](Self::wait), or before.
    #[inline]
    pub(crate) fn push(&mut self, transfer: Transfer) -> io::Result<()> {
        let entry = self.entry(transfer);
        loop {
            // SAFETY: the entry is about memory and a file that live as long as the ring.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                self.under_way += 1;
                return Ok(());
            }
            self.make_room()?;
        }
    }

    /// Makes room: the polling thread has not taken the entries yet, or the kernel was not
    /// notified.
    #[cold]
    fn make_room(&mut self) -> io::Result<()> {
        self.ring.submit()?;
        if self.ring.params().is_setup_sqpoll() {
            self.ring.submitter().squeue_wait()?;
        }
        Ok(())
    }

    #[inline]
    fn entry(&self, transfer: Transfer) -> squeue::Entry {
        let Transfer { writes, durable, begin, length, offset_bytes, tag } = transfer;
        assert!(begin + length as usize <= self.pages * PAGE_BYTES, "outside of the memory");
        // SAFETY: inside of the memory.
        let at = unsafe { self.memory.as_ptr().cast::<u8>().add(begin) };
        let flags = if durable { libc::RWF_DSYNC } else { 0 };
        let plain = types::Fd(self.file.as_raw_fd());
        let known = types::Fixed(0);
        let entry = match (self.registered, writes) {
            (false, false) => opcode::Read::new(plain, at, length).offset(offset_bytes).build(),
            (false, true) => {
                let write = opcode::Write::new(plain, at, length).offset(offset_bytes);
                write.rw_flags(flags).build()
            }
            (true, false) => {
                opcode::ReadFixed::new(known, at, length, 0).offset(offset_bytes).build()
            }
            (true, true) => {
                let write = opcode::WriteFixed::new(known, at, length, 0).offset(offset_bytes);
                write.rw_flags(flags).build()
            }
        };
        entry.user_data(tag)
    }

    /// Submits what was pushed and waits for one to come back, if any is under way; then gives all
    /// that came: its tag, and how much it moved.
    #[inline]
    pub(crate) fn wait(&mut self, came: impl FnMut(u64, io::Result<u32>)) -> io::Result<()> {
        if self.under_way == 0 {
            return Ok(());
        }
        match self.ring.submit_and_wait(1) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        self.take(came);
        Ok(())
    }

    /// Gives all that came, without waiting.
    #[inline]
    pub(crate) fn take(&mut self, mut came: impl FnMut(u64, io::Result<u32>)) {
        for entry in self.ring.completion() {
            self.under_way -= 1;
            self.completed += 1;
            let moved = u32::try_from(entry.result())
                .map_err(|_| io::Error::from_raw_os_error(-entry.result()));
            came(entry.user_data(), moved);
        }
    }

    /// Submits what was pushed, without waiting.
    pub(crate) fn submit(&self) -> io::Result<()> {
        self.ring.submit().map(drop)
    }

    /// Whether something was pushed that the kernel has not taken.
    pub(crate) fn has_unsubmitted(&mut self) -> bool {
        !self.ring.submission().is_empty()
    }

    /// Waits for nothing that is under way when it is dropped: the memory stays then.
    pub(crate) fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// Has an eventfd count what comes back.
    pub(crate) fn wake_by(&self, eventfd: BorrowedFd<'_>) -> io::Result<()> {
        self.ring.submitter().register_eventfd(eventfd.as_raw_fd())
    }

    /// Copies bytes into the memory. Where an operation moves others at the same time, there is a mix.
    pub(crate) fn copy_in(&mut self, begin: usize, data: &[u8]) {
        self.check(begin, data.len());
        // SAFETY: inside of the memory, which no reference of ours is to; the slice is another place.
        unsafe {
            let to = self.memory.as_ptr().cast::<u8>().add(begin);
            std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len());
        }
    }

    /// Copies bytes out of the memory, in the same way.
    pub(crate) fn copy_out(&self, begin: usize, data: &mut [u8]) {
        self.check(begin, data.len());
        // SAFETY: as above.
        unsafe {
            let from = self.memory.as_ptr().cast::<u8>().add(begin);
            std::ptr::copy_nonoverlapping(from, data.as_mut_ptr(), data.len());
        }
    }

    fn check(&self, begin: usize, length: usize) {
        let end = begin.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.pages * PAGE_BYTES), "outside of the memory");
    }
}

impl Drop for FileRing {
    fn drop(&mut self) {
        while self.under_way > 0 {
            if self.is_abandoned || self.wait(|_, _| ()).is_err() {
                // The kernel may still write to the memory, so it is never freed.
                return;
            }
        }
        // SAFETY: made by a box of this many pages, on which the kernel has no operation any more.
        // The kernel itself holds registered memory until the ring is closed.
        drop(unsafe {
            Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.memory.as_ptr(), self.pages))
        });
    }
}
