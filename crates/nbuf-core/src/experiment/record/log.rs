//! Where the log of a recording goes until it is a trace.

use std::fs::File;
use std::io::{self, Write};

use super::error::LogToTrace;
use crate::sys::direct::DirectFile;
use crate::trace::Trace;
use crate::workload::record::spool::Spool;
use crate::workload::record::trace_of_log_with;

/// The log of a recording: under a name, so that it can be made a trace of whatever happens, or a spool.
#[derive(Debug)]
pub(super) enum Log {
    /// Next to the trace that it will become.
    Named(DirectFile),
    /// For a trace that goes to a descriptor, which has no directory for a log.
    Spool(Spool),
}

impl Log {
    /// The trace of what was written, and the file under the name. `progress` gets the bytes of the log that
    /// were read, and those of both readings.
    pub(super) fn trace(
        self,
        progress: &dyn Fn(u64, u64),
    ) -> Result<(Trace, Option<File>), LogToTrace> {
        match self {
            Self::Named(file) => {
                let file = file.into_file()?;
                Ok((trace_of_log_with(&file, progress)?, Some(file)))
            }
            Self::Spool(spool) => Ok((spool.trace_with(progress)?, None)),
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
