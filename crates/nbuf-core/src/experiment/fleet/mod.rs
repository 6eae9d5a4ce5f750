//! Thousands of volumes: a plan, work that any runner can do, and one answer.
//!
//! The seam is a table: a task is a row that has all it needs, and leaves one file. So runners differ only in
//! who does which row; docs/fleet.md has the mathematics and the commands of other runners.
//!
//! ```no_run
//! use nbuf::experiment::fleet::{self, Ask, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let ask = Ask { hit_ratio: 0.95, ..Ask::default() };
//! let inputs = vec!["traces/*.csv".into()];
//! let spec = Spec { inputs, out: "out".into(), workers: 2, ask, ..Spec::default() };
//! let document = fleet::run(&spec, &mut Session::new(&()))?;
//! println!("{}", document.checksum);
//! # Ok::<(), fleet::Error>(())
//! ```

mod allocation;
mod answers;
mod curve;
mod cuts;
mod engine;
mod error;
mod folder;
mod hosts;
mod inputs;
mod known;
mod last;
mod local;
mod objects;
mod pieces;
pub(super) mod plan;
mod policies;
mod reduce;
mod regret;
mod representatives;
mod sharing;
mod spec;
mod split;
mod summary;
mod volume;
mod work;

use std::io::{BufRead, Write};
use std::path::Path;

pub use engine::{RUNNERS, Runner, work_on};
pub use error::Error;
pub use folder::TASKS;
pub use known::{Known, KnownVolume, Merge, allocate, merge};
pub use local::Worked;
pub use plan::Planned;
pub use spec::{Ask, Rows, Spec, Split, SplitError};

use super::document;
use super::notice::{FleetNotice, Notice};
use super::result::{FleetDocument, FleetRow};
use super::session::Session;
use folder::Folder;

/// The argument with which a program that runs this is started as a worker: it calls [`serve`] then.
pub const CHILD: &str = "fleet-worker";

/// Plans, has the work done, and answers.
///
/// A program that calls this with the runner `local` must call [`serve`] when its first argument is [`CHILD`]: the
/// workers are processes of the same program. Results stay in the folder of the spec, and a further call does
/// only what is missing.
///
/// # Errors
/// No input, a runner that is not there, a folder that cannot be written, and a signal, after which [`reduce`] answers
/// from what is finished: see [`Error`]. A task that failed is a row of the document.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<FleetDocument, Error> {
    spec.check()?;
    let runner = RUNNERS.iter().find(|runner| runner.name == spec.runner);
    let runner = runner.ok_or_else(|| Error::NoRunner(spec.runner.clone()))?;
    plan(spec, session)?;
    let worked = work_on(runner, &spec.out.join(TASKS), spec.workers, session)?;
    if session.is_over() && worked.left > 0 {
        return Err(Error::Interrupted(worked));
    }
    reduce(&spec.out, &spec.ask, session)
}

/// The folder that a plan is in.
fn folder_of(tasks: &Path) -> Folder {
    let parent = tasks.parent().filter(|parent| !parent.as_os_str().is_empty());
    Folder(parent.unwrap_or(Path::new(".")).to_owned())
}

/// Makes the plan, and writes it into the folder of the spec.
///
/// # Errors
/// A page or a number of workers that cannot be, no input, an input that cannot be used, and a folder that cannot be
/// written.
pub fn plan(spec: &Spec, session: &Session<'_>) -> Result<Planned, Error> {
    spec.check_plan()?;
    let planned = plan::plan(spec, session)?;
    let say = |notice| session.observer.notice(&Notice::Fleet(notice));
    let path = spec.out.join(TASKS);
    say(FleetNotice::Planned { tasks: planned.tasks.len(), path: &path });
    if let [first, ..] = &planned.unknown[..] {
        say(FleetNotice::UnknownFormat { files: planned.unknown.len(), first });
    }
    if let [first, ..] = &planned.doubles[..] {
        say(FleetNotice::NamedTwice { files: planned.doubles.len(), first });
    }
    Ok(planned)
}

