//! `nbuf size`: the command line becomes a spec, and the report is shown.

mod arguments;
mod compare;
mod follow;
mod help;
mod live;
mod outputs;
mod page;
mod probe;
mod server;
mod values;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Error, Result};
use nbuf::experiment::document;
use nbuf::experiment::result::SizeReport;
use nbuf::experiment::session::{Interim, Output};
use nbuf::experiment::size;
use nbuf::experiment::target::Target;

use crate::console::Console;
use crate::fail::{UsageError, say};
use crate::output::print;
use crate::{exit, permission};
pub(crate) use arguments::Args;
use page::Page;
pub(in crate::command) use values::some_time;

/// Runs the verb and gives the exit status.
pub(crate) fn run(args: &Args) -> Result<u8> {
    if let Some(server) = &args.served.server {
        return server::run(args, server.clone());
    }
    if args.probing.restore_limits {
        return probe::restore_limits(args);
    }
    if args.running.is_given() {
        return live::run(args);
    }
    if matches!(args.target, Some(Target::Fills(_))) {
        let only = "--target fills=100/s is for programs that run already, with --pid or --cgroup; \
                    a command is sized by hit=0.95, slowdown=1.1, stall=1% or price=3.5,0.4";
        return Err(UsageError(only.to_owned()).into());
    }
    let page = Page::of(args);
    if let [a, b] = &args.compare[..] {
        return compare::run(a, b, args.times(), &page);
    }
    outputs::check(args)?;
    let (is_whole, first) = (AtomicBool::new(true), Mutex::new(None));
    let take = |interim: Interim<'_>| -> io::Result<()> {
        match interim {
            Interim::Trace(trace) => {
                is_whole.fetch_and(outputs::keep(args, trace), Ordering::Relaxed);
            }
            Interim::Size(report) => *locked(&first) = Some(report.clone()),
            _ => {}
        }
        Ok(())
    };
    let console = Console::new(args.yes, &take);
    let mut session = console.session();
    session.output = if args.json { Output::Error } else { Output::Standard };
    let report = match size::run(&args.spec(), &mut session) {
        Ok(report) => report,
        Err(error) => {
            // What was computed before is not lost with the runs.
            if let Some(first) = locked(&first).take() {
                page.report(&first)?;
            }
            return failed(error);
        }
    };
    page.report(&report)?;
    let written = outputs::write(args, &report);
    if args.json {
        print(document::write(&report)?.as_bytes())?;
    }
    let is_whole = written && is_whole.load(Ordering::Relaxed) && !console.is_broken();
    Ok(match session.cancellation.signal() {
        Some(signal) => exit::command(128 + signal),
        None if !is_whole => exit::INTERNAL_ERROR,
        None => status(&report),
    })
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn status(report: &SizeReport) -> u8 {
    match report.repeatable {
        _ if report.is_reliable() => 0,
        Some(false) => exit::NOT_REPEATABLE,
        _ if report.is_undecided() => exit::UNDECIDED,
        _ => exit::CHECK_FAILED,
    }
}

/// The exit status where there is no report: a command or a user may have ended it.
pub(super) fn failed(error: size::Error) -> Result<u8> {
    match error {
        size::Error::Interrupted(signal) => Ok(exit::command(128 + signal)),
        size::Error::Killed { status, .. } => {
            say(error);
            Ok(exit::command(status))
        }
        size::Error::Record(error) => Err(permission::explain(error)),
        size::Error::Command(error) => Err(error.into()),
        size::Error::Observer(error) => Err(error.into()),
        other => Err(Error::from(other)),
    }
}
