//! The second tier of a server, as options give it.

use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::super::Error;
use super::layout::PART_BYTES;
use crate::cache::tiered::PARTS;
use crate::sys::files;
use crate::units::{Bytes, Nanos, Size};

/// The smallest tier, and the largest.
const BYTES_MIN: u64 = 1 << 20;
const BYTES_MAX: u64 = 16 << 40;
/// What the entries of a block take in memory, with the list of the end.
const TABLE_BYTES: u64 = 500;
/// The smallest room for records of a journal, and the largest; a quarter of the tier between them.
const RING_BYTES_MIN: u64 = 1 << 20;
const RING_BYTES_MAX: u64 = 256 << 20;
/// How many seconds it may take for a request, by default and at most.
const SECONDS: usize = 5;
const SECONDS_MAX: usize = 86_400;

/// A file on a quick disc that keeps blocks of the disc, and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierSpec {
    /// The file.
    pub path: PathBuf,
    /// The room that it takes.
    pub size: Bytes,
    /// Whether a device or a backend server counts as unchanged since the last run, although nbuf cannot see that.
    pub trusts: bool,
    /// Whether it counts for flushes, by a journal in another file next to it.
    pub durable: bool,
    /// How long it may take for a request. Then it is not used any more, and the disc serves the request.
    pub timeout: Nanos,
}

impl TierSpec {
    /// The tier of settings. Its path is absolute and has no links, so that the journal has one name too.
    pub(in crate::experiment::serve) fn of(
        path: &Path,
        size: Option<Size>,
        (trusts, durable): (bool, bool),
        seconds: Option<usize>,
    ) -> Result<Self, Error> {
        let resolved = resolved(path);
        let path = resolved.map_err(|error| Error::Path { path: path.to_owned(), error })?;
        let given = seconds.unwrap_or(SECONDS);
        if !(1..=SECONDS_MAX).contains(&given) {
            return Err(Error::OutOfRange { name: "tier-timeout", given, most: SECONDS_MAX });
        }
        let timeout = Nanos(1_000_000_000 * given as u64);
        match size {
            Some(Size::Absolute(size)) => Ok(Self { path, size, trusts, durable, timeout }),
            Some(_) => Err(Error::NoBytes),
            None => Err(Error::Missing("tier-size")),
        }
    }

    /// Memory of its tables in front of pages of this size, at the most: by its size, as the disc is not known yet.
    pub(in crate::experiment::serve) fn memory_bytes(&self, page_bytes: u32) -> u64 {
        let block_bytes = page_bytes.clamp(1, PART_BYTES) * PARTS;
        let tables = self.size.0 / u64::from(block_bytes) * TABLE_BYTES;
        // What the journal owes is in memory too.
        if self.durable { tables + self.ring_bytes() } else { tables }
    }

    /// The file of its journal.
    pub fn journal(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".journal");
        name.into()
    }

    /// Its own file, and the one of its journal.
    pub(in crate::experiment::serve) fn files(&self) -> [PathBuf; 2] {
        [self.path.clone(), self.journal()]
    }

    /// Bytes for the records of its journal, in whole pages.
    pub(in crate::experiment::serve) fn ring_bytes(&self) -> u64 {
        let room = (self.size.0 / 4).clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        room / u64::from(PART_BYTES) * u64::from(PART_BYTES)
    }

    /// Whether it can be the tier of a server whose state is in this file.
    pub(in crate::experiment::serve) fn check(&self, state: Option<&Path>) -> Result<(), Error> {
        let state = state.and_then(|path| resolved(path).ok());
        if let Some(state) = state.filter(|state| self.files().contains(state)) {
            return Err(Error::TierIsState(state));
        }
        if !(BYTES_MIN..=BYTES_MAX).contains(&self.size.0) {
            return Err(Error::TierSize(self.size));
        }
        Ok(())
    }
}

/// A path without links. What is not there yet is in its directory, which may be.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    if let Ok(found) = without_links(&absolute) {
        return Ok(found);
    }
    let folder = absolute.parent().and_then(|folder| without_links(folder).ok());
    let there = folder.zip(absolute.file_name()).map(|(folder, name)| folder.join(name));
    Ok(there.unwrap_or(absolute))
}

/// Where the kernel finds what is there, with the rights of the caller.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let file = files::open_path(path, OFlags::PATH | OFlags::CLOEXEC)?;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tier(path: &Path) -> TierSpec {
        let size = Some(Size::Absolute(Bytes(1 << 20)));
        TierSpec::of(path, size, (false, true), None).unwrap()
    }

    #[test]
    fn a_tier_and_its_journal_have_one_name_through_all_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(folder.path()).unwrap();
        let (own, linked) = (real.join("own"), real.join("linked"));
        std::fs::create_dir(&own).unwrap();
        symlink(&own, &linked).unwrap();
        symlink(own.join("t"), real.join("link")).unwrap();
        for _ in 0..2 {
            let spec = tier(&linked.join("t"));
            assert_eq!(spec.files(), [own.join("t"), own.join("t.journal")]);
            // From now on it is there, and a link to it leads to the same.
            std::fs::write(own.join("t"), "").unwrap();
            assert_eq!(tier(&real.join("link")), spec);
        }
        assert_eq!(tier(Path::new("/absent/a/t")).path, Path::new("/absent/a/t"));
    }

    #[test]
    fn a_state_is_no_file_of_a_tier() {
        let folder = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(folder.path()).unwrap();
        symlink(&real, real.join("link")).unwrap();
        let spec = tier(&real.join("t"));
        for state in ["t", "link/t", "t.journal", "link/t.journal"] {
            let refused = spec.check(Some(&real.join(state)));
            assert!(matches!(refused, Err(Error::TierIsState(_))), "{state}");
        }
        assert!(spec.check(Some(&real.join("t.state"))).is_ok() && spec.check(None).is_ok());
    }
}
