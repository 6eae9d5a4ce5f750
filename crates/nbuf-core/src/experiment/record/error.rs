//! Why there is no trace of a command.

use std::io;
use std::path::PathBuf;

use super::{CaptureError, RunningError};
use crate::experiment::capture;
use crate::experiment::output::OutputError;
use crate::workload::record::log::LogError;
use crate::workload::record::spool::SpoolError;

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No signal can end the recording.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// The name of the trace cannot be taken.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The directory of the log cannot be kept open.
    #[error("cannot keep the directory of the log open")]
    Directory(#[source] io::Error),
    /// The log cannot be written.
    #[error("cannot write {}: {cause}; give another place with -o", .log.display())]
    Log {
        /// The log.
        log: PathBuf,
        /// The answer of the kernel.
        cause: io::Error,
    },
    /// Another recording writes the log.
    #[error(
        "{} is being written by another nbuf, which still records; wait for it, or give another name \
         with -o",
        .0.display()
    )]
    Recording(PathBuf),
    /// The log of a recording that broke off has the name.
    #[error("{} was left by a recording that broke off", .log.display())]
    Leftover {
        /// The log.
        log: PathBuf,
        /// The trace that was to be made of it.
        output: PathBuf,
    },
    /// There is nothing to attach to.
    #[error(transparent)]
    Running(#[from] RunningError),
    /// The capture that was chosen does not work here.
    #[error(transparent)]
    Capture(#[from] capture::CaptureError),
    /// The command never ran, or was not recorded.
    #[error(transparent)]
    Record(#[from] CaptureError),
    /// The command ran, and its log is kept.
    #[error("the command ran, but there is no trace: {}", crate::experiment::notice::causes(.cause.as_ref()))]
    Kept {
        /// The log.
        log: PathBuf,
        /// The trace that was to be made of it.
        output: PathBuf,
        /// Whether there was no room for the trace, as there is none on a second try.
        is_full: bool,
        /// What went wrong.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The command ran, and nothing is kept: the trace was to go to a descriptor.
    #[error(
        "the command ran, but there is no trace: {}; record again, to a file with -o",
        crate::experiment::notice::causes(.0.as_ref())
    )]
    Gone(Box<dyn std::error::Error + Send + Sync>),
}

/// Why no trace was made of a log.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogToTrace {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Spool(#[from] SpoolError),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The log of a whole trace cannot be removed.
    #[error("cannot remove {}", .log.display())]
    Remove { log: PathBuf, source: io::Error },
}
