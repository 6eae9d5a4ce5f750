//! The guard against overwriting files of the user.
//!
//! nbuf owns a file if it is empty or holds exactly the bytes of [`Data`] at their offsets.
//! Overwriting it then loses nothing. The check needs no separate mark, works on every file system,
//! and holds for copies of the file. A file with the name is always complete, because a [`Draft`]
//! gets its name last. Cost: the check reads the file up to the first byte that differs.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::data::Data;
use crate::sys::publish::{Readers, Unfinished};

/// The reason why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name is not a regular file.
    #[error("it is {0}; name a file")]
    Kind(&'static str),
    /// The file holds data that overwriting would lose.
    #[error("nbuf did not write its content; name another file, or use --force")]
    NotOurs,
    /// The system refused a call.
    #[error("{0}; name a file where you may write")]
    Io(#[from] io::Error),
}

/// A file under construction, which gets its name once it is complete.
///
/// Until then the name does not exist, or still refers to the previous file. This holds if the
/// writer fails or is killed, by a full disc, a signal or a closed pipe. Cost: space for both files
/// during an overwrite.
#[derive(Debug)]
pub struct Draft {
    unfinished: Unfinished,
    /// The file that this one replaces.
    old: Option<Metadata>,
}

impl Draft {
    /// Starts a draft for a name that is free or belongs to a file of nbuf. `force` allows any
    /// regular file, but never a directory or a device.
    pub fn begin(path: &Path, force: bool) -> Result<Self, Error> {
        let path = followed(path)?;
        // Opening a pipe would wait, and opening a device may have an effect.
        let old = match std::fs::metadata(&path) {
            Ok(metadata) => {
                regular(metadata.file_type())?;
                Some(metadata)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if old.is_some() {
            let mut options = File::options();
            options.write(true).read(!force).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
            let file = options.open(&path)?;
            regular(file.metadata()?.file_type())?;
            if !force && !is_ours(&file)? {
                return Err(Error::NotOurs);
            }
        }
        Ok(Self { unfinished: Unfinished::create(&path, Readers::All)?, old })
    }

    /// The file to write to, opened with `O_SYNC` if it `waits`.
    pub fn file(&self, waits: bool) -> io::Result<File> {
        let mut flags = OFlags::empty();
        flags.set(OFlags::SYNC, waits);
        let name = format!("/proc/self/fd/{}", self.unfinished.file().as_raw_fd());
        File::options().write(true).custom_flags(flags.bits().cast_signed()).open(name)
    }

    /// Whether the name exists now. If this draft is abandoned, that file stays.
    pub fn replaces(&self) -> bool {
        self.old.is_some()
    }

    /// Names the file, with the permissions of the one it replaces.
    pub fn publish(self) -> io::Result<()> {
        let Some(old) = self.old else { return self.unfinished.publish() };
        let file = self.unfinished.file();
        file.set_permissions(old.permissions())?;
        // Only root can give files to another user; other users keep their own.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        self.unfinished.replace()
    }
}

/// The number of links that the kernel follows.
const LINKS_MAX: usize = 40;

/// The name at the end of the symbolic links. A dangling link is followed to the name that will be
/// created.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = std::fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn regular(kind: FileType) -> Result<(), Error> {
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a directory",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () if kind.is_fifo() => "a pipe",
        () => "no regular file",
    };
    Err(Error::Kind(what))
}

/// Whether the rest of a file, from its position, is what nbuf writes.
fn is_ours(mut file: &File) -> io::Result<bool> {
    const BLOCK: usize = 1 << 16;
    let data = Data::new(BLOCK);
    let mut buffer = vec![0; BLOCK];
    let mut offset = 0;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer[..read] != *data.at(offset, read) {
            return Ok(false);
        }
        offset += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_what_we_wrote_is_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let data = Data::new(100_000);
        let whole = data.at(0, 100_000).to_vec();
        let mut changed = whole.clone();
        changed[99_999] ^= 1;
        let cases: [(&[u8], bool); 5] =
            [(b"", true), (&whole, true), (&whole[..7], true), (&changed, false), (b"x", false)];
        for (content, is_taken) in cases {
            std::fs::write(&path, content).unwrap();
            let draft = Draft::begin(&path, false);
            assert_eq!(draft.is_ok(), is_taken, "{} bytes", content.len());
            // An abandoned draft leaves the old file in place.
            drop(draft);
            assert!(std::fs::read(&path).unwrap() == content);
        }
        std::fs::write(&path, "others'").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(Draft::begin(&path, true).unwrap(), "new");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    fn write(draft: Draft, text: &str) {
        draft.file(true).unwrap().write_all(text.as_bytes()).unwrap();
        draft.publish().unwrap();
    }

    #[test]
    fn links_stay_and_what_they_name_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let [link, next, real] = ["link", "next", "real"].map(|name| directory.path().join(name));
        symlink("next", &link).unwrap();
        symlink(&real, &next).unwrap();
        for text in ["", "once", "twice"] {
            let draft = Draft::begin(&link, true).unwrap();
            assert_eq!(draft.replaces(), text == "twice");
            if text.is_empty() {
                drop(draft);
                assert!(!real.exists());
                continue;
            }
            write(draft, text);
            assert_eq!(std::fs::read_to_string(&real).unwrap(), text);
        }
        assert!(link.is_symlink() && next.is_symlink());
        symlink("round", directory.path().join("round")).unwrap();
        assert!(matches!(Draft::begin(&directory.path().join("round"), true), Err(Error::Io(_))));
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        for (path, what) in [("/", "a directory"), ("/dev/null", "a device")] {
            let error = Draft::begin(Path::new(path), true).unwrap_err().to_string();
            assert_eq!(error, format!("it is {what}; name a file"));
        }
    }
}
