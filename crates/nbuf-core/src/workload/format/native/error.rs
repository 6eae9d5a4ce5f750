//! Why a file is not read as a native trace, and what to do about it.

use parquet::errors::ParquetError;

use super::Holds;
use crate::trace::Facts;
use crate::units::TooLarge;

/// Why a file cannot be read as a native trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It takes more memory than may be used.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// There is nothing in it.
    #[error("the file is empty: record again, or recover the log with `nbuf trace recover`")]
    Empty,
    /// It does not begin as Parquet does.
    #[error(
        "this is not a Parquet file: give a trace that `nbuf record -o` wrote, or name its format"
    )]
    NotParquet,
    /// It begins as Parquet does, but its end is missing.
    #[error(
        "the trace is cut off after {file_bytes} bytes: copy it again, or recover the log it was made from with `nbuf trace recover`"
    )]
    Truncated {
        /// Bytes there are.
        file_bytes: u64,
    },
    /// A column is not there.
    #[error("the trace has no column `{column}`, only {}: docs/trace.md lists the columns", found.join(", "))]
    MissingColumn {
        /// The one that is missing.
        column: &'static str,
        /// Those there are.
        found: Vec<String>,
    },
    /// A column holds something else.
    #[error(
        "column `{column}` is {found}, and nbuf needs {wanted:?}: convert it with a CAST when writing the file"
    )]
    WrongType {
        /// Which column.
        column: &'static str,
        /// What it should hold.
        wanted: Holds,
        /// What it is.
        found: String,
    },
    /// A value is missing.
    #[error(
        "column `{column}` has no value in row {row}: leave such rows out, or fill them, when writing the file"
    )]
    Null {
        /// Which column.
        column: &'static str,
        /// Which row, from 0.
        row: u64,
    },
    /// A number does not fit its column.
    #[error(
        "column `{column}` has {value} in row {row}, which is out of its range: see docs/trace.md for the ranges"
    )]
    OutOfRange {
        /// Which column.
        column: &'static str,
        /// Which row, from 0.
        row: u64,
        /// What stands there.
        value: i128,
    },
    /// An operation has no such number.
    #[error(
        "row {row} has op {number}, and this nbuf reads 0 to 8: use a newer nbuf, or leave such rows out"
    )]
    UnknownOp {
        /// Which row, from 0.
        row: u64,
        /// The number.
        number: u64,
    },
    /// A column ends before its row group does.
    #[error(
        "column `{column}` ends at row {row}, before the others: the file is damaged, copy it again"
    )]
    Short {
        /// Which column.
        column: &'static str,
        /// The first row it does not have.
        row: u64,
    },
    /// A column cannot be decoded.
    #[error(
        "column `{column}` cannot be read at row {row} ({source}): the file is damaged, copy it again, or write it again with zstd or snappy"
    )]
    Column {
        /// Which column.
        column: &'static str,
        /// The first row of the batch that failed.
        row: u64,
        /// What the decoder says.
        source: ParquetError,
    },
    /// The file claims more rows than its size can hold.
    #[error(
        "the file claims {rows} rows in {file_bytes} bytes, which is impossible: it is damaged, copy it again"
    )]
    TooManyRows {
        /// Rows claimed.
        rows: u64,
        /// Bytes there are.
        file_bytes: u64,
    },
    /// There are more files than can be numbered.
    #[error("the trace names more than 4294967295 files: use a part of it")]
    TooManyFiles,
    /// The facts are of another version.
    #[error(
        "the facts of the trace are of schema `{found}`, and this nbuf reads `{}`: use the nbuf that wrote it",
        Facts::SCHEMA
    )]
    Schema {
        /// The schema found.
        found: String,
    },
    /// The facts cannot be understood.
    #[error(
        "the facts of the trace (metadata `nbuf`) cannot be read ({0}): remove that metadata to go on without them"
    )]
    Facts(serde_json::Error),
    /// Something else is wrong with it.
    #[error("the trace cannot be read ({0}): it is damaged, copy it again")]
    Damaged(#[from] ParquetError),
}
