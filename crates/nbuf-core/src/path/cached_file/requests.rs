//! Requests of a cached file that are under way: submitted, staged, collected.

use std::io;

use super::CachedFile;
use crate::cache::cached::Writes;
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Bytes that a write changes as a whole; of others the cache reads the rest before.
const SECTOR_BYTES: u64 = 512;

/// The number of a request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(super) u32);

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
pub(super) struct Staged {
    request: Request,
    data: Vec<u8>,
    reads_left: u32,
}

impl CachedFile {
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
        loop {
            let done = self.collect(self.clock.nanos());
            // What the disc finished after the look at the clock was taken from it: no descriptor wakes for it.
            if done.is_some() || self.cache.next_done_at().is_none() {
                return done;
            }
        }
    }

    pub(super) fn next_ticket(&mut self) -> Ticket {
        self.next_ticket = self.next_ticket.wrapping_add(1);
        Ticket(self.next_ticket)
    }

    fn send(&mut self, request: Request, data: Vec<u8>) {
        self.cache.submit(self.clock.nanos(), request, data);
        // It goes on while the caller computes.
        self.cache.disc_mut().send();
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
        let edges = [request.offset, end].into_iter().filter(|at| at % SECTOR_BYTES != 0);
        let mut torn: Vec<u64> = edges.map(|at| at - at % SECTOR_BYTES).collect();
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
            let completion = self.cache.next_completion(until);
            // What was complete in the cache may have made writes of others.
            self.cache.disc_mut().send();
            self.note(completion?);
        }
    }

    /// Waits for one request; others that complete meanwhile stay to be collected.
    pub(super) fn wait_for(&mut self, ticket: Ticket) -> io::Result<Done> {
        loop {
            // It is the last that came, unless it was there before.
            if let Some(at) = self.ready.iter().rposition(|done| done.ticket == ticket)
                && let Some(done) = self.ready.remove(at)
            {
                let Done { ticket, data, outcome } = done;
                return outcome.map(|()| Done { ticket, data, outcome: Ok(()) });
            }
            let completion = self.cache.next_completion(Nanos::MAX);
            self.cache.disc_mut().send();
            let Some(completion) = completion else {
                return Err(io::Error::other("the disc lost a request: this is an error of nbuf"));
            };
            self.note(completion);
        }
    }

    /// Waits for all requests under way.
    pub(super) fn drain(&mut self) {
        while let Some(completion) = self.cache.next_completion(Nanos::MAX) {
            self.note(completion);
        }
    }
}

pub(super) fn refused(error: &DiscError) -> io::Error {
    let kind = match error {
        DiscError::PastTheEnd { .. } => io::ErrorKind::InvalidInput,
        DiscError::Full { .. } => io::ErrorKind::StorageFull,
        DiscError::Failed { .. } | DiscError::Owed { .. } => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.clone())
}
