//! A file that gets its name when it is whole, and only if nothing has that name.
//!
//! It is made without a name (`O_TMPFILE`), so that whoever is killed leaves nothing. File systems
//! that do not know that get a temporary name beside it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;

/// Flags that open a directory and no link to one.
pub const DIRECTORY_NOT_LINK: i32 = libc::O_DIRECTORY | libc::O_NOFOLLOW;

/// A file being written.
#[derive(Debug)]
pub struct Unfinished {
    file: File,
    /// Where it is for the time being, if it has to be anywhere.
    temporary: Option<PathBuf>,
}

impl Unfinished {
    /// Makes a file that can be published as `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(0o644);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        match rustix::fs::open(parent, flags | OFlags::TMPFILE, mode) {
            Ok(file) => Ok(Self { file: file.into(), temporary: None }),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                let name = temporary(path);
                let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
                let file = rustix::fs::open(&name, flags, mode)?;
                Ok(Self { file: file.into(), temporary: Some(name) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Brings the file onto the disc and gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` when something has that name; it is left alone.
    pub fn publish(mut self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        match &self.temporary {
            None => {
                let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
            }
            Some(name) => match renameat_with(CWD, name, CWD, path, RenameFlags::NOREPLACE) {
                Ok(()) => self.temporary = None,
                // File systems that cannot rename so can link.
                Err(Errno::INVAL | Errno::NOSYS) => linkat(CWD, name, CWD, path, AtFlags::empty())?,
                Err(error) => return Err(error.into()),
            },
        }
        Ok(())
    }
}

impl Unfinished {
    /// Brings the file onto the disc and puts it in the place of what has that name, at once: whoever
    /// opens the name finds the one or the other, whole.
    pub fn replace(mut self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        let name = if let Some(name) = self.temporary.take() {
            name
        } else {
            // A name has to be taken before it can be changed.
            let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let name = temporary(path);
            linkat(CWD, unnamed, CWD, &name, AtFlags::SYMLINK_FOLLOW)?;
            name
        };
        let renamed = std::fs::rename(&name, path);
        if renamed.is_err() {
            self.temporary = Some(name);
        }
        renamed
    }
}

/// Where a file is for the time being.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".part-{}", std::process::id()));
    PathBuf::from(name)
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            let _ = std::fs::remove_file(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_name_is_taken_once_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        for named in [false, true] {
            let _ = std::fs::remove_file(&path);
            let make = |text: &str| {
                let mut made = Unfinished::create(&path).unwrap();
                if named {
                    let name = directory.path().join(format!("part-{text}"));
                    made = Unfinished { file: File::create(&name).unwrap(), temporary: Some(name) };
                }
                made.file().write_all(text.as_bytes()).unwrap();
                made
            };
            let (first, second) = (make("first"), make("second"));
            first.publish(&path).unwrap();
            let refused = second.publish(&path).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
            drop(make("third"));
            make("fourth").replace(&path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "fourth");
            assert!(make("fifth").replace(Path::new("/nowhere/at/all")).is_err());
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "named: {named}");
        }
    }
}
