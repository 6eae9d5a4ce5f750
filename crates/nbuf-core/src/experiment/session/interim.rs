//! Results that exist before the end of an experiment.

use crate::experiment::result::{
    BenchSampleLine, LiveFollow, LoadLine, PingSampleLine, SizeReport, WatchDocument,
};
#[cfg(feature = "paths")]
use crate::experiment::result::{CourseDocument, ServeDocument};
use crate::experiment::run::Timeline;
#[cfg(feature = "paths")]
use crate::experiment::serve::Serving;
use crate::trace::Trace;
use crate::trace::request::{Request, Unit};

/// A result that exists before the end of an experiment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Interim<'a> {
    /// The recording of a command.
    Trace(&'a Trace),
    /// The report of `size`, before any run has verified it.
    Size(&'a SizeReport),
    /// A sample of `bench`.
    BenchSample(&'a BenchSampleLine),
    /// A sample of `ping`.
    PingSample(&'a PingSampleLine),
    /// An interaction of `load`, after its step.
    LoadLine(&'a LoadLine),
    /// Requests of a trace.
    Requests {
        /// What their offsets count.
        unit: Unit,
        /// The requests.
        requests: &'a [Request],
        /// Names of objects, by number.
        objects: &'a [String],
    },
    /// Where a server can be reached.
    #[cfg(feature = "paths")]
    Serving(&'a Serving),
    /// An interval of a server that is watched.
    #[cfg(feature = "paths")]
    Served {
        /// When it ended, in seconds since 1970.
        unix_seconds: f64,
        /// Its document at the end.
        total: &'a ServeDocument,
        /// What it counted in the interval.
        interval: &'a ServeDocument,
    },
    /// What the threads of a command did one after the other, after its first run.
    Timeline(&'a Timeline),
    /// An interval of `watch`.
    Watch(&'a WatchDocument),
    /// `watch` goes on: called ten times a second, for those who look at keys meanwhile.
    Watching,
    /// A window of a program that is followed.
    LiveFollow(&'a LiveFollow),
    /// What a program of the course has moved so far.
    #[cfg(feature = "paths")]
    Moved(&'a CourseDocument),
}
