//! Thousands of volumes: a plan, work that any runner can do, and one answer.
//!
//! The seam is a table: a task is a row that has all it needs, and leaves one file. So runners differ only in
//! who does which row; docs/fleet.md has the mathematics and the commands of other runners.
//!
//! ```no_run
//! use nbuf::experiment::fleet::{self, Ask, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let spec = Spec { inputs: vec!["traces/*.csv".into()], out: "out".into(), ..Spec::default() };
//! fleet::plan(&spec)?;
//! fleet::work(&spec.out.join(fleet::TASKS), &fleet::Rows::All, &Session::new(&()))?;
//! let document = fleet::reduce(&spec.out, &Ask::default())?;
//! println!("{}", document.checksum);
//! # Ok::<(), fleet::Error>(())
//! ```

mod allocate;
mod answers;
mod error;
mod folder;
mod local;
mod plan;
mod reduce;
mod spec;
mod split;
mod summary;
mod volume;
mod work;

use std::io::{BufRead, Write};
use std::path::Path;

pub use error::Error;
pub use folder::TASKS;
pub use local::Worked;
pub use plan::plan;
pub use spec::{Ask, Rows, Spec, Split, SplitError};

use super::result::FleetDocument;
use super::session::Session;
use folder::Folder;

/// The argument with which a program that runs this is started as a worker: it calls [`serve`] then.
pub const CHILD: &str = "fleet-worker";

/// The folder that a plan is in.
fn folder_of(tasks: &Path) -> Folder {
    let parent = tasks.parent().filter(|parent| !parent.as_os_str().is_empty());
    Folder(parent.unwrap_or(Path::new(".")).to_owned())
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
            let is_done = folder.row(&tasks[at].task).is_some_and(|row| row.error.is_none());
            worked.before += usize::from(is_done);
            match work::work(&tasks[at], &folder)?.error {
                None => worked.done += 1,
                Some(_) => worked.failed += 1,
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
    let tasks = folder.read_tasks_of(tasks.to_owned())?;
    local::run(&folder, &tasks, workers, session)
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
pub fn reduce(out: &Path, ask: &Ask) -> Result<FleetDocument, Error> {
    let folder = Folder(out.to_owned());
    let tasks = folder.read_tasks()?;
    let reduced = reduce::reduce(&tasks, &folder)?;
    if reduced.curves.is_empty() && reduced.failures.is_empty() {
        return Err(Error::Nothing(out.to_owned()));
    }
    Ok(answers::answer(&tasks, reduced, ask))
}
