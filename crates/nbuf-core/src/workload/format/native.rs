//! The native trace: one Parquet file, read by `DuckDB`, pandas and the rest without us.
//!
//! [`write()`] makes eight columns, all required ([`COLUMNS`]), in row groups of a million records,
//! and puts the [`Facts`](crate::trace::Facts) as JSON under the key [`FACTS_KEY`].
//! [`read()`] takes what others make of such a file too: columns in any order, nullable without
//! nulls, of another integer width, coded otherwise, without facts.
//!
//! Invariant: a trace is read back as it was written, with two exceptions. Files are numbered in
//! order of first use, and unused names are dropped. Cost: some 5.5 bytes a record on disc, and in
//! memory a row group in columns besides the trace. The tests give the amounts and the speed.
//! `docs/trace.md` is for readers. Parquet: <https://parquet.apache.org/docs/file-format/>. It is
//! not used while recording, because a Parquet file cannot be read before its end is written; see
//! `log`.
//!
//! ```
//! use nbuf::trace::Trace;
//! use nbuf::workload::format::native;
//!
//! let mut file = Vec::new();
//! native::write(&Trace::default(), &mut file)?;
//! assert!(native::read(bytes::Bytes::from(file))?.records.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column;
mod error;
mod guard;
mod read;
mod thrift;
mod write;

pub use error::ReadError;
#[cfg(feature = "system")]
pub(crate) use read::read_with;
pub use read::{read, read_within};
#[cfg(feature = "capture")]
pub(crate) use read::{rows, started};
#[cfg(feature = "capture")]
pub(crate) use write::write_with;
pub use write::{WriteError, write};

/// The key of the metadata under which the facts stand.
pub const FACTS_KEY: &str = "nbuf";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holds {
    /// A signed number of 64 bits.
    Signed64,
    /// An unsigned number of this many bits.
    Unsigned(u8),
    /// Text.
    Name,
}

/// A column of the native trace.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
}

/// The columns, in the order they are written.
pub const COLUMNS: [Column; 8] = [
    column("time_ns", Holds::Signed64),
    column("op", Holds::Unsigned(8)),
    column("file", Holds::Name),
    column("offset_bytes", Holds::Unsigned(64)),
    column("length_bytes", Holds::Unsigned(32)),
    column("file_bytes", Holds::Unsigned(64)),
    column("task", Holds::Unsigned(32)),
    column("request", Holds::Unsigned(32)),
];

const fn column(name: &'static str, holds: Holds) -> Column {
    Column { name, holds }
}

#[cfg(test)]
mod tests;
