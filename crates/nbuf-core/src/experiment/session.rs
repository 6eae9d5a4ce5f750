//! The environment of an experiment, besides its spec: the signals that end it, the observer of its
//! progress, and the seed of its random choices. It also has a directory for large logs, the
//! account that its commands run under, the way to start processes that measure, and a clock.
//! A session serves one experiment at a time, and may serve several in turn. An experiment prints
//! nothing and asks nothing by itself: it calls the [`Observer`].
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use nbuf::experiment::session::{Observer, Session};
//!
//! /// Counts the steps of an experiment.
//! #[derive(Default)]
//! struct Steps(AtomicUsize);
//!
//! impl Observer for Steps {
//!     fn progress(&self, _stage: &str, done: usize, _total: usize) {
//!         self.0.store(done, Ordering::Relaxed);
//!     }
//! }
//!
//! let steps = Steps::default();
//! let mut session = Session::new(&steps);
//! session.seed = 1969;
//! ```

mod cancellation;
mod interim;
mod stage;

use std::error::Error;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;

use super::notice::{Notice, Question};
use crate::clock;
pub use crate::clock::Stopwatch;
use crate::sys::process::Account;
pub use crate::trace::Trace;
pub use crate::workload::source::{Given, Rows};
pub use cancellation::{Cancellation, Stopper};
pub use interim::Interim;

/// The surroundings of an experiment.
pub struct Session<'a> {
    /// Sees progress, and answers questions.
    pub observer: &'a dyn Observer,
    /// Ends the experiment early.
    pub cancellation: Cancellation,
    /// Seeds every random choice, such as the order of runs.
    pub seed: u64,
    /// Runs since the session was made.
    pub clock: Stopwatch,
    /// Directory for logs that outgrow memory, and for the history of `bench`; without one logs stay in memory, and there
    /// is no history.
    pub spool: Option<PathBuf>,
    /// The account that commands run under, instead of the account of this process.
    pub account: Option<Account>,
    /// Where the standard output of the measured command goes.
    pub output: Output,
    /// Rows that are the trace, instead of the files; the spec then has a name for them.
    pub given: Option<Given>,
    /// Makes the command of a process that measures, by the argument that this program has for it: such
    /// as [`ping::CHILD`](super::ping::CHILD). Without one it is this program with that argument.
    pub start: Option<Start<'a>>,
}

/// Makes the command of a process that measures.
pub type Start<'a> = &'a (dyn Fn(&str) -> io::Result<Command> + Sync);

/// Where the standard output of a measured command goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To standard output.
    #[default]
    Standard,
    /// To standard error, where standard output is for a document.
    Error,
}

impl Output {
    /// The stream.
    pub(super) fn stream(self) -> Box<dyn AsFd> {
        match self {
            Self::Standard => Box::new(io::stdout()),
            Self::Error => Box::new(io::stderr()),
        }
    }

    /// The descriptor for the command; none where it inherits ours.
    pub(super) fn descriptor(self) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::Standard => Ok(None),
            Self::Error => Ok(Some(io::stderr().as_fd().try_clone_to_owned()?)),
        }
    }
}

impl<'a> Session<'a> {
    /// A session with this observer, seeded by 0, with our own account, and without a spool.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Self {
            observer,
            cancellation: Cancellation::default(),
            seed: 0,
            clock: Stopwatch::start(),
            spool: None,
            account: None,
            output: Output::default(),
            given: None,
            start: None,
        }
    }
}

impl Session<'_> {
    /// Whether a signal came, so that the experiment ends where it is.
    pub(super) fn is_over(&self) -> bool {
        self.cancellation.signal().is_some()
    }

    /// The number of the account whose rights count: what runs already is watched only with these.
    #[cfg(feature = "capture")]
    pub(super) fn user(&self) -> u32 {
        let own = rustix::process::getuid().as_raw();
        self.account.as_ref().map_or(own, |account| account.identity.uid)
    }

    /// Seeds random choices by the time of day, so that no two sessions make the same.
    pub fn seed_by_time(&mut self) {
        self.seed = clock::unix_time().unwrap_or_default().subsec_nanos().into();
    }

    /// Runs `work` while a thread takes signals. The first one is noted, for the experiment to end where it
    /// next looks; each further one goes to [`Observer::insisted`].
    pub fn heeding<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        let is_late = self.cancellation.signal().is_some();
        Ok(self.heeding_from(is_late, &|| {}, work)?.0)
    }

    /// The same where signals that came before do not count; `first` is called at the first one. Whether
    /// one came.
    pub(super) fn heeding_anew<T>(
        &self,
        first: &(dyn Fn() + Sync),
        work: impl FnOnce() -> T,
    ) -> io::Result<(T, bool)> {
        self.heeding_from(false, first, work)
    }

    fn heeding_from<T>(
        &self,
        is_late: bool,
        first: &(dyn Fn() + Sync),
        work: impl FnOnce() -> T,
    ) -> io::Result<(T, bool)> {
        if self.cancellation.is_deaf() {
            return Ok((work(), false));
        }
        self.cancellation.listen()?;
        // Nothing is ever written there: its end is the end of the work.
        let (over, open) = io::pipe()?;
        Ok(std::thread::scope(|scope| {
            let heeding = scope.spawn(move || self.heed(&over, is_late, first));
            let done = work();
            drop(open);
            (done, heeding.join().unwrap_or(false))
        }))
    }

    /// Takes signals until the other end of the pipe is closed. Whether one came.
    fn heed(&self, over: &PipeReader, is_late: bool, first: &(dyn Fn() + Sync)) -> bool {
        let mut has_come = is_late;
        while self.cancellation.comes_before(over).unwrap_or(false) {
            while let Some(signal) = self.cancellation.take() {
                if has_come {
                    self.observer.insisted(signal.number);
                } else {
                    first();
                }
                has_come = true;
            }
        }
        has_come
    }
}

/// Sees an experiment, and answers its questions. Every method has a default that stays silent and
/// agrees, so that `&()` is an observer.
pub trait Observer: Sync {
    /// Something happened that a user may want to know now.
    fn notice(&self, _notice: &Notice<'_>) {}

    /// A part of the experiment failed, and the rest goes on without it.
    fn failure(&self, _error: &(dyn Error + 'static)) {}

    /// `done` of `total` steps of a stage are done. The first call of a stage comes before its first
    /// step.
    fn progress(&self, _stage: &str, _done: usize, _total: usize) {}

    /// The stage is over.
    fn stage_over(&self) {}

    /// Whether to go on with what costs the user time. Wait for an answer with
    /// [`Cancellation::comes_before`]: signals do not interrupt a read.
    fn agrees(&self, _question: &Question<'_>, _cancellation: &Cancellation) -> io::Result<bool> {
        Ok(true)
    }

    /// A result exists before the end. An error ends the experiment.
    fn interim(&self, _interim: Interim<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Another signal came in a stage that the first one could not end. Nothing of the experiment is
    /// left in the machine at this moment, so that a program may end itself.
    fn insisted(&self, _signal: i32) {}
}

impl Observer for () {}
