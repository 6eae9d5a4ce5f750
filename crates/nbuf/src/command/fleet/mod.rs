//! `nbuf fleet`: thousands of volumes, planned, worked on and answered.

mod arguments;
mod draft;
mod values;

use std::path::Path;

use anyhow::{Error, Result};
use nbuf::experiment::document;
use nbuf::experiment::fleet::{self, Rows, Spec, Worked};
use nbuf::experiment::result::FleetDocument;
use nbuf::units::count;

pub(crate) use arguments::{Args, WorkerArgs};
use arguments::{AskArgs, Step, WorkArgs};

use crate::console::Console;
use crate::exit;
use crate::fail::{UsageError, leave_panics, say};
use crate::output::print;
use crate::show::fleet as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

pub(crate) fn run(args: &Args) -> Result<u8> {
    match &args.step {
        Some(Step::Plan(plan)) => {
            let console = Console::plain();
            fleet::plan(&plan.spec(), &console.session()).map_err(refused)?;
            Ok(0)
        }
        Some(Step::Work(work)) => do_rows(work),
        Some(Step::Reduce(reduce)) => answer(&reduce.out, &reduce.ask),
        None => whole(args),
    }
}

/// Plans, has the work done, and answers.
fn whole(args: &Args) -> Result<u8> {
    if let Some(path) = &args.ask.html {
        draft::must_be_possible(path)?;
    }
    if args.plan.until.is_some() && !args.ask.has_budget() {
        let what = "--until asks whether a split lasts: give what to split with --budget";
        return Err(UsageError(what.to_owned()).into());
    }
    let console = Console::plain();
    let mut session = console.session();
    let runner = args.on.name.to_owned();
    let spec = Spec { runner, ask: args.ask.ask(), ..args.plan.spec() };
    let drawn = match fleet::run(&spec, &mut session) {
        Err(error @ fleet::Error::Interrupted(_)) => {
            say(&error);
            return Ok(exit::command(128 + session.cancellation.signal().unwrap_or_default()));
        }
        other => other.map_err(refused)?,
    };
    show(&drawn, &args.ask)
}

fn do_rows(args: &WorkArgs) -> Result<u8> {
    leave_panics();
    let rows: Rows = args.rows()?;
    let console = Console::plain();
    let session = console.session();
    let worked = fleet::work(&args.tasks, &rows, &session).map_err(refused)?;
    if let Some(signal) = session.cancellation.signal() {
        say(fleet::Error::Interrupted(worked));
        return Ok(exit::command(128 + signal));
    }
    let Worked { done, before, failed, .. } = worked;
    let done = count(done as u64, "task is", "tasks are");
    note(format_args!("{done} done, {before} of them before; {failed} failed"));
    Ok(if failed > 0 { exit::CHECK_FAILED } else { 0 })
}

/// Shows what is finished.
fn answer(out: &Path, args: &AskArgs) -> Result<u8> {
    if let Some(path) = &args.html {
        draft::must_be_possible(path)?;
    }
    let console = Console::plain();
    let drawn = fleet::reduce(out, &args.ask(), &console.session()).map_err(refused)?;
    show(&drawn, args)
}

fn show(drawn: &FleetDocument, args: &AskArgs) -> Result<u8> {
    let is_whole = drawn.failures.is_empty() && drawn.tasks_missing == 0;
    if let Some(path) = &args.html {
        draft::write(path, shown::page(drawn), is_whole)?;
        note(format_args!("the page is {}", path.display()));
    }
    let text = if args.json {
        document::write(drawn)?
    } else {
        shown::table(drawn, Terminal::of_output().width)
    };
    print(text.as_bytes())?;
    Ok(if is_whole { 0 } else { exit::CHECK_FAILED })
}

/// Rows that a plan does not have, and a plan that cannot be, are usage errors.
fn refused(error: fleet::Error) -> Error {
    match error {
        fleet::Error::Rows { .. } | fleet::Error::Spec(_) => UsageError(error.to_string()).into(),
        other => other.into(),
    }
}

/// A worker of [`whole`].
pub(crate) fn work(args: &WorkerArgs) -> Result<u8> {
    leave_panics();
    fleet::serve(&args.tasks, std::io::stdin().lock(), std::io::stdout().lock())
        .map_err(refused)?;
    Ok(0)
}
