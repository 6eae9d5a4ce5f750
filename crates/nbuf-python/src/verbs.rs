//! The verbs: a spec in JSON becomes a document in JSON.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use nbuf::experiment::document::{self, Document};
use nbuf::experiment::session::{Given, Session};
use nbuf::experiment::trace::{convert, generate, stat};
use nbuf::experiment::{curve, replay};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::Failure;
use crate::frame::Frame;
use crate::requests::Requests;
use crate::sys::{self, Numbers};
use crate::watch::watch;

/// A table whose rows are the requests of a trace.
#[pyclass(frozen, module = "nbuf._nbuf")]
pub(crate) struct Table(Arc<Requests>);

#[pymethods]
impl Table {
    /// The rows of what has `__arrow_c_stream__`; `columns` are roles and names of columns.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
    fn of_stream(source: &Bound<'_, PyAny>, columns: Vec<(String, String)>) -> PyResult<Self> {
        let py = source.py();
        let capsule: Bound<'_, PyCapsule> =
            source.call_method0("__arrow_c_stream__")?.cast_into()?;
        let (schema, reader) = sys::take(&capsule)?;
        let read = py.detach(|| -> Result<Requests, Failure> {
            let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>()?;
            Requests::new(&schema, batches, &columns).map_err(Failure::new)
        });
        Ok(Self(Arc::new(read.map_err(|failure| failure.raise(py))?)))
    }

    /// The rows of arrays of `NumPy`, and of frames of one column. Each has its role as its name; with `roles`, as
    /// columns of a stream have it.
    #[staticmethod]
    #[pyo3(signature = (columns, roles=None))]
    #[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
    fn of_arrays(
        py: Python<'_>,
        columns: Vec<(String, Bound<'_, PyAny>)>,
        roles: Option<Vec<(String, String)>>,
    ) -> PyResult<Self> {
        let mut arrays: Vec<(String, ArrayRef)> = Vec::new();
        for (name, array) in &columns {
            // Texts come as a table of their own.
            let column = match array.cast::<Frame>() {
                Ok(frame) => Arc::clone(frame.get().batches[0].column(0)),
                Err(_) => sys::column(name, array)?,
            };
            arrays.push((name.clone(), column));
        }
        let own = || columns.iter().map(|(name, _)| (name.clone(), name.clone())).collect();
        let named: Vec<(String, String)> = roles.unwrap_or_else(own);
        let lengths: Vec<String> =
            arrays.iter().map(|(name, array)| format!("{name} has {}", array.len())).collect();
        let made = Frame::of(arrays)
            .map_err(|_| format!("the arrays have different lengths: {}", lengths.join(", ")))
            .and_then(|frame| Requests::new(&frame.schema, frame.batches, &named));
        made.map(|made| Self(Arc::new(made))).map_err(|text| Failure::new(text).raise(py))
    }

    fn __len__(&self) -> usize {
        use nbuf::experiment::session::Rows as _;
        usize::try_from(self.0.count()).unwrap_or(usize::MAX)
    }
}

/// Runs a verb. The document, as `nbuf VERB --json` prints it.
#[pyfunction]
#[pyo3(signature = (verb, spec, *, table=None, seed=0, threads=0, progress=None))]
pub(crate) fn run(
    py: Python<'_>,
    verb: String,
    spec: String,
    table: Option<&Bound<'_, Table>>,
    seed: u64,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let given = table.map(|table| Given(Arc::<Requests>::clone(&table.get().0)));
    let done = watch(py, threads, progress, move |session| {
        let mut session = Session { given, seed, ..session };
        perform(&verb, &spec, &mut session)
    })?;
    done.map_err(|failure| failure.raise(py))
}

fn perform(verb: &str, spec: &str, session: &mut Session<'_>) -> Result<String, Failure> {
    match verb {
        "curve" => written(&curve::run(&read(spec)?, session)?),
        "stat" => written(&stat::run(&read(spec)?, session)?),
        "generate" => written(&generate::run(&read(spec)?, session)?),
        "convert" => written(&convert::run(&read(spec)?, session)?),
        "replay" => written(&replay::run(&read(spec)?, session)?),
        other => Err(Failure::new(format!("there is no verb `{other}`"))),
    }
}

/// A spec. By way of a value, because an error then names no place in a text that the caller never saw.
fn read<S: serde::de::DeserializeOwned>(spec: &str) -> Result<S, Failure> {
    let value: serde_json::Value = serde_json::from_str(spec)?;
    Ok(serde_json::from_value(value)?)
}

fn written<D: Document>(document: &D) -> Result<String, Failure> {
    Ok(document::write(document)?)
}

/// All requests of a trace.
#[pyfunction]
#[pyo3(signature = (inputs, *, table=None, progress=None))]
pub(crate) fn rows(
    py: Python<'_>,
    inputs: String,
    table: Option<&Bound<'_, Table>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Frame> {
    let given = table.map(|table| Given(Arc::<Requests>::clone(&table.get().0)));
    let done = watch(py, 0, progress, move |session| {
        crate::rows::rows(read(&inputs)?, Session { given, ..session })
    })?;
    done.map_err(|failure| failure.raise(py))
}

/// The stack distance of each page of a contiguous array of `NumPy`.
#[pyfunction]
#[pyo3(signature = (pages, *, progress=None))]
pub(crate) fn distances(
    py: Python<'_>,
    pages: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Numbers> {
    let column = sys::column("pages", pages)?;
    let done = watch(py, 1, progress, move |mut session| {
        let mut pages = Vec::new();
        crate::columns::numbers(&column, 0, column.len(), &mut pages);
        let spec = nbuf::experiment::distances::Spec { pages };
        nbuf::experiment::distances::run(&spec, &mut session).map_err(Failure::from)
    })?;
    let document = done.map_err(|failure| failure.raise(py))?;
    Ok(document.distances.into())
}
