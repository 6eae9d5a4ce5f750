//! `nbuf record`: a command runs, and what it asks of the page cache becomes a trace.
//!
//! Invariant: once the command has run, nothing of what was recorded is given up: whatever fails
//! from then on keeps the log and says how to make a trace of it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow};
use nbuf::clock;
use nbuf::sys::cgroup::{Group, Hierarchies, sweep};
use nbuf::sys::direct::{DirectFile, is_being_written};
use nbuf::sys::files::{self, Place};
use nbuf::sys::signal::Signals;
use nbuf::workload::anonymize::anonymize;
use nbuf::workload::command::{self, Command, Ended, Until};
use nbuf::workload::record::{self, Backend, Options, record, recorder, traced};
use nbuf::workload::trace::{Facts, Trace, told_uncached};

use super::capture::Capture;
use crate::fail::{chain, say};
use crate::output::{default_path, descriptor, must_be_free, place, write_trace, write_trace_at};
use crate::show::text::count;
use crate::spool::{Log, Spool};
use crate::voice::note;
use crate::{caller, exit, permission, shell};

const AFTER: &str = "\
Examples:
  sudo nbuf record -o grep.parquet -- grep -r main /usr/include
  sudo nbuf record --until main -- ./start-server-and-query-it

Under sudo the command runs as the user who called sudo, and the trace is that user's.

Exit status:
  that of the command, 128+n when signal n ended it or nbuf
  2    the command line makes no sense
  125  nbuf itself failed, and says why on standard error
  126  the command cannot be executed
  127  the command was not found";

/// Run a command and keep what it asks of the page cache as a trace.
///
/// Every access of the command and its descendants is recorded, in order, as a Parquet file. The
/// command keeps its standard input, output and error.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// The trace to write; refused when it exists. Otherwise a dated file in
    /// ~/.local/state/nbuf, or where the environment says that state is kept.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// When the recording ends: with the last descendant, or with the command itself, what still
    /// runs then being ended too.
    #[arg(long, value_name = "WHEN", default_value = "last")]
    until: UntilArgument,
    /// Take names of files, the command and the machine out of the trace, so that it can be shared.
    /// The log that is written meanwhile still has them.
    #[arg(long)]
    anonymize: bool,
    /// How the command is watched.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    capture: Capture,
    /// Size of the ring of each processor, for provoking losses.
    #[arg(long, value_name = "BYTES", hide = true)]
    ring_bytes: Option<usize>,
    /// The command to run, and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum UntilArgument {
    Main,
    Last,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    // Before anything can start a thread.
    let signals = Signals::block().context("cannot listen for signals")?;
    let output = if let Some(output) = &arguments.output {
        output.clone()
    } else {
        let program = if arguments.anonymize {
            "anonymous".into()
        } else {
            arguments.command[0].to_string_lossy()
        };
        let now = clock::unix_time().unwrap_or_default().as_secs();
        default_path(&program, now)?
    };
    let target = Target::of(&output)?;
    let backend = arguments.capture.choose()?;
    let log = target.create_log()?;
    let (ended, log) =
        capture(arguments, backend, &signals, log).map_err(|error| target.forget_or_keep(error))?;
    let trace = target.finish(log, arguments.anonymize).map_err(|error| target.kept(&error))?;
    tell(&trace, &output);
    tell_stopped(&ended);
    // A command that a signal ended was ended by what we sent it for ours. One that took it and went on
    // to an end of its own, as interactive ones do, has its own status.
    let status = match (ended.interrupted, ended.signal) {
        (Some(signal), Some(_)) => 128 + signal,
        _ => ended.exit_status,
    };
    Ok(exit::command(status))
}

/// Runs the command. Whatever was put into the machine for that is gone when this returns.
fn capture(
    arguments: &Arguments,
    backend: Backend,
    signals: &Signals,
    log: Log,
) -> Result<(Ended, Log), record::Error> {
    let hierarchies = Hierarchies::of_this_process();
    for path in sweep(&hierarchies) {
        note(format_args!("removed what a killed nbuf left behind: {}", path.display()));
    }
    let command = Command { arguments: arguments.command.clone(), account: caller::account() };
    // Without a group the command's memory is not measured; the trace says so.
    let group = Group::create(&hierarchies).ok();
    let until = match arguments.until {
        UntilArgument::Main => Until::Main,
        UntilArgument::Last => Until::Last,
    };
    let ring_bytes = arguments.ring_bytes;
    let group = group.as_ref();
    let options = Options { group, until, backend, ring_bytes, ..Options::default() };
    record(&command, options, log, signals)
}

/// Where the trace goes: beside its log, or to a descriptor.
struct Target<'a> {
    output: &'a Path,
    /// None for a descriptor, which takes the trace when it is whole.
    places: Option<Places>,
}

/// A trace and its log, in a directory that stays open: whoever renames it changes nothing.
struct Places {
    trace: Place,
    log: Place,
}

