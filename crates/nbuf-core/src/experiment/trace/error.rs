//! Why a verb over traces has no document.

use std::io;
use std::path::{Path, PathBuf};

use super::TraceReading;
use crate::experiment::joined::CannotJoin;
use crate::experiment::objects::CannotWeigh;
use crate::experiment::output::OutputError;
use crate::sys::input::Refused;
use crate::units::{SizeListError, TooLarge};
use crate::workload::format::native::ReadError;
use crate::workload::record::log::LogError;
use crate::workload::source::SourceError;
use crate::workload::synthetic::TooManyKeys;

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input cannot be opened.
    #[error(transparent)]
    Input(#[from] Refused),
    /// A trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A signal came.
    #[error("interrupted: nbuf removed the unfinished output")]
    Interrupted,
    /// No signal can end it.
    #[error("cannot listen for signals ({0})")]
    Signals(#[source] io::Error),
    /// It takes too much memory.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The trace has no request.
    #[error(
        "there is no request in {name} as {format}{}: name the right format with --from",
        takes(.parameters)
    )]
    Nothing {
        /// The first input.
        name: String,
        /// Its format.
        format: &'static str,
        /// What the format takes.
        parameters: &'static str,
        /// What could not be read.
        reading: Box<TraceReading>,
    },
    /// A list of sizes is none of this trace.
    #[error(transparent)]
    Sizes(#[from] SizeListError),
    /// Sizes in bytes, of keys without.
    #[error(
        "the keys of {name} have no bytes here, because {format} gives no sizes: write a number of them such as --size \
         5000, or 10%, or take sizes from --snapshot or --from csv:key=..,size=.."
    )]
    NoBytes {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// Policies are judged at one size.
    #[error("policies are explained at one size: write one --size, such as 10% or 5000")]
    SeveralSizes,
    /// Policies need all keys.
    #[error("policies cannot be explained from a sample: leave out --sample or --policies")]
    PoliciesOfSample,
    /// Policies need a second reading.
    #[error(
        "policies need a second reading, and a pipe can be read only once: write the trace to a file"
    )]
    PoliciesOfPipe,
    /// A policy that has no answer here.
    #[error(
        "{policy} cannot be explained without its future or its sizes: leave it out of --policies"
    )]
    NotJudged {
        /// The policy.
        policy: String,
    },
    /// The snapshot is of no use.
    #[error(transparent)]
    CannotJoin(#[from] CannotJoin),
    /// A policy has no rule for caches of bytes.
    #[error(transparent)]
    CannotWeigh(#[from] CannotWeigh),
    /// The readings of a trace differ.
    #[error("the trace changed between its two readings: read a file that stays as it is")]
    Changed,
    /// A native trace has bytes of files.
    #[error("{format} has keys, and a native trace has bytes of files: write --to oracleGeneral")]
    KeysToNative {
        /// The format of the input.
        format: &'static str,
    },
    /// Only native traces know volumes.
    #[error("a partition needs files or volumes, and oracleGeneral has none: write --to native")]
    PartitionedKeys,
    /// No pattern has these parameters.
    #[error("give at least one key, and an --alpha of 0 or more")]
    NoKeys,
    /// A scan has more keys than numbers.
    #[error("a scan in u32le cannot have more keys than numbers: write -n 4294967295 or less")]
    ScanTooLong,
    /// A pattern has more keys than its table can have.
    #[error(transparent)]
    TooManyKeys(#[from] TooManyKeys),
    /// The name of the output cannot be taken.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The output cannot be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The output.
        path: PathBuf,
        /// Why.
        source: OutputError,
    },
    /// The trace of a log cannot be written.
    #[error("cannot write {}; the log is as it was", .path.display())]
    WriteOfLog {
        /// The output.
        path: PathBuf,
        /// Why.
        source: OutputError,
    },
    /// A recording still writes the log.
    #[error("{} is being written by an nbuf that still records; wait until it has ended", .0.display())]
    Recording(PathBuf),
    /// The log is a trace.
    #[error("{} is already a trace; there is nothing to recover", .0.display())]
    NotALog(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The answer of the kernel.
        source: io::Error,
    },
    /// A log has nothing to salvage.
    #[error("{}", .path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        source: LogError,
    },
    /// A native trace cannot be read.
    #[error("{}", .path.display())]
    Native {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// The observer could not show the requests.
    #[error(transparent)]
    Observer(io::Error),
}

impl Error {
    /// Whether the command line alone is wrong, whatever the files are.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoKeys
                | Self::ScanTooLong
                | Self::TooManyKeys(_)
                | Self::Sizes(_)
                | Self::NoBytes { .. }
                | Self::SeveralSizes
                | Self::PoliciesOfSample
                | Self::NotJudged { .. }
        )
    }
}

impl Error {
    /// The error of an output that cannot be written. A full disc names the path itself.
    pub(super) fn of_writing(path: &Path, source: OutputError) -> Self {
        match source {
            full @ OutputError::Full { .. } => Self::Output(full),
            source => Self::Write { path: path.to_owned(), source },
        }
    }
}

fn takes(parameters: &str) -> String {
    match parameters {
        "" => String::new(),
        parameters => format!(" (its parameters: {parameters})"),
    }
}
