//! Where the files of the tests lie: on the disc of a directory, without a name, full of data that
//! no program can compress, and with a place on the disc for every byte.
//!
//! Invariant: nothing is left behind, however nbuf ends: the files have no name (`O_TMPFILE`), so that the
//! kernel frees them with the last descriptor. Where a file system has no such files, one is made
//! and its name taken away at once; what a kill between the two leaves is removed at the next start.
//! Cost: what is written is written twice, into memory and to the disc, and waited for.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{SeekFrom, seek};
use rustix::io::{FdFlags, fcntl_setfd};

use super::Error;
use super::pages::Pages;
use crate::path::data::Data;
use crate::sys::extents::Extents;
use crate::sys::process;
use crate::units::Bytes;

/// Beginnings of the names that live for a moment where there are no files without one.
const PREFIX: &str = ".nbuf-bench-";
/// Written at a time.
const PIECE_BYTES: usize = 1 << 20;

/// A file for tests. Children inherit it, and open it again as they need it.
#[derive(Debug)]
pub(super) struct Prepared {
    file: File,
    /// Its size when it was made; 0 of one that is to grow.
    pub size_bytes: u64,
    /// Whether it is the user's, and only read.
    is_lent: bool,
}

impl Prepared {
    /// A file of this many bytes of data, all of it on the disc. A file of 0 bytes is to grow.
    pub(super) fn make(directory: &Path, size_bytes: u64) -> Result<Self, Error> {
        let unusable = |cause| Error::of_directory(directory, size_bytes, cause);
        let file = nameless(directory).map_err(unusable)?;
        fill(&file, size_bytes).map_err(unusable)?;
        check_layout(&file, size_bytes).map_err(unusable)?;
        // So that children have it under the same number.
        fcntl_setfd(&file, FdFlags::empty()).map_err(|cause| unusable(cause.into()))?;
        Ok(Self { file, size_bytes, is_lent: false })
    }

    /// A file that the caller opened for reading, and of which nothing is changed. Its pages come into
    /// memory and leave it as tests want.
    pub(super) fn lent(file: File) -> io::Result<Self> {
        let size_bytes = file.metadata()?.len();
        fcntl_setfd(&file, FdFlags::empty())?;
        Ok(Self { file, size_bytes, is_lent: true })
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// What a child opens.
    pub(super) fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_raw_fd())
    }

    /// Has all of its pages in memory, as they came when it was made: where some are missing, all are
    /// dropped and written again, or read if it is lent.
    pub(super) fn refresh(&self) -> Result<(), Error> {
        let unusable = Error::File;
        let file = self.file.try_clone().map_err(unusable)?;
        let pages = Pages::of(file, self.size_bytes);
        if pages.resident() >= pages.all() {
            return Ok(());
        }
        if self.is_lent {
            return pages.read_all().map_err(unusable);
        }
        pages.drop_all().map_err(unusable)?;
        (&self.file).rewind().map_err(unusable)?;
        fill(&self.file, self.size_bytes).map_err(unusable)
    }

    /// Waits until the disc has what tests have written, so that the next one does not pay for it.
    pub(super) fn settle(&self) {
        // A disc that fails here has failed the test already.
        let _ = rustix::fs::fdatasync(&self.file);
    }
}

/// How many bytes may still be written where a directory is.
pub(super) fn room(directory: &Path) -> Result<Bytes, Error> {
    let found = rustix::fs::statvfs(directory);
    let found = found.map_err(|cause| Error::of_directory(directory, 0, cause.into()))?;
    if found.f_blocks == 0 {
        // /proc, /sys and their like; "no room" would send people looking for files to delete.
        let cause = io::Error::other("its file system has no room for data at all");
        return Err(Error::of_directory(directory, 0, cause));
    }
    Ok(Bytes(found.f_bavail.saturating_mul(found.f_frsize)))
}

