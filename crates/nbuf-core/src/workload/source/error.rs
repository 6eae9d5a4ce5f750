//! Why an input cannot be read as a trace, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::object::ObjectError;
use crate::sys::input::Refused;
pub use crate::sys::input::name as input_name;
use crate::units::TooLarge;
use crate::workload::format::native::ReadError;
use crate::workload::format::snapshot::SnapshotError;
use crate::workload::format::{ParameterError, Problem};

/// Why an input cannot be read as a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// No input was named.
    #[error("no trace is named: name a file, or - for standard input")]
    NoInput,
    /// It is no input.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It is in an object store, and cannot be had.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// It is the name of a synthetic workload, as a replay takes one, and of no file.
    #[error(
        "{name} is a synthetic workload, and a trace is read from a file: there is none of this name ({source}); make \
         one with `nbuf trace generate {pattern} -o FILE`, in Python by nbuf.generate"
    )]
    Synthetic {
        /// The name.
        name: String,
        /// Its part before the colon.
        pattern: &'static str,
        /// What the system says of a file of this name.
        source: io::Error,
    },
    /// It takes more memory than may be used.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// It is a text in another encoding.
    #[error(
        "{} is text in UTF-16: make it UTF-8 with `iconv -f UTF-16 -t UTF-8`",
        input_name(path)
    )]
    Utf16 {
        /// Which one.
        path: PathBuf,
    },
    /// It looks like a text, except bytes that no text has.
    #[error(
        "{} is text with NULs in it, as if it was not written whole: remove them with `tr -d '\\0'`, or copy it again",
        input_name(path)
    )]
    Nuls {
        /// Which one.
        path: PathBuf,
    },
    /// It has no bytes, packed or unpacked.
    #[error("{} is empty: check that it was copied", input_name(path))]
    Empty {
        /// Which one.
        path: PathBuf,
    },
    /// It breaks off with an error.
    #[error("cannot read {}: {source}", input_name(path))]
    Read {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing came out of what packs it.
    #[error(
        "the {packing} data of {} are cut off or damaged from the beginning ({source}): copy the file again",
        input_name(path)
    )]
    Packed {
        /// Which one.
        path: PathBuf,
        /// What packs it.
        packing: &'static str,
        /// What unpacking says.
        source: io::Error,
    },
    /// It looks like no format.
    #[error(
        "{} is {looks} of no known format: name its format with --from, `nbuf trace formats` lists them",
        input_name(path)
    )]
    Unknown {
        /// Which one.
        path: PathBuf,
        /// What it looks like: a text, a binary.
        looks: &'static str,
    },
    /// It is no snapshot of a store.
    #[error("{} is no snapshot: {source}", input_name(path))]
    Snapshot {
        /// Which one.
        path: PathBuf,
        /// What was expected.
        source: SnapshotError,
    },
    /// A snapshot breaks off before its first key.
    #[error(
        "{} cannot be read behind byte {at_bytes} (expected {wanted}): write the snapshot again",
        input_name(path)
    )]
    SnapshotBroken {
        /// Which one.
        path: PathBuf,
        /// The bytes before that place, unpacked.
        at_bytes: u64,
        /// What should stand there.
        wanted: &'static str,
    },
    /// A snapshot of an empty store.
    #[error("{} has no keys: write a snapshot of a store that has some", input_name(path))]
    SnapshotEmpty {
        /// Which one.
        path: PathBuf,
    },
    /// A trace and its snapshot would come through one pipe.
    #[error(
        "the trace and its snapshot are both standard input, which can be read only once: name a file for one of them"
    )]
    OneStandardInput,
    /// There is no such format.
    #[error("there is no format `{0}`: `nbuf trace formats` lists them")]
    NoFormat(String),
    /// The format cannot be read as was asked.
    #[error("{}: {source}", input_name(path))]
    Parameter {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: ParameterError,
    },
    /// Inputs of one trace count different things.
    #[error(
        "{} counts {found}, and the inputs before it count {wanted}: read them in separate commands",
        input_name(path)
    )]
    Mixed {
        /// The one that is different.
        path: PathBuf,
        /// What it counts.
        found: &'static str,
        /// What the others count.
        wanted: &'static str,
    },
    /// More is wrong with it than was allowed.
    #[error(
        "{} cannot be read, the first at {first}: name the right format with --from, or allow more with --problems-max",
        records(*count)
    )]
    TooManyProblems {
        /// How many so far.
        count: u64,
        /// Where the first is, and what is wrong there.
        first: String,
    },
    /// A record does not end.
    #[error(
        "{} has a record of more than {bytes} bytes: it is no trace of this format; name the right one with --from",
        input_name(path)
    )]
    RecordTooLong {
        /// Which one.
        path: PathBuf,
        /// How many bytes were looked at.
        bytes: usize,
    },
    /// The native trace cannot be read.
    #[error("{}: {source}", input_name(path))]
    Native {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
}

/// Patterns of synthetic workloads that a trace can be made of.
const PATTERNS: [&str; 4] = ["zipf", "uniform", "loop", "scan"];

impl SourceError {
    /// The error of an input that cannot be read on. An error of an object has the name of it.
    pub(super) fn of_reading(path: &Path, source: io::Error) -> Self {
        match source.downcast::<ObjectError>() {
            Ok(error) => Self::Object(error),
            Err(source) => Self::Read { path: path.to_owned(), source },
        }
    }

    /// The error of a file that cannot be opened by this name.
    pub(super) fn of_opening(path: &Path, refused: Refused) -> Self {
        let parts = path.to_str().and_then(|name| name.split_once(':'));
        let before = parts.filter(|_| refused.is_absent()).map(|parts| parts.0);
        let pattern = PATTERNS.into_iter().find(|&pattern| before == Some(pattern));
        match (pattern, refused) {
            (Some(pattern), Refused::Open { path, source }) => {
                Self::Synthetic { name: path.display().to_string(), pattern, source }
            }
            (_, refused) => Self::Refused(refused),
        }
    }
}

/// Whether a reader failed because its object cannot be had, whatever its bytes are.
pub(super) fn is_of_object(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<ObjectError>())
}

/// Where a problem is and what it is, in a line; `path` is the path of its input.
pub(super) fn describe(problem: &Problem, path: &Path) -> String {
    use crate::workload::format::Place;
    let place = match problem.place {
        Place::Line(line) => format!("line {line}"),
        Place::Byte(byte) => format!("byte {byte}"),
    };
    format!("{}, {place}: {}", input_name(path), problem.text)
}

fn records(count: u64) -> String {
    if count == 1 { "1 record".to_owned() } else { format!("{count} records") }
}
