//! `nbuf run`: the ready message of one command.

mod arguments;
mod compare;
mod shell;

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::result::RunDocument;
use nbuf::experiment::run::{self, Timeline};
use nbuf::experiment::session::{Interim, Output};

use crate::console::Console;
use crate::exit;
use crate::fail::{UsageError, say};
use crate::output::{keep, must_be_possible, print, print_error};
use crate::show::run as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

pub(crate) use arguments::Arguments;
pub(crate) use shell::{Helper, helper};

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    if let Some(shell) = arguments.shell {
        return shell::hook(shell);
    }
    let files = [
        (&arguments.folded, "--folded"),
        (&arguments.html, "--html"),
        (&arguments.openmetrics, "--openmetrics"),
        (&arguments.perfetto, "--perfetto"),
    ];
    for (path, option) in files {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    if arguments.force && arguments.baseline.is_none() && arguments.compare.is_none() {
        let text = "--force is for a comparison: give --baseline FILE or --compare A B";
        return Err(UsageError(text.to_owned()).into());
    }
    if let Some([a, b]) = arguments.compare.as_deref() {
        return compare::files(arguments, a, b);
    }
    let baseline = arguments.baseline.as_deref();
    let baseline = baseline.map(|path| compare::baseline(arguments, path)).transpose()?;
    let timeline = Mutex::new(None);
    let take = |interim: Interim<'_>| -> io::Result<()> {
        if let Interim::Timeline(it) = interim {
            *timeline.lock().unwrap_or_else(PoisonError::into_inner) = Some(it.clone());
        }
        Ok(())
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    if arguments.json {
        session.output = Output::Error;
    }
    let mut spec = arguments.spec();
    if let (None, Some(baseline)) = (arguments.runs, &baseline) {
        spec.runs = u16::try_from(baseline.runs.len().clamp(1, 100)).unwrap_or(1);
    }
    let ran = run::run(&spec, &mut session).map_err(explain)?;
    let timeline = timeline.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let (Some(path), Some(timeline)) = (&arguments.perfetto, &timeline) {
        keep_timeline(path, timeline, &ran)?;
    }
    tell(arguments, &ran, baseline.as_ref())?;
    // As for a recording: what ended by our signal has that status.
    let status = match (ran.interrupted, ran.signal) {
        (Some(signal), Some(_)) => 128 + signal,
        _ => ran.exit_status,
    };
    Ok(exit::command(status))
}

/// Shows the document, or what it is compared with, as was asked.
fn tell(arguments: &Arguments, ran: &RunDocument, baseline: Option<&RunDocument>) -> Result<()> {
    match baseline {
        None if arguments.json => print(document::write(ran)?.as_bytes())?,
        _ if arguments.json => {}
        _ => lines(ran)?,
    }
    match baseline {
        // An interrupted command is not compared.
        Some(_) if ran.interrupted.is_some() => {}
        Some(baseline) => compare::with_baseline(arguments, baseline, ran)?,
        None => {}
    }
    if let Some(path) = &arguments.openmetrics {
        keep(path, "--openmetrics", shown::openmetrics(ran).as_bytes())?;
    }
    if let Some(profile) = &ran.profile {
        if let Some(path) = &arguments.folded {
            keep(path, "--folded", shown::folded(profile).as_bytes())?;
        }
        if let Some(path) = &arguments.html {
            keep(path, "--html", shown::page(ran, profile).as_bytes())?;
        }
    }
    Ok(())
}

fn keep_timeline(path: &Path, timeline: &Timeline, ran: &RunDocument) -> Result<()> {
    keep(path, "--perfetto", shown::perfetto(timeline, &ran.command).as_bytes())?;
    if timeline.slices.is_empty() {
        say("the timeline is empty: no thread was seen; run nbuf by sudo");
    } else if timeline.cut > 0 {
        let cut = timeline.cut;
        say(format!(
            "the timeline has the first {} slices; {cut} later ones are missing",
            timeline.slices.len()
        ));
    }
    Ok(())
}

/// The line, and the tables that were asked for.
fn lines(ran: &RunDocument) -> Result<()> {
    say(shown::line(ran));
    let width = Terminal::error_width().unwrap_or(100);
    if let Some(meters) = &ran.meters {
        print_error(shown::tables(meters, width).as_bytes())?;
        if let Some(by) = &meters.by {
            print_error(shown::keyed(by, width).as_bytes())?;
        }
    }
    if let Some(profile) = &ran.profile {
        print_error(shown::profile(ran, profile, width).as_bytes())?;
    }
    for missing in &ran.notes {
        note(missing);
    }
    Ok(())
}

/// The error of the command itself, by which the exit status is chosen.
fn explain(error: run::Error) -> anyhow::Error {
    match error {
        run::Error::Command(error) => error.into(),
        other => other.into(),
    }
}
