//! What a reader of a trace must know of its reading, and its words.

use std::fmt::{self, Display, Formatter};

/// A warning about records that nbuf could not read, or about sizes that it doubts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceWarning {
    /// Records that nbuf could not read.
    LeftOut {
        /// The first: its place, and what is wrong with it.
        first: String,
        /// How many more there were.
        others: u64,
    },
    /// An input breaks off.
    CutOff {
        /// The place, and what is wrong there.
        problem: String,
    },
    /// Requests for keys without a size.
    SizesMissing {
        /// How many.
        requests: u64,
    },
    /// Answers that have no body have bytes: the sizes of the log count headers.
    HeadersCounted {
        /// How many.
        answers: u64,
    },
}

impl Display for TraceWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut { first, others: 0 } => write!(f, "left out: {first}"),
            Self::LeftOut { first, others } => write!(f, "left out: {first}, and {others} more"),
            Self::CutOff { problem } => f.write_str(problem),
            Self::SizesMissing { requests } => write!(
                f,
                "{requests} requests are for keys of which the trace states no size before them: they count \
                 as requests, and their bytes are missing"
            ),
            Self::HeadersCounted { answers } => write!(
                f,
                "{answers} answers without a body have bytes in this log, so its sizes count the headers \
                 too: Apache writes the bytes of the body for %B, and body=%B behind the line is read first"
            ),
        }
    }
}
