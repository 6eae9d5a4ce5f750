//! What a reader of `nbuf fleet` must know, and its words.

use std::fmt::{self, Display, Formatter};

use super::Severity;
use crate::units::{count, listed};

/// Names in the words of a warning.
const NAMED: usize = 3;

/// A warning about a fleet. Each list of names is whole.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FleetWarning {
    /// Volumes without an answer, because tasks are open.
    Unfinished {
        /// Their names.
        volumes: Vec<String>,
    },
    /// Volumes without an answer, because a task failed.
    TaskFailed {
        /// Their names.
        volumes: Vec<String>,
    },
    /// Inputs without requests.
    Empty {
        /// Their names.
        inputs: Vec<String>,
    },
    /// Volumes whose files overlap in time.
    Overlapping {
        /// Their names.
        volumes: Vec<String>,
    },
    /// Volumes that the comparison in time leaves out.
    NotInTime {
        /// Their names.
        volumes: Vec<String>,
    },
    /// Volumes whose curves are estimates.
    Estimated {
        /// Their names.
        volumes: Vec<String>,
    },
    /// A comparison in time needs a budget.
    NoBudget,
    /// No volume has requests before and after the time of the comparison.
    NothingLater,
    /// Records that nbuf could not read.
    Unreadable {
        /// How many.
        records: u64,
    },
}

impl FleetWarning {
    /// How much it matters.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::Estimated { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Display for FleetWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (names, what) = match self {
            Self::Unfinished { volumes } => (volumes, "left out: not all of the tasks are done"),
            Self::TaskFailed { volumes } => (volumes, "left out: a task failed"),
            Self::Empty { inputs } => (inputs, "without any requests"),
            Self::Overlapping { volumes } => {
                (volumes, "overlap in time: their files were read one after the other")
            }
            Self::NotInTime { volumes } => {
                (volumes, "not in the comparison in time: curves by hash, or files that overlap")
            }
            Self::Estimated { volumes } => (volumes, "by hash parts: estimates, with a band"),
            Self::NoBudget => {
                return f.write_str("--until needs a --budget to say whether a split lasts");
            }
            Self::NothingLater => {
                return f.write_str(
                    "--until compares nothing: no exact volume has requests before and after it",
                );
            }
            Self::Unreadable { records } => {
                let records = count(*records, "record", "records");
                return write!(f, "{records} could not be read and left out");
            }
        };
        f.write_str(&listed(&names[..names.len().min(NAMED)]))?;
        match names.len().saturating_sub(NAMED) {
            0 => write!(f, " {what}"),
            others => write!(f, " and {others} more {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_names_are_enough() {
        let words = |names: &[&str]| {
            let inputs = names.iter().map(|&name| name.to_owned()).collect();
            FleetWarning::Empty { inputs }.to_string()
        };
        assert_eq!(words(&["a"]), "a without any requests");
        assert_eq!(words(&["a", "b", "c"]), "a, b and c without any requests");
        assert_eq!(words(&["a", "b", "c", "d", "e"]), "a, b and c and 2 more without any requests");
    }
}
