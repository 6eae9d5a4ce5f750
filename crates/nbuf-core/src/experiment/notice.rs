//! What an experiment reports while it goes, as data, and the one place that words it.
//!
//! A notice is for the person who waits; what a reader of the result needs is a
//! [warning](super::warning::Warning) of the document. No code looks at the words.
//!
//! ```
//! use std::io;
//!
//! use nbuf::experiment::notice::causes;
//!
//! // An error and its causes, in one line.
//! assert_eq!(causes(&io::Error::other("the disc is full")), "the disc is full");
//! ```

mod fleet;
mod guest;
mod paths;
mod probe;
mod serve;
mod tier;
mod words;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use super::result::{SearchRun, Verified};
use super::verify;
pub use super::warning::Severity;
use crate::sys::cgroup;
use crate::units::{Bytes, Nanos};
use crate::workload::command::{Input, Left};
use crate::workload::record;
use crate::workload::source::Detected;
pub use fleet::FleetNotice;
pub use guest::GuestNotice;
pub use paths::PathNotice;
pub use probe::ProbeNotice;
pub use serve::{ServeNotice, StateNotice};
pub use tier::TierNotice;

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// A private group of a killed experiment was removed.
    LeftoverRemoved(&'a Path),
    /// System calls are recorded, because an overlay hides its layers from tracepoints.
    LayersHidden,
    /// System calls are recorded, because tracepoints cannot be used.
    TracepointsClosed(&'a record::Error),
    /// System calls are recorded, which show less.
    BlindSpots,
    /// The recording is a trace now.
    Recorded {
        /// Its records.
        records: usize,
        /// Its files.
        files: usize,
    },
    /// Stopped processes of the command were ended; this is their number.
    StoppedEnded(u32),
    /// The command runs a container, which is measured; its engine is not.
    Container,
    /// No run can be limited.
    NoGroup(&'a cgroup::Error),
    /// The time allowed was up before the recorded command had ended.
    RecordingTimedOut,
    /// A signal ended the recording.
    RecordingInterrupted,
    /// The recorded command failed.
    CommandFailed(i32),
    /// The recorded command ended as if its work never began.
    NotStarted(i32),
    /// Nothing times the command.
    NotTimed(NotTimed),
    /// The run that was to time the command failed.
    TimingFailed(&'a (dyn Error + 'static)),
    /// A signal came while the curve was drawn, which goes on.
    CurveFirst,
    /// A signal came while the curve was drawn, and now ends the experiment.
    NothingVerified,
    /// Processes of the command left its group: no limit would hold them.
    Left(&'a Left),
    /// The command talked to a user at the terminal.
    TerminalUsed,
    /// Without tracepoints the fills of this workload cannot be counted, for this reason.
    FillsUncounted(&'a str),
    /// The user does not want the runs.
    VerificationDeclined,
    /// The time allowed was up.
    TimeUp {
        /// Runs made.
        done: usize,
        /// Runs planned.
        of: usize,
    },
    /// A signal ended the runs.
    RunsInterrupted {
        /// Runs made.
        done: usize,
        /// Runs planned.
        of: usize,
    },
    /// The kernel refuses a limit.
    LimitRefused(&'a verify::Error),
    /// A run under a limit ended.
    RunEnded(&'a Verified),
    /// A run of the search for a size ended.
    Searched(&'a SearchRun),
    /// The format of an input.
    Detected {
        /// The input.
        input: &'a str,
        /// The format, and how sure it is.
        detected: &'a Detected,
    },
    /// What the curves of a trace take in memory.
    MemoryPer {
        /// Bytes for a distinct page or key.
        bytes: u64,
        /// `page` or `key`.
        what: &'static str,
        /// What may be used in all.
        allowed: Bytes,
    },
    /// The trace is read once more.
    ReadingAgain,
    /// The distinct pages or keys of a trace.
    Distinct {
        /// How many.
        count: u64,
        /// `page` or `key`.
        what: &'static str,
    },
    /// A first reading of a trace finds where its files are.
    Surveying,
    /// A file was created as a disc, and stays.
    DiscCreated {
        /// The file.
        path: &'a Path,
        /// Its size.
        bytes: Bytes,
    },
    /// A workload was replayed with a cache of one size.
    Replayed {
        /// The size.
        size_units: u64,
        /// The time that it took.
        elapsed: Nanos,
    },
    /// How well a sample knows its curve.
    BandWidth {
        /// The share of the keys that it follows.
        rate: f64,
        /// The half width of its widest band, in points of the hit ratio.
        points: f64,
    },
    /// Something of an experiment on paths or wake-ups.
    Path(PathNotice<'a>),
    /// Something of a server that runs.
    Serve(ServeNotice<'a>),
    /// Something of a probe of a service.
    Probe(ProbeNotice<'a>),
    /// Something of the plan of a fleet.
    Fleet(FleetNotice<'a>),
    /// Something of the console of a simulated machine.
    Guest(GuestNotice<'a>),
}

/// Why a command was not timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotTimed {
    /// Its input is a pipe.
    Pipe,
    /// The user does not want it.
    Declined,
    /// A signal came.
    Interrupted,
    /// The time allowed was up.
    TimeUp,
    /// It ended with this status, and with another one when it was recorded.
    Status(i32),
}

impl Notice<'_> {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Recorded { .. }
            | Self::RunEnded(_)
            | Self::ReadingAgain
            | Self::Surveying
            | Self::Replayed { .. }
            | Self::Distinct { .. }
            | Self::BandWidth { .. }
            | Self::Path(PathNotice::HistoryUnused { .. }) => Severity::Detail,
            Self::LeftoverRemoved(_)
            | Self::Detected { .. }
            | Self::MemoryPer { .. }
            | Self::Searched(_)
            | Self::Serve(
                ServeNotice::Changed { .. }
                | ServeNotice::Unchanged
                | ServeNotice::Certificates
                | ServeNotice::Stepped { .. },
            )
            | Self::Probe(ProbeNotice::Step(_))
            | Self::Fleet(_)
            | Self::Guest(_)
            | Self::Path(_) => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

/// An error and its causes on one line. A cause that its parent quotes is not repeated.
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if line.is_empty() {
            line = text;
        } else if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        next = cause.source();
    }
    line
}

/// What the user is asked before the command runs again. Its words say what will be done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Question<'a> {
    /// The command runs once more, unrecorded.
    Time(Streams),
    /// The command runs under several limits.
    Verify {
        /// Runs in all.
        runs: usize,
        /// Runs under each limit.
        samples: u16,
        /// The limits, and whether each leaves room for a cache.
        limits: &'a [(Bytes, bool)],
        /// What one run took.
        run: Duration,
        /// Whether that run was made to be timed, rather than recorded.
        is_timed: bool,
        /// What the runs read and write.
        streams: Streams,
    },
    /// The limit of a service that runs is lowered, and put back.
    Probe {
        /// The directory of its group.
        directory: &'a Path,
        /// The limit now; nothing where there is none.
        before: Option<Bytes>,
        /// The limits, one after the other.
        limits: &'a [Bytes],
        /// How long each of them holds.
        hold: Duration,
        /// How long the cache has to come back after each.
        back: Duration,
        /// The share of the time waiting that ends it.
        pressure_max: f64,
        /// Whether the kernel may kill a process of the service.
        may_kill: bool,
    },
    /// The command runs under limits that are chosen by what earlier runs showed.
    Search {
        /// Runs at most.
        runs: usize,
        /// What the runs read and write.
        streams: Streams,
    },
}

/// What a run has instead of the standard streams of the recorded one.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// The input of the recorded run.
    pub input: Input,
    /// Whether the recorded run used the terminal.
    pub used_terminal: bool,
    /// Whether the output goes to a file.
    pub to_file: bool,
}
