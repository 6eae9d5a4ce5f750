//! The steps of a fleet: what `nbuf.fleet` and the runners of engines call.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use nbuf::experiment::curve::Choice;
use nbuf::experiment::document;
use nbuf::experiment::fleet::{self, Ask, Spec, TASKS};
use nbuf::experiment::result::FleetBy;
use nbuf::experiment::session::Session;
use nbuf::units::Bytes;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::Failure;
use crate::watch::watch;

/// A spec as Python writes it.
#[derive(Deserialize)]
struct Plan {
    inputs: Vec<String>,
    out: PathBuf,
    by: FleetBy,
    format: Option<String>,
    page_bytes: u64,
    split: String,
    workers: u16,
    memory: Option<String>,
    #[serde(default)]
    policies: Vec<String>,
    policy_size: Option<String>,
    until: Option<String>,
    partitions: Option<FleetBy>,
}

impl Plan {
    fn spec(self) -> Result<Spec, Failure> {
        Ok(Spec {
            inputs: self.inputs,
            out: self.out,
            by: self.by,
            format: self.format.map(|format| format.parse()).transpose()?,
            page_bytes: self.page_bytes,
            split: self.split.parse()?,
            workers: self.workers,
            memory: self.memory.map(|memory| memory.parse()).transpose()?,
            policies: policies(&self.policies)?,
            policy_size: match self.policy_size {
                Some(size) => size.parse()?,
                None => Spec::default().policy_size,
            },
            until: self.until.map(|until| until.parse()).transpose()?,
            partitions: self.partitions,
            ..Spec::default()
        })
    }
}

fn policies(names: &[String]) -> Result<Vec<Choice>, Failure> {
    let choice = |name: &String| Ok(name.parse::<Choice>()?);
    names.iter().map(choice).collect()
}

/// Makes the plan. How many tasks it has, and files that are not in it: of no known format, and by another name.
#[pyfunction]
pub(crate) fn fleet_plan(
    py: Python<'_>,
    spec: String,
) -> PyResult<(usize, Vec<PathBuf>, Vec<PathBuf>)> {
    let plan = move |session: Session<'_>| -> Result<_, Failure> {
        let plan: Plan = serde_json::from_value(serde_json::from_str(&spec)?)?;
        let planned = fleet::plan(&plan.spec()?, &session)?;
        Ok((planned.tasks.len(), planned.unknown, planned.doubles))
    };
    watch(py, 1, None, plan)?.map_err(|failure| failure.raise(py))
}

/// The rows of a plan that are left: the number and the text of each.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
pub(crate) fn fleet_left(py: Python<'_>, tasks: PathBuf) -> PyResult<Vec<(usize, String)>> {
    py.detach(|| fleet::left(&tasks)).map_err(|error| Failure::from(error).raise(py))
}

/// Does a row. The error of it, if it has one.
#[pyfunction]
pub(crate) fn fleet_work(py: Python<'_>, out: PathBuf, row: String) -> PyResult<Option<String>> {
    let done = watch(py, 1, None, move |session| fleet::work_row(&out, &row, &session))?;
    let done = done.map_err(|error| Failure::from(error).raise(py))?;
    Ok(done.and_then(|row| row.error))
}

/// Makes a row an error.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
pub(crate) fn fleet_give_up(
    py: Python<'_>,
    out: PathBuf,
    row: String,
    error: String,
) -> PyResult<()> {
    fleet::give_up(&out, &row, &error).map_err(|error| Failure::from(error).raise(py))
}

/// Does all rows with processes of `command`, which calls [`fleet_serve`]. How many failed.
#[pyfunction]
#[pyo3(signature = (tasks, workers, command, *, progress=None))]
pub(crate) fn fleet_local(
    py: Python<'_>,
    tasks: PathBuf,
    workers: u16,
    command: Vec<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<usize> {
    let done = watch(py, 1, progress, move |session| {
        let start = |_: &str| -> io::Result<Command> {
            let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
            let mut made = Command::new(program);
            made.args(arguments);
            Ok(made)
        };
        let session = Session { start: Some(&start), ..session };
        fleet::work_locally(&tasks, workers, &session)
    })?;
    Ok(done.map_err(|error| Failure::from(error).raise(py))?.failed)
}

/// A worker of [`fleet_local`], until its standard input ends.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
pub(crate) fn fleet_serve(py: Python<'_>, tasks: PathBuf) -> PyResult<()> {
    let serve = || fleet::serve(&tasks, BufReader::new(io::stdin()), io::stdout());
    py.detach(serve).map_err(|error| Failure::from(error).raise(py))
}

/// What is asked of what is finished.
#[derive(Deserialize)]
struct Question {
    hit_ratio: f64,
    budget: Option<u64>,
    miss_ms: Option<f64>,
    miss_price: Option<f64>,
    gib_price: Option<f64>,
}

impl Question {
    fn read(text: &str) -> Result<Ask, Failure> {
        let Self { hit_ratio, budget, miss_ms, miss_price, gib_price } =
            serde_json::from_value(serde_json::from_str(text)?)?;
        Ok(Ask { hit_ratio, budget: budget.map(Bytes), miss_ms, miss_price, gib_price })
    }
}

/// The document of what is finished in a folder.
#[pyfunction]
pub(crate) fn fleet_reduce(py: Python<'_>, out: PathBuf, ask: String) -> PyResult<String> {
    let reduce = move |session: Session<'_>| -> Result<String, Failure> {
        let drawn = fleet::reduce(&out, &Question::read(&ask)?, &session)?;
        Ok(document::write(&drawn)?)
    };
    watch(py, 1, None, reduce)?.map_err(|failure| failure.raise(py))
}

/// The document of curves that are known, with a split of the budget.
#[pyfunction]
pub(crate) fn fleet_allocate(py: Python<'_>, curves: String, ask: String) -> PyResult<String> {
    let allocate = move |_: Session<'_>| -> Result<String, Failure> {
        let known: fleet::Known = serde_json::from_value(serde_json::from_str(&curves)?)?;
        Ok(document::write(&fleet::allocate(&known, &Question::read(&ask)?)?)?)
    };
    watch(py, 1, None, allocate)?.map_err(|failure| failure.raise(py))
}

/// The document of curves that are merged: as `average` or `partitioned`.
#[pyfunction]
pub(crate) fn fleet_merge(py: Python<'_>, curves: String, how: String) -> PyResult<String> {
    let merge = move |_: Session<'_>| -> Result<String, Failure> {
        let known: fleet::Known = serde_json::from_value(serde_json::from_str(&curves)?)?;
        let how: fleet::Merge = serde_json::from_value(serde_json::Value::String(how))?;
        Ok(document::write(&fleet::merge(&known, how)?)?)
    };
    watch(py, 1, None, merge)?.map_err(|failure| failure.raise(py))
}

/// Where the plan of a folder is.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
pub(crate) fn fleet_tasks(out: PathBuf) -> PathBuf {
    Path::new(&out).join(TASKS)
}
