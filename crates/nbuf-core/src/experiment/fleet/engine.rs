//! Runners of engines that people already have: `python3 -m nbuf.fleet` gives the engine the rows that are left.
//!
//! A line of its standard output names a row that is done or has failed. Its standard input stays open for as long
//! as this process lives, so that it ends with us. Invariant: as for the local runner, the engine decides who does
//! what, never what comes of it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::folder::Folder;
use super::{Error, Worked, folder_of, local};
use crate::experiment::session::Session;
use crate::sys::process::signal;

/// Who does the rows of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Its name, as `--on` takes it.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// What Python needs for it; nothing where it needs no Python.
    pub packages: &'static str,
}

/// All runners. One of an engine has a file of that name in the Python package.
pub const RUNNERS: [Runner; 4] = [
    Runner { name: "local", summary: "Processes on this machine", packages: "" },
    Runner {
        name: "dask",
        summary: "Dask: DASK_SCHEDULER_ADDRESS, or a new local cluster",
        packages: "nbuf[dask]",
    },
    Runner {
        name: "ray",
        summary: "Ray: RAY_ADDRESS, or a new local cluster",
        packages: "nbuf[ray]",
    },
    Runner {
        name: "spark",
        summary: "Spark: MASTER, or a new local cluster",
        packages: "nbuf[spark]",
    },
];

/// `python3 -m nbuf.fleet` without the modules of this directory, before Python 3.11 too.
const MODULE: &str = "import os, sys\n\
    sys.path[:] = [path for path in sys.path if path not in ('', os.getcwd())]\n\
    import runpy\n\
    runpy.run_module('nbuf.fleet', run_name='__main__', alter_sys=True)";

/// The variable that names Python.
const PYTHON: &str = "NBUF_PYTHON";

/// Does the rows of a plan that are left by a runner, until a signal comes.
pub fn work_on(
    runner: &Runner,
    tasks: &Path,
    workers: u16,
    session: &Session<'_>,
) -> Result<Worked, Error> {
    let folder = folder_of(tasks);
    let rows = folder.read_tasks_of(tasks.to_owned())?;
    if runner.packages.is_empty() {
        return local::run(&folder, (tasks, &rows), workers, session);
    }
    let names: Vec<&str> = rows.iter().map(|task| &*task.task).collect();
    let before = count(&folder, &names);
    if before == names.len() {
        return Ok(Worked { done: before, before, ..Worked::default() });
    }
    let child = start(runner, tasks, workers)?;
    let failed = attend(runner, child, names.len() - before, session)?;
    let done = count(&folder, &names);
    let left = names.len() - done;
    let failed = failed.min(left);
    Ok(Worked { done, before, failed, left: left - failed })
}

fn count(folder: &Folder, names: &[&str]) -> usize {
    names.iter().filter(|name| folder.has_done(name)).count()
}

fn start(runner: &Runner, tasks: &Path, workers: u16) -> Result<Child, Error> {
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| OsString::from("python3"));
    let mut command = Command::new(&python);
    // The directory may have modules of other people next to their traces.
    command.env("PYTHONSAFEPATH", "1");
    command.args(["-c", MODULE, "--on", runner.name, "--workers", &workers.to_string()]);
    command
        .args(["--end-with-input", "--tasks"])
        .arg(tasks)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // In a group of its own: Ctrl-C is for us, and we pass it on.
    command.process_group(0).spawn().map_err(|source| Error::Python {
        python: PathBuf::from(python),
        runner: runner.name,
        packages: runner.packages,
        source,
    })
}

/// Takes the lines of an engine until it ends. How many rows have failed.
fn attend(
    runner: &Runner,
    mut child: Child,
    rows: usize,
    session: &Session<'_>,
) -> Result<usize, Error> {
    let output = child.stdout.take().map(BufReader::new);
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    let work = || {
        let (mut failed, mut error) = (BTreeSet::new(), None);
        let mut steps = session.steps("working (tasks)", rows);
        for line in output.into_iter().flat_map(BufReader::lines).map_while(Result::ok) {
            match line.split_once(' ') {
                Some(("done", _)) => steps.next(),
                Some(("failed", row)) if row.parse().is_ok_and(|row: usize| failed.insert(row)) => {
                    steps.next();
                }
                Some(("error", text)) => error = Some(text.to_owned()),
                // An engine may print what it likes.
                _ => {}
            }
        }
        (failed.len(), error)
    };
    // What has ended takes no signal.
    let interrupt = || drop(signal(pid, INTERRUPT));
    let ((failed, error), _) = session.heeding_anew(&interrupt, work).map_err(Error::Signals)?;
    let status = child.wait()?;
    if status.success() || session.is_over() {
        return Ok(failed);
    }
    let packages = runner.packages;
    let other =
        || format!("python3 -m nbuf.fleet ended: {status}; it needs `pip install {packages}`");
    Err(Error::Engine { runner: runner.name, text: error.unwrap_or_else(other) })
}

/// `SIGINT`.
const INTERRUPT: i32 = 2;
