//! The workload of `nbuf size`: a command that is recorded, or a trace that was.

use std::cell::Cell;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use anyhow::{Context, Error, Result};
use nbuf::clock::Stopwatch;
use nbuf::experiment::fills::Meter;
use nbuf::experiment::need;
use nbuf::experiment::predict::Prediction;
use nbuf::experiment::size::Analysis;
use nbuf::experiment::time::Rate;
use nbuf::experiment::verify;
use nbuf::meter::probe::residency::Residency;
use nbuf::meter::probe::service;
use nbuf::meter::service::Sample;
use nbuf::sys::cgroup::{Group, Hierarchies, Throttle, sweep};
use nbuf::sys::input;
use nbuf::sys::signal::Signals;
use nbuf::workload::command::{Command, Ended, Input, Until};
use nbuf::workload::format::native;
use nbuf::workload::record::perf::Perf;
use nbuf::workload::record::{Backend, Options, record};
use nbuf::workload::trace::Trace;

use super::Args;
use crate::command::memory::bound;
use crate::command::record::tell_stopped;
use crate::fail::{chain, say};
use crate::output::write_trace;
use crate::spool::Spool;
use crate::voice::{detail, note};
use crate::{caller, exit, permission};

/// What is sized.
pub(super) struct Workload<'a> {
    pub(super) args: &'a Args,
    pub(super) signals: &'a Signals,
    pub(super) command: Command,
    pub(super) hierarchies: Hierarchies,
    /// What the command has as its input when it is recorded.
    pub(super) input: Input,
    began: Stopwatch,
    /// Whether the command used the terminal.
    used_terminal: Cell<bool>,
    meter: Cell<Meter>,
    /// The signal that we were sent, if any.
    interrupted: Cell<Option<u8>>,
    /// Whether something of ours failed, and was told.
    broke: Cell<bool>,
    /// Whether verification was wanted, but is impossible here, or was declined.
    cannot_verify: Cell<bool>,
}

impl<'a> Workload<'a> {
    pub(super) fn of(args: &'a Args, signals: &'a Signals) -> Self {
        let hierarchies = Hierarchies::of_this_process();
        for path in sweep(&hierarchies) {
            note(format_args!("removed what a killed nbuf left behind: {}", path.display()));
        }
        let command = Command { arguments: args.command.clone(), account: caller::account() };
        Self {
            args,
            signals,
            command,
            hierarchies,
            input: Input::ours(),
            began: Stopwatch::start(),
            used_terminal: Cell::new(false),
            meter: Cell::default(),
            interrupted: Cell::new(None),
            broke: Cell::new(false),
            cannot_verify: Cell::new(false),
        }
    }

    /// Records the command, or reads the trace that was given. No trace when the command, or we,
    /// were ended by a signal before there was one worth a report; then the exit status.
    pub(super) fn trace(&self) -> Result<Result<Trace, u8>> {
        if let Some(path) = &self.args.trace {
            let file = input::open(path)?;
            let bound = bound(self.args.memory, "allow more with --memory");
            let name = || path.display().to_string();
            let trace = native::read_within(file, bound).with_context(name)?;
            need::must_fit(&trace, bound).with_context(name)?;
            return Ok(Ok(trace));
        }
        self.prepare()?;
        if let Some(signal) = self.interrupted() {
            return Ok(Err(128 + signal));
        }
        let backend = self.args.capture.choose()?;
        let group = self.group(backend);
        let options = Options {
            backend,
            group: group.as_ref(),
            standard: [None, self.stdout()?, None],
            until: self.until(),
            deadline: self.time_left(),
            ring_bytes: None,
        };
        let spool = self.args.log_memory.map_or_else(Spool::default, Spool::with_memory);
        let recorded = record(&self.command, options, spool, self.signals);
        let (ended, log) = recorded.map_err(permission::explain)?;
        drop(group);
        self.note(&ended);
        tell_stopped(&ended);
        self.used_terminal.set(ended.used_terminal);
        let mut trace = log.trace()?;
        let (records, files) = (trace.records.len(), trace.files.len());
        detail(format_args!("recorded: {records} records of {files} files"));
        let told = told(&ended);
        if told.is_none() && !ended.timed_out && trace.facts.stopped() {
            trace.facts.timed = self.time(&trace.facts);
        }
        self.keep(&trace);
        Ok(match told {
            None => Ok(trace),
            Some(status) => Err(status),
        })
    }

    /// A private group for the recording. Without one the memory beside the cache is not known.
    /// Who records by system calls, because tracepoints are refused, cannot count fills by them either.
    fn group(&self, backend: Backend) -> Option<Group> {
        if backend == Backend::Calls && !self.args.no_verify && Perf::probe().is_err() {
            self.meter.set(Meter::BytesRead);
        }
        match Group::create(&self.hierarchies) {
            Ok(group) => Some(group),
            Err(_) if !self.verifies() => None,
            Err(error) => {
                self.cannot_verify.set(true);
                say(format_args!(
                    "nothing will be verified: {error}; `nbuf doctor` tells what works"
                ));
                None
            }
        }
    }

    /// The command is not to be run again.
    pub(super) fn decline(&self) {
        self.cannot_verify.set(true);
    }

    /// What counts the fills of verified runs.
    pub(super) fn meter(&self) -> Meter {
        self.meter.get()
    }

