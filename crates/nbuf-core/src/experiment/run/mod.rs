//! A command runs, once or several times, and the message after it says where its time went.
//!
//! ```no_run
//! use nbuf::experiment::run::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let command = ["sleep", "1"].map(Into::into).to_vec();
//! let ran = run::run(&Spec { command, ..Spec::default() }, &mut Session::new(&()))?;
//! println!("{} s", ran.real_seconds);
//! # Ok::<(), run::Error>(())
//! ```

mod compare;
mod error;
mod generated;
mod keyed;
mod lines;
mod meters;
mod others;
mod profile;
mod repeat;
mod symbols;
mod timeline;

use std::ffi::OsString;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

pub use crate::workload::command::Until;
pub use compare::compare;
pub use error::{CommandError, CompareError, Error};
pub use timeline::{Timeline, TimelineSlice, TimelineThread};

use super::notice::Notice;
use super::result::{RunBy, RunCache, RunDocument, RunMeters, RunParts, Warning};
use super::session::{Interim, Session};
use super::warning::RunWarning;
use crate::meter::split::{Part, Times};
use crate::sys::process;
use crate::units::Bytes;
use crate::workload::command::{self, Command, Ended, Job};
use crate::workload::observe::{Observed, Reach, Threads};
use lines::Counting;

/// The spec of a run. The default runs nothing: it takes a `command`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a meter of its own")]
pub struct Spec {
    /// The command and its arguments.
    #[serde(with = "super::words")]
    pub command: Vec<OsString>,
    /// When the run is over.
    pub until: Until,
    /// Whether each kind of event is timed.
    pub meters: bool,
    /// What has meters of its own, too.
    pub by: Option<RunBy>,
    /// Whether what runs is sampled.
    pub profile: bool,
    /// Whether the observer is given the timeline of the first run, as [`Interim::Timeline`].
    pub timeline: bool,
    /// Whether lines of its standard output are counted, which goes through us then.
    pub per_line: bool,
    /// How often the command runs; 0 counts as 1.
    pub runs: u16,
}

