//! What the experiments on paths and wake-ups report, and its words.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

use crate::units::Bytes;

/// Something of `bench`, `ping` or a program of the course that is good to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PathNotice<'a> {
    /// `bench` begins.
    BenchBegins {
        /// How long it takes if the machine stays as noisy as it is.
        seconds: f64,
        /// How long it takes if other programs disturb all samples.
        seconds_max: f64,
        /// What is written in all.
        written: Bytes,
        /// What the files take.
        files: Bytes,
        /// Where they are; none where a file of the caller's is read.
        directory: Option<&'a Path>,
    },
    /// `bench advise` begins.
    AdviceBegins {
        /// The size of each file.
        size: Bytes,
        /// Where they are; none where a file of the caller's is read.
        directory: Option<&'a Path>,
    },
    /// A trace has whole pages, which hide smaller blocks.
    WholePages {
        /// Whether some pages were read again and again.
        has_repeats: bool,
    },
    /// `ping` begins.
    PingBegins {
        /// How long it takes at most.
        seconds_max: f64,
        /// Processes, one after the other.
        processes: usize,
    },
    /// Blocks of a program of the course overlap.
    BlocksOverlap {
        /// Bytes of a block.
        block_bytes: u64,
        /// From one to the next.
        stride_bytes: u64,
        /// Where the last one ends.
        end_bytes: u64,
    },
    /// Each of many writes waits for the disc.
    WritesWait {
        /// How many.
        writes: u64,
    },
    /// The history of runs cannot be read or written, so it is not used.
    HistoryUnused {
        /// What the kernel said.
        cause: &'a io::Error,
    },
    /// A file was not written to its end.
    Abandoned {
        /// Its name.
        path: &'a Path,
        /// Whether there was a file of this name.
        replaces: bool,
        /// Whether a signal ended it.
        is_interrupted: bool,
    },
}

impl Display for PathNotice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::BenchBegins { seconds, seconds_max, written, files, directory } => {
                write!(f, "measures about {:.0} s", seconds.max(1.0))?;
                if *seconds_max > seconds * 1.1 {
                    write!(f, " ({seconds_max:.0} s on a busy machine)")?;
                }
                match directory {
                    None => f.write_str(", and only reads the file"),
                    Some(directory) => write!(
                        f,
                        " and writes about {written} in all, into files of {files} in {}, which have no \
                         name and go at the end",
                        directory.display()
                    ),
                }
            }
            Self::AdviceBegins { directory: None, .. } => {
                f.write_str("measures some ten seconds to minutes, and only reads the file")
            }
            Self::AdviceBegins { size, directory: Some(directory) } => write!(
                f,
                "measures some ten seconds to minutes with files of {size} in {}, which have no name and go \
                 at the end",
                directory.display()
            ),
            Self::WholePages { has_repeats } => write!(
                f,
                "the trace has whole pages{}: blocks smaller than a page look the same; if yours are, give \
                 --pattern with their size",
                if *has_repeats { ", some again and again" } else { "" }
            ),
            Self::PingBegins { seconds_max, processes } => write!(
                f,
                "measures at most about {seconds_max:.0} s, in {processes} processes, one after the other; \
                 Ctrl-C ends it and leaves what was measured"
            ),
            Self::BlocksOverlap { block_bytes, stride_bytes, end_bytes } => write!(
                f,
                "blocks of {block_bytes} bytes overlap at strides of {stride_bytes}: some bytes are moved \
                 several times, and those from {end_bytes} on not at all"
            ),
            Self::WritesWait { writes } => write!(
                f,
                "each of {writes} writes waits for the disc, which may take hours; -p says how far it is"
            ),
            Self::HistoryUnused { cause } => write!(f, "keeps no history of runs: {cause}"),
            Self::Abandoned { path, replaces, is_interrupted } => {
                let interrupted = if *is_interrupted { "interrupted; " } else { "" };
                let left = if *replaces { "it is as it was" } else { "it was not made" };
                write!(f, "{interrupted}{}: {left}", path.display())
            }
        }
    }
}
