//! What a reader of `nbuf run` must know, and its words.

use std::fmt::{self, Display, Formatter};

use super::{Severity, Warning};
use crate::experiment::compare::Which;

/// A warning about a run of a command, or about the comparison of two.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunWarning {
    /// The kernel shows when threads run, and nothing else.
    WaitsUnknown {
        /// Whether meters are missing too.
        has_meters: bool,
        /// Why.
        reason: String,
    },
    /// The kernel shows nothing of threads.
    ThreadsUnknown {
        /// Whether meters are missing too.
        has_meters: bool,
        /// Why.
        reason: String,
    },
    /// The kernel lost records.
    RecordsLost {
        /// How many.
        records: u64,
    },
    /// There is no profile.
    NoProfile {
        /// Why.
        reason: String,
    },
    /// The profile has nothing of the kernel.
    ProfileWithoutKernel {
        /// Why.
        reason: String,
    },
    /// The kernel lost records of the profile.
    ProfileLost {
        /// How many.
        records: u64,
    },
    /// The kernel held samples of the profile back.
    ProfileThrottled {
        /// How often.
        times: u64,
    },
    /// Samples of the profile have no callers, because too many stacks differed.
    StacksCut {
        /// How many.
        samples: u64,
    },
    /// The output of the command could not be passed on to its end.
    OutputCut {
        /// The answer of the kernel.
        reason: String,
    },
    /// A signal came before all runs were whole.
    RunsMissing {
        /// The runs that are whole.
        whole: u64,
        /// The runs of the spec.
        runs: u64,
    },
    /// Each run read nothing, because the standard input is a pipe.
    InputOnce,

    /// Two documents are of different commands.
    CommandsDiffer {
        /// The command of A.
        a: String,
        /// The command of B.
        b: String,
    },
    /// The commands of two documents ended differently.
    StatusesDiffer {
        /// The status of A.
        a: i32,
        /// The status of B.
        b: i32,
    },
    /// One of two documents was made with an option that makes a command slower.
    OptionsDiffer {
        /// The option.
        option: &'static str,
        /// The document that was made with it.
        with: Which,
    },
    /// One of two documents does not divide its time.
    PartsMissing,
    /// Other programs had processors while the runs of a document were made.
    OthersBusy {
        /// The document.
        which: Which,
        /// The share of all processors that they had, from 0 to 1.
        share: f64,
    },
    /// A note of one of two documents.
    OfDocument {
        /// The document.
        which: Which,
        /// The note.
        note: Box<Warning>,
    },
}

impl RunWarning {
    /// How much it matters.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::ProfileThrottled { .. } | Self::InputOnce => Severity::Note,
            Self::OfDocument { note, .. } => note.severity(),
            _ => Severity::Warning,
        }
    }
}

impl Display for RunWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::WaitsUnknown { has_meters, reason } => {
                let missing = if *has_meters {
                    "waits are unknown, and the page cache and the meters are missing"
                } else {
                    "waits are unknown, and the page cache is missing"
                };
                write!(f, "{missing}: {reason}; run nbuf by sudo")
            }
            Self::ThreadsUnknown { has_meters, reason } => {
                let missing = if *has_meters {
                    "where the time went, the page cache and the meters are missing"
                } else {
                    "where the time went, and the page cache, are missing"
                };
                write!(f, "{missing}: {reason}; run nbuf by sudo")
            }
            Self::RecordsLost { records } => {
                write!(f, "{records} records of the kernel were lost: the parts are not exact")
            }
            Self::OutputCut { reason } => write!(
                f,
                "the command's output was cut: {reason}; make room for it, or send it elsewhere"
            ),
            Self::RunsMissing { whole, runs } => {
                write!(f, "interrupted: {whole} of {runs} runs are whole")
            }
            Self::InputOnce => f.write_str(
                "standard input is a pipe, which can be read once: each run read /dev/null",
            ),
            Self::NoProfile { .. }
            | Self::ProfileWithoutKernel { .. }
            | Self::ProfileLost { .. }
            | Self::ProfileThrottled { .. }
            | Self::StacksCut { .. } => self.of_profile(f),
            other => other.of_comparison(f),
        }
    }
}

impl RunWarning {
    /// The words of a warning about a profile.
    fn of_profile(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProfile { reason } => write!(f, "the profile is missing: {reason}"),
            Self::ProfileWithoutKernel { reason } => write!(
                f,
                "the profile is of programs and libraries alone; time and faults in the kernel, and fills, \
                 are missing: {reason}; run nbuf by sudo"
            ),
            Self::ProfileLost { records } => {
                write!(f, "{records} records of the profile were lost: it is not whole")
            }
            Self::ProfileThrottled { times } => {
                write!(f, "the kernel held samples of the profile back {times} times")
            }
            Self::StacksCut { samples } => write!(
                f,
                "there were too many different stacks: {samples} samples have their innermost function \
                 alone"
            ),
            // The others have words above.
            _ => Ok(()),
        }
    }

    /// The words of a warning about two documents.
    fn of_comparison(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandsDiffer { a, b } => {
                write!(f, "the commands differ: A ran `{a}`, B ran `{b}`")
            }
            Self::StatusesDiffer { a, b } => {
                write!(f, "the command of A ended with status {a}, the command of B with {b}")
            }
            Self::OptionsDiffer { option, with } => {
                write!(f, "only {with} was made with {option}, which makes a command slower")
            }
            Self::PartsMissing => f.write_str(
                "where the time went is missing in one of the two: run nbuf by sudo for both",
            ),
            Self::OthersBusy { which, share } => write!(
                f,
                "{}: other programs had {:.0} % of all processors, and the difference may be theirs; \
                 compare on a quiet machine",
                side(*which),
                100.0 * share
            ),
            Self::OfDocument { which, note } => write!(f, "{}: {note}", side(*which)),
            // The others have words above.
            _ => Ok(()),
        }
    }
}

/// A document of a comparison, with its letter.
const fn side(which: Which) -> &'static str {
    match which {
        Which::A => "before (A)",
        Which::B => "now (B)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_of_a_document_keeps_its_severity_and_its_words() {
        let lost = Warning::Run(RunWarning::RecordsLost { records: 3 });
        let input = Warning::Run(RunWarning::InputOnce);
        for note in [lost, input] {
            let words = format!("now (B): {note}");
            let severity = note.severity();
            let of = RunWarning::OfDocument { which: Which::B, note: Box::new(note) };
            assert_eq!((of.to_string(), of.severity()), (words, severity));
        }
    }
}
