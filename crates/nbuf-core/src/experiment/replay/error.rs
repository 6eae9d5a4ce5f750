//! Why nothing is replayed.

use std::io;

use super::{LayoutError, ReplayError};
use crate::cache::layer::SECTOR_BYTES;
use crate::disc::UnknownDisc;
use crate::disc::file::FileError;
use crate::units::{Bytes, SizeListError, TooLarge, count};
use crate::workload::source::SourceError;
use crate::workload::synthetic::{shot, tools};

/// Why nothing is replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Parts of the spec contradict each other, or change nothing; the text says what to write instead.
    #[error("{0}")]
    Usage(String),
    /// The synthetic workload has no such option.
    #[error("{0}")]
    Option(String),
    /// Options of another kind of workload.
    #[error("{0}")]
    Mixed(String),
    /// The unit does not fit the cache.
    #[error("a unit of {bytes} bytes is too large for one request: write a smaller --unit")]
    UnitTooLarge {
        /// The unit.
        bytes: u64,
    },
    /// MAX-IV has sectors.
    #[error(
        "max-iv keeps sectors of {SECTOR_BYTES} bytes: leave --unit out, or keep other units with \
         --policy lru"
    )]
    UnitOfMaxIv,
    /// The cache is too large.
    #[error("more than {most} units are not simulated: write a smaller --size")]
    TooManyUnits {
        /// The largest cache.
        most: u64,
    },
    /// The workload leaves the disc.
    #[error(
        "the workload needs a disc of {needed}, and {name} has {size}: choose a larger one with --disc"
    )]
    DiscTooSmall {
        /// What the workload takes.
        needed: Bytes,
        /// The disc.
        name: String,
        /// Its size.
        size: Bytes,
    },
    /// The workload leaves what MAX-IV addresses.
    #[error("the workload needs a larger disc than max-iv can address: choose another --policy")]
    Unaddressable,
    /// A file must not be overwritten.
    #[error(
        "the workload would overwrite {file}: permit that with --destroy, or name a file that does \
         not exist"
    )]
    WouldOverwrite {
        /// The file.
        file: String,
    },
    /// Not a file to replay on.
    #[error("{file} is no regular file: name a regular file with --disc, or a new one")]
    NotRegular {
        /// The file.
        file: String,
    },
    /// A file must be created, and its size is unknown.
    #[error(
        "the size that a trace in a pipe needs is unknown: make {file} first, or give a trace in a file"
    )]
    SizeUnknown {
        /// The file.
        file: String,
    },
    /// One size at a time.
    #[error("a replay on a real file has one size: give one --size")]
    SizesOfRealFile,
    /// A pipe cannot be replayed again.
    #[error("a pipe is read once, and each size replays the trace: give a file, or one --size")]
    SizesOfPipe,
    /// The trace has nothing to replay.
    #[error("{name} has no reads and no writes: there is nothing to replay")]
    Empty {
        /// The trace.
        name: String,
    },
    /// A signal came before there was a result.
    #[error("interrupted before {what} was replayed: there is nothing to show")]
    Interrupted {
        /// `anything` or `a size`.
        what: &'static str,
    },
    /// The disc failed requests; the document says how many.
    #[error(
        "the disc {disc} failed {failed} of {}, the first by: {why}; make room there, or name another \
         with --disc",
        count(*.all, "request", "requests")
    )]
    DiscFailed {
        /// The disc.
        disc: String,
        /// Requests that failed.
        failed: u64,
        /// All requests.
        all: u64,
        /// The first failure.
        why: String,
    },
    /// No signal can end the replay.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// There is no such disc.
    #[error("{0}")]
    Disc(String),
    /// The description of a disc cannot be used.
    #[error(transparent)]
    Description(#[from] UnknownDisc),
    /// The file that is the disc cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It takes too much memory.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The sizes cannot be used.
    #[error(transparent)]
    Sizes(#[from] SizeListError),
    /// The trace has no place on the disc.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The replay cannot go on.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The users of the tools do not fit on the disc.
    #[error(transparent)]
    Tools(#[from] tools::DiscTooSmall),
    /// The tools have no such parameter.
    #[error(transparent)]
    Parameter(#[from] tools::ParameterError),
    /// The machine of the shot does not fit on the disc.
    #[error(transparent)]
    Shot(#[from] shot::DiscTooSmall),
}

impl Error {
    /// Whether the command line alone is wrong, whatever the files are.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Usage(_)
                | Self::Option(_)
                | Self::Mixed(_)
                | Self::UnitTooLarge { .. }
                | Self::UnitOfMaxIv
                | Self::TooManyUnits { .. }
                | Self::SizesOfRealFile
                | Self::Description(UnknownDisc::Name { .. } | UnknownDisc::Option { .. })
        )
    }
}