    /// Whether the command is to be run again.
    pub(super) fn verifies(&self) -> bool {
        !(self.args.no_verify || self.args.trace.is_some() || self.cannot_verify.get())
    }

    /// Whether somebody at the terminal took part in the recorded run.
    pub(super) fn used_terminal(&self) -> bool {
        self.used_terminal.get()
    }

    /// Writes the trace where it is wanted. A failure is told, and does not cost the report.
    fn keep(&self, trace: &Trace) {
        let Some(path) = &self.args.output else { return };
        match write_trace(trace, path) {
            Ok(()) => note(format_args!("the trace is {}", path.display())),
            Err(error) => {
                let trace = path.display();
                self.broke(&error.context(format!("there is no {trace} (another place: -o)")));
            }
        }
    }

    /// The signal that we were sent, if any.
    pub(super) fn interrupted(&self) -> Option<u8> {
        self.interrupted.get()
    }

    /// That runs are missing because we were interrupted, unless the recording tells of it.
    pub(super) fn interruption(&self, told: &[String]) -> Option<String> {
        let signal = self.interrupted()?;
        let is_told = told.iter().any(|caution| caution.contains("interrupted"));
        (!is_told).then(|| format!("interrupted by signal {signal} before every run was made"))
    }

    /// Whether something of ours failed on the way.
    pub(super) fn is_broken(&self) -> bool {
        self.broke.get()
    }

    /// Tells a failure that ends less than everything.
    pub(super) fn broke(&self, error: &Error) {
        say(chain(error));
        self.broke.set(true);
    }

    /// Remembers an interruption.
    pub(super) fn note(&self, ended: &Ended) {
        if let Some(signal) = ended.interrupted {
            self.note_signal(signal);
        }
    }

    /// Remembers a signal that was sent to us.
    pub(super) fn note_signal(&self, signal: i32) {
        self.interrupted.set(u8::try_from(signal).ok());
    }

    /// Takes in signals that came while nothing ran. Whether we were interrupted, ever.
    pub(super) fn hears_signals(&self) -> bool {
        while let Some(signal) = self.signals.next() {
            self.note_signal(signal.number);
        }
        self.interrupted().is_some()
    }

    /// Drops the trace's files from the cache, as every verified run will find them.
    pub(super) fn drop_files(&self, trace: &Trace) -> Residency {
        if self.args.trace.is_some() || self.args.no_verify || self.interrupted().is_some() {
            return Residency::default();
        }
        Residency::drop_files(trace.files.iter().map(String::as_str))
    }

    /// Reads the files here and there, which have been dropped from the cache, to see how long the
    /// disc takes. Those of a trace may be of another machine.
    pub(super) fn probe(&self, trace: &Trace) -> Vec<Sample> {
        let ours = self.args.trace.is_none() && !self.args.no_verify;
        if !ours || self.interrupted().is_some() {
            return Vec::new();
        }
        service::measure(trace.files.iter().map(String::as_str))
    }

    /// The rate that was asked for.
    pub(super) fn rate(&self) -> Rate {
        Rate { iops: self.args.iops, bytes_per_second: self.args.bps }
    }

    /// What holds the discs of verified runs to the rate that was asked for.
    pub(super) fn throttle(&self, analysis: &Analysis) -> Option<Throttle> {
        let Rate { iops, bytes_per_second } = self.rate();
        let devices = analysis.facts.devices.iter().map(|d| (d.major, d.minor)).collect();
        self.rate().is_some().then_some(Throttle { devices, iops, bytes_per_second })
    }

    pub(super) fn until(&self) -> Until {
        match self.args.until {
            super::Until::Last => Until::Last,
            super::Until::Main => Until::Main,
        }
    }

    /// What is left of `--max-time`.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.args.max_time.map(|most| most.saturating_sub(self.began.elapsed()))
    }

    /// How long a run may take to verify a prediction.
    pub(super) fn time_for(&self, prediction: &Prediction, analysis: &Analysis) -> Duration {
        let recorded = Duration::from_nanos(analysis.facts.elapsed_ns);
        let usual = || verify::time_allowed(prediction, recorded, self.args.patience);
        self.time_left().unwrap_or_else(usual)
    }

    /// What the recorded run has as its output.
    pub(super) fn output(&self) -> Box<dyn AsFd> {
        if self.args.json { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) }
    }

    /// With `--json` the document has standard output to itself.
    fn stdout(&self) -> Result<Option<OwnedFd>> {
        self.args.json.then(stderr).transpose()
    }
}

/// Says how the recording ended, unless in the ordinary way. The exit status, if there is
/// nothing to report.
fn told(ended: &Ended) -> Option<u8> {
    let status = ended.exit_status;
    if ended.timed_out {
        say("the time is up: the recording ends here, and nothing is verified");
    } else if ended.interrupted.is_some() {
        say("interrupted: the recording ends here, and nothing is verified");
    } else if let Some(signal) = ended.signal {
        say(format_args!(
            "the command was ended by signal {signal} before it was done, so what it needs is \
             not known; to size something that runs on, end it with --until main or --max-time"
        ));
        return Some(exit::command(status));
    } else if status != 0 {
        say(format_args!("the command ended with status {status}; it is sized all the same"));
    }
    None
}

pub(super) fn stderr() -> Result<OwnedFd> {
    Ok(std::io::stderr().as_fd().try_clone_to_owned()?)
}
