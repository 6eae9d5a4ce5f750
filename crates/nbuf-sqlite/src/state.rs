//! The cache of one database file, which all connections of the process to it share.
//!
//! [`Handle`](crate::handle::Handle) decides when its pages may be used; here they are read, written and dropped.

use nbuf::cache::cached::{Cached, Counts, PAGE_BYTES_MAX, Settings, Writes};
use nbuf::cache::policy::AnyPolicy;
use nbuf::disc::wait_for;
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

use crate::below::{Below, Through};
use crate::code::Code;
use crate::index::Key;
use crate::options::Options;
use crate::stamp::{HEADER_BYTES, Header, Seen, Stamp, Status};

/// Asks the kernel about the file. Nothing if that fails, or if the file is not known to be the one that is open.
pub(crate) type Look = Box<dyn Fn() -> Option<Seen> + Send>;

/// What happened besides hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Reads that went past the cache, because others could write at the time.
    pub bypassed: u64,
    /// Writes.
    pub writes: u64,
    /// Times that all pages were dropped, because others wrote or could have.
    pub drops: u64,
}

/// The cache, and what is known of the file.
pub(crate) struct State<F> {
    cache: Cached<dyn AnyPolicy, Through<F>>,
    look: Look,
    scratch: Vec<u8>,
    /// The length of the file, as far as this process knows.
    length: u64,
    /// No page behind this byte is in the cache.
    reach: u64,
    pub(crate) header: Header,
    /// Connections that hold a lock on the file.
    pub(crate) holders: u32,
    /// Whether the file was compared with the stamp since the first of them came.
    pub(crate) is_checked: bool,
    /// Whether this process wrote since then.
    wrote: bool,
    /// The file as the cache has it, as long as no lock is held.
    stamp: Option<Stamp>,
    /// The state of the WAL for which the pages are right; nothing outside WAL.
    key: Option<Key>,
    /// The file when the pages of an empty WAL were right, if a later change would show.
    empty: Option<Status>,
    /// Whether a connection of this process holds the lock of checkpoints, so that no other process writes.
    pub(crate) is_checkpointing: bool,
    pub(crate) figures: Figures,
}

impl<F: Below> State<F> {
    pub(crate) fn new(options: &Options, look: Look) -> Self {
        let Options { pages, page_bytes, policy } = *options;
        let settings = Settings { page_bytes, ..Settings::new(pages, Writes::Through) };
        Self {
            cache: Cached::new(Through::new(), policy.build(settings.pages, 0), settings),
            look,
            scratch: Vec::new(),
            length: 0,
            reach: 0,
            header: Header::NONE,
            holders: 0,
            is_checked: false,
            wrote: false,
            stamp: None,
            key: None,
            empty: None,
            is_checkpointing: false,
            figures: Figures::default(),
        }
    }

    /// The first lock was taken, or the file became uncertain: compares it with what the cache has. Gives whether
    /// the file can be cached at all. The caller holds a lock, so outside WAL no other process writes.
    pub(crate) fn check(&mut self, file: &F) -> Result<bool, Code> {
        let Some(status) = self.status() else { return Ok(false) };
        let mut header = [0; HEADER_BYTES];
        match file.read(&mut header, 0) {
            Ok(()) | Err(Code::SHORT_READ) => {}
            Err(code) => return Err(code),
        }
        let now = Stamp { status, header: Header(header) };
        // In WAL mode a checkpoint need not change the header, and the kernel's clock ticks slowly.
        if self.stamp != Some(now) || now.header.is_wal() {
            self.forget();
        }
        self.stamp = Some(now);
        self.header = now.header;
        self.length = status.length;
        self.is_checked = true;
        self.wrote = false;
        Ok(true)
    }

    /// A connection got its first lock.
    pub(crate) fn enter(&mut self) {
        if self.holders == 0 {
            self.is_checked = false;
            self.wrote = false;
        }
        self.holders += 1;
    }

    /// A connection is about to release its last lock.
    pub(crate) fn leave(&mut self) {
        self.holders = self.holders.saturating_sub(1);
        if self.holders > 0 {
            return;
        }
        if self.wrote {
            let status = if self.is_checked { self.status() } else { None };
            self.stamp = status.map(|status| Stamp { status, header: self.header });
        }
        self.is_checked = false;
        self.wrote = false;
    }

    /// The pages are to be right for this state of the WAL.
    pub(crate) fn follow(&mut self, key: Option<Key>) {
        if self.key == key {
            return;
        }
        let is_own = self.is_checkpointing && self.key.is_some() && key.is_some();
        if !is_own {
            self.forget();
        }
        self.key = key;
    }