/// Removes what a killed nbuf left, and says how many files that were.
pub(super) fn sweep(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_orphan = |name: &str| {
        let owner = name.strip_prefix(PREFIX)?.split_once('-')?;
        let (pid, ticks): (i32, u64) = (owner.0.parse().ok()?, owner.1.parse().ok()?);
        (process::start_ticks(pid) != Some(ticks)).then_some(())
    };
    entries
        .filter(|entry| entry.file_name().to_str().and_then(is_orphan).is_some())
        .filter(|entry| fs::remove_file(entry.path()).is_ok())
        .count()
}

fn nameless(directory: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).mode(0o600);
    match options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
        // EOPNOTSUPP where the file system has none, EISDIR where the kernel has none.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR)) => {
            let path = momentary(directory);
            let file = options.create_new(true).open(&path)?;
            fs::remove_file(&path)?;
            Ok(file)
        }
        made => made,
    }
}

/// A name that says whose it is.
fn momentary(directory: &Path) -> PathBuf {
    let pid = std::process::id();
    let ticks = i32::try_from(pid).ok().and_then(process::start_ticks).unwrap_or(0);
    directory.join(format!("{PREFIX}{pid}-{ticks}"))
}

fn fill(mut file: &File, size_bytes: u64) -> io::Result<()> {
    let data = Data::new(PIECE_BYTES);
    let mut at = 0;
    while at < size_bytes {
        let length = usize::try_from(size_bytes - at).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        file.write_all(data.at(at, length))?;
        at += length as u64;
    }
    file.sync_all()
}

/// Every byte was written and has its place: holes and room that was only reserved are read without
/// the disc, a hundred times too fast.
fn check_layout(file: &File, size_bytes: u64) -> io::Result<()> {
    let hole = match seek(file, SeekFrom::Hole(0)) {
        // An empty file has no byte to begin from.
        Err(rustix::io::Errno::NXIO) => 0,
        found => found?,
    };
    if hole < size_bytes {
        return Err(io::Error::other(format!("the file has a hole at {hole}")));
    }
    match Extents::of(file) {
        Ok(extents) if extents.unwritten_bytes > 0 || extents.delayed_bytes > 0 => {
            Err(io::Error::other("the file was synced and has bytes without a place"))
        }
        // A file system that does not tell is believed.
        _ => Ok(()),
    }
}

/// Whether an error says that there is no room.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn a_file_is_whole_and_has_no_name() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        for size in [0, 1, 4096, (1 << 20) + 17] {
            let prepared = Prepared::make(directory.path(), size).unwrap();
            assert_eq!(names(directory.path()), 0);
            let bytes = fs::read(prepared.path()).unwrap();
            assert_eq!(bytes.len() as u64, size);
            let data = Data::new(1);
            let is_ours = (0..).zip(&bytes).all(|(at, byte)| data.at(at, 1)[0] == *byte);
            assert!(is_ours, "{size}");
        }
    }

    #[test]
    fn a_file_system_without_data_is_told_from_a_full_one() {
        let error = room(Path::new("/proc")).unwrap_err().to_string();
        assert!(error.starts_with("no files can be made in /proc (its file system"), "{error}");
    }

    #[test]
    fn a_hole_is_found() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.set_len(1 << 20).unwrap();
        let error = check_layout(&file, 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "the file has a hole at 0");
    }

    #[test]
    fn what_a_killed_one_left_goes_and_what_lives_stays() {
        let directory = tempfile::tempdir().unwrap();
        let ours = momentary(directory.path());
        let dead = directory.path().join(format!("{PREFIX}{}-1", std::process::id()));
        let foreign = directory.path().join(".nbuf-bench-notes.txt");
        for path in [&ours, &dead, &foreign] {
            fs::write(path, "x").unwrap();
        }
        assert_eq!(sweep(directory.path()), 1);
        assert!(ours.exists() && foreign.exists() && !dead.exists());
    }

    #[test]
    fn a_place_that_is_none_is_said_in_a_line() {
        let missing = Path::new("/nowhere/at/all");
        for error in [Prepared::make(missing, 1).unwrap_err(), room(missing).unwrap_err()] {
            let line = error.to_string();
            assert!(line.contains("/nowhere/at/all") && line.contains("--dir"), "{line}");
        }
    }
}
