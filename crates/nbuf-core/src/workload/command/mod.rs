//! A command as a workload: started under supervision, watched from before its first instruction
//! to the end of its last descendant.
//!
//! Invariant: nothing is executed before the watcher is attached, and nothing of the command is
//! left when [`run`] returns.

mod brief;
pub(crate) mod engine;
mod input;
mod leavers;
mod peers;
mod plan;
mod terminal;
mod watch;
mod watcher;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sys::cgroup::Group;
use crate::sys::process::{self, Account};
use crate::sys::signal::Signals;
use crate::sys::supervise::{Plan, Supervisor, Used};
use crate::trace::Peer;
pub use brief::{Around, Brief, brief, end_what_is_left};
pub use input::{Input, discarding, repeated, repeating};
use leavers::Leavers;
pub use leavers::Left;
use peers::Peers;
use plan::plan;
use terminal::Terminal;
pub(crate) use watch::TICK;
use watch::{Run, cannot_execute};
pub use watcher::{Unwatched, Watcher};

/// What to run, and as whom.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// Program and arguments, as typed.
    pub arguments: Vec<OsString>,
    /// The account to run under instead of our own: the caller of `sudo`.
    pub account: Option<Account>,
    /// Whether the container that it asks an engine for is measured, and not the engine. Set by
    /// `engine::followed`.
    pub follows_container: bool,
}

/// When a run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// When the last descendant has ended.
    #[default]
    Last,
    /// The command itself; descendants that still run are killed.
    Main,
}

/// The circumstances of one run.
#[derive(Debug, Default)]
pub struct Job<'a> {
    /// Private group that the command joins.
    pub group: Option<&'a Group>,
    /// Descriptors that become its standard input, output and error instead of our own.
    pub standard: [Option<OwnedFd>; 3],
    /// When it is over.
    pub until: Until,
    /// After this long it is ended.
    pub deadline: Option<Duration>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// As a shell gives it: 128 + n for signal n.
    pub exit_status: i32,
    /// The signal that ended it. A status above 128 may also be one that it gave itself.
    pub signal: Option<i32>,
    /// The signal that we were sent meanwhile.
    pub interrupted: Option<i32>,
    /// Whether the deadline ended it.
    pub timed_out: bool,
    /// Whether the watcher had seen enough and ended it.
    pub given_up: bool,
    /// Processes of it that were stopped when all others had ended, and so were ended too: nothing that is
    /// known would have continued them.
    pub stopped: u32,
    /// Whether it was given a terminal as its input, and used it.
    pub used_terminal: bool,
    /// From the word to execute to the end of the last descendant.
    pub elapsed_ns: u64,
    /// User and system time of the command and its descendants.
    pub cpu_ns: u64,
    /// The part of it in programs.
    pub user_ns: u64,
    /// Page faults that waited for no I/O.
    pub minor_faults: u64,
    /// The most memory that one of its processes had at once.
    pub resident_bytes_max: u64,
    /// Times that a thread left its processor to wait, and that it was taken from one.
    pub switches: [u64; 2],
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Bytes read from block devices for it.
    pub bytes_read: u64,
    /// Bytes of pages that it made dirty, counted each time, and of its writes past the cache.
    /// Block devices receive them to write, now or later, unless they are truncated or removed
    /// first.
    pub bytes_written: u64,
    /// Processes that left the group it was put into.
    pub left: Option<Left>,
    /// Servers that it was connected to, where they were looked for.
    pub peers: Vec<Peer>,
}

impl Ended {
    /// Takes over what the kernel has counted.
    fn take(&mut self, used: &Used) {
        self.cpu_ns = used.user_ns + used.system_ns;
        self.user_ns = used.user_ns;
        self.minor_faults = used.minor_faults;
        self.major_faults = used.major_faults;
        self.bytes_read = used.bytes_read;
        self.bytes_written = used.bytes_written;
        self.resident_bytes_max = used.resident_bytes_max;
        self.switches = used.switches;
    }
}

/// What to do about a command that is not found.
fn remedy(name: &str) -> &'static str {
    if name.trim().contains(char::is_whitespace) {
        "its name has spaces: leave out the quotes, or let a shell run it, as sh -c 'COMMAND'"
    } else {
        "check the spelling and PATH"
    }
}

