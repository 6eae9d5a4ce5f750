//! What tells a disc from others.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use super::Identity;
use crate::experiment::serve::BackendSpec;

/// What tells a disc from others at the end of a run, as at its start.
#[derive(Debug)]
pub(in crate::experiment::serve) enum Source {
    File(File, u64),
    Nbd(String, u64),
    /// An object: its address without a query, its size and the numbers of its version.
    Object(String, u64, (u64, [i64; 4])),
}

impl Source {
    pub(in crate::experiment::serve) fn identity(&self) -> io::Result<Identity> {
        match self {
            Self::Nbd(address, size_bytes) => {
                let (address, size_bytes) = (address.clone(), *size_bytes);
                Ok(Identity { address, size_bytes, ..Identity::default() })
            }
            Self::Object(address, size_bytes, (number, times)) => {
                let (address, size_bytes) = (address.clone(), *size_bytes);
                Ok(Identity { address, size_bytes, number: *number, times: *times })
            }
            Self::File(file, size_bytes) => {
                let (found, size_bytes) = (file.metadata()?, *size_bytes);
                if found.file_type().is_block_device() {
                    return Ok(Identity {
                        size_bytes,
                        number: found.rdev(),
                        ..Identity::default()
                    });
                }
                let changed = [found.mtime(), found.mtime_nsec()];
                let inode_changed = [found.ctime(), found.ctime_nsec()];
                let [[a, b], [c, d]] = [changed, inode_changed];
                Ok(Identity {
                    address: String::new(),
                    size_bytes,
                    number: found.ino(),
                    times: [a, b, c, d],
                })
            }
        }
    }

    /// The same once more.
    pub(in crate::experiment::serve) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::File(file, size_bytes) => Self::File(file.try_clone()?, *size_bytes),
            Self::Nbd(address, size_bytes) => Self::Nbd(address.clone(), *size_bytes),
            Self::Object(address, size_bytes, numbers) => {
                Self::Object(address.clone(), *size_bytes, *numbers)
            }
        })
    }

    /// What tells this disc from others. Only an object has numbers.
    pub(in crate::experiment::serve) fn of(
        disc: &BackendSpec,
        file: Option<File>,
        size_bytes: u64,
        numbers: (u64, [i64; 4]),
    ) -> Self {
        match (disc, file) {
            (BackendSpec::File(_) | BackendSpec::Direct(_), Some(file)) => {
                Self::File(file, size_bytes)
            }
            (BackendSpec::Object(address), _) => {
                // A new signature of a URL is no other object: its version tells that.
                let address = address.split('?').next().unwrap_or_default();
                Self::Object(address.to_owned(), size_bytes, numbers)
            }
            // It shows no changes either.
            (BackendSpec::Chunks(chunks), _) => Self::Nbd(chunks.address(), size_bytes),
            _ => Self::Nbd(disc.to_string(), size_bytes),
        }
    }
}

/// What differs between two discs.
pub(in crate::experiment::serve) fn difference(before: &Identity, now: &Identity) -> &'static str {
    if before.address != now.address {
        "the backend is another server"
    } else if before.size_bytes != now.size_bytes {
        "its size is another one"
    } else if before.number != now.number {
        "it is another file"
    } else {
        "it was changed meanwhile"
    }
}
