//! A drive that turns, as a file: our own, or those of `DiskSim`.
//!
//! Ours is TOML ([`Document`], described in `docs/discs.md`). Of `DiskSim` 4.0 a `.model` is read, with the
//! `.seek` that it names, and a `.diskspecs` or `.parv` that names a `.model`. A parameter that is not known is an
//! error with its line. Nothing here opens a file: who asks gives a reader for those that a file names.

mod buffer;
pub mod disksim;
mod document;
mod seek;
mod times;
mod zone;

pub use buffer::{AheadName, BufferTable};
pub use document::{Document, HeadsName, SCHEMA, SchedulerName};
pub use seek::{CurveTable, PiecesTable, SeekTable};
pub use times::{BusTable, DisconnectTable, ExtraWriteTable, OverheadTable, WatermarkOf};
pub use zone::{SchemeName, SparingTable, ZoneTable};

use super::model::drive::Drive;

/// A file that describes no drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", place(file, *line))]
pub struct DescriptionError {
    /// Which one, where another one names it.
    pub file: String,
    /// Where in it, from 1; 0 where it is about all of it.
    pub line: usize,
    /// What is wrong there, and what to do.
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

/// What the text of a file describes; `read` gives the text of a file that it names.
pub fn parse(
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Document, DescriptionError> {
    if disksim::is_one(text) { disksim::parse(text, read) } else { Document::parse(text) }
}

/// The drive that the text of a file describes.
pub fn drive(
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Drive, DescriptionError> {
    parse(text, read)?.drive()
}

#[cfg(test)]
mod tests;
