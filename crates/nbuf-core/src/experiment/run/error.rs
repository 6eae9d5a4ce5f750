//! Why there is no message, and no comparison.

use std::io;

use crate::experiment::compare::Which;
use crate::experiment::warning::RunWarning;
pub use crate::workload::command::Error as CommandError;

/// Why there is no message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No signal can end the run.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// The standard output of the command cannot be sent elsewhere.
    #[error("cannot redirect the command's output")]
    Output(#[source] io::Error),
    /// The standard input of the command cannot be given again.
    #[error("cannot give the command its standard input again")]
    Input(#[source] io::Error),
    /// The observer refused the timeline.
    #[error("cannot keep the timeline")]
    Observer(#[source] io::Error),
    /// The command never ran, or not to its end.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The runs do not do the same.
    #[error(
        "the command ended with status {first} in run 1 and with {status} in run {run}: runs that end \
         differently are not repeats of each other; run it by hand first"
    )]
    Status {
        /// The status of the first run.
        first: i32,
        /// The status of this one.
        status: i32,
        /// The number of the run, from 1.
        run: usize,
    },
}

/// Why two documents are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// They are of different commands.
    #[error("{}; compare runs of one command, or give --force", self.warning())]
    Commands {
        /// The command of A.
        a: String,
        /// The command of B.
        b: String,
    },
    /// They did not do the same.
    #[error("{}; make both again, or give --force", self.warning())]
    Status {
        /// The status of A.
        a: i32,
        /// The status of B.
        b: i32,
    },
    /// One was made with an option that makes a command slower.
    #[error("{}; make both alike, or give --force", self.warning())]
    Options {
        /// The option.
        what: &'static str,
        /// The side that was made with it.
        with: Which,
    },
}

impl CompareError {
    /// What is the matter, without what to do.
    pub(super) fn warning(&self) -> RunWarning {
        match self.clone() {
            Self::Commands { a, b } => RunWarning::CommandsDiffer { a, b },
            Self::Status { a, b } => RunWarning::StatusesDiffer { a, b },
            Self::Options { what: option, with } => RunWarning::OptionsDiffer { option, with },
        }
    }
}
