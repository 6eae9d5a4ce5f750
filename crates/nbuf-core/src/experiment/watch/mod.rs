//! Core watch: what processors, tasks, page faults, the page cache and discs do, interval by interval.
//!
//! ```no_run
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::watch::{self, Spec};
//!
//! let spec = Spec { count: Some(1), ..Spec::default() };
//! let seen = watch::run(&spec, &mut Session::new(&()))?;
//! println!("{} s of true idle", seen.cpu.true_idle_seconds);
//! # Ok::<(), watch::Error>(())
//! ```

mod chosen;
mod files;
mod interval;
mod reading;
mod record;
mod replay;

use std::io;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

#[cfg(feature = "paths")]
pub(in crate::experiment) use interval::times;
pub use record::Recording;
pub use replay::{ReplayError, replay};

use super::result::{Warning, WatchDocument};
use super::session::{Interim, Session};
use super::warning::WatchWarning;
use crate::meter::probe::counts::Counts;
use crate::meter::probe::{disc_counts, tasks};
use crate::sys::process::monotonic_ns;
use crate::workload::observe::machine::Machine;
use chosen::Chosen;
use files::Files;
use reading::{Reading, Samples};

/// How often rings are drained and queues sampled.
const TICK_NS: u64 = 100_000_000;
/// The kernel writes a record into its ring a little after its time.
const SETTLE_NS: u64 = 2_000_000;

/// What to watch. The default watches the machine once a second until a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The length of an interval, in milliseconds.
    pub interval_ms: u64,
    /// After how many intervals it ends; nothing for never.
    pub count: Option<u64>,
    /// Files of which the cached part is shown.
    pub files: Vec<PathBuf>,
    /// Processes of which figures are shown apart.
    pub processes: Vec<u32>,
    /// The directory of a cgroup, of whose processes figures are shown apart.
    pub cgroup: Option<PathBuf>,
}

impl Default for Spec {
    fn default() -> Self {
        Self { interval_ms: 1000, count: None, files: vec![], processes: vec![], cgroup: None }
    }
}

/// Why nothing can be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An interval too short or too long.
    #[error("an interval of {0} ms is not possible: give one from 100 ms to an hour")]
    Interval(u64),
    /// No signal can end it.
    #[error("cannot listen for signals ({0})")]
    Signals(#[source] io::Error),
    /// The kernel's counters cannot be read.
    #[error("cannot read the kernel's counters ({0}): mount /proc")]
    Counters(#[source] io::Error),
    /// A named file.
    #[error("cannot open {} ({cause}): name a regular file that you may read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// A named process.
    #[error("there is no process {0}: give the number of one that runs")]
    Process(u32),
    /// A named cgroup.
    #[error("{} is no cgroup ({cause}): name its directory below /sys/fs/cgroup", .path.display())]
    Cgroup {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// The observer could not take an interval.
    #[error(transparent)]
    Observer(io::Error),
}

/// Watches until the count is reached or a signal comes, and gives the last interval. Each is given to the
/// observer as an [`Interim::Watch`]. A signal ends the interval under way, which is shorter then.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<WatchDocument, Error> {
    if !(100..=3_600_000).contains(&spec.interval_ms) {
        return Err(Error::Interval(spec.interval_ms));
    }
    session.cancellation.listen().map_err(Error::Signals)?;
    let mut watch = Watch::begin(spec)?;
    loop {
        let document = watch.interval(session)?;
        session.observer.interim(Interim::Watch(&document)).map_err(Error::Observer)?;
        let is_last = spec.count.is_some_and(|count| document.number >= count);
        if is_last || session.is_over() {
            return Ok(document);
        }
    }
}

/// What goes on from interval to interval.
#[derive(Debug)]
struct Watch {
    machine: Result<Machine, String>,
    interval_ns: u64,
    before: Reading,
    number: u64,
    files: Files,
    chosen: Option<Chosen>,
}

impl Watch {
    fn begin(spec: &Spec) -> Result<Self, Error> {
        let files = Files::open(&spec.files)?;
        let chosen = Chosen::find(&spec.processes, spec.cgroup.as_deref())?;
        let machine = Machine::begin(tasks::uninterruptible_threads);
        let before = Reading::now(chosen.as_ref()).map_err(Error::Counters)?;
        let interval_ns = spec.interval_ms * 1_000_000;
        Ok(Self { machine, interval_ns, before, number: 0, files, chosen })
    }

    fn interval(&mut self, session: &Session<'_>) -> Result<WatchDocument, Error> {
        let until_ns = self.before.time_ns + self.interval_ns;
        let mut samples = Samples::default();
        loop {
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            wait(session, left_ns.min(TICK_NS)).map_err(Error::Signals)?;
            samples.add(&Counts::read_now().map_err(Error::Counters)?);
            if let Ok(machine) = &mut self.machine {
                let now_ns = monotonic_ns();
                let is_quiet = disc_counts::read()
                    .is_ok_and(|discs| discs.values().all(|disc| disc.in_flight == 0));
                machine.drain(is_quiet.then_some(now_ns));
            }
            session.observer.interim(Interim::Watching).map_err(Error::Observer)?;
            if monotonic_ns() >= until_ns || session.cancellation.poll().is_some() {
                break;
            }
        }
        let now = Reading::now(self.chosen.as_ref()).map_err(Error::Counters)?;
        let seen = match &mut self.machine {
            Ok(machine) => {
                pause(SETTLE_NS);
                let assumed = |processor| self.before.was_idle(&now, processor);
                let blocked = now.blocked();
                Ok(machine.finish(now.time_ns, blocked, assumed, tasks::uninterruptible_threads))
            }
            Err(reason) => Err(reason.clone()),
        };
        self.number += 1;
        let mut document = interval::document(&self.before, &now, &samples, seen.as_ref());
        document.number = self.number;
        document.files = self.files.look();
        let closed = seen.err().map(|reason| WatchWarning::TracepointsClosed { reason });
        document.notes.extend(closed.map(Warning::Watch));
        self.before = now;
        Ok(document)
    }
}

/// Waits for a signal or until the time is over.
pub(in crate::experiment) fn wait(session: &Session<'_>, left_ns: u64) -> io::Result<()> {
    let signals = session.cancellation.listen()?;
    let mut waiting = [PollFd::new(signals.descriptor(), PollFlags::IN)];
    poll_for(&mut waiting, left_ns)
}

fn pause(ns: u64) {
    // Nothing is waited for: only an interruption ends it early, which does no harm.
    let _ = poll_for(&mut [], ns);
}

fn poll_for(waiting: &mut [PollFd<'_>], ns: u64) -> io::Result<()> {
    let seconds = i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX);
    let left = i64::try_from(ns % 1_000_000_000).unwrap_or(0);
    match poll(waiting, Some(&Timespec { tv_sec: seconds, tv_nsec: left })) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
