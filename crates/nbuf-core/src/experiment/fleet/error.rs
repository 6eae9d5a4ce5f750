//! Why a fleet cannot be planned, worked on or answered.

use std::io;
use std::path::PathBuf;

use super::Worked;
use crate::experiment::document::DocumentError;
use crate::experiment::output::OutputError;
use crate::units::count;
use crate::workload::source::ObjectError;

/// Why a fleet cannot be planned, worked on or answered. A bad input is none: it is an error row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing matches.
    #[error(
        "no file matches {0}: quote it only if nbuf is to expand it, and look at the directory"
    )]
    NoMatch(String),
    /// A directory has files, and none of them is a trace.
    #[error(
        "no file of the directory is of a known format, and {files} are not, such as {}: name that file to see why, or \
         give the format with --from",
        path.display()
    )]
    NoTrace {
        /// One of the files.
        path: PathBuf,
        /// How many there are.
        files: usize,
    },
    /// A spec that no fleet can do.
    #[error("cannot plan: {0}")]
    Spec(&'static str),
    /// A runner of another name.
    #[error("there is no runner `{0}`: write local, dask, ray or spark")]
    NoRunner(String),
    /// A signal came while tasks were left.
    #[error(
        "interrupted: {} done and kept, {} left; the same command continues",
        count(.0.done as u64, "task is", "tasks are"),
        .0.left
    )]
    Interrupted(Worked),
    /// There is nothing to split or to merge.
    #[error("there are no curves: give at least one")]
    NoCurves,
    /// A pattern cannot be read.
    #[error("{pattern} is no pattern ({source}): put [ and ] in brackets, or name the files")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        source: glob::PatternError,
    },
    /// A row of the plan is not as it was planned.
    #[error("{}, line {line}: the row was changed after the plan; plan again", path.display())]
    Changed {
        /// The plan.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// An input is not there, or cannot be looked at.
    #[error("cannot use {}: {source}", path.display())]
    Input {
        /// The input.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An object cannot be had.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A signal came before the plan was made.
    #[error("interrupted before the plan was written: run the same command again")]
    Unplanned,
    /// An input has a name that a table of text cannot hold.
    #[error("{} is not UTF-8: rename it", .0.display())]
    Name(PathBuf),
    /// An input is of no host.
    #[error(
        "no host is known of {}: --by host needs a folder such as host=web-1 above each input; move the file into \
         one, or give --by directory",
        .0.display()
    )]
    NoHost(PathBuf),
    /// Inputs of a host are of different clocks.
    #[error(
        "{} does not say when it began, and other inputs of host {host} do, so they cannot be merged by time: record it \
         again without --anonymize, or leave it out",
        .path.display()
    )]
    NoStart {
        /// The host.
        host: String,
        /// The first such input.
        path: PathBuf,
    },
    /// Parts by hash are not to be had of several files with objects of their own.
    #[error(
        "--split hash cannot take the files of a directory together: give --by file or --by volume, or --split \
         time:8"
    )]
    HashOfDirectory,
    /// The folder has files of others in it.
    #[error(
        "{} is not empty and no folder of a fleet: give a new name with --out, or remove it",
        .0.display()
    )]
    Foreign(PathBuf),
    /// There is no plan.
    #[error("{path} has no plan: make one with `nbuf fleet plan INPUTS --out {path}`", path = .0.display())]
    NoPlan(PathBuf),
    /// A line of the plan is damaged.
    #[error("line {line} of {} {source}; make the plan again", path.display())]
    Plan {
        /// The plan.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: DocumentError,
    },
    /// Another version made the plan.
    #[error(
        "{} was planned by nbuf {found}, this is nbuf {own}: use that version, or plan again into a new folder",
        path.display()
    )]
    Version {
        /// The plan.
        path: PathBuf,
        /// The version that planned.
        found: String,
        /// This version.
        own: &'static str,
    },
    /// Another version made the plan, with rows of another shape.
    #[error(
        "{} is a plan of another nbuf ({found}, not {own}): use that nbuf, or plan again",
        path.display()
    )]
    Shape {
        /// The plan.
        path: PathBuf,
        /// The schema of its rows.
        found: String,
        /// The schema of rows of this version.
        own: &'static str,
    },
    /// Rows that are not there.
    #[error("the plan has the rows 1..{rows}, not {first}..{last}: give rows of the plan")]
    Rows {
        /// Rows of the plan.
        rows: usize,
        /// The first one asked for.
        first: usize,
        /// The last one asked for.
        last: usize,
    },
    /// Nothing has been worked on.
    #[error(
        "no volume of {path} is finished: do the work with `nbuf fleet work --tasks {path}/tasks.jsonl`",
        path = .0.display()
    )]
    Nothing(PathBuf),
    /// The folder cannot be written or read.
    #[error("cannot use {}: {source}; make room, or give another folder with --out", path.display())]
    Folder {
        /// What cannot be used.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the folder cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Python, which runs an engine, cannot be started.
    #[error(
        "cannot start {} for --on {runner} ({source}): install Python and `pip install {packages}`, or name \
         another Python with NBUF_PYTHON",
        python.display()
    )]
    Python {
        /// The program.
        python: PathBuf,
        /// The runner.
        runner: &'static str,
        /// What it needs.
        packages: &'static str,
        /// Why.
        source: io::Error,
    },
    /// An engine ended before all rows were done.
    #[error("{runner} failed: {text}; finished tasks are kept, and the same command continues")]
    Engine {
        /// The runner.
        runner: &'static str,
        /// What it says.
        text: String,
    },
    /// A worker cannot be started.
    #[error("cannot start a worker ({0}); check the limit on processes (`ulimit -u`)")]
    Worker(#[source] io::Error),
    /// No signal can end the work.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// Standard input or output of a worker is gone.
    #[error(transparent)]
    Pipe(#[from] io::Error),
}
