//! A recording: each interval as a line of JSON, in a file that is new.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::experiment::document;
use crate::experiment::output::{OutputError, must_be_free};
use crate::experiment::result::WatchDocument;
use crate::sys::files::{self, Place};

/// A recording under way. What a killed nbuf leaves behind can be replayed.
#[derive(Debug)]
pub struct Recording {
    place: Place,
    file: File,
    /// Bytes of whole intervals.
    bytes: u64,
}

impl Recording {
    /// Makes the file, with the rights of the caller; `option` is what gave its name.
    pub fn begin(path: &Path, option: &'static str) -> Result<Self, OutputError> {
        must_be_free(path, option)?;
        let refused = |cause| OutputError::Refused { path: path.to_owned(), option, cause };
        let place = Place::of(path).map_err(refused)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        // It names files and processes.
        let mode = Mode::from_raw_mode(0o600);
        let file = files::open(place.directory(), Path::new(place.name()), flags, mode);
        match file {
            Ok(file) => Ok(Self { place, file: file.into(), bytes: 0 }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OutputError::Lost { path: path.to_owned(), option })
            }
            Err(error) => Err(refused(error)),
        }
    }

    /// Appends an interval. Where that fails, whole intervals stay, and without one there is no file.
    pub fn add(&mut self, interval: &WatchDocument) -> io::Result<()> {
        let line = document::write_line(interval)?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            let _ = match self.bytes {
                0 => self.place.remove(&self.file),
                bytes => self.file.set_len(bytes),
            };
            return Err(error);
        }
        self.bytes += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::watch::replay;

    #[test]
    fn what_is_recorded_is_replayed_and_never_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("w.jsonl");
        let schema = WatchDocument::SCHEMA.to_owned();
        let interval = WatchDocument { schema, number: 1, ..WatchDocument::default() };
        let mut recording = Recording::begin(&path, "--record").unwrap();
        recording.add(&interval).unwrap();
        recording.add(&interval).unwrap();
        assert_eq!(replay(&path).unwrap(), (vec![interval.clone(), interval], false));
        assert!(matches!(Recording::begin(&path, "--record"), Err(OutputError::Taken { .. })));
    }
}
