//! The workload of `nbuf size`: a command that is recorded, or a trace that was.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nbuf::clock::Stopwatch;
use nbuf::meter::probe::residency::Residency;
use nbuf::sys::cgroup::{Group, Hierarchies, sweep};
use nbuf::sys::signal::Signals;
use nbuf::workload::command::{self, Command, Ended, Job, Until, Watcher, run};
use nbuf::workload::format::native;
use nbuf::workload::record::{self, Options, record, trace_of_log};
use nbuf::workload::trace::Trace;

use super::Args;
use crate::{caller, permission};

/// What is sized.
pub(super) struct Workload<'a> {
    args: &'a Args,
    signals: &'a Signals,
    pub(super) command: Command,
    pub(super) hierarchies: Hierarchies,
    began: Stopwatch,
    failed: Option<u8>,
    interrupted: Cell<Option<u8>>,
}

impl<'a> Workload<'a> {
    pub(super) fn of(args: &'a Args, signals: &'a Signals) -> Self {
        let hierarchies = Hierarchies::of_this_process();
        for path in sweep(&hierarchies) {
            say(&format!("removed what a killed nbuf left behind: {}", path.display()));
        }
        let command = Command { arguments: args.command.clone(), account: caller::account() };
        Self {
            args,
            signals,
            command,
            hierarchies,
            began: Stopwatch::start(),
            failed: None,
            interrupted: Cell::new(None),
        }
    }

    /// Records the command, or reads the trace that was given.
    pub(super) fn trace(&mut self) -> Result<Trace> {
        if let Some(path) = &self.args.trace {
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            return native::read(file).with_context(|| path.display().to_string());
        }
        self.prepare()?;
        let group = match Group::create(&self.hierarchies) {
            Ok(group) => Some(group),
            Err(_) if self.args.no_verify => None,
            Err(error) => return Err(error.into()),
        };
        let options = Options {
            group: group.as_ref(),
            standard: [None, self.stdout()?, None],
            until: self.until(),
            deadline: self.time_left(),
            ring_bytes: None,
        };
        let (ended, log) = match record(&self.command, options, Vec::new(), self.signals) {
            Ok(recorded) => recorded,
            Err(error) => return self.refuse(error),
        };
        self.note(&ended);
        if ended.timed_out {
            say("the time is up: the recording ends here, and nothing is verified");
        }
        let trace = trace_of_log(&log[..])?;
        if let Some(path) = &self.args.output {
            let mut file = create_new(path)?;
            native::write(&trace, &mut file)?;
            file.sync_all()?;
            say(&format!("the trace is in {}", path.display()));
        }
        if ended.exit_status != 0 && ended.interrupted.is_none() && !ended.timed_out {
            if ended.exit_status > 128 {
                say(&format!("the command was ended by signal {}", ended.exit_status - 128));
                self.failed = u8::try_from(ended.exit_status).ok();
            } else {
                say(&format!("the command ended with status {}", ended.exit_status));
            }
        }
        Ok(trace)
    }

    /// Not recorded: the exit status says what kind of not.
    fn refuse(&mut self, error: record::Error) -> Result<Trace> {
        self.failed = match &error {
            record::Error::Command(command::Error::NotFound(_)) => Some(127),
            record::Error::Command(command::Error::NotExecutable(..)) => Some(126),
            _ => return Err(permission::explain(error)),
        };
        say(&error.to_string());
        Ok(Trace::default())
    }

    /// The exit status of a command that did not run to an end worth a report.
    pub(super) fn failed(&self) -> Option<u8> {
        self.failed
    }

    /// The signal that we were sent, if any.
    pub(super) fn interrupted(&self) -> Option<u8> {
        self.interrupted.get()
    }

    /// Remembers an interruption.
    pub(super) fn note(&self, ended: &Ended) {
        if let Some(signal) = ended.interrupted {
            self.interrupted.set(u8::try_from(signal).ok());
        }
    }

    /// Drops the trace's files from the cache, as every verified run will find them.
    pub(super) fn drop_files(&self, trace: &Trace) -> Residency {
        if self.args.trace.is_some() || self.args.no_verify || self.interrupted().is_some() {
            return Residency::default();
        }
        Residency::drop_files(trace.files.iter().map(String::as_str))
    }

    /// Runs the preparation, if one was given.
    pub(super) fn prepare(&self) -> Result<()> {
        let Some(script) = &self.args.prepare else { return Ok(()) };
        let arguments = ["sh", "-c", script].map(Into::into).to_vec();
        let command = Command { arguments, account: self.command.account.clone() };
        let null: OwnedFd = File::open("/dev/null")?.into();
        let standard = [Some(null), Some(stderr()?), None];
        let job = Job { standard, deadline: self.time_left(), ..Job::default() };
        let ended = run(&command, job, &mut Nobody, self.signals).context("--prepare")?;
        self.note(&ended);
        if ended.exit_status != 0 && ended.interrupted.is_none() {
            bail!("--prepare `{script}` ended with status {}", ended.exit_status);
        }
        Ok(())
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

    /// With `--json` the document has standard output to itself.
    fn stdout(&self) -> Result<Option<OwnedFd>> {
        self.args.json.then(stderr).transpose()
    }
}

/// A watcher for runs that nothing is asked of.
struct Nobody;

impl Watcher for Nobody {
    fn attach(&mut self, _pid: i32) -> std::io::Result<()> {
        Ok(())
    }

    fn descriptors(&self) -> Vec<std::os::fd::BorrowedFd<'_>> {
        Vec::new()
    }

    fn tick(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn stderr() -> Result<OwnedFd> {
    Ok(std::io::stderr().as_fd().try_clone_to_owned()?)
}

/// One line for the user, beside the report.
pub(crate) fn say(line: &str) {
    // A standard error that is gone has no reader who could miss it.
    let _ = writeln!(std::io::stderr(), "nbuf: {line}");
}

/// Creates a file that must not exist, for the user who called.
pub(super) fn create_new(path: &Path) -> Result<File> {
    let file = File::options().write(true).create_new(true).open(path);
    let file = file.with_context(|| format!("cannot create {}", path.display()))?;
    caller::give(&file)?;
    Ok(file)
}

/// Writes a whole new file.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create_new(path)?;
    file.write_all(bytes).with_context(|| {
        let _ = fs::remove_file(path);
        format!("cannot write {}", path.display())
    })
}