/// Does rows of a plan in this process, one after the other, until a signal comes.
pub fn work(tasks: &Path, rows: &Rows, session: &Session<'_>) -> Result<Worked, Error> {
    let folder = folder_of(tasks);
    let tasks = folder.read_tasks_of(tasks.to_owned())?;
    let chosen = rows.of(tasks.len())?;
    let mut worked = Worked::default();
    let done = session.heeding(|| -> Result<(), Error> {
        let mut steps = session.steps("working (tasks)", chosen.len());
        for &at in &chosen {
            if session.is_over() {
                break;
            }
            worked.before += usize::from(folder.has_done(&tasks[at].task));
            let row = work::work(&tasks[at], &folder, &session.cancellation.token())?;
            match row.map(|row| row.error) {
                None => break,
                Some(None) => worked.done += 1,
                Some(Some(_)) => worked.failed += 1,
            }
            steps.next();
        }
        Ok(())
    });
    done.map_err(Error::Signals)??;
    worked.left = chosen.len() - worked.done - worked.failed;
    Ok(worked)
}

/// Does all rows of a plan by workers on this machine, until a signal comes.
pub fn work_locally(tasks: &Path, workers: u16, session: &Session<'_>) -> Result<Worked, Error> {
    let folder = folder_of(tasks);
    let rows = folder.read_tasks_of(tasks.to_owned())?;
    local::run(&folder, (tasks, &rows), workers, session)
}

/// The rows of a plan that are not done: each with its number, from 1, and its text.
pub fn left(tasks: &Path) -> Result<Vec<(usize, String)>, Error> {
    let folder = folder_of(tasks);
    let rows = folder.read_tasks_of(tasks.to_owned())?;
    let left = (1..).zip(&rows).filter(|(_, task)| !folder.has_done(&task.task));
    let text = |task| document::write_line(task).map_err(|error| Error::Pipe(error.into()));
    left.map(|(row, task)| Ok((row, text(task)?))).collect()
}

/// Does a row of the plan of a folder, unless it is done. Its result; nothing where the session was over before.
pub fn work_row(out: &Path, row: &str, session: &Session<'_>) -> Result<Option<FleetRow>, Error> {
    let task = folder::read_task(&out.join(TASKS), 1, row.as_bytes())?;
    work::work(&task, &Folder(out.to_owned()), &session.cancellation.token())
}

/// Makes a row of the plan an error: too many workers ended on it.
pub fn give_up(out: &Path, row: &str, error: &str) -> Result<(), Error> {
    let task = folder::read_task(&out.join(TASKS), 1, row.as_bytes())?;
    Folder(out.to_owned()).write_poisoned(&task, error.to_owned())
}

/// A worker of [`work_locally`]: takes the numbers of rows, and says which are done.
pub fn serve(tasks: &Path, input: impl BufRead, output: impl Write) -> Result<(), Error> {
    // It ends with the process that started it, whatever ends that.
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if !crate::sys::process::die_with(parent)? {
        return Ok(());
    }
    local::serve(tasks, input, output)
}

/// Answers from all that is finished.
///
/// # Errors
/// No plan in the folder, a result that cannot be read, and nothing finished.
pub fn reduce(out: &Path, ask: &Ask, session: &Session<'_>) -> Result<FleetDocument, Error> {
    let folder = Folder(out.to_owned());
    let tasks = folder.read_tasks()?;
    let reduced = reduce::reduce(&tasks, &folder, session)?;
    if reduced.curves.is_empty() && reduced.failures.is_empty() {
        return Err(Error::Nothing(out.to_owned()));
    }
    let page_bytes = tasks.first().map_or(0, |task| task.page_bytes);
    Ok(answers::answer(&tasks, page_bytes, reduced, ask))
}
