//! A rotating drive as a file, in nbuf's format or `DiskSim`'s.
//!
//! The format of nbuf is TOML ([`Document`], described in `docs/discs.md`). From `DiskSim` 4.0 it
//! reads a `.model` with its `.seek`, and a `.diskspecs` or `.parv` that names a `.model`. An
//! unknown parameter is an error with its line. This module opens no file: the caller provides a
//! reader for named files.

mod buffer;
pub(crate) mod disksim;
mod document;
mod seek;
mod times;
mod zone;

pub(crate) use buffer::BufferTable;
pub(crate) use document::{Document, HeadsName, SCHEMA, SchedulerName};
pub(crate) use seek::{CurveTable, PiecesTable, SeekTable};
pub(crate) use times::{BusTable, OverheadTable};

/// The error in a file that does not describe a drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", place(file, *line))]
pub struct DescriptionError {
    /// The file, if another one names it.
    pub file: String,
    /// The line, from 1; 0 if the error concerns the whole file.
    pub line: usize,
    /// The error and how to correct it.
    pub what: String,
}

fn place(file: &str, line: usize) -> String {
    match (file, line) {
        ("", 0) => String::new(),
        ("", line) => format!("line {line}: "),
        (file, 0) => format!("{file}: "),
        (file, line) => format!("{file}, line {line}: "),
    }
}

impl DescriptionError {
    pub(crate) fn at(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }

    fn whole(what: impl Into<String>) -> Self {
        Self::at("", 0, what)
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, DescriptionError> {
    Err(DescriptionError::whole(what))
}

/// Parses the text of a file; `read` returns the text of a file that it names.
pub fn parse(
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Document, DescriptionError> {
    if disksim::is_seek(text) {
        return wrong(
            "these are the seek times of a drive alone: give the .model that names this file",
        );
    }
    if disksim::is_one(text) { disksim::parse(text, read) } else { Document::parse(text) }
}

#[cfg(test)]
mod tests;
