//! How much cache programs need that run already: attach, watch for a while, let go.
//!
//! What can be said of them is a rate, and not a count: they began before anybody looked, with a cache that
//! was warm. The window is recorded as [`super::record`] does it, and its stack distances give the miss ratio
//! at each size (`meter::warm`). Nothing about the programs is changed, except that the processor's
//! marks of their mapped pages are taken away at intervals while mappings are watched.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use nbuf::experiment::live::{self, Running, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let running = Running { processes: vec![1234], cgroup: None };
//! let spec = Spec { running, duration: Some(Duration::from_secs(30)), ..Spec::default() };
//! let live = live::run(&spec, &mut Session::new(&()))?;
//! println!("{} accesses a second", live.accesses_per_second);
//! # Ok::<(), live::Error>(())
//! ```

mod fills;
pub mod follow;
mod followed;
mod knee;
mod marks;
mod probe;
pub mod several;
mod snapshot;
mod stall;
mod wanted;
mod warnings;
mod window;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::capture::Capture;
use super::record::NameError;
pub use super::record::{CaptureError, MappedWatch, MappedWhen, Running, RunningError};
use super::result::{LiveDocument, LiveMemory, LiveService};
use super::session::Session;
use super::warning::{LiveWarning, Warning};
use crate::workload::command::Ended;
use crate::workload::record::running::{Faults, Options, Quiet, Stop, memory, record_until, text};
use crate::workload::record::spool::{Spool, SpoolError};
pub use probe::{Left, Probe, ProbeError, restore};
pub use several::{TARGETS_MAX, Target};
pub use wanted::Wanted;
use window::analyse;

/// A program that hits so much wants no more, unless it says so.
const HIT_DEFAULT: f64 = 0.99;

/// What is watched, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The programs.
    pub running: Running,
    /// The window; until they end, or a signal comes, without.
    #[serde(rename = "duration_seconds", with = "super::seconds")]
    pub duration: Option<Duration>,
    /// The share of page accesses that is to hit, from 0 to 1; by default 0.99.
    pub hit: f64,
    /// Misses a second that are allowed at most; then `hit` does not count.
    pub fills_per_second: Option<f64>,
    /// The most that programs may wait for discs, as tasks that wait at a time; then neither counts.
    pub stall: Option<f64>,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Size of the ring of each processor, for provoking losses.
    pub ring_bytes: Option<usize>,
    /// `Perf` for tracepoints by perf's events alone; otherwise programs in the kernel record what root watches,
    /// where they can.
    pub capture: Capture,
    /// What recording may cost, in processors, before only a sample of the pages is recorded; without, all are. Holds
    /// for programs in the kernel, and not for windows that follow each other.
    pub overhead: Option<f64>,
    /// How mapped files are watched.
    pub mapped: MappedWatch,
    /// Whether the limit of the one group is lowered for a while after the window. Only [`run`] reads it.
    pub probe: Option<Probe>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            running: Running::default(),
            duration: Some(Duration::from_mins(1)),
            hit: HIT_DEFAULT,
            fills_per_second: None,
            stall: None,
            seed: 1,
            ring_bytes: None,
            capture: Capture::Auto,
            overhead: None,
            mapped: MappedWatch::default(),
            probe: None,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to attach to.
    #[error(transparent)]
    Running(#[from] RunningError),
    /// The kernel does not let us attach.
    #[error(transparent)]
    Record(#[from] CaptureError),
    /// No signal can end it.
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
    /// What was recorded cannot be read again.
    #[error("cannot read the recording: {0}; make room in the spool directory, and try again")]
    Spool(#[from] SpoolError),
    /// More than can be watched in the same window.
    #[error(
        "{0} programs at once are too many; give at most {TARGETS_MAX}, in several calls of nbuf"
    )]
    TooMany(usize),
    /// A name means nothing that can be watched.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A service cannot be probed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The observer could not take a window.
    #[error(transparent)]
    Observer(std::io::Error),
}

/// Watches, and draws the curve.
///
/// # Errors
/// As [`Error`] has them.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<LiveDocument, Error> {
    let session = &*session;
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    let stop = || signals.next().map(|signal| Stop::Signal(signal.number));
    let log = Spool::new(session.spool.clone());
    let prepare = |probe| -> Result<_, Error> {
        // What cannot be attached to has that reason.
        spec.running.check(session.user())?;
        Ok(probe::prepare(probe, &spec.running, session)?)
    };
    let probe = spec.probe.map(prepare).transpose()?;
    let watched = watch(spec, session.user(), log, &Quiet::default(), &|| {}, &stop)?;
    let mut live = watched.document(spec)?;
    if let Some(probe) = probe {
        live.probe = Some(probe.run(&live, session)?);
    }
    Ok(live)
}

/// A window that is over.
struct Watched {
    ended: Ended,
    log: Spool,
    memory: LiveMemory,
    service: Option<LiveService>,
    processes: u64,
    faults: Vec<Faults>,
    /// Files whose text they execute.
    text: BTreeSet<String>,
}

/// Records a window, as [`record_until`] does.
fn watch(
    spec: &Spec,
    user: u32,
    log: Spool,
    quiet: &Quiet,
    attached: &dyn Fn(),
    stop: &dyn Fn() -> Option<Stop>,
) -> Result<Watched, Error> {
    spec.running.check(user)?;
    let Spec { running, duration, ring_bytes, .. } = spec;
    let options = Options {
        running,
        user,
        duration: *duration,
        ring_bytes: *ring_bytes,
        memory: false,
        programs: spec.capture == Capture::Auto,
        overhead: spec.overhead,
        snapshot: true,
        mapped: spec.mapped,
        quiet,
    };
    let held = || LiveMemory::from(memory::of(running, user));
    let (before, reads) = (held(), stall::reads_so_far());
    let (ended, log) = record_until(&options, log, attached, stop)?;
    let service = stall::service(&reads, &stall::reads_so_far());
    let processes = running.threads(user).len() as u64;
    // What has ended has no memory, and needed some.
    let memory = if processes == 0 { before } else { held() };
    let text = text::files(running, user);
    let faults = marks::faults_after(spec.mapped, quiet, ended.interrupted.is_some(), stop);
    Ok(Watched { ended, log, memory, service, processes, faults, text })
}

impl From<memory::Held> for LiveMemory {
    fn from(held: memory::Held) -> Self {
        Self {
            anonymous_bytes: held.anonymous_bytes,
            shared_bytes: held.shared_bytes,
            kernel_bytes: held.kernel_bytes,
            cache_bytes: held.cache_bytes,
            is_charged: held.is_charged,
        }
    }
}

impl Watched {
    /// The curve of the window. The trace is in memory meanwhile.
    fn document(self, spec: &Spec) -> Result<LiveDocument, Error> {
        let trace = self.log.trace()?;
        let mut document = analyse(spec, &trace, self.memory);
        fills::add(&mut document, &trace, &self.text);
        stall::add(&mut document, spec, self.service);
        marks::add_faults(&mut document, &self.faults);
        document.interrupted = self.ended.interrupted;
        document.processes = self.processes;
        if document.processes == 0 {
            document.warnings.push(Warning::Live(LiveWarning::ProgramsEnded));
        }
        Ok(document)
    }
}
