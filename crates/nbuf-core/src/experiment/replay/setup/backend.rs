//! The backend of a cache: a modelled disc in virtual time, or a real file in real time.
//!
//! A file that is created here is as large as the workload needs; an existing one is written to only with
//! `--destroy`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::super::error::Error;
use crate::disc::file::{Contents, FileDisc};
use crate::disc::table::Shape;
use crate::disc::{self, Disc, UnknownDisc};
use crate::experiment::notice::Notice;
use crate::experiment::session::Session;
use crate::units::Bytes;

/// The unit of requests to a real file.
const SECTOR_BYTES: u32 = 512;

pub(super) enum Backend {
    /// A disc of the table.
    Modelled(disc::Choice),
    /// A real file.
    File {
        path: PathBuf,
        contents: Contents,
        /// What the workload needs, once that is known.
        needed: OnceLock<u64>,
    },
}

impl Backend {
    /// The backend that the text names.
    pub(super) fn of(text: &str, destroy: bool) -> Result<Self, Error> {
        if let Some(path) = text.strip_prefix("file:") {
            if path.is_empty() {
                return Err(usage("--disc file: has no name behind it: write --disc file:PATH"));
            }
            if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
                return Err(Error::NotRegular { file: path.to_owned() });
            }
            let contents = if destroy { Contents::Destroy } else { Contents::Keep };
            return Ok(Self::File { path: path.into(), contents, needed: OnceLock::new() });
        }
        if destroy {
            return Err(usage("--destroy is for a real file: name it with --disc file:PATH"));
        }
        let named = disc::named(text).map_err(|error| match error {
            // The library has it as a type of its own.
            UnknownDisc::Name { .. } => Error::Disc(format!("{error}, file:PATH")),
            error => error.into(),
        });
        named.map(Self::Modelled)
    }

    /// Whether it takes real time.
    pub(super) fn is_real(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Its geometry.
    pub(super) fn shape(&self) -> Shape {
        match self {
            Self::Modelled(choice) => choice.shape(),
            Self::File { .. } => Shape {
                sector_bytes: SECTOR_BYTES,
                track_bytes: SECTOR_BYTES.into(),
                cylinder_bytes: SECTOR_BYTES.into(),
            },
        }
    }

    /// Its size, if it exists.
    pub(super) fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Modelled(choice) => Some(choice.size_bytes()),
            Self::File { path, .. } => length(path),
        }
    }

    /// Refuses a workload that runs past its end; remembers what a file must hold.
    pub(super) fn must_hold(&self, bytes: u64) -> Result<(), Error> {
        let (name, size_bytes) = match self {
            Self::Modelled(choice) => (choice.name().to_owned(), choice.size_bytes()),
            Self::File { path, needed, .. } => {
                let _ = needed.set(bytes);
                (path.display().to_string(), length(path).unwrap_or(u64::MAX))
            }
        };
        if bytes > size_bytes {
            let (needed, size) = (Bytes(bytes), Bytes(size_bytes));
            return Err(Error::DiscTooSmall { needed, name, size });
        }
        Ok(())
    }

    /// Refuses to overwrite an existing file, unless the spec allows it.
    pub(super) fn may_write(&self) -> Result<(), Error> {
        match self {
            Self::File { path, contents: Contents::Keep, .. } if length(path).is_some() => {
                Err(Error::WouldOverwrite { file: path.display().to_string() })
            }
            _ => Ok(()),
        }
    }

    /// The disc, idle.
    pub(super) fn build(&self, session: &Session<'_>) -> Result<Box<dyn Disc>, Error> {
        let (path, contents, needed) = match self {
            Self::Modelled(choice) => return Ok(Box::new(choice.build(session.seed))),
            Self::File { path, contents, needed } => (path, contents, needed),
        };
        if length(path).is_some() {
            return Ok(Box::new(FileDisc::open(path, *contents)?));
        }
        let Some(bytes) = needed.get() else {
            return Err(Error::SizeUnknown { file: path.display().to_string() });
        };
        let bytes = bytes.checked_next_multiple_of(SECTOR_BYTES.into()).unwrap_or(u64::MAX);
        let disc = FileDisc::create(path, bytes)?;
        session.observer.notice(&Notice::DiscCreated { path, bytes: Bytes(bytes) });
        Ok(Box::new(disc))
    }
}

fn usage(text: &str) -> Error {
    Error::Usage(text.to_owned())
}

/// The length of the file of this name, if there is one.
fn length(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok()?;
    Some(std::fs::metadata(path).map_or(0, |metadata| metadata.len()))
}
