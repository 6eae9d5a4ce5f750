//! The library's tables of what can be chosen.

use nbuf::disc::DISCS;
use nbuf::experiment::curve::POLICIES;
use nbuf::experiment::trace::{FORMATS, Unit, expand};
use nbuf::units::{Bytes, Size};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::watch::watch;

/// Name, summary and source of each policy.
#[pyfunction]
pub(crate) fn policies() -> Vec<(&'static str, &'static str, &'static str)> {
    POLICIES.iter().map(|row| (row.name, row.summary, row.citation)).collect()
}

/// Name, unit, summary and parameters of each format.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let unit = |unit| if unit == Unit::Bytes { "bytes" } else { "keys" };
    FORMATS.iter().map(|row| (row.name, unit(row.unit), row.summary, row.parameters)).collect()
}

/// Name and summary of each disc.
#[pyfunction]
pub(crate) fn discs() -> Vec<(&'static str, &'static str)> {
    DISCS.iter().map(|row| (row.name, row.summary)).collect()
}

/// Name and summary of each pattern of `generate`.
#[pyfunction]
pub(crate) fn patterns() -> [(&'static str, &'static str); 4] {
    [
        ("zipf", "few keys often, many seldom"),
        ("uniform", "all keys alike"),
        ("loop", "all keys in order, again and again"),
        ("scan", "every key once"),
    ]
}

/// The objects of a store that a name or a pattern stands for; nothing for a path.
#[pyfunction]
pub(crate) fn objects(py: Python<'_>, name: String) -> PyResult<Option<Vec<String>>> {
    // A path asks for nothing, and needs no thread.
    if !name.contains("://") {
        return Ok(None);
    }
    let found = watch(py, 1, None, move |session| expand(&name, &session))?;
    found.map_err(|error| Failure::from(error).raise(py))
}

/// Bytes of a size such as `4KiB`.
#[pyfunction]
#[pyo3(signature = (text))]
#[expect(clippy::needless_pass_by_value, reason = "the way in from Python")]
pub(crate) fn size(py: Python<'_>, text: String) -> PyResult<u64> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(Bytes(bytes))) => Ok(bytes),
        Ok(Size::Percent(_)) => {
            Err(Failure::new(format!("`{text}` is a share: write bytes, such as 64MiB")).raise(py))
        }
        Err(error) => Err(Failure::from(error).raise(py)),
    }
}