    /// A connection begins to read with an empty WAL. Until it ends, no checkpoint writes the file. The key does not show
    /// what was before, so the times of the file do.
    pub(crate) fn begin_with_empty_wal(&mut self) {
        let seen = (self.look)();
        if self.empty.is_none() || self.empty != seen.map(|seen| seen.status) {
            self.forget();
        }
        self.empty = seen.filter(|seen| seen.is_settled).map(|seen| seen.status);
    }

    /// Reads through the cache.
    pub(crate) fn read(&mut self, file: &F, buffer: &mut [u8], offset: u64) -> Result<(), Code> {
        let end = offset.checked_add(buffer.len() as u64).ok_or(Code::READ)?;
        if end > self.length {
            match self.status() {
                Some(status) => self.length = status.length,
                None => return file.read(buffer, offset),
            }
        }
        let there = self.length.saturating_sub(offset);
        let there = usize::try_from(there).unwrap_or(usize::MAX).min(buffer.len());
        if there > 0 {
            self.read_there(file, &mut buffer[..there], offset)?;
        }
        if there < buffer.len() {
            buffer[there..].fill(0);
            return Err(Code::SHORT_READ);
        }
        Ok(())
    }

    fn read_there(&mut self, file: &F, buffer: &mut [u8], offset: u64) -> Result<(), Code> {
        let request = Request::new(Op::Read, offset, buffer.len() as u64);
        self.scratch.clear();
        if self.cache.read_hit(&request, &mut self.scratch) {
            buffer.copy_from_slice(&self.scratch);
            return Ok(());
        }
        let mut data = std::mem::take(&mut self.scratch);
        data.resize(buffer.len(), 0);
        let Ok(data) = self.ask(file, request, data, Code::READ) else {
            // A page of the cache may have more than was asked for, and that may be what cannot be read.
            return file.read(buffer, offset);
        };
        buffer.copy_from_slice(&data);
        self.scratch = data;
        Ok(())
    }

    /// Writes through the cache.
    pub(crate) fn write(&mut self, file: &F, data: &[u8], offset: u64) -> Result<(), Code> {
        let request = Request::new(Op::Write, offset, data.len() as u64);
        let outcome = self.ask(file, request, data.to_vec(), Code::WRITE).map(drop);
        self.note_write(data, offset, outcome)
    }

    /// Writes past the cache, which forgets these bytes.
    pub(crate) fn write_past(&mut self, file: &F, data: &[u8], offset: u64) -> Result<(), Code> {
        let outcome = file.write(data, offset);
        self.discard(offset, data.len() as u64);
        self.note_write(data, offset, outcome)
    }

    fn note_write(
        &mut self,
        data: &[u8],
        offset: u64,
        outcome: Result<(), Code>,
    ) -> Result<(), Code> {
        self.figures.writes += 1;
        self.wrote = true;
        if outcome.is_err() {
            // The header may have the old bytes or the new ones.
            self.is_checked = false;
            return outcome;
        }
        self.header.write(data, offset);
        self.length = self.length.max(offset + data.len() as u64);
        Ok(())
    }

    /// Cuts the file off.
    pub(crate) fn truncate(&mut self, file: &F, length: u64) -> Result<(), Code> {
        let outcome = file.truncate(length);
        self.wrote = true;
        // Else the header is as it was.
        self.is_checked &= length >= HEADER_BYTES as u64;
        self.discard(length, self.reach.saturating_sub(length));
        // The file may have been cut off at another place.
        self.length = self.status().map_or(length, |status| status.length);
        outcome
    }

    /// Drops all pages.
    pub(crate) fn forget(&mut self) {
        if self.cache.used_pages() > 0 {
            self.figures.drops += 1;
            self.discard(0, self.reach);
            self.reach = 0;
        }
    }

    /// What the cache counted, its pages, and the bytes of each.
    pub(crate) fn counts(&self) -> (Counts, Settings, u64) {
        (self.cache.counts(), self.cache.settings(), self.cache.used_pages())
    }

    fn status(&self) -> Option<Status> {
        (self.look)().map(|seen| seen.status)
    }

    fn discard(&mut self, offset: u64, length: u64) {
        let request = Request::new(Op::Discard, offset, length);
        // The disc has nothing to do for it, so it cannot fail.
        let _ = wait_for(&mut self.cache, Nanos::ZERO, request, Vec::new());
    }

    fn ask(
        &mut self,
        file: &F,
        request: Request,
        data: Vec<u8>,
        otherwise: Code,
    ) -> Result<Vec<u8>, Code> {
        let end = request.offset + request.length_bytes;
        self.reach = self.reach.max(end.next_multiple_of(PAGE_BYTES_MAX.into()));
        self.cache.disc_mut().lend(file);
        let done = wait_for(&mut self.cache, Nanos::ZERO, request, data);
        let failed = self.cache.disc_mut().take_back();
        match done {
            Some(done) if done.outcome.is_ok() => Ok(done.data),
            _ => Err(failed.unwrap_or(otherwise)),
        }
    }
}
