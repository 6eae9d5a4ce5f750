//! What is behind the cache: a disc of the table in virtual time, or a real file in real time.
//!
//! A file that is made here is as large as the workload needs; one that was there is written to only
//! with `--destroy`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Result, anyhow, bail};
use nbuf::disc::file::{Contents, FileDisc};
use nbuf::disc::table::Shape;
use nbuf::disc::{self, Disc, UnknownDisc};
use nbuf::units::Bytes;

use crate::voice::note;

/// What a real file is asked in.
const SECTOR_BYTES: u32 = 512;

/// See the module.
pub(super) enum Behind {
    /// Of the table.
    Modelled(disc::Choice),
    /// Real.
    File {
        path: PathBuf,
        contents: Contents,
        /// What the workload needs, once that is known.
        needed: OnceLock<u64>,
    },
}

impl Behind {
    /// What this text asks for.
    pub(super) fn of(text: &str, destroy: bool) -> Result<Self> {
        if let Some(path) = text.strip_prefix("file:") {
            if path.is_empty() {
                bail!("--disc file: has no name behind it: write --disc file:PATH");
            }
            if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
                bail!("{path} is no regular file: name one with --disc, or one that is not there");
            }
            let contents = if destroy { Contents::Destroy } else { Contents::Keep };
            return Ok(Self::File { path: path.into(), contents, needed: OnceLock::new() });
        }
        if destroy {
            bail!("--destroy is for a real file: name it with --disc file:PATH");
        }
        let named = disc::named(text).map_err(|error| match error {
            // The library has it as a type of its own.
            UnknownDisc::Name { .. } => anyhow!("{error}, file:PATH"),
            error => error.into(),
        });
        named.map(Self::Modelled)
    }

    /// Whether it takes real time.
    pub(super) fn is_real(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// What it is made of.
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

    /// Where it ends, if it is there.
    pub(super) fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Modelled(choice) => Some(choice.size_bytes()),
            Self::File { path, .. } => length(path),
        }
    }

    /// Refuses what runs past its end; remembers what a file must hold.
    pub(super) fn must_hold(&self, bytes: u64) -> Result<()> {
        let (name, size_bytes) = match self {
            Self::Modelled(choice) => (choice.name().to_owned(), choice.size_bytes()),
            Self::File { path, needed, .. } => {
                let _ = needed.set(bytes);
                (path.display().to_string(), length(path).unwrap_or(u64::MAX))
            }
        };
        if bytes > size_bytes {
            bail!(
                "this takes {} of a disc, and {name} ends at {}: choose a larger one with --disc",
                Bytes(bytes),
                Bytes(size_bytes)
            );
        }
        Ok(())
    }

    /// Refuses to write over what is there, unless that is given up.
    pub(super) fn may_write(&self) -> Result<()> {
        match self {
            Self::File { path, contents: Contents::Keep, .. } if length(path).is_some() => bail!(
                "this writes, and {} was there before: give it up with --destroy, or name a file that is \
                 not there",
                path.display()
            ),
            _ => Ok(()),
        }
    }

    /// The disc, idle.
    pub(super) fn build(&self, seed: u64) -> Result<Box<dyn Disc>> {
        let (path, contents, needed) = match self {
            Self::Modelled(choice) => return Ok(Box::new(choice.build(seed))),
            Self::File { path, contents, needed } => (path, contents, needed),
        };
        if length(path).is_some() {
            return Ok(Box::new(FileDisc::open(path, *contents)?));
        }
        let Some(bytes) = needed.get() else {
            bail!(
                "a pipe does not say how large a file it needs: make {} before, or give a trace in a file",
                path.display()
            );
        };
        let bytes = bytes.checked_next_multiple_of(SECTOR_BYTES.into()).unwrap_or(u64::MAX);
        let disc = FileDisc::create(path, bytes)?;
        note(format_args!("{} is made, of {}, and stays", path.display(), Bytes(bytes)));
        Ok(Box::new(disc))
    }
}

/// How long what has this name is; nothing where nothing has.
fn length(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok()?;
    Some(std::fs::metadata(path).map_or(0, |metadata| metadata.len()))
}
