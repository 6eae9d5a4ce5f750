//! `nbuf run`: the ready message of one command.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::run::{self, Spec};
use nbuf::experiment::session::Output;

use super::capture::UntilArgument;
use crate::console::Console;
use crate::exit;
use crate::fail::say;
use crate::output::{keep, must_be_possible, print, print_error};
use crate::show::run as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

const AFTER: &str = "\
Examples:
  sudo nbuf run -- make -j2
  sudo nbuf run --meters -- git status
  sudo nbuf run --profile --html profile.html -- ./job
  sudo nbuf run --json -- ./job >job.json

Under sudo the command runs as the user who called sudo. Without the right to read tracepoints, waits
are not told apart; the message names what is missing.

Exit status:
  that of the command; 128+n when signal n killed it or nbuf
  2    usage error
  125  nbuf failed; standard error says why
  126  the command cannot be executed
  127  the command was not found";

/// Where did a command's time go?
///
/// Runs the command and prints one line after it: real time, processor time, page faults, page cache,
/// disc, peak memory, and where the time went. The command keeps its standard input, output and error.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// Print one JSON document; the command's standard output goes to standard error
    #[arg(long)]
    json: bool,
    /// Time every kind of event: faults and their steps, system calls, disc requests, waits for a
    /// processor, interrupts
    #[arg(long)]
    meters: bool,
    /// Sample where the command runs: processor time by program, library and function, and page faults
    #[arg(long)]
    profile: bool,
    /// Write the profile's stacks as lines for flame graphs to a new file
    #[arg(long, value_name = "FILE", requires = "profile")]
    folded: Option<PathBuf>,
    /// Write the profile as one page with a flame graph to a new file
    #[arg(long, value_name = "FILE", requires = "profile")]
    html: Option<PathBuf>,
    /// Which process ends the run; descendants that still run are killed
    #[arg(long, value_name = "WHEN", default_value = "last")]
    until: UntilArgument,
    /// The command to run, and its arguments; the first word that is no option begins it, or the first
    /// after `--`
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let console = Console::plain();
    let mut session = console.session();
    if arguments.json {
        session.output = Output::Error;
    }
    for (path, option) in [(&arguments.folded, "--folded"), (&arguments.html, "--html")] {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    let spec = Spec {
        command: arguments.command.clone(),
        until: arguments.until.into(),
        meters: arguments.meters,
        profile: arguments.profile,
    };
    let ran = run::run(&spec, &mut session).map_err(explain)?;
    if arguments.json {
        print(document::write(&ran)?.as_bytes())?;
    } else {
        say(shown::line(&ran));
        if let Some(meters) = &ran.meters {
            let width = Terminal::error_width().unwrap_or(100);
            print_error(shown::tables(meters, width).as_bytes())?;
        }
        if let Some(profile) = &ran.profile {
            let width = Terminal::error_width().unwrap_or(100);
            print_error(shown::profile(&ran, profile, width).as_bytes())?;
        }
        for missing in &ran.notes {
            note(missing);
        }
    }
    if let Some(profile) = &ran.profile {
        if let Some(path) = &arguments.folded {
            keep(path, "--folded", shown::folded(profile).as_bytes())?;
        }
        if let Some(path) = &arguments.html {
            keep(path, "--html", shown::page(&ran, profile).as_bytes())?;
        }
    }
    // As for a recording: what ended by our signal has that status.
    let status = match (ran.interrupted, ran.signal) {
        (Some(signal), Some(_)) => 128 + signal,
        _ => ran.exit_status,
    };
    Ok(exit::command(status))
}

/// The error of the command itself, by which the exit status is chosen.
fn explain(error: run::Error) -> anyhow::Error {
    match error {
        run::Error::Command(error) => error.into(),
        other => other.into(),
    }
}
