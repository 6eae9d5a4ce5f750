//! Reads of a chunk: what is in memory, and the rest of its object.

use std::hash::BuildHasher as _;
use std::ops::Range;

use bytes::Bytes;
use object_store::UpdateVersion;

use super::super::super::done::lock;
use super::super::ObjectDiscError;
use super::Shared;
use super::covered::span;
use super::held::{Held, ZEROS};
use super::layout::{Part, name};
use super::objects::{Got, Missed};
use super::table::{Found, Table};

impl Shared {
    /// Fills the room with the bytes of a part.
    pub(super) async fn read(&self, part: &Part, room: &mut [u8]) -> Result<(), ObjectDiscError> {
        let (chunk, within) = (part.chunk, part.within.clone());
        loop {
            let (gaps, found) = {
                let table = lock(&self.table);
                let copy = |held: &Held| held.copy(within.clone(), room);
                let gaps = table.held(chunk).map_or_else(|| vec![within.clone()], copy);
                (gaps, table.found(chunk).cloned())
            };
            let Some(asked) = span(&gaps) else { return Ok(()) };
            match self.base(chunk, found.as_ref(), asked.clone()).await {
                Ok(base) => {
                    for gap in gaps {
                        let to = &mut room[gap.start - within.start..gap.end - within.start];
                        to.copy_from_slice(&base[gap.start - asked.start..gap.end - asked.start]);
                    }
                    return Ok(());
                }
                Err(Missed::Failed(error)) => return Err(error),
                Err(Missed::Other | Missed::Absent) => self.changed(chunk, found.as_ref()).await?,
            }
        }
    }

    /// What the object of a chunk has in a range, if it is as it was found.
    pub(super) async fn base(
        &self,
        chunk: u32,
        found: Option<&Found>,
        range: Range<usize>,
    ) -> Result<Bytes, Missed> {
        let (name, chunk_bytes) = (name(chunk), self.layout.chunk_bytes());
        let (part, if_match) = match found {
            None | Some(Found::Zeros(_)) => return Ok(zeros(range.len())),
            Some(Found::Bytes(version)) => (Some(range.clone()), version.e_tag.clone()),
            Some(Found::Listed(bytes)) if *bytes == chunk_bytes => (Some(range.clone()), None),
            Some(Found::Listed(bytes)) if *bytes == ZEROS.len() as u64 => (None, None),
            Some(Found::Listed(bytes)) => return Err(self.wrong_size(chunk, *bytes).into()),
        };
        let is_mark = part.is_none();
        let slot = self.objects.slot().await;
        let got = self.objects.get(&name, part, if_match).await?;
        drop(slot);
        if is_mark {
            if got.bytes != ZEROS {
                return Err(self.wrong_size(chunk, got.size_bytes).into());
            }
            self.learn(chunk, Found::Zeros(got.version));
            return Ok(zeros(range.len()));
        }
        if got.size_bytes != chunk_bytes || got.bytes.len() != range.len() {
            return Err(Missed::Other);
        }
        self.learn(chunk, Found::Bytes(got.version));
        Ok(got.bytes)
    }

    /// Notes the version of an object that was only listed.
    fn learn(&self, chunk: u32, found: Found) {
        let mut table = lock(&self.table);
        if let Some(Found::Listed(_)) = table.found(chunk) {
            table.set_found(chunk, Some(found));
        }
    }

    /// An object is not as it was found. If this disc has changed it, a read can begin again.
    ///
    /// # Errors
    /// If another server has changed it.
    async fn changed(&self, chunk: u32, was: Option<&Found>) -> Result<(), ObjectDiscError> {
        let put = {
            let table = lock(&self.table);
            if table.found(chunk) != was {
                return Ok(());
            }
            table.held(chunk).and_then(|held| held.put.clone())
        };
        if let Some(put) = put {
            // Its owner gets the error.
            let _ = self.wait(put).await;
            if lock(&self.table).found(chunk) != was {
                return Ok(());
            }
        }
        let _slot = self.objects.slot().await;
        let now = self.now(chunk).await?;
        {
            let mut table = lock(&self.table);
            // A PUT that ended since then has changed it. What that has sent is forgotten.
            if table.found(chunk) != was {
                return Ok(());
            }
            if let Some((found, bytes)) = now
                && self.is_sent(&table, chunk, &bytes)
            {
                table.set_found(chunk, Some(found));
                return Ok(());
            }
        }
        Err(self.taken(chunk))
    }

    /// What the object of a chunk has now; nothing if there is none. The caller has a slot.
    async fn now(&self, chunk: u32) -> Result<Option<(Found, Bytes)>, ObjectDiscError> {
        match self.objects.get(&name(chunk), None, None).await {
            Ok(Got { bytes, version, .. }) => Ok(Some((of(&bytes, version), bytes))),
            Err(Missed::Failed(error)) => Err(error),
            // There was no condition.
            Err(Missed::Absent | Missed::Other) => Ok(None),
        }
    }

    /// Whether this disc has sent these bytes, and no answer came.
    fn is_sent(&self, table: &Table, chunk: u32, bytes: &[u8]) -> bool {
        let hash = self.keys.hash_one(bytes);
        table.held(chunk).is_some_and(|held| held.sent.contains(&hash))
    }

    /// What the object of a chunk has now, which this disc has sent without an answer; nothing if there is none. The
    /// caller has a slot. It may also still have the version that a refused condition asked for: a store may refuse one
    /// of two requests at once.
    ///
    /// # Errors
    /// If this disc has not sent it.
    pub(super) async fn sent(
        &self,
        chunk: u32,
        asked: Option<&str>,
    ) -> Result<Option<(Found, Bytes)>, ObjectDiscError> {
        let Some((found, bytes)) = self.now(chunk).await? else { return Ok(None) };
        let is_same = asked.is_some() && asked == found.tag();
        let is_ours = is_same || self.is_sent(&lock(&self.table), chunk, &bytes);
        if is_ours { Ok(Some((found, bytes))) } else { Err(self.taken(chunk)) }
    }

    /// Another server has written a chunk.
    pub(super) fn taken(&self, chunk: u32) -> ObjectDiscError {
        let address = self.objects.called(&name(chunk));
        if self.lease.is_none() {
            return ObjectDiscError::Changed(address);
        }
        self.lose(ObjectDiscError::Taken(address))
    }

    /// Refuses a write to a part of a chunk whose object has a wrong size.
    pub(super) fn check_size(&self, table: &Table, part: &Part) -> Result<(), ObjectDiscError> {
        match table.found(part.chunk) {
            Some(&Found::Listed(bytes))
                if bytes != self.layout.chunk_bytes()
                    && bytes != ZEROS.len() as u64
                    && table.held(part.chunk).is_none()
                    && !self.layout.is_whole(part) =>
            {
                Err(self.wrong_size(part.chunk, bytes))
            }
            _ => Ok(()),
        }
    }

    fn wrong_size(&self, chunk: u32, bytes: u64) -> ObjectDiscError {
        let address = self.objects.called(&name(chunk));
        ObjectDiscError::Chunk { address, bytes, chunk_bytes: self.layout.chunk_bytes() }
    }
}

/// What an object with these bytes is.
pub(super) fn of(bytes: &[u8], version: UpdateVersion) -> Found {
    if bytes == ZEROS { Found::Zeros(version) } else { Found::Bytes(version) }
}

fn zeros(length: usize) -> Bytes {
    vec![0; length].into()
}