impl<'a> Target<'a> {
    fn of(output: &'a Path) -> Result<Self> {
        must_be_free(output, "-o")?;
        if descriptor(output, "-o")?.is_some() {
            return Ok(Self { output, places: None });
        }
        let trace = place(output, "-o")?;
        let log = trace.beside(".log").context("cannot keep the directory of the log open")?;
        Ok(Self { output, places: Some(Places { trace, log }) })
    }

    /// Makes the log, which stands in for the trace until that is whole.
    fn create_log(&self) -> Result<Log> {
        let Some(Places { log, .. }) = &self.places else {
            return Ok(Log::Spool(Spool::default()));
        };
        match DirectFile::create(log) {
            Ok(file) => Ok(Log::Named(file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(self.taken(log)),
            Err(error) => Err(anyhow!(
                "cannot write {}: {error}; give another place with -o",
                log.path().display()
            )),
        }
    }

    /// Why the name of a log is taken.
    fn taken(&self, log: &Place) -> Error {
        let shown = log.path().display();
        if files::regular(log.path()).is_ok_and(is_being_written) {
            return anyhow!(
                "{shown} is being written by another nbuf, which still records; wait for it, or give \
                 another name with -o"
            );
        }
        anyhow!(
            "{shown} was left by a recording that broke off; make a trace of it with `{}`, or remove it",
            recovery(log.path(), self.output)
        )
    }

    /// A log of a command that never ran is of no use; any other stays, and the error says so.
    fn forget_or_keep(&self, error: record::Error) -> Error {
        use command::Error::{Attach, NoRoom, NotExecutable, NotFound, NotStarted, Nul};
        let never_ran = match &error {
            record::Error::Command(error) => {
                let before = matches!(error, Nul(_) | NoRoom(_) | NotStarted(_) | Attach(_));
                before || matches!(error, NotFound(_) | NotExecutable(..))
            }
            record::Error::Recorder(error) => !matches!(error, recorder::Error::Broken(_)),
            _ => true,
        };
        if !never_ran {
            return self.kept(&error.into());
        }
        if let Some(Places { log, .. }) = &self.places {
            let _ = files::unlink(log.directory(), log.name());
        }
        permission::explain(error)
    }

    /// What failed, what was kept, and what makes a trace of it. Where there was no room for the trace
    /// there is none on a second try.
    fn kept(&self, error: &Error) -> Error {
        let Some(Places { log, .. }) = &self.places else {
            return anyhow!(
                "the command ran, but there is no trace: {}; record again, to a file with -o",
                chain(error)
            );
        };
        let is_full = |cause: &(dyn std::error::Error + 'static)| {
            // A writer in between may have kept no more of the cause than its words.
            let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
            kind == Some(io::ErrorKind::StorageFull)
                || cause.to_string().contains("No space left on device")
        };
        let command = if error.chain().any(is_full) {
            recovery(log.path(), Path::new("ANOTHER/PLACE.parquet"))
        } else {
            recovery(log.path(), self.output)
        };
        anyhow!(
            "the command ran, but there is no trace: {}; make one with `{command}`",
            chain(error)
        )
    }

    /// Makes the trace of the log, and removes the log.
    fn finish(&self, log: Log, nameless: bool) -> Result<Trace> {
        let (mut trace, file) = log.trace()?;
        if nameless {
            anonymize(&mut trace);
        }
        let (Some(Places { trace: place, log }), Some(file)) = (&self.places, file) else {
            write_trace(&trace, self.output)?;
            return Ok(trace);
        };
        write_trace_at(&trace, place)?;
        log.remove(&file).with_context(|| format!("cannot remove {}", log.path().display()))?;
        Ok(trace)
    }
}

fn recovery(log: &Path, output: &Path) -> String {
    let words = ["nbuf".as_ref(), "trace".as_ref(), "recover".as_ref()];
    let words: Vec<&std::ffi::OsStr> =
        words.into_iter().chain([log.as_os_str(), "-o".as_ref(), output.as_os_str()]).collect();
    shell::line(&words)
}

/// Says that processes were ended which nobody would have continued.
pub(crate) fn tell_stopped(ended: &Ended) {
    if ended.stopped > 0 {
        say(format_args!(
            "{} of the command stayed stopped after its end and had to be ended: nothing would have continued them",
            count(ended.stopped.into(), "process", "processes")
        ));
    }
}

fn tell(trace: &Trace, output: &Path) {
    let Facts { capture, cautions, .. } = &trace.facts;
    if capture.lost > 0 {
        say(format_args!(
            "LOST {} of {} events: whatever is derived from this trace is too low; record again \
             with less else running",
            capture.lost, capture.events
        ));
    }
    // The loss has been told, and what cannot be seen before the command was run.
    let told = ["events were lost", traced::BLIND_SPOTS];
    let is_news = |caution: &&String| !told.iter().any(|told| caution.contains(told));
    let uncached = told_uncached(&trace.facts.uncached);
    for caution in cautions.iter().filter(is_news).chain(&uncached) {
        note(format_args!("caution: {caution}"));
    }
    let lost = if capture.lost == 0 { "nothing" } else { "events" };
    let files = trace.files.len();
    note(format_args!("{} events on {files} files recorded, {lost} lost", capture.events));
    note(format_args!("the trace is {}", output.display()));
}
