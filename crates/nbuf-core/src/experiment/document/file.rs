//! Documents in files.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Document, DocumentError, read};
use crate::sys::input::{self, Refused};

/// More than any document has.
const BYTES_MAX: u64 = 256 << 20;

/// Why a file has no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be opened.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It holds something else.
    #[error("{} {why}", .path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: DocumentError,
    },
}

/// Reads the document in a file.
pub fn open<D: Document>(path: &Path) -> Result<D, OpenError> {
    let file = input::open(path)?;
    let mut bytes = Vec::new();
    let unreadable = |source| OpenError::Read { path: path.to_owned(), source };
    file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    read(&bytes).map_err(|why| OpenError::Document { path: path.to_owned(), why })
}
