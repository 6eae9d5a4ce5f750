//! The amount of output on standard error: errors and lost data always, notes unless quiet, steps only if
//! verbose.

use std::fmt::Display;
use std::sync::OnceLock;

use crate::fail::say;

/// The amount of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors and lost data.
    Quiet,
    /// Notes too.
    #[default]
    Normal,
    /// Each step too.
    Verbose,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets it once, by the command line.
pub(crate) fn set(verbosity: Verbosity) {
    // A second call keeps the first choice: there is one command line.
    let _ = VERBOSITY.set(verbosity);
}

fn get() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or_default()
}

/// Whether only errors and lost data are printed.
pub(crate) fn is_quiet() -> bool {
    get() == Verbosity::Quiet
}

/// Whether output of this level is printed.
pub(crate) fn is_at_least(verbosity: Verbosity) -> bool {
    get() >= verbosity
}

/// Prints a note.
pub(crate) fn note(message: impl Display) {
    if is_at_least(Verbosity::Normal) {
        say(message);
    }
}

/// Prints a step.
pub(crate) fn detail(message: impl Display) {
    if is_at_least(Verbosity::Verbose) {
        say(message);
    }
}
