//! Why a load has no document.

use std::io;
use std::time::Duration;

use super::run::USERS_MAX;
use crate::units::Bytes;
use crate::workload::command;

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No step, or one with no users or too many.
    #[error("{0} users are not possible: give 1 to {USERS_MAX}")]
    Users(u32),
    /// No signal can end it.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// The kernel's counters cannot be read, or there is no pipe.
    #[error("cannot read the kernel's counters ({0}): mount /proc, or raise `ulimit -n`")]
    Counters(#[source] io::Error),
    /// There is no thread for a user.
    #[error(
        "cannot start user {user}: {cause}; give fewer users, or raise the limit on processes \
         (`ulimit -u`, `pids.max` of a cgroup)"
    )]
    Thread {
        /// The number of the user, from 1.
        user: usize,
        /// What the kernel said.
        cause: io::Error,
    },
    /// An option is for commands, and there is none.
    #[error(
        "{0} holds for commands, and the script has requests only: name a command, or leave out {0}"
    )]
    NoCommand(&'static str),
    /// More processors than there are.
    #[error(
        "--cpus {requested} is not possible: give 1 to {has}, the processors that nbuf may use"
    )]
    Processors {
        /// How many were requested.
        requested: u32,
        /// How many there are.
        has: u32,
    },
    /// A table without a place.
    #[error("a system table of 0 admits no user: give 1 or more")]
    Places,
    /// There is no group with the limit.
    #[error(
        "cannot make a group with a limit of {limit} ({cause}): run as root outside of a container, or leave out \
         --limit"
    )]
    Group {
        /// The limit.
        limit: Bytes,
        /// What went wrong.
        cause: String,
    },
    /// Not one command came to its end under the limit.
    #[error(
        "a limit of {limit} is too small for the commands: the kernel killed all {killed} for lack of memory; \
         give a larger --limit"
    )]
    TooSmall {
        /// The limit.
        limit: Bytes,
        /// How many were killed.
        killed: u64,
    },
    /// A server ended before users could ask it.
    #[error(
        "the server `{0}` ended at once: run it by hand to see why; it must stay in the foreground, and its address must be free"
    )]
    ServerEnded(String),
    /// A server ended between its steps.
    #[error(
        "the server `{0}` ended before the last step, so later figures are wrong: look at its log, or give it a higher \
         limit"
    )]
    ServerGone(String),
    /// A server cannot be asked.
    #[error(
        "the server `{server}` was not ready after {} s: `{ready}` must succeed once it can be asked",
        .after.as_secs()
    )]
    ServerNotReady {
        /// The server.
        server: String,
        /// The command that must succeed.
        ready: String,
        /// How long it had.
        after: Duration,
    },
    /// A command does not run.
    #[error(transparent)]
    Command(#[from] command::Error),
}
