//! The second tier of a server, as options give it.

use std::path::{Path, PathBuf};

use super::super::{Config, Error, ExportSpec};
use super::layout::PART_BYTES;
use crate::cache::tiered::PARTS;
use crate::units::{Bytes, Size};

/// The smallest tier, and the largest.
const BYTES_MIN: u64 = 1 << 20;
const BYTES_MAX: u64 = 16 << 40;
/// What the entries of a block take in memory, with the list of the end.
const TABLE_BYTES: u64 = 500;

/// A file on a quick disc that keeps blocks of the disc, and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierSpec {
    /// The file.
    pub path: PathBuf,
    /// The room that it takes.
    pub size: Bytes,
    /// Whether a device or a backend server counts as unchanged since the last run, although nbuf cannot see that.
    pub trusts: bool,
}

impl TierSpec {
    /// The tier of settings, if there is one. Its path is absolute.
    pub(in crate::experiment::serve) fn of(config: &Config) -> Result<Option<Self>, Error> {
        let path = match (&config.tier, config.tier_size, config.tier_trust) {
            (Some(path), ..) => path,
            (None, None, None | Some(false)) => return Ok(None),
            _ => return Err(Error::Missing("tier")),
        };
        let path =
            std::path::absolute(path).map_err(|error| Error::Path { path: path.clone(), error })?;
        match config.tier_size {
            Some(Size::Absolute(size)) => {
                Ok(Some(Self { path, size, trusts: config.tier_trust.unwrap_or(false) }))
            }
            Some(_) => Err(Error::NoBytes),
            None => Err(Error::Missing("tier-size")),
        }
    }

    /// Memory of its tables, at the most: by its size, as the disc is not known yet.
    pub(in crate::experiment::serve) fn memory_bytes(&self, exports: &[ExportSpec]) -> u64 {
        let page_bytes = exports.first().map_or(PART_BYTES, |export| export.page_bytes);
        let block_bytes = page_bytes.clamp(1, PART_BYTES) * PARTS;
        self.size.0 / u64::from(block_bytes) * TABLE_BYTES
    }

    pub(in crate::experiment::serve) fn check(
        &self,
        exports: &[ExportSpec],
        state: Option<&Path>,
    ) -> Result<(), Error> {
        if state == Some(&self.path) {
            return Err(Error::TierIsState(self.path.clone()));
        }
        if !(BYTES_MIN..=BYTES_MAX).contains(&self.size.0) {
            return Err(Error::TierSize(self.size));
        }
        if exports.len() > 1 { Err(Error::TierOfSeveral(exports.len())) } else { Ok(()) }
    }
}
