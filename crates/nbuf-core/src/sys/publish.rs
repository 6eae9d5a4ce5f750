//! A file that gets its name when it is whole, and only if nothing has that name.
//!
//! It is made without a name (`O_TMPFILE`), so that a killed process leaves nothing. File systems
//! that do not support this get a temporary name next to the final one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::files::{self, Place};

/// Who may read what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner: it has words of a command line in it, which may be passwords, or names of files.
    Owner,
    /// All whom the umask lets.
    All,
}

/// A file being written.
#[derive(Debug)]
pub(crate) struct Unfinished {
    place: Place,
    file: File,
    /// What it is called for the time being, if it has to be called anything.
    temporary: Option<OsString>,
}

impl Unfinished {
    /// Makes a file that can be published as `path`.
    pub(crate) fn create(path: &Path, readers: Readers) -> io::Result<Self> {
        Self::create_at(Place::of(path)?, readers)
    }

    /// The same, where the directory is open already.
    pub(crate) fn create_at(place: Place, readers: Readers) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(if readers == Readers::Owner { 0o600 } else { 0o644 });
        let unnamed = OFlags::RDWR | OFlags::TMPFILE;
        match files::open(place.directory(), Path::new("."), unnamed, mode) {
            Ok(file) => Ok(Self { place, file: file.into(), temporary: None }),
            Err(error) if knows_no_unnamed(&error) => {
                let name = temporary(place.name());
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
                let file = files::open(place.directory(), Path::new(&name), flags, mode)
                    .map_err(|error| left_behind(error, &name))?;
                Ok(Self { place, file: file.into(), temporary: Some(name) })
            }
            Err(error) => Err(error),
        }
    }

    /// The file, to write to.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Brings the file onto the disc and gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` when something has that name; it is left alone.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        match &self.temporary {
            None => files::link(&self.file, self.place.directory(), self.place.name()),
            Some(name) => {
                files::rename(self.place.directory(), name, self.place.name(), false)?;
                self.temporary = None;
                Ok(())
            }
        }
    }

    /// Brings the file onto the disc and replaces the file of that name at once. A process that
    /// opens the name finds the one or the other, whole.
    pub(crate) fn replace(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let name = if let Some(name) = self.temporary.take() {
            name
        } else {
            // A name has to be taken before it can be changed.
            let name = temporary(self.place.name());
            files::link(&self.file, self.place.directory(), &name)?;
            name
        };
        let renamed = files::rename(self.place.directory(), &name, self.place.name(), true);
        if renamed.is_err() {
            self.temporary = Some(name);
        }
        renamed
    }
}

/// Whether the file system, or the kernel, has no files without a name.
fn knows_no_unnamed(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(number, Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL))
}

/// A temporary name that is taken is no rival for the final name.
fn left_behind(error: io::Error, name: &OsStr) -> io::Error {
    if error.kind() != io::ErrorKind::AlreadyExists {
        return error;
    }
    let name = Path::new(name).display();
    io::Error::other(format!("{name} is there already: remove it, if no other nbuf runs"))
}

/// What a file is called for the time being.
fn temporary(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(format!(".part-{}", std::process::id()));
    name
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            let _ = files::unlink(self.place.directory(), name);
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
                let mut made = Unfinished::create(&path, Readers::Owner).unwrap();
                if named {
                    let name = OsString::from(format!("part-{text}"));
                    made.file = File::create(directory.path().join(&name)).unwrap();
                    made.temporary = Some(name);
                }
                made.file().write_all(text.as_bytes()).unwrap();
                made
            };
            let (first, second) = (make("first"), make("second"));
            first.publish().unwrap();
            let refused = second.publish().unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
            drop(make("third"));
            make("fourth").replace().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "fourth");
            let nowhere = Place::of(&directory.path().join("..")).is_err();
            assert!(nowhere, "a directory is no name");
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "named: {named}");
        }
    }
}
