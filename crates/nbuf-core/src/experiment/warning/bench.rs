//! What a reader of `nbuf bench` must know, and its words.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use super::Severity;
use crate::units::Bytes;

/// A warning about measured paths.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BenchWarning {
    /// A signal ended it.
    Interrupted,
    /// The time of the spec was up.
    NotReached {
        /// The names of the tests, comparisons and models that are missing.
        names: Vec<String>,
    },
    /// There is no noise floor.
    NoFloor,
    /// The kernel does not count the time that a thread waits for a processor.
    NoWaits,
    /// The files fit into the cache of the processor.
    FilesInCache {
        /// The size of the cache.
        cache_bytes: Bytes,
    },
    /// A hypervisor took time.
    Stolen {
        /// Percent of the time of the run.
        percent: f64,
    },
    /// A neighbour used the core in most of the run.
    SharedCore,
    /// The history of runs has lines that are no run.
    HistoryDamaged {
        /// How many.
        lines: usize,
    },
    /// Something else has the name of the history.
    HistoryForeign {
        /// The file.
        path: PathBuf,
    },
}

impl BenchWarning {
    /// How much it matters.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::FilesInCache { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Display for BenchWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted: only what was measured before is here"),
            Self::NotReached { names } => {
                write!(f, "not reached in the time that was given: {}", names.join("; "))
            }
            Self::NoFloor => f.write_str("no noise floor could be measured: nothing is compared"),
            Self::NoWaits => f.write_str(
                "this kernel has no schedstat, the time that a thread waits for a processor: nbuf cannot \
                 tell clean samples from disturbed ones",
            ),
            Self::FilesInCache { cache_bytes } => write!(
                f,
                "the files fit into the processor's cache of {cache_bytes}: rates above memory's come from \
                 it"
            ),
            Self::Stolen { percent } => {
                write!(f, "a hypervisor took {percent:.1} % of the time, which no sample can see")
            }
            Self::SharedCore => f.write_str(
                "another program or virtual machine used the core in most of the run: rates can be a fifth too low, so \
                 measure again when the machine is quieter",
            ),
            Self::HistoryDamaged { lines } => {
                write!(f, "damaged lines in the history of runs, which do not count: {lines}")
            }
            Self::HistoryForeign { path } => write!(
                f,
                "{} is no history that this nbuf writes: it stays as it is, and ranges rest on this run alone; \
                 move it away to keep one",
                path.display()
            ),
        }
    }
}
