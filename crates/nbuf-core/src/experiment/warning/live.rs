//! What a reader of a window of a service must know, and its words.

use std::fmt::{self, Display, Formatter};

use super::Severity;
use crate::units::Bytes;

/// A warning about programs that run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LiveWarning {
    /// A thread of the kernel took many pages from the page cache in the window.
    Reclaimed {
        /// Its name.
        thread: String,
        /// What it took.
        bytes: Bytes,
        /// Whether memory was short. If not, it takes pages that rest.
        is_short: bool,
    },
    /// The kernel does not show touches of mapped files.
    TouchesUnseen,
    /// Touches of mapped files were not wanted.
    MappedOff,
    /// Marks were never cleared, since memory was reclaimed.
    MarksKept,
    /// Marks were cleared only in the end, since memory was reclaimed before.
    MarksLate {
        /// When they were cleared first.
        seconds: f64,
    },
    /// Marks were not cleared for a part of the window, since memory was reclaimed.
    MarksRested {
        /// That part.
        seconds: f64,
    },
    /// Clearing the marks of processes took too long.
    ProcessesLeftOut {
        /// How many.
        processes: u64,
        /// What was allowed.
        pause_seconds: f64,
    },
    /// Mapped files are in large pages.
    LargePages {
        /// How much of them.
        bytes: Bytes,
    },
    /// Reading the events took more of a processor than the spec allows.
    OverheadExceeded {
        /// What it took, in processors.
        taken: f64,
        /// What the spec allows, in processors.
        allowed: f64,
    },
    /// The programs ended within the window.
    ProgramsEnded,
}

impl LiveWarning {
    /// How much it matters.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::ProgramsEnded => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Display for LiveWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reclaimed { thread, bytes, is_short } => {
                let why = if *is_short {
                    "memory was short"
                } else {
                    "it takes pages that are not used for a while, without a lack of memory"
                };
                write!(
                    f,
                    "{thread} took {bytes} of files from the cache of the machine in the window: {why}; what \
                     the programs held, and what the kernel brought in, depend on it"
                )
            }
            Self::TouchesUnseen => {
                f.write_str("touches of mapped files are not seen here; `nbuf doctor` says why")
            }
            Self::LargePages { bytes } => write!(
                f,
                "{bytes} of mapped files are in large pages: the processor shows which of them are touched, and \
                 not which pages in them, so smaller caches are not known"
            ),
            Self::MappedOff => {
                f.write_str("touches of mapped files were not watched (--mmap off): only their faults count")
            }
            Self::MarksKept => f.write_str(
                "touches of mapped files were not watched, since the kernel reclaimed memory of the programs or \
                 of the groups around them within each ten seconds; to watch all the same, use --mmap on",
            ),
            Self::MarksLate { seconds } => write!(
                f,
                "touches of mapped files were watched only after {seconds:.0} s, more than half of the window: \
                 their rates are too low; watch longer, or use --mmap on"
            ),
            Self::MarksRested { seconds } => write!(
                f,
                "touches of mapped files were not watched for {seconds:.1} s, since the kernel reclaimed memory \
                 meanwhile: their rates are too low; to watch all the same, use --mmap on"
            ),
            Self::ProcessesLeftOut { processes, pause_seconds } => write!(
                f,
                "{processes} processes were left out of the watch of mapped files, since clearing the marks of \
                 each took more than {:.0} ms again and again; --mmap-pause allows more",
                pause_seconds * 1e3
            ),
            Self::OverheadExceeded { taken, allowed } => write!(
                f,
                "reading the events took {:.0} % of a processor, and --overhead allows {:.1} %: a sample \
                 keeps at least 64 MiB of pages, and leaving an access out costs too",
                taken * 100.0,
                allowed * 100.0
            ),
            Self::ProgramsEnded => f.write_str(
                "the programs ended within the window: their memory was measured when it began",
            ),
        }
    }
}
