//! The library's errors as Python's exceptions, with the words of the program.

use std::error::Error;
use std::io;

use nbuf::experiment::notice::causes;
use pyo3::prelude::*;

/// Why there is no result, until it can be raised.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    is_missing_file: bool,
}

impl Failure {
    /// A failure with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_missing_file: false }
    }

    /// The exception: `nbuf.Error`, or `nbuf.MissingFile`, which is Python's error for that too.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let name = if self.is_missing_file { "MissingFile" } else { "Error" };
        let made = py
            .import("nbuf._errors")
            .and_then(|module| module.getattr(name))
            .and_then(|class| class.call1((self.text,)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut next: Option<&(dyn Error + 'static)> = Some(&error);
        let mut is_missing_file = false;
        while let Some(cause) = next {
            let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
            is_missing_file |= kind == Some(io::ErrorKind::NotFound);
            next = cause.source();
        }
        Self { text: causes(&error), is_missing_file }
    }
}
