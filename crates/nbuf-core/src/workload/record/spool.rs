//! The log of a recording that no process asked to keep: in memory while it is small, then in a file
//! without a name, written past the page cache, in a directory of the caller's.
//!
//! Where no such file can be made, the log stays in memory.

use std::io::{self, Cursor, Write};
use std::path::PathBuf;

use super::log::LogError;
use super::trace_of_log_with;
use crate::sys::direct::DirectFile;
use crate::sys::files::make_directories;
use crate::trace::Trace;
use crate::units::Bytes;

/// What is kept in memory: some forty million events.
const MEMORY_BYTES: usize = 256 << 20;

/// A log under way.
#[derive(Debug)]
pub struct Spool {
    memory: Vec<u8>,
    memory_bytes: usize,
    directory: Option<PathBuf>,
    file: Option<DirectFile>,
}

/// Why there is no trace of a spooled log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// Its file cannot be written or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no log.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl Spool {
    /// A spool whose file goes into this directory, made with its parents when it is needed.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { memory: Vec::new(), memory_bytes: MEMORY_BYTES, directory, file: None }
    }

    /// The same with so much of it in memory.
    #[must_use]
    pub fn with_memory(self, memory_bytes: usize) -> Self {
        Self { memory_bytes, ..self }
    }

    /// The trace of what was written.
    pub fn trace(self) -> Result<Trace, SpoolError> {
        self.trace_with(&|_, _| ())
    }

    /// The same; `progress` gets the bytes that were read, and those of both readings.
    pub fn trace_with(self, progress: &dyn Fn(u64, u64)) -> Result<Trace, SpoolError> {
        Ok(match self.file {
            Some(file) => trace_of_log_with(file.into_file()?, progress)?,
            None => trace_of_log_with(Cursor::new(self.memory), progress)?,
        })
    }

    fn spill(&mut self, make: impl FnOnce() -> io::Result<DirectFile>) -> io::Result<()> {
        // Asked once: without a place for it now there is none later.
        self.memory_bytes = usize::MAX;
        if let Ok(mut file) = make() {
            file.write_all(&self.memory).map_err(|error| self.with_remedy(&error))?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        Ok(())
    }

    /// Says where the log was, and what would make room.
    fn with_remedy(&self, error: &io::Error) -> io::Error {
        io::Error::other(format!(
            "{error}; a log of more than {} is kept in {}: make room there, or set XDG_STATE_HOME to a \
             place that has it",
            Bytes(MEMORY_BYTES as u64),
            self.directory.clone().unwrap_or_default().display()
        ))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.memory.len() >= self.memory_bytes
            && let Some(directory) = self.directory.clone()
        {
            self.spill(|| {
                make_directories(&directory)?;
                DirectFile::unnamed(&directory)
            })?;
        }
        let Some(file) = &mut self.file else { return self.memory.write(bytes) };
        let written = file.write(bytes);
        written.map_err(|error| self.with_remedy(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.as_mut().map_or(Ok(()), Write::flush);
        flushed.map_err(|error| self.with_remedy(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::record::log::{Entry, Event, Kind, LogWriter};

    fn recorded() -> (Spool, u64) {
        let mut log = LogWriter::new(Spool::new(None)).unwrap();
        let count = 300_000;
        for at in 0..count {
            let event = Event {
                time_ns: at * 1000,
                task: 1,
                kind: Kind::GetPages,
                device: 1,
                inode: 1,
                index: at * 7 % 1000,
                extent: at * 7 % 1000,
            };
            log.push(&Entry::Event(event)).unwrap();
        }
        log.push(&Entry::End(Vec::new())).unwrap();
        (log.finish().unwrap(), count)
    }

    #[test]
    fn a_log_in_a_file_is_that_in_memory() {
        let (memory, count) = recorded();
        assert!(memory.file.is_none());
        let directory = tempfile::tempdir().unwrap();
        let mut file = Spool::new(None);
        let (early, late) = memory.memory.split_at(memory.memory.len() / 2);
        file.write_all(early).unwrap();
        file.spill(|| DirectFile::unnamed(directory.path())).unwrap();
        assert!(file.file.is_some() && file.memory.is_empty());
        file.write_all(late).unwrap();
        file.flush().unwrap();
        let (memory, file) = (memory.trace().unwrap(), file.trace().unwrap());
        assert_eq!(memory.records.len() as u64, count);
        assert!(memory == file);
    }

    #[test]
    fn without_a_file_it_stays_in_memory() {
        let mut spool = Spool::new(None);
        spool.write_all(b"some").unwrap();
        spool.spill(|| Err(io::ErrorKind::StorageFull.into())).unwrap();
        spool.write_all(b" more").unwrap();
        assert_eq!(spool.memory, b"some more");
    }
}
