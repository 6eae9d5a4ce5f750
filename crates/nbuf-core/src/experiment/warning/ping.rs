//! What a reader of `nbuf ping` must know, and its words.

use std::fmt::{self, Display, Formatter};

use super::Severity;

/// A warning about measured wake-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PingWarning {
    /// A signal ended it.
    Interrupted,
    /// The two processors are threads of one core.
    OneCore,
    /// The processors had other work while the threads slept.
    NeverIdle {
        /// Rows on two cores in which this was so.
        rows: usize,
    },
    /// The threads waited for other programs in most samples.
    Busy {
        /// The samples in which they waited.
        waited: u64,
        /// All samples.
        samples: u64,
    },
}

impl PingWarning {
    /// How much it matters.
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::OneCore => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Display for PingWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => {
                f.write_str("it was ended early: rows are missing, or have fewer samples")
            }
            Self::OneCore => {
                f.write_str("the other core is another thread of the same core: there is no other")
            }
            Self::NeverIdle { rows } => write!(
                f,
                "in {rows} rows on two cores the processors did not idle while our threads slept: taking a \
                 processor from another program costs a different time than waking an idle one"
            ),
            Self::Busy { waited, samples } => write!(
                f,
                "the machine is busy: our threads waited for others in {waited} of {samples} samples"
            ),
        }
    }
}
