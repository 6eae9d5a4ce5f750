//! An object of an object store, read by ranges. The client has its own tries and timeouts.

use std::ops::Range;
use std::sync::Arc;

use object_store::path::Path as Key;
use object_store::{Error, GetOptions, ObjectStore};

use super::ObjectDiscError;
use super::origin::{Facts, Version, cause, words};

/// An object of a store.
pub(crate) struct Stored {
    store: Arc<dyn ObjectStore>,
    key: Key,
    pub(super) facts: Facts,
}

impl Stored {
    /// An object with this address, of this size and version.
    pub(crate) fn new(
        (store, key): (Arc<dyn ObjectStore>, Key),
        address: String,
        size_bytes: u64,
        version: Version,
    ) -> Result<Self, ObjectDiscError> {
        if size_bytes == 0 {
            return Err(ObjectDiscError::Empty(address));
        }
        if version.tag.is_none() {
            return Err(ObjectDiscError::NoVersion(address));
        }
        Ok(Self { store, key, facts: Facts { address, size_bytes, version } })
    }

    /// Fills the room with the bytes of a range of the same length.
    pub(super) async fn read(
        &self,
        range: Range<u64>,
        room: &mut [u8],
    ) -> Result<(), ObjectDiscError> {
        let if_match = self.facts.version.tag.clone();
        let wanted = Some(range.clone().into());
        let options = GetOptions { range: wanted, if_match, ..GetOptions::default() };
        let got = self.store.get_opts(&self.key, options).await;
        let got = got.map_err(|error| self.failed(&error))?;
        if got.meta.e_tag != self.facts.version.tag || got.meta.size != self.facts.size_bytes {
            return Err(ObjectDiscError::Changed(self.facts.address.clone()));
        }
        let bytes = got.bytes().await.map_err(|error| self.failed(&error))?;
        if bytes.len() != room.len() {
            let why = format!("{} B of {}", bytes.len(), words(&range));
            return Err(ObjectDiscError::Answer { address: self.facts.address.clone(), why });
        }
        room.copy_from_slice(&bytes);
        Ok(())
    }

    fn failed(&self, error: &Error) -> ObjectDiscError {
        let address = self.facts.address.clone();
        match error {
            Error::Precondition { .. } => ObjectDiscError::Changed(address),
            Error::NotFound { .. } => ObjectDiscError::Absent(address),
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                ObjectDiscError::Refused { address, why: cause(error) }
            }
            error => ObjectDiscError::Answer { address, why: cause(error) },
        }
    }
}
