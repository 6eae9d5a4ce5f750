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

mod open;
mod standard;
#[cfg(test)]
mod tests;

pub use open::{OpenError, Options};

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::cache::cached::{Cached, Counts, Writes};
use crate::cache::policy::AnyPolicy;
use crate::clock::Stopwatch;
use crate::disc::pool::{GROWING_BYTES, Pool};
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Bytes that a write changes as a whole; of others the cache reads the rest before.
const SECTOR_BYTES: u64 = 512;

/// The number of a request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(u32);

/// A request that is complete.
#[derive(Debug)]
pub struct Done {
    /// The number that its submission gave.
    pub ticket: Ticket,
    /// The buffer that was submitted; after a read, the bytes as far as the file goes.
    pub data: Vec<u8>,
    /// Whether it succeeded.
    pub outcome: io::Result<()>,
}

/// A write that waits for the rest of the sectors that it changes in part.
#[derive(Debug)]
struct Staged {
    request: Request,
    data: Vec<u8>,
    reads_left: u32,
}

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
        self.file.set_len(length)
    }

    /// The length of the file, with what is not written yet.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Submits a read of as many bytes as the buffer has.
    pub fn submit_read(&mut self, mut buffer: Vec<u8>, offset: u64) -> Ticket {
        let ticket = self.next_ticket();
        buffer.truncate(self.there_are(offset, buffer.len()));
        // Nothing is asked of the disc behind the end, which may be behind all that it can address.
        let offset = if buffer.is_empty() { 0 } else { offset };
        let read = Request::new(Op::Read, offset, buffer.len() as u64);
        self.send(Request { task: ticket.0, ..read }, buffer);
        ticket
    }

    /// Submits a write of all bytes of a buffer. Refused for a file that was opened to be read.
    pub fn submit_write(&mut self, buffer: Vec<u8>, offset: u64) -> io::Result<Ticket> {
        self.check_write(offset, buffer.len() as u64)?;
        let ticket = self.next_ticket();
        let write = Request::new(Op::Write, offset, buffer.len() as u64);
        let request = Request { task: ticket.0, ..write };
        let is_whole = buffer.is_empty()
            || self.cache.settings().writes != Writes::Back
            || self.cache.has_whole_sectors(&request);
        if is_whole {
            self.write(request, buffer);
        } else {
            self.stage(request, buffer);
        }
        Ok(ticket)
    }

    /// Submits a [`sync`](Self::sync).
    pub fn submit_sync(&mut self) -> Ticket {
        let ticket = self.next_ticket();
        self.send(Request { task: ticket.0, ..Request::new(Op::Flush, 0, 0) }, Vec::new());
        ticket
    }

    /// The next request that is complete. Waits for one, unless none is under way.
    pub fn next_done(&mut self) -> Option<Done> {
        self.collect(Nanos::MAX)
    }

    /// The next request that is complete already.
    pub fn try_done(&mut self) -> Option<Done> {
        self.collect(self.clock.nanos())
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

    fn next_ticket(&mut self) -> Ticket {
        self.next_ticket = self.next_ticket.wrapping_add(1);
        Ticket(self.next_ticket)
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

    fn send(&mut self, request: Request, data: Vec<u8>) {
        self.cache.submit(self.clock.nanos(), request, data);
    }

    fn write(&mut self, request: Request, data: Vec<u8>) {
        if !data.is_empty() {
            self.length = self.length.max(request.offset + request.length_bytes);
            self.cache.disc_mut().set_end(self.length);
        }
        self.send(request, data);
    }

    /// Reads the sectors that a write changes in part. The write follows when they are there.
    fn stage(&mut self, request: Request, data: Vec<u8>) {
        let end = request.offset + request.length_bytes;
        let mut torn: Vec<u64> =
            [request.offset, end].into_iter().filter(|at| at % SECTOR_BYTES != 0).collect();
        torn.iter_mut().for_each(|at| *at -= *at % SECTOR_BYTES);
        torn.dedup();
        let reads_left = u32::try_from(torn.len()).unwrap_or(2);
        self.staged.insert(request.task, Staged { request, data, reads_left });
        for at in torn {
            let read = Request { task: request.task, ..Request::new(Op::Read, at, SECTOR_BYTES) };
            self.send(read, vec![0; 512]);
        }
    }

    /// The cache has completed something.
    fn note(&mut self, completion: Completion) {
        let Completion { request, data, outcome, .. } = completion;
        let Some(staged) = self.staged.get_mut(&request.task) else {
            let outcome = outcome.map_err(|error| refused(&error));
            return self.ready.push_back(Done { ticket: Ticket(request.task), data, outcome });
        };
        // If the read failed, the cache sends the write to the disc, and that decides.
        staged.reads_left -= 1;
        if staged.reads_left == 0
            && let Some(Staged { request, data, .. }) = self.staged.remove(&request.task)
        {
            self.write(request, data);
        }
    }

    fn collect(&mut self, until: Nanos) -> Option<Done> {
        loop {
            if let Some(done) = self.ready.pop_front() {
                return Some(done);
            }
            let completion = self.cache.next_completion(until)?;
            self.note(completion);
        }
    }

    /// Waits for one request; others that complete meanwhile stay to be collected.
    fn wait_for(&mut self, ticket: Ticket) -> io::Result<Done> {
        loop {
            // It is the last that came, unless it was there before.
            if let Some(at) = self.ready.iter().rposition(|done| done.ticket == ticket)
                && let Some(done) = self.ready.remove(at)
            {
                let Done { ticket, data, outcome } = done;
                return outcome.map(|()| Done { ticket, data, outcome: Ok(()) });
            }
            let Some(completion) = self.cache.next_completion(Nanos::MAX) else {
                return Err(io::Error::other("the disc lost a request: this is an error of nbuf"));
            };
            self.note(completion);
        }
    }

    /// Waits for all requests under way.
    fn drain(&mut self) {
        while let Some(completion) = self.cache.next_completion(Nanos::MAX) {
            self.note(completion);
        }
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

fn refused(error: &DiscError) -> io::Error {
    let kind = match error {
        DiscError::PastTheEnd { .. } => io::ErrorKind::InvalidInput,
        DiscError::Full { .. } => io::ErrorKind::StorageFull,
        DiscError::Failed { .. } => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.clone())
}