impl Spec {
    /// The command as documents have it.
    pub fn words(&self) -> Vec<String> {
        self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

/// Runs the command. It keeps its standard input, output and error. If it runs several times, each run reads
/// the same file as input, or nothing.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<RunDocument, Error> {
    if spec.runs > 1 { repeat::repeat(spec, session) } else { once(spec, session, None) }
}

/// The number of the user who runs the command.
fn user_of(session: &Session<'_>) -> u32 {
    session.account.as_ref().map_or_else(process::user, |account| account.identity.uid)
}

fn once(spec: &Spec, session: &Session<'_>, input: Option<OwnedFd>) -> Result<RunDocument, Error> {
    // Before anything can start a thread.
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    let command = Command {
        arguments: spec.command.clone(),
        account: session.account.clone(),
        ..Command::default()
    };
    let threads = Threads::prepare(spec.meters, spec.profile);
    let is_plain = !(spec.by.is_some() || spec.profile || spec.timeline || spec.per_line);
    let has_programs = is_plain && user_of(session) == 0;
    let mut threads = if has_programs { threads.with_programs() } else { threads.with_events() };
    if spec.timeline {
        threads = threads.with_timeline();
    }
    if let Some(by) = spec.by {
        threads = threads.with_keys(keyed::keys(by));
    }
    if spec.per_line {
        threads = threads.with_calls();
    }
    let (mut counting, output) = if spec.per_line {
        let stream = session.output.stream();
        let on = Counting::on(&mut threads, stream.as_fd()).map_err(Error::Output)?;
        (on.0, Some(on.1))
    } else {
        let output = session.output.descriptor().map_err(Error::Output)?;
        (Counting::off(&mut threads), output)
    };
    let job = Job { until: spec.until, standard: [input, output, None], ..Job::default() };
    let before = others::Busy::now();
    let ended = command::run(&command, job, &mut counting, signals);
    let after = others::Busy::now();
    let lines = counting.finish();
    let used_disc = ended.as_ref().is_ok_and(|ended| ended.bytes_read + ended.bytes_written > 0);
    let mut observed = threads.finish(used_disc);
    let ended = ended?;
    if let Some(seen) = observed.timeline.take() {
        let timeline = Timeline::of(seen, observed.began_ns);
        session.observer.interim(Interim::Timeline(&timeline)).map_err(Error::Observer)?;
    }
    if ended.stopped > 0 {
        session.observer.notice(&Notice::StoppedEnded(ended.stopped));
    }
    let others_share = before.zip(after).and_then(|(a, b)| others::share(a, b, ended.cpu_ns));
    let profiled = observed.profiled.as_ref();
    let mut document = document(spec, &ended, &observed);
    document.profile = profiled.and_then(|profiled| profile::profile(profiled, user_of(session)));
    document.per_line = lines.as_ref().map(|lines| lines.figures(&ended, observed.calls));
    document.notes.extend(lines.and_then(|lines| lines.note()));
    Ok(RunDocument { others_share, ..document })
}

fn document(spec: &Spec, ended: &Ended, observed: &Observed) -> RunDocument {
    let [switches_voluntary, switches_involuntary] = ended.switches;
    let real_ns = if observed.split.is_some() { observed.span_ns } else { ended.elapsed_ns };
    let cache = observed.lookups.zip(observed.fills).map(|(lookups, fills)| RunCache {
        lookups: lookups.all,
        // A mapped page that is missing is a major fault.
        hits: lookups.all.saturating_sub(lookups.misses + ended.major_faults),
        fills,
    });
    RunDocument {
        schema: RunDocument::SCHEMA.to_owned(),
        command: spec.words(),
        exit_status: ended.exit_status,
        signal: ended.signal,
        interrupted: ended.interrupted,
        real_seconds: seconds(real_ns),
        user_seconds: seconds(ended.user_ns),
        system_seconds: seconds(ended.cpu_ns - ended.user_ns),
        faults_major: ended.major_faults,
        faults_minor: ended.minor_faults,
        cache,
        device_read_bytes: Bytes(ended.bytes_read),
        device_written_bytes: Bytes(ended.bytes_written),
        memory_bytes_max: Bytes(ended.resident_bytes_max),
        switches_voluntary,
        switches_involuntary,
        processes: observed.split.map(|_| observed.processes),
        threads: observed.split.map(|split| split.threads),
        thread_time: observed.split.map(|split| parts(&split.thread_time)),
        real_time: observed.split.map(|split| parts(&split.real_time)),
        others_share: None,
        per_line: None,
        meters: observed.times.as_ref().map(|times| {
            let by = observed.keys.as_ref().map(keyed::by);
            RunMeters { by, ..meters::meters(times) }
        }),
        profile: None,
        runs: Vec::new(),
        notes: notes(observed, spec.meters),
    }
}

/// Seconds of each part.
pub(super) fn parts(times: &Times) -> RunParts {
    RunParts {
        on_cpu_seconds: seconds(times[Part::OnCpu]),
        runnable_seconds: seconds(times[Part::Runnable]),
        disc_seconds: seconds(times[Part::Disc]),
        memory_seconds: seconds(times[Part::Memory]),
        lock_or_pipe_seconds: seconds(times[Part::LockOrPipe]),
        asleep_seconds: seconds(times[Part::Asleep]),
        unknown_seconds: seconds(times[Part::Unknown]),
    }
}

fn notes(observed: &Observed, has_meters: bool) -> Vec<Warning> {
    let missing = match observed.reach.clone() {
        Reach::Tracepoints => None,
        Reach::Switches(reason) => Some(RunWarning::WaitsUnknown { has_meters, reason }),
        Reach::Nothing(reason) => Some(RunWarning::ThreadsUnknown { has_meters, reason }),
    };
    let records = observed.lost;
    let lost = (records > 0).then_some(RunWarning::RecordsLost { records });
    let profile = observed.profiled.iter().flat_map(profile::notes);
    missing.into_iter().chain(lost).chain(profile).map(Warning::Run).collect()
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
