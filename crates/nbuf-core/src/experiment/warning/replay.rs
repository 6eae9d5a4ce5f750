//! What a reader of `nbuf replay` must know, and its words.

use std::fmt::{self, Display, Formatter};

use super::Severity;
use crate::units::count;

/// A warning about a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayWarning {
    /// Requests that no disc can serve.
    LeftOut {
        /// How many.
        requests: u64,
    },
    /// Requests that the disc failed.
    DiscFailed {
        /// How many.
        requests: u64,
    },
    /// A signal came before all sizes were replayed.
    SizesMissing,
    /// A signal ended the replay.
    Interrupted {
        /// Requests that were replayed.
        requests: u64,
    },
}

impl ReplayWarning {
    /// How much it matters.
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::LeftOut { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Display for ReplayWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LeftOut { requests } => write!(
                f,
                "{} left out, to discard or flush, of no bytes, or without a place",
                count(requests, "request is", "requests are")
            ),
            Self::DiscFailed { requests } => {
                write!(f, "the disc failed {}", count(requests, "request", "requests"))
            }
            Self::SizesMissing => f.write_str("interrupted before all sizes were replayed"),
            Self::Interrupted { requests } => {
                write!(f, "interrupted after {}", count(requests, "request", "requests"))
            }
        }
    }
}
