//! Why there is no report of a sizing.

use std::io;
use std::path::PathBuf;

use crate::disc::private;
use crate::experiment::capture::CaptureError;
use crate::experiment::recommend::RecommendError;
use crate::sys::input::Refused;
use crate::units::TooLarge;
use crate::workload::command;
use crate::workload::format::native::ReadError;
use crate::workload::record;
use crate::workload::record::spool::SpoolError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no private disc.
    #[error(transparent)]
    PrivateDisc(#[from] private::Error),
    /// No signal can end the experiment.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// The trace cannot be opened.
    #[error(transparent)]
    Input(#[from] Refused),
    /// The trace cannot be read.
    #[error("{}", .path.display())]
    Read {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// The trace takes too much memory.
    #[error("{}", .path.display())]
    TooLarge {
        /// The trace.
        path: PathBuf,
        /// How much.
        source: TooLarge,
    },
    /// The preparation cannot be run.
    #[error("--prepare")]
    Preparation(#[source] command::Error),
    /// The preparation took too long.
    #[error("--prepare `{script}` still ran when the time was up; allow more with --max-time")]
    PreparationTimedOut {
        /// The preparation.
        script: String,
    },
    /// The preparation failed.
    #[error("--prepare `{script}` ended with status {status}; see why, and run it by hand first")]
    PreparationFailed {
        /// The preparation.
        script: String,
        /// Its exit status.
        status: i32,
    },
    /// The capture that was chosen does not work here.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// There is no recording.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// There is no trace of the recording.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The command was not run again.
    #[error(transparent)]
    Command(#[from] command::Error),
    /// A signal came before there was anything to report.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
    /// A signal ended the recorded command, which says nothing of its need.
    #[error(
        "killed by signal {signal}; cannot size it; to size a program that does not end, use \
         --until main or --max-time"
    )]
    Killed {
        /// The signal.
        signal: i32,
        /// The exit status, as a shell has it.
        status: i32,
    },
    /// There is no curve.
    #[error("cannot draw the curve")]
    Curve(#[from] RecommendError),
    /// The observer could not show the report, or ask its question.
    #[error(transparent)]
    Observer(io::Error),
    /// Anything else that the kernel refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}
