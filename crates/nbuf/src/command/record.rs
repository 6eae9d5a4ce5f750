//! `nbuf record`: a command runs, and what it asks of the page cache becomes a trace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};
use nbuf::experiment::record::{self, Spec};
use nbuf::experiment::result::RecordDocument;

use super::attach::Attach;
use super::capture::{Capture, UntilArgument};
use crate::console::Console;
use crate::fail::say;
use crate::output::unwrapped;
use crate::verbosity::note;
use crate::{exit, permission, shell};

const AFTER: &str = "\
Examples:
  sudo nbuf record -o grep.parquet -- grep -r main /usr/include
  sudo nbuf record --until main -- ./start-server-and-query-it
  sudo nbuf --as-root record --pid $(pgrep -o postgres) --for 60s -o postgres.parquet

Under sudo the command runs as the user who called sudo, and the trace is that user's.

Exit status:
  the command's; 128+n when signal n killed it or nbuf
  2    usage error
  125  nbuf failed; standard error says why
  126  the command cannot be executed
  127  the command was not found";

/// Record a command's page cache accesses as a trace.
///
/// Records every access of the command and its descendants, in order, as a Parquet file. The command
/// keeps its standard input, output and error.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// Write the trace to this file; it must not exist [default: a dated file in `$XDG_STATE_HOME/nbuf`,
    /// or ~/.local/state/nbuf].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which process ends the recording; descendants that still run are killed.
    #[arg(long, value_name = "WHEN", default_value = "last", conflicts_with = "running")]
    until: UntilArgument,
    /// Remove names of files, command and machine from the trace. The log of the recording still has
    /// them.
    #[arg(long)]
    anonymize: bool,
    /// How to record: a command by any of these; what runs already by `auto` or `perf`.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    capture: Capture,
    /// Size of the ring of each processor, for provoking losses.
    #[arg(long, value_name = "BYTES", hide = true)]
    ring_bytes: Option<usize>,
    #[command(flatten)]
    running: Attach,
    /// The command to run, and its arguments; the first word that is no option begins it, or the first
    /// after `--`.
    #[arg(
        trailing_var_arg = true,
        required_unless_present = "running",
        conflicts_with = "running",
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

impl Arguments {
    fn spec(&self) -> Result<Spec> {
        let running = self.running.running()?;
        let capture = match running {
            Some(_) => self.capture.of_running()?,
            None => self.capture.into(),
        };
        Ok(Spec {
            running,
            duration: self.running.duration,
            command: self.command.clone(),
            output: self.output.clone(),
            until: self.until.into(),
            anonymize: self.anonymize,
            capture,
            ring_bytes: self.ring_bytes,
            mapped: self.running.mapped(),
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let console = Console::plain();
    let recorded = record::run(&arguments.spec()?, &mut console.session()).map_err(explain)?;
    tell(&recorded);
    // A command that a signal ended was ended by what we sent it for ours. One that took it and went on
    // to an end of its own, as interactive ones do, has its own status.
    let status = match (recorded.interrupted, recorded.signal) {
        (Some(signal), Some(_)) => 128 + signal,
        _ => recorded.exit_status,
    };
    Ok(exit::command(status))
}

/// An error with what only the program knows: the command line that helps.
fn explain(error: record::Error) -> Error {
    match error {
        record::Error::Record(error) => permission::explain(error),
        record::Error::Output(error) => unwrapped(error),
        record::Error::Leftover { ref log, ref output } => {
            anyhow!("{error}; make a trace of it with `{}`, or remove it", recovery(log, output))
        }
        record::Error::Kept { ref log, ref output, is_full, .. } => {
            let elsewhere = Path::new("ANOTHER/PLACE.parquet");
            let command = recovery(log, if is_full { elsewhere } else { output });
            anyhow!("{error}; make one with `{command}`")
        }
        other => other.into(),
    }
}

fn recovery(log: &Path, output: &Path) -> String {
    let words = ["nbuf".as_ref(), "trace".as_ref(), "recover".as_ref()];
    let words: Vec<&std::ffi::OsStr> =
        words.into_iter().chain([log.as_os_str(), "-o".as_ref(), output.as_os_str()]).collect();
    shell::line(&words)
}

fn tell(recorded: &RecordDocument) {
    let RecordDocument { events, lost, files, warnings, output, .. } = recorded;
    if *lost > 0 {
        say(format_args!(
            "LOST {lost} of {events} events: all counts from this trace are too low; record again \
             with fewer programs running"
        ));
    }
    for warning in warnings {
        note(format_args!("warning: {warning}"));
    }
    let lost = if *lost == 0 { "nothing" } else { "events" };
    note(format_args!("{events} events on {files} files recorded, {lost} lost"));
    note(format_args!("the trace is {output}"));
}
