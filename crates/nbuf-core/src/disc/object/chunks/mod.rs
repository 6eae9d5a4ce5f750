//! A disc of chunks in an object store, which one server writes: a manifest, a lease, and an object for each chunk.
//!
//! `layout` has the places of bytes, and `manifest` the two texts. `table` has what is known of chunks, with `held` and
//! `covered` for what is in memory. `objects` makes the requests; `open`, `read` and `put` decide which. `lease` keeps a
//! second writer out.
//! Invariants: each PUT names the version that the chunk has, or that it has none. So no write of another server is
//! overwritten unseen after the first request for the chunk. What is in memory stays owed until its PUT is acknowledged,
//! and a flush waits for that.
//! Cost: a PUT for each chunk that was written since the last flush, and a GET if a part of it was not. A read is a GET for
//! each chunk. In memory: 64 MiB of chunks, twice that while they are sent, and 100 B for each object.
//! Not for discs with many small writes between flushes: each costs a chunk.

mod covered;
mod held;
mod layout;
mod lease;
mod manifest;
mod objects;
mod open;
mod put;
mod read;
mod table;
#[cfg(test)]
mod tests;

use std::hash::RandomState;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;

use super::super::done::lock;
use super::ObjectDiscError;
use super::origin::Facts;
use held::Outcome;
use layout::{Layout, Part};
use lease::Lease;
use objects::Objects;
pub(crate) use open::Opening;
use table::Table;

/// Chunks that are written at once to make room for others.
const PUTS: usize = 4;
/// How long the end of a disc may take.
const CLOSE: Duration = Duration::from_secs(5);

/// A disc of chunks.
pub(crate) struct Chunks {
    pub(super) facts: Facts,
    shared: Arc<Shared>,
}

/// What the tasks of a disc share.
struct Shared {
    layout: Layout,
    objects: Objects,
    table: Mutex<Table>,
    /// None where nothing is written.
    lease: Option<Lease>,
    /// The keys of hashes of what was sent.
    keys: RandomState,
}

impl Chunks {
    /// Whether writes are refused.
    pub(super) fn is_read_only(&self) -> bool {
        self.shared.lease.is_none()
    }

    /// Fills the room with the bytes from `offset`.
    pub(super) async fn read(&self, offset: u64, room: &mut [u8]) -> Result<(), ObjectDiscError> {
        for part in self.shared.layout.parts(offset, room.len() as u64) {
            self.shared.read(&part, &mut room[part.of.clone()]).await?;
        }
        Ok(())
    }

    /// Takes the bytes into memory. A durable write waits until their chunks are written.
    pub(super) async fn write(
        &self,
        offset: u64,
        bytes: &[u8],
        durable: bool,
    ) -> Result<(), ObjectDiscError> {
        let mut written = Vec::new();
        for part in self.shared.layout.parts(offset, bytes.len() as u64) {
            let write = self.shared.write(&part, Some(&bytes[part.of.clone()])).await?;
            written.push((part.chunk, write));
        }
        if durable { self.shared.settle_all(written).await } else { Ok(()) }
    }

    /// Makes a range zeros. A trim may leave parts of chunks as they are.
    pub(super) async fn discard(
        &self,
        offset: u64,
        bytes: u64,
        (zeros, durable): (bool, bool),
    ) -> Result<(), ObjectDiscError> {
        let mut written = Vec::new();
        for part in self.shared.layout.parts(offset, bytes) {
            let is_whole = self.shared.layout.is_whole(&part);
            if !is_whole && !zeros {
                continue;
            }
            let is_zero = {
                let mut table = lock(&self.shared.table);
                table.check()?;
                if is_whole {
                    table.zero(part.chunk);
                }
                written.extend(table.held(part.chunk).map(|held| (part.chunk, held.last)));
                table.is_zero(part.chunk)
            };
            if !is_zero {
                written.push((part.chunk, self.shared.write(&part, None).await?));
            }
        }
        if durable { self.shared.settle_all(written).await } else { Ok(()) }
    }

