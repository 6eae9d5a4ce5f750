//! The log of a recording that nobody asked to keep: in memory while it is small, then in a file
//! without a name, written past the page cache, in the caller's state directory.
//!
//! Where no such file can be made, the log stays in memory.

use std::fs::File;
use std::io::{self, Cursor, Write};

use anyhow::Result;
use nbuf::sys::direct::DirectFile;
use nbuf::units::Bytes;
use nbuf::workload::record::trace_of_log;
use nbuf::workload::trace::Trace;

use crate::output::state_directory;

/// What is kept in memory: some forty million events.
const MEMORY_BYTES: usize = 256 << 20;

/// A log under way.
#[derive(Debug)]
pub(crate) struct Spool {
    memory: Vec<u8>,
    memory_bytes: usize,
    file: Option<DirectFile>,
}

/// The log of a recording: under a name, so that it can be made a trace of whatever happens, or a spool.
#[derive(Debug)]
pub(crate) enum Log {
    /// Beside the trace that it will become.
    Named(DirectFile),
    /// Where the trace goes to a descriptor, which has nothing beside it.
    Spool(Spool),
}

impl Log {
    /// The trace of what was written, and the file under the name.
    pub(crate) fn trace(self) -> Result<(Trace, Option<File>)> {
        match self {
            Self::Named(file) => {
                let file = file.into_file()?;
                Ok((trace_of_log(&file)?, Some(file)))
            }
            Self::Spool(spool) => Ok((spool.trace()?, None)),
        }
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Named(file) => file.write(bytes),
            Self::Spool(spool) => spool.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Named(file) => file.flush(),
            Self::Spool(spool) => spool.flush(),
        }
    }
}

impl Default for Spool {
    fn default() -> Self {
        Self::with_memory(MEMORY_BYTES)
    }
}

impl Spool {
    /// With so much of it in memory.
    pub(crate) fn with_memory(memory_bytes: usize) -> Self {
        Self { memory: Vec::new(), memory_bytes, file: None }
    }

    /// The trace of what was written.
    pub(crate) fn trace(self) -> Result<Trace> {
        Ok(match self.file {
            Some(file) => trace_of_log(file.into_file()?)?,
            None => trace_of_log(Cursor::new(self.memory))?,
        })
    }

    fn spill(&mut self, make: impl FnOnce() -> Result<DirectFile>) -> io::Result<()> {
        // Asked once: whoever has no place for it now has none later.
        self.memory_bytes = usize::MAX;
        if let Ok(mut file) = make() {
            file.write_all(&self.memory).map_err(|error| with_remedy(&error))?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.memory.len() >= self.memory_bytes {
            self.spill(|| Ok(DirectFile::unnamed(&state_directory()?)?))?;
        }
        match &mut self.file {
            Some(file) => file.write(bytes).map_err(|error| with_remedy(&error)),
            None => self.memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush).map_err(|error| with_remedy(&error))
    }
}

/// Says where the log was, and what would make room.
fn with_remedy(error: &io::Error) -> io::Error {
    let directory = state_directory().unwrap_or_default();
    io::Error::other(format!(
        "{error}; a log of more than {} is kept in {}: make room there, or set XDG_STATE_HOME to a \
         place that has it",
        Bytes(MEMORY_BYTES as u64),
        directory.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbuf::workload::record::log::{Entry, Event, Kind, LogWriter};

    fn recorded() -> (Spool, u64) {
        let mut log = LogWriter::new(Spool::default()).unwrap();
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
        let mut file = Spool::default();
        let (early, late) = memory.memory.split_at(memory.memory.len() / 2);
        file.write_all(early).unwrap();
        file.spill(|| Ok(DirectFile::unnamed(directory.path())?)).unwrap();
        assert!(file.file.is_some() && file.memory.is_empty());
        file.write_all(late).unwrap();
        file.flush().unwrap();
        let (memory, file) = (memory.trace().unwrap(), file.trace().unwrap());
        assert_eq!(memory.records.len() as u64, count);
        assert!(memory == file);
    }

    #[test]
    fn without_a_file_it_stays_in_memory() {
        let mut spool = Spool::default();
        spool.write_all(b"some").unwrap();
        spool.spill(|| anyhow::bail!("no room")).unwrap();
        spool.write_all(b" more").unwrap();
        assert_eq!(spool.memory, b"some more");
    }
}
