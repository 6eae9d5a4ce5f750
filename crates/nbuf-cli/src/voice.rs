//! How much is said on standard error: failures and losses always, notes unless quiet, details
//! only when asked for.

use std::fmt::Display;
use std::sync::OnceLock;

use crate::fail::say;

/// How much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Voice {
    /// Nothing but what is wrong.
    Quiet,
    /// What a user wants to know.
    #[default]
    Plain,
    /// What is done, step by step.
    Verbose,
}

static VOICE: OnceLock<Voice> = OnceLock::new();

/// Set once, by the command line.
pub(crate) fn set(voice: Voice) {
    // A second call finds the first one's choice: there is one command line.
    let _ = VOICE.set(voice);
}

fn get() -> Voice {
    VOICE.get().copied().unwrap_or_default()
}

/// Whether only what is wrong is to be said.
pub(crate) fn is_quiet() -> bool {
    get() == Voice::Quiet
}

/// Says something that is good to know.
pub(crate) fn note(message: impl Display) {
    if get() >= Voice::Plain {
        say(message);
    }
}

/// Says what is done, for those who want to follow it.
pub(crate) fn detail(message: impl Display) {
    if get() >= Voice::Verbose {
        say(message);
    }
}
