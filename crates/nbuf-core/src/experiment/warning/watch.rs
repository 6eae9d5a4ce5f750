//! What a reader of `nbuf watch` must know, and its words.

use std::fmt::{self, Display, Formatter};

/// A warning about an interval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WatchWarning {
    /// The kernel lost records.
    RecordsLost {
        /// How many.
        records: u64,
    },
    /// The tracepoints of the kernel are closed.
    TracepointsClosed {
        /// Why.
        reason: String,
    },
}

impl Display for WatchWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecordsLost { records } => {
                write!(f, "{records} records of the kernel were lost: idle times are not exact")
            }
            Self::TracepointsClosed { reason } => write!(
                f,
                "idle time is split by samples, and run-queue entries, service times and times between \
                 faults are missing: {reason}; run nbuf by sudo"
            ),
        }
    }
}
