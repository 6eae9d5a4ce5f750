//! A file through a block cache: any bytes at any offset.
//!
//! The cache is the one that `nbuf serve` runs ([`Cached`]), with any of its policies and ways to write. A call that
//! waits is a request that is submitted and collected; many requests can be under way instead. Requests under way at the same
//! time that touch the same bytes have no order. [`sync`](CachedFile::sync) covers what was complete before it.
//!
//! Another writer: the file is locked (`flock`) as long as it is open, so a second program that asks is refused. Without
//! the lock, pages in the cache stay as they were read, and other pages are read as they are then. A mapping is
//! no view of this handle, so there is none: [`CachedFile::into_file`] gives the file to be mapped, and
//! [`CachedFile::from_fd`] takes it back.
//!
//! Cost: a hit looks up each page and copies its bytes twice; a miss wakes a thread. Not for several threads at
//! once: put it behind a mutex, or open it in one thread and submit.
//!
//! ```
//! use nbuf::cached_file::{CachedFile, Options};
//!
//! let options = Options { cache_bytes: 1 << 20, ..Options::default() };
//! let mut file = CachedFile::temporary(&std::env::temp_dir(), &options)?;
//! file.write_at(b"any bytes", 1_000_000)?;
//! let mut bytes = [0; 5];
//! assert_eq!(file.read_at(&mut bytes, 1_000_004)?, 5);
//! assert_eq!(&bytes, b"bytes");
//! file.sync()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "tokio")]
mod asynchronous;
mod open;
mod requests;
mod standard;
#[cfg(test)]
mod tests;

#[cfg(feature = "tokio")]
pub use asynchronous::AsyncCachedFile;
pub use open::{OpenError, Options};
pub use requests::{Done, Ticket};

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::cache::cached::{Cached, Counts};
use crate::cache::policy::AnyPolicy;
use crate::clock::Stopwatch;
use crate::disc::Disc;
use crate::disc::pool::{GROWING_BYTES, Pool};
use crate::trace::request::{Op, Request};
use requests::{Staged, refused};

/// A file that is read and written through a cache. What is dirty is written when it is dropped, and errors are
/// lost then: call [`sync`](Self::sync) before.
pub struct CachedFile {
    cache: Cached<dyn AnyPolicy, Pool>,
    file: File,
    is_read_only: bool,
    clock: Stopwatch,
    length: u64,
    position: u64,
    next_ticket: u32,
    staged: HashMap<u32, Staged>,
    ready: VecDeque<Done>,
    scratch: Vec<u8>,
}

impl CachedFile {
    /// Reads into a buffer. Returns how many bytes there were, fewer than asked for at the end of the file.
    pub fn read_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let length = self.there_are(offset, buffer.len());
        if length == 0 {
            return Ok(0);
        }
        let request = Request::new(Op::Read, offset, length as u64);
        self.scratch.clear();
        if self.cache.read_hit(&request, &mut self.scratch) {
            buffer[..length].copy_from_slice(&self.scratch);
            return Ok(length);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.resize(length, 0);
        let ticket = self.submit_read(scratch, offset);
        let done = self.wait_for(ticket)?;
        buffer[..length].copy_from_slice(&done.data);
        self.scratch = done.data;
        Ok(length)
    }

    /// Writes all bytes of a buffer, and returns how many they are. A file that is too short grows. A write that
    /// fails may have grown it.
    pub fn write_at(&mut self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let ticket = self.submit_write(buffer.to_vec(), offset)?;
        self.wait_for(ticket)?;
        Ok(buffer.len())
    }

    /// Waits until the kernel has all that was written, so that other readers of the file see it. It can still
    /// be lost by a power cut: [`sync`](Self::sync) prevents that.
    pub fn flush(&mut self) -> io::Result<()> {
        self.drain();
        self.cache.tick(self.clock.nanos());
        self.drain();
        match self.cache.last_failure() {
            Some(error) if self.cache.owed_pages() > 0 => Err(refused(error)),
            _ => Ok(()),
        }
    }

    /// Waits until the device has all that was written. An error names what was not written; it stays dirty
    /// and is tried again. After an error of the device itself all later calls fail.
    pub fn sync(&mut self) -> io::Result<()> {
        let ticket = self.submit_sync();
        self.wait_for(ticket).map(drop)
    }

    /// Cuts the file off, or lets it grow with zeros. Waits for all requests under way.
    pub fn set_len(&mut self, length: u64) -> io::Result<()> {
        self.check_write(length, 0)?;
        self.drain();
        // Nothing is under way: if the kernel refuses, all stays as it was.
        self.file.set_len(length)?;
        let old = std::mem::replace(&mut self.length, length);
        self.cache.disc_mut().set_end(length);
        if length < old {
            // Behind the end the disc has nothing to do, and the cache forgets what it owed.
            let gone = Request {
                zeros: true,
                task: self.next_ticket().0,
                ..Request::new(Op::Discard, length, old - length)
            };
            self.cache.submit(self.clock.nanos(), gone, Vec::new());
            self.wait_for(Ticket(gone.task))?;
        }
        Ok(())
    }

    /// The length of the file, with what is not written yet.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// A descriptor that is readable when the disc has completed something. Wait for it when
    /// [`try_done`](Self::try_done) gives nothing, as in a loop over several files.
    pub fn wake_fd(&self) -> BorrowedFd<'_> {
        self.cache.disc().as_fd()
    }

    /// What was counted so far. Reads of the rest of a sector that is written in part count as reads.
    pub fn counts(&self) -> Counts {
        self.cache.counts()
    }

    /// Bytes that were written and that the kernel does not have yet, to the sector.
    pub fn owed_bytes(&self) -> u64 {
        self.cache.owed_bytes()
    }

    /// Writes what is dirty and gives the file back, with its lock. If that fails, what was not written is lost:
    /// call [`flush`](Self::flush) first to keep the handle.
    pub fn into_file(mut self) -> io::Result<File> {
        self.flush()?;
        self.file.try_clone()
    }

    /// How many of these bytes the file has.
    fn there_are(&self, offset: u64, length: usize) -> usize {
        usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX).min(length)
    }

    fn check_write(&self, offset: u64, length: u64) -> io::Result<()> {
        if self.is_read_only {
            let what = "the file was opened to be read: open it with `is_read_only: false`";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        if offset.checked_add(length).is_none_or(|end| end > GROWING_BYTES) {
            let what = format!("a file has at most {GROWING_BYTES} B: write before that");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        Ok(())
    }
}

impl Drop for CachedFile {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

impl AsFd for CachedFile {
    /// The file itself: its bytes without those that are only in the cache.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl std::fmt::Debug for CachedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (file, length) = (&self.file, self.length);
        f.debug_struct("CachedFile")
            .field("file", file)
            .field("length", &length)
            .finish_non_exhaustive()
    }
}