    /// Waits until all that was written before is in the store.
    ///
    /// # Errors
    /// If a PUT failed, whose bytes stay owed, and if this disc may not write any more.
    pub(super) async fn flush(&self) -> Result<(), ObjectDiscError> {
        let owed = lock(&self.shared.table).owed();
        self.shared.settle_all(owed).await
    }

    /// Whether a flush may succeed after a refused one: what is owed is in memory, and this disc may still write.
    pub(super) fn can_flush_again(&self) -> bool {
        lock(&self.shared.table).check().is_ok()
    }

    /// Ends the lease. Nothing is written any more. If a PUT does not end in time, the lease ends by its term.
    pub(super) async fn close(&self) {
        let Some(lease) = &self.shared.lease else { return };
        let puts = self.shared.end_writes();
        let release = async {
            for put in puts {
                let _ = self.shared.wait(put).await;
            }
            lease.release(&self.shared.objects).await;
        };
        let _ = tokio::time::timeout(CLOSE, release).await;
    }
}

impl Shared {
    /// Takes a write of these bytes, or of zeros, and waits for room in memory. Its number.
    async fn write(
        self: &Arc<Self>,
        part: &Part,
        bytes: Option<&[u8]>,
    ) -> Result<u64, ObjectDiscError> {
        loop {
            let put = {
                let mut table = lock(&self.table);
                table.check()?;
                self.check_size(&table, part)?;
                if let Some(write) = table.write(part, bytes) {
                    return Ok(write);
                }
                let oldest = table.oldest(PUTS).into_iter();
                let puts: Vec<Outcome> =
                    oldest.filter_map(|chunk| self.start(&mut table, chunk)).collect();
                puts.into_iter().next()
            };
            if let Some(put) = put {
                self.wait(put).await?;
            }
        }
    }

    /// Waits until the objects of these chunks have these writes.
    async fn settle_all(self: &Arc<Self>, written: Vec<(u32, u64)>) -> Result<(), ObjectDiscError> {
        let settled = written.into_iter().map(|(chunk, write)| self.settle(chunk, write));
        let outcomes = join_all(settled).await;
        outcomes.into_iter().collect::<Result<(), _>>()?;
        lock(&self.table).check()
    }

    async fn settle(self: &Arc<Self>, chunk: u32, write: u64) -> Result<(), ObjectDiscError> {
        loop {
            let put = {
                let mut table = lock(&self.table);
                table.check()?;
                if table.is_saved(chunk, write) {
                    return Ok(());
                }
                self.start(&mut table, chunk)
            };
            if let Some(put) = put {
                self.wait(put).await?;
            }
        }
    }

    /// Begins to write a chunk, unless that is under way, or nothing is owed.
    fn start(self: &Arc<Self>, table: &mut Table, chunk: u32) -> Option<Outcome> {
        let held = table.held_mut(chunk)?;
        if let Some(put) = &held.put {
            return Some(put.clone());
        }
        let (tell, outcome) = watch::channel(None);
        held.put = Some(outcome.clone());
        let shared = Arc::clone(self);
        // All that wait share it, and it goes on without them.
        drop(tokio::spawn(async move {
            let ended = shared.put(chunk).await;
            tell.send_replace(Some(ended));
        }));
        Some(outcome)
    }

    /// Waits for the end of a PUT.
    async fn wait(&self, mut put: Outcome) -> Result<(), ObjectDiscError> {
        let ended = put.wait_for(Option::is_some).await;
        ended.ok().and_then(|ended| (*ended).clone()).unwrap_or_else(|| Err(self.closed()))
    }

    /// Ends writes of this disc: another server writes it.
    fn lose(&self, error: ObjectDiscError) -> ObjectDiscError {
        lock(&self.table).over.get_or_insert(error).clone()
    }

    /// Ends writes for good. What is under way.
    fn end_writes(&self) -> Vec<Outcome> {
        let mut table = lock(&self.table);
        table.over.get_or_insert_with(|| self.closed());
        let owed = table.owed().into_iter();
        owed.filter_map(|(chunk, _)| table.held(chunk)?.put.clone()).collect()
    }

    fn closed(&self) -> ObjectDiscError {
        let why = "the disc is closed".to_owned();
        ObjectDiscError::NotWritten { address: self.objects.address.clone(), why }
    }
}