/// Why a command was not run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Exit status 127.
    #[error("{name}: command not found; {}", remedy(.0), name = .0)]
    NotFound(String),
    /// Exit status 126.
    #[error("{0}: cannot be executed ({1}); check its permissions and its first line")]
    NotExecutable(String, io::Error),
    /// An argument or a variable holds a NUL byte.
    #[error("an argument holds a NUL byte, which no program can receive: remove it")]
    Nul(#[from] std::ffi::NulError),
    /// The supervisor was killed. Whatever it watched has been ended.
    #[error("the supervisor process of nbuf was killed, and the command with it: run it again")]
    SupervisorKilled,
    /// No process, or thread to watch it, could be made for it: a limit has been reached.
    #[error(
        "cannot start the command: {0}; end other processes, or raise the limit on processes \
         (`ulimit -u`, `pids.max` of a cgroup, `--pids-limit` of a container)"
    )]
    NoRoom(io::Error),
    /// There is no process for it, for another reason.
    #[error(
        "cannot start the command: {0}; raise the limits of this shell (`ulimit -n`, `ulimit -v`)"
    )]
    NotStarted(io::Error),
    /// The watcher could not be attached.
    #[error("cannot attach to the command: {0}")]
    Attach(io::Error),
    /// Anything else the kernel refused.
    #[error("cannot run the command: {0}")]
    Io(#[from] io::Error),
}

/// Runs a command to its end.
pub fn run(
    command: &Command,
    job: Job<'_>,
    watcher: &mut dyn Watcher,
    signals: &Signals,
) -> Result<Ended, Error> {
    process::become_subreaper()?;
    let terminal = if job.standard[0].is_none() { Terminal::on_input() } else { None };
    let strangers = process::children();
    let filter = watcher.filter();
    // A container is ended by other means than the processes of its engine: see `Run::end_all`.
    let has_engine = job.group.is_some_and(|group| group.parent_for_engine().is_some());
    let deadline = job.deadline.filter(|_| !has_engine);
    let deadline_ms = deadline.and_then(|deadline| i64::try_from(deadline.as_millis()).ok());
    let plan = Plan { filter, deadline_ms, ..plan(command, job.group, job.standard)? };
    let supervisor = Supervisor::start(&plan).map_err(|error| refused(error, Error::NotStarted))?;
    drop(plan);
    let mut run = Run {
        command,
        supervisor,
        group: job.group,
        signals,
        until: job.until,
        deadline: job.deadline,
        main: 0,
        terminal,
        started_ns: process::monotonic_ns(),
        main_ended: false,
        kill_at_ns: u64::MAX,
        stopped_due_ns: 0,
        stopped_looks: 0,
        leavers: Leavers::default(),
        peers: Peers::default(),
        ended: Ended::default(),
    };
    let result = run.watch(watcher);
    if let Some(terminal) = &run.terminal {
        terminal.give_back(result.as_ref().map_or(true, |ended| ended.signal.is_some()));
    }
    if result.is_err() {
        // Closing our end makes the supervisor end everything, if it lives.
        let (pid, group) = (run.supervisor.pid, run.group);
        drop(run);
        end_orphans(pid, &strangers, group);
    }
    result
}

/// What a limit on processes and threads has refused, which the kernel calls "try again"; anything
/// else is as it was.
fn refused(error: io::Error, otherwise: impl Fn(io::Error) -> Error) -> Error {
    if error.kind() == io::ErrorKind::WouldBlock { Error::NoRoom(error) } else { otherwise(error) }
}

/// How long a supervisor is left to clean up by itself, and how long all of it may take.
const SUPERVISOR_NS: u64 = 1_000_000_000;
const GIVE_UP_NS: u64 = 10_000_000_000;

/// Ends what a dead or dying supervisor leaves to us, its subreaper: everything that was not our
/// child before.
fn end_orphans(supervisor: i32, strangers: &[i32], group: Option<&Group>) {
    let started_ns = process::monotonic_ns();
    loop {
        let mine: Vec<i32> =
            process::children().into_iter().filter(|pid| !strangers.contains(pid)).collect();
        let passed_ns = process::monotonic_ns() - started_ns;
        if mine.is_empty() || passed_ns > GIVE_UP_NS {
            return;
        }
        // One that lives does so better than we can.
        let waits = mine.contains(&supervisor) && passed_ns < SUPERVISOR_NS;
        if !waits {
            if let Some(group) = group {
                group.kill();
            }
            for pid in process::descendants(&mine) {
                let _ = process::signal(pid, libc::SIGKILL);
            }
        }
        process::wait_for_any(&mine);
        for pid in mine {
            let _ = process::try_wait(pid);
        }
    }
}
