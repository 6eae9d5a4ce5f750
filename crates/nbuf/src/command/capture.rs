//! `--capture`: how a command is watched.

use nbuf::experiment::capture;
use nbuf::experiment::record::Until;

use crate::fail::UsageError;

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Capture {
    /// Tracepoints, or system calls without permission for those; what runs already by BPF where root watches it
    Auto,
    /// The kernel's tracepoints; needs privileges
    Perf,
    /// Stops at each system call (ptrace); needs no privileges
    Calls,
}

impl Capture {
    /// The same for programs that run already.
    ///
    /// # Errors
    /// A usage error for system calls.
    pub(crate) fn of_running(self) -> Result<capture::Capture, UsageError> {
        match self {
            Self::Calls => {
                let only = "--capture calls is for commands; programs that run already are recorded by \
                            tracepoints: leave it out, or give --capture perf";
                Err(UsageError(only.to_owned()))
            }
            other => Ok(other.into()),
        }
    }
}

impl From<Capture> for capture::Capture {
    fn from(capture: Capture) -> Self {
        match capture {
            Capture::Auto => Self::Auto,
            Capture::Perf => Self::Perf,
            Capture::Calls => Self::Calls,
        }
    }
}

/// `--until`
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum UntilArgument {
    Main,
    Last,
}

impl From<UntilArgument> for Until {
    fn from(until: UntilArgument) -> Self {
        match until {
            UntilArgument::Main => Self::Main,
            UntilArgument::Last => Self::Last,
        }
    }
}
