//! The requests to a store: objects below a prefix are read, written with a condition, and listed. None is deleted.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::path::Path as Key;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt as _};
use object_store::{PutMode, PutOptions, UpdateVersion};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::super::origin::cause;
use super::super::{ObjectDiscError, REQUESTS};

/// The store of a disc.
pub(super) struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: Key,
    /// What the disc is called in errors.
    pub(super) address: String,
    give_up: Duration,
    slots: Semaphore,
}

/// Bytes of an object.
pub(super) struct Got {
    pub(super) bytes: Bytes,
    /// The size of the whole object.
    pub(super) size_bytes: u64,
    pub(super) version: UpdateVersion,
}

/// Why a request did not do what it was for.
#[derive(Debug)]
pub(super) enum Missed {
    /// The object has another version than the one in the condition.
    Other,
    /// There is no such object, or no such bucket.
    Absent,
    /// It failed, and a write may have arrived nevertheless.
    Failed(ObjectDiscError),
}

impl From<ObjectDiscError> for Missed {
    fn from(error: ObjectDiscError) -> Self {
        Self::Failed(error)
    }
}

impl Objects {
    pub(super) fn new(
        (store, prefix): (Arc<dyn ObjectStore>, Key),
        address: String,
        give_up: Duration,
    ) -> Self {
        let slots = Semaphore::new(REQUESTS as usize);
        Self { store, prefix, address, give_up, slots }
    }

    /// Waits until a request for a chunk may go. Those of the lease wait for none.
    pub(super) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        self.slots.acquire().await.ok()
    }

    /// What an object is called in errors.
    pub(super) fn called(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }

    /// Reads a range of an object or all of it, of this version or of any.
    pub(super) async fn get(
        &self,
        name: &str,
        range: Option<Range<usize>>,
        if_match: Option<String>,
    ) -> Result<Got, Missed> {
        let range = range.map(|range| (range.start as u64..range.end as u64).into());
        let options = GetOptions { range, if_match, ..GetOptions::default() };
        let key = self.key(name);
        let ask = async {
            let got = self.store.get_opts(&key, options).await?;
            let (size_bytes, version) = described(&got.meta);
            Ok::<_, Error>(Got { bytes: got.bytes().await?, size_bytes, version })
        };
        self.in_time(name, ask).await?.map_err(|error| self.missed(name, &error, false))
    }

    /// The size of an object, and its version.
    pub(super) async fn look(&self, name: &str) -> Result<(u64, UpdateVersion), Missed> {
        let key = self.key(name);
        let found = self.in_time(name, self.store.head(&key)).await?;
        found.map(|meta| described(&meta)).map_err(|error| self.missed(name, &error, false))
    }

    /// Writes an object, if the condition holds.
    pub(super) async fn put(
        &self,
        name: &str,
        bytes: Bytes,
        mode: PutMode,
    ) -> Result<UpdateVersion, Missed> {
        let key = self.key(name);
        let ask = self.store.put_opts(&key, bytes.into(), PutOptions::from(mode));
        let put = self.in_time(name, ask).await?;
        let put = put.map_err(|error| self.missed(name, &error, true))?;
        Ok(UpdateVersion { e_tag: put.e_tag, version: put.version })
    }

    /// The names right below the prefix, and the sizes of their objects.
    pub(super) async fn list(&self) -> Result<HashMap<String, u64>, ObjectDiscError> {
        let below = Some(&self.prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let (mut listed, mut found) = (self.store.list(below), HashMap::new());
        loop {
            let next = self.in_time("", listed.try_next()).await?;
            let next = next.map_err(|error| answer(self.address.clone(), &error))?;
            let Some(meta) = next else { return Ok(found) };
            let mut names = meta.location.prefix_match(&self.prefix).into_iter().flatten();
            if let (Some(name), None) = (names.next(), names.next()) {
                found.insert(name.as_ref().to_owned(), meta.size);
            }
        }
    }

    fn key(&self, name: &str) -> Key {
        self.prefix.clone().join(name)
    }

    /// Waits for an answer as long as a request may take with all its tries.
    async fn in_time<T>(
        &self,
        name: &str,
        ask: impl Future<Output = T> + Send,
    ) -> Result<T, ObjectDiscError> {
        tokio::time::timeout(self.give_up, ask).await.map_err(|_| {
            let why = format!("no answer in {} s", self.give_up.as_secs());
            ObjectDiscError::Unreachable { address: self.called(name), why }
        })
    }

    fn missed(&self, name: &str, error: &Error, writes: bool) -> Missed {
        let address = self.called(name);
        Missed::Failed(match error {
            Error::Precondition { .. } | Error::AlreadyExists { .. } => return Missed::Other,
            Error::NotFound { .. } => return Missed::Absent,
            error if writes => ObjectDiscError::NotWritten { address, why: cause(error) },
            error => answer(address, error),
        })
    }
}

fn answer(address: String, error: &Error) -> ObjectDiscError {
    let why = cause(error);
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            ObjectDiscError::Refused { address, why }
        }
        Error::NotFound { .. } => ObjectDiscError::Absent(address),
        _ => ObjectDiscError::Answer { address, why },
    }
}

fn described(meta: &ObjectMeta) -> (u64, UpdateVersion) {
    (meta.size, UpdateVersion { e_tag: meta.e_tag.clone(), version: meta.version.clone() })
}
