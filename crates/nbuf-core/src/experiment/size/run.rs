//! Records, analyses and verifies.

mod recording;
mod runs;
mod search;
mod timing;

use std::time::Duration;

use super::super::notice::Notice;
use super::super::result::{Meter, SizeReport};
use super::super::session::{Interim, Session};
use super::super::warning::Warning;
use super::{Analysis, Error, Spec};
use crate::clock::Stopwatch;
use crate::disc::private;
use crate::meter::probe::residency::Residency;
use crate::meter::probe::service;
use crate::meter::service::Sample;
use crate::sys::cgroup::{Hierarchies, sweep};
use crate::sys::signal::Signals;
use crate::trace::Trace;
use crate::workload::command::{Command, Ended, Input, Job, Unwatched, run as run_command};

/// The stage in which the curve is drawn, and its steps as far as they are known before.
const SIMULATING: (&str, usize) = ("simulating", 60);

/// Sizes what the spec names. The observer gets the trace, and the report before it is verified. A
/// signal ends the experiment early: what was done by then is in the report.
///
/// ```no_run
/// use nbuf::experiment::session::Session;
/// use nbuf::experiment::size::{self, Spec};
///
/// let command = ["grep", "-r", "main", "/usr/include"].map(Into::into).to_vec();
/// let spec = Spec { command, ..Spec::default() };
/// let report = size::run(&spec, &mut Session::new(&()))?;
/// println!("{:?}", report.recommend.map(|recommend| recommend.limit_bytes));
/// # Ok::<(), size::Error>(())
/// ```
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<SizeReport, Error> {
    let session = &*session;
    if let Some(disc) = &spec.private_disc {
        let identity = session.account.as_ref().map(|account| &account.identity);
        private::enter(&disc.directory, disc.size_bytes, disc.readahead_bytes, identity)?;
    }
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    let mut subject = Subject::new(spec, session, signals);
    let trace = subject.trace()?;
    let left = subject.drop_files(&trace);
    let analysis = subject.analyse(trace, &left)?;
    let first = analysis.report(Vec::new());
    session.observer.interim(Interim::Size(&first)).map_err(Error::Observer)?;
    let mut report = analysis.report(subject.verify(&analysis)?);
    if let Some(search) = subject.search(&analysis, &report)? {
        report = report.measured(search);
    }
    report.warnings.extend(subject.interruption());
    Ok(report.covering_runs())
}

/// What is sized: a command that is recorded, or a trace that was.
struct Subject<'a> {
    spec: &'a Spec,
    session: &'a Session<'a>,
    signals: &'a Signals,
    command: Command,
    hierarchies: Hierarchies,
    /// What the command has as its input when it is recorded.
    input: Input,
    began: Stopwatch,
    /// Whether the command used the terminal.
    used_terminal: bool,
    /// What counts the fills of verified runs.
    meter: Meter,
    /// Whether a signal ended the recording, which the trace then reports.
    recording_interrupted: bool,
    /// Whether no run can be made, or the user wants none.
    cannot_verify: bool,
}

impl<'a> Subject<'a> {
    fn new(spec: &'a Spec, session: &'a Session<'a>, signals: &'a Signals) -> Self {
        let hierarchies = Hierarchies::of_this_process();
        for path in sweep(&hierarchies) {
            session.observer.notice(&Notice::LeftoverRemoved(&path));
        }
        Self {
            spec,
            session,
            signals,
            command: Command {
                arguments: spec.command.clone(),
                account: session.account.clone(),
                ..Command::default()
            },
            hierarchies,
            input: Input::ours(),
            began: Stopwatch::start(),
            used_terminal: false,
            meter: Meter::default(),
            recording_interrupted: false,
            cannot_verify: false,
        }
    }

    /// Whether the command is to be run again.
    fn verifies(&self) -> bool {
        self.spec.verify && self.spec.trace.is_none() && !self.cannot_verify
    }

    fn notice(&self, notice: &Notice<'_>) {
        self.session.observer.notice(notice);
    }

    /// The signal that the experiment has seen, if any.
    fn interrupted(&self) -> Option<i32> {
        self.session.cancellation.signal()
    }

    /// Notes a signal that a run was sent.
    fn note(&self, ended: &Ended) {
        if let Some(signal) = ended.interrupted {
            self.session.cancellation.note(signal);
        }
    }

    /// What is left of the time for all runs.
    fn time_left(&self) -> Option<Duration> {
        self.spec.time_max.map(|most| most.saturating_sub(self.began.elapsed()))
    }

    /// That runs are missing because of a signal, unless the recording reports it.
    fn interruption(&self) -> Option<Warning> {
        let signal = self.interrupted().filter(|_| !self.recording_interrupted)?;
        Some(Warning::RunsMissing { signal })
    }

    /// Whether the files of the trace may be touched: those of another machine's may not.
    fn owns_files(&self) -> bool {
        self.spec.trace.is_none() && self.spec.verify && self.interrupted().is_none()
    }

    /// Drops the trace's files from the cache, as every verified run will find them.
    fn drop_files(&self, trace: &Trace) -> Residency {
        if !self.owns_files() {
            return Residency::default();
        }
        Residency::drop_files(trace.files.iter().map(String::as_str))
    }

    /// Reads the files here and there, which have been dropped from the cache, to see how long the
    /// disc takes.
    fn probe(&self, trace: &Trace) -> Vec<Sample> {
        if !self.owns_files() {
            return Vec::new();
        }
        service::measure(trace.files.iter().map(String::as_str))
    }

    /// Simulates. A signal does not end it, but what would come after it.
    fn analyse(&self, trace: Trace, left: &Residency) -> Result<Analysis, Error> {
        let (session, observer) = (self.session, self.session.observer);
        let (stage, sizes) = SIMULATING;
        observer.progress(stage, 0, sizes);
        let ask = self.spec.ask(self.probe(&trace));
        let progress = |done, total| observer.progress(stage, done, total);
        let draw = || Analysis::of(trace, left, &ask, &progress);
        let first = || observer.notice(&Notice::CurveFirst);
        let drawn = session.heeding_anew(&first, draw);
        observer.stage_over();
        let (analysis, interrupted) = drawn.map_err(Error::Signals)?;
        if interrupted {
            self.notice(&Notice::NothingVerified);
        }
        Ok(analysis?)
    }

    /// Runs the preparation, if there is one.
    fn prepare(&self) -> Result<(), Error> {
        let Some(script) = &self.spec.prepare else { return Ok(()) };
        let arguments = ["sh", "-c", script].map(Into::into).to_vec();
        let command =
            Command { arguments, account: self.command.account.clone(), ..Command::default() };
        let output = crate::experiment::session::Output::Error.descriptor()?;
        let standard = [Some(Input::Nothing.again()?), output, None];
        let job = Job { standard, deadline: self.time_left(), ..Job::default() };
        let ended =
            run_command(&command, job, &mut Unwatched, self.signals).map_err(Error::Preparation)?;
        self.note(&ended);
        let (script, status) = (script.clone(), ended.exit_status);
        if ended.timed_out {
            return Err(Error::PreparationTimedOut { script });
        }
        if status != 0 && ended.interrupted.is_none() {
            return Err(Error::PreparationFailed { script, status });
        }
        Ok(())
    }
}
