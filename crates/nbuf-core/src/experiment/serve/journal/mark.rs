//! The mark of a disc that a journal may owe bytes to: an extended attribute of its file.
//!
//! It is on the disc before the journal has its first record, and goes when nothing is owed. A copy of the file with its
//! attributes has it too, and lacks the same bytes.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use crate::experiment::serve::state::Source;

/// Its name.
const NAME: &str = "user.nbuf.journal";
/// The most bytes: file systems keep about as many.
const BYTES_MAX: usize = 4096;

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The journal, by its number.
    pub(super) id: u64,
    /// The run that made it, as in the journal.
    pub(super) generation: u64,
    /// Where the journal was.
    pub(super) journal: PathBuf,
}

impl Seen {
    /// A mark that is no mark of nbuf counts as one of a run that never was.
    fn of_bytes(bytes: &[u8]) -> Self {
        let mut parts = bytes.splitn(3, |&byte| byte == b' ');
        let id = text(parts.next()).and_then(|text| u64::from_str_radix(text, 16).ok());
        let generation = text(parts.next()).and_then(|text| text.parse().ok());
        let (id, generation) = id.zip(generation).unwrap_or((0, u64::MAX));
        let journal = OsString::from_vec(parts.next().unwrap_or_default().to_vec());
        Self { id, generation, journal: journal.into() }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = format!("{:016x} {} ", self.id, self.generation).into_bytes();
        out.extend(self.journal.as_os_str().as_bytes());
        // A path is for people; the numbers are what counts.
        out.truncate(1024);
        out
    }
}

fn text(part: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(part?).ok()
}

/// The mark of a disc.
#[derive(Debug)]
pub(super) struct Mark(File);

impl Mark {
    /// The mark of a disc that can have one, and what it says.
    pub(super) fn of(source: &Source) -> io::Result<(Self, Option<Seen>)> {
        let Source::File(file, _) = source else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it is no file"));
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it is a device"));
        }
        let mark = Self(file.try_clone()?);
        let seen = mark.read()?;
        Ok((mark, seen))
    }

    fn read(&self) -> io::Result<Option<Seen>> {
        let mut bytes = vec![0_u8; BYTES_MAX];
        match fgetxattr(&self.0, NAME, &mut bytes[..]) {
            Ok(count) => Ok(Some(Seen::of_bytes(&bytes[..count]))),
            Err(Errno::NODATA) => Ok(None),
            Err(Errno::RANGE) => Ok(Some(Seen::of_bytes(&[]))),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the mark, which is on the disc then.
    pub(super) fn set(&self, seen: &Seen) -> io::Result<()> {
        fsetxattr(&self.0, NAME, &seen.to_bytes(), XattrFlags::empty())?;
        self.0.sync_all()
    }

    /// Takes it off.
    pub(super) fn remove(&self) -> io::Result<()> {
        match fremovexattr(&self.0, NAME) {
            Ok(()) => self.0.sync_all(),
            Err(Errno::NODATA) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for (generation, journal) in [(1, "/ssd/a b.journal"), (u64::MAX - 1, ""), (7, "/")] {
            let seen = Seen { id: u64::MAX - generation, generation, journal: journal.into() };
            assert_eq!(Seen::of_bytes(&seen.to_bytes()), seen);
        }
        let others = [&b""[..], b" ", b"  ", b"1 /a", b"x 1 /a", b"1 -1 /a", &[255; 9]];
        for bytes in others.into_iter().chain([&b"1 99999999999999999999999 /"[..]]) {
            let seen = Seen::of_bytes(bytes);
            assert_eq!((seen.id, seen.generation), (0, u64::MAX), "{bytes:?}");
        }
    }

    #[test]
    fn a_file_has_a_mark_until_it_is_taken_off() {
        let file = tempfile::tempfile().unwrap();
        let source = Source::File(file, 0);
        // Not every file system has attributes.
        let Ok((mark, None)) = Mark::of(&source) else { return };
        let seen = Seen { id: 3, generation: 5, journal: "/a".into() };
        mark.set(&seen).unwrap();
        assert_eq!(Mark::of(&source).unwrap().1, Some(seen));
        mark.remove().unwrap();
        mark.remove().unwrap();
        assert_eq!(Mark::of(&source).unwrap().1, None);
        assert!(Mark::of(&Source::Nbd("nbd:unix:a".to_owned(), 1)).is_err());
    }
}
