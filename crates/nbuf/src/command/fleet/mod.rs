//! `nbuf fleet`: thousands of volumes, planned, worked on and answered.

mod arguments;
mod draft;
mod values;

use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use nbuf::experiment::document;
use nbuf::experiment::fleet::{self, Rows, TASKS, Worked};
use nbuf::units::count;

pub(crate) use arguments::{Args, WorkerArgs};
use arguments::{AskArgs, PlanArgs, Step, WorkArgs};

use crate::console::Console;
use crate::exit;
use crate::fail::{UsageError, leave_panics, say};
use crate::output::print;
use crate::show::fleet as shown;
use crate::show::terminal::Terminal;
use crate::verbosity::note;

pub(crate) fn run(args: &Args) -> Result<u8> {
    match &args.step {
        Some(Step::Plan(plan)) => write_plan(plan).map(|()| 0),
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
    write_plan(&args.plan)?;
    let out = args.plan.out.clone().unwrap_or_default();
    let console = Console::plain();
    let session = console.session();
    let worked = fleet::work_on(&args.on, &out.join(TASKS), args.plan.workers(), &session);
    let worked = worked.map_err(refused)?;
    if let Some(signal) = session.cancellation.signal() {
        say_interrupted(worked);
        return Ok(exit::command(128 + signal));
    }
    answer(&out, &args.ask)
}

fn write_plan(args: &PlanArgs) -> Result<()> {
    let spec = args.spec();
    let planned = fleet::plan(&spec).map_err(refused)?;
    let tasks = count(planned.tasks.len() as u64, "task", "tasks");
    note(format_args!("planned {tasks} in {}", spec.out.join(TASKS).display()));
    let left_out = |paths: &[PathBuf], why: &str| {
        if let Some(first) = paths.first() {
            let files = count(paths.len() as u64, "file", "files");
            note(format_args!("left out {files} {why}, such as {}", first.display()));
        }
    };
    left_out(&planned.unknown, "of no known format");
    left_out(&planned.doubles, "that other inputs name too");
    Ok(())
}

fn do_rows(args: &WorkArgs) -> Result<u8> {
    leave_panics();
    let rows: Rows = args.rows()?;
    let console = Console::plain();
    let session = console.session();
    let worked = fleet::work(&args.tasks, &rows, &session).map_err(refused)?;
    if let Some(signal) = session.cancellation.signal() {
        say_interrupted(worked);
        return Ok(exit::command(128 + signal));
    }
    let Worked { done, before, failed, .. } = worked;
    let done = count(done as u64, "task is", "tasks are");
    note(format_args!("{done} done, {before} of them before; {failed} failed"));
    Ok(if failed > 0 { exit::NOT_HELD } else { 0 })
}

fn say_interrupted(worked: Worked) {
    let done = count(worked.done as u64, "task is", "tasks are");
    say(format_args!(
        "interrupted: {done} done and kept, {} left; the same command continues",
        worked.left
    ));
}

/// Shows what is finished.
fn answer(out: &Path, args: &AskArgs) -> Result<u8> {
    if let Some(path) = &args.html {
        draft::must_be_possible(path)?;
    }
    let drawn = fleet::reduce(out, &args.ask()).map_err(refused)?;
    let is_whole = drawn.failures.is_empty() && drawn.tasks_missing == 0;
    if let Some(path) = &args.html {
        draft::write(path, shown::page(&drawn), is_whole)?;
        note(format_args!("the page is {}", path.display()));
    }
    let text = if args.json {
        document::write(&drawn)?
    } else {
        shown::table(&drawn, Terminal::of_output().width)
    };
    print(text.as_bytes())?;
    Ok(if is_whole { 0 } else { exit::NOT_HELD })
}

/// Rows that a plan does not have are a usage error.
fn refused(error: fleet::Error) -> Error {
    match error {
        fleet::Error::Rows { .. } => UsageError(error.to_string()).into(),
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
