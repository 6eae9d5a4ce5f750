//! Writes what is in memory of a chunk to its object.

use std::hash::BuildHasher as _;

use object_store::{PutMode, UpdateVersion};

use super::super::super::done::lock;
use super::super::ObjectDiscError;
use super::Shared;
use super::held::Payload;
use super::layout::name;
use super::objects::Missed;
use super::read::of;
use super::table::Found;

/// Tries of a PUT whose condition fails, although the object has what this disc has sent.
const TRIES: usize = 3;

impl Shared {
    /// Writes a chunk. On an error it stays owed.
    pub(super) async fn put(&self, chunk: u32) -> Result<(), ObjectDiscError> {
        let ended = self.send(chunk).await;
        let mut table = lock(&self.table);
        match ended {
            Ok((found, write)) => {
                table.saved(chunk, found, write);
                Ok(())
            }
            Err(error) => {
                table.unsaved(chunk);
                Err(error)
            }
        }
    }

    /// What the object has then, and the last write in it.
    async fn send(&self, chunk: u32) -> Result<(Option<Found>, u64), ObjectDiscError> {
        let (payload, write, mut found) = self.complete(chunk).await?;
        let is_zero = matches!(payload, Payload::Zeros);
        if is_zero && matches!(found, None | Some(Found::Zeros(_))) && !self.has_sent(chunk) {
            return Ok((found, write));
        }
        let bytes = payload.bytes();
        let hash = self.keys.hash_one(&bytes[..]);
        let _slot = self.objects.slot().await;
        for _ in 0..TRIES {
            let mode = self.mode(chunk, found).await?;
            let is_new = matches!(mode, PutMode::Create);
            let asked = match &mode {
                PutMode::Update(version) => version.e_tag.clone(),
                _ => None,
            };
            self.may_write()?;
            // It counts as sent from here on, whether an answer comes or not.
            if let Some(held) = lock(&self.table).held_mut(chunk) {
                held.sent.retain(|&sent| sent != hash);
                held.sent.push(hash);
            }
            match self.objects.put(&name(chunk), bytes.clone(), mode).await {
                Ok(version) => {
                    self.has_lease()?;
                    return Ok((Some(of(&bytes, version)), write));
                }
                Err(Missed::Failed(error)) => return Err(error),
                Err(Missed::Absent) if is_new => {
                    return Err(self.not_written(chunk, "there is no such bucket"));
                }
                Err(Missed::Other | Missed::Absent) => {}
            }
            found = match self.sent(chunk, asked.as_deref()).await? {
                Some((now, has)) if has == bytes => {
                    self.has_lease()?;
                    return Ok((Some(now), write));
                }
                Some((now, _)) => Some(now),
                // A store may refuse one of two requests at once, although no object is there.
                None if is_new => None,
                None => return Err(self.taken(chunk)),
            };
        }
        Err(self.not_written(chunk, "its version changes again and again"))
    }

    /// Fills the gaps between the writes to a chunk. All of it, its last write, and what its object has.
    async fn complete(&self, chunk: u32) -> Result<(Payload, u64, Option<Found>), ObjectDiscError> {
        loop {
            let (gap, found) = {
                let table = lock(&self.table);
                let found = table.found(chunk).cloned();
                // What is under way is in memory.
                let Some(held) = table.held(chunk) else { return Err(self.closed()) };
                let Some(gap) = held.gap() else {
                    return Ok((held.payload().simplified(), held.last, found));
                };
                (gap, found)
            };
            let base = match self.base(chunk, found.as_ref(), gap.clone()).await {
                Ok(base) => base,
                Err(Missed::Failed(error)) => return Err(error),
                Err(Missed::Other | Missed::Absent) => return Err(self.taken(chunk)),
            };
            if let Some(held) = lock(&self.table).held_mut(chunk) {
                held.fill(gap.start, &base);
            }
        }
    }

    /// The condition for an object that was found so.
    async fn mode(&self, chunk: u32, found: Option<Found>) -> Result<PutMode, ObjectDiscError> {
        let known = |version: UpdateVersion| Ok(PutMode::Update(version));
        match found {
            None => Ok(PutMode::Create),
            Some(Found::Bytes(version) | Found::Zeros(version)) => known(version),
            // No version was listed, so this is the first one that is known.
            Some(Found::Listed(bytes)) => match self.objects.look(&name(chunk)).await {
                Ok((now, version)) if now == bytes => known(version),
                Err(Missed::Failed(error)) => Err(error),
                // What was sent without an answer may be there.
                Ok(_) if self.has_sent(chunk) => match self.sent(chunk, None).await? {
                    Some((Found::Bytes(version) | Found::Zeros(version), _)) => known(version),
                    _ => Err(self.taken(chunk)),
                },
                Ok(_) | Err(Missed::Other | Missed::Absent) => Err(self.taken(chunk)),
            },
        }
    }

    /// Whether an object may have something else than was found, as an answer did not come.
    fn has_sent(&self, chunk: u32) -> bool {
        lock(&self.table).held(chunk).is_some_and(|held| !held.sent.is_empty())
    }

    /// Whether this disc may write now.
    fn may_write(&self) -> Result<(), ObjectDiscError> {
        lock(&self.table).check()?;
        self.has_lease()
    }

    /// Whether the lease is still valid. A PUT that ends without it may be missing in what the next owner has listed.
    fn has_lease(&self) -> Result<(), ObjectDiscError> {
        self.lease.as_ref().map_or_else(|| Err(self.closed()), |lease| lease.check(&self.objects))
    }

    fn not_written(&self, chunk: u32, why: &str) -> ObjectDiscError {
        let address = self.objects.called(&name(chunk));
        ObjectDiscError::NotWritten { address, why: why.to_owned() }
    }
}
