//! Finds the pattern, announces what it costs, and measures.

use std::path::{Path, PathBuf};

use super::spec::Spec;
use super::{measure, steps};
use crate::experiment::bench::measure::{Bench, HELD_BYTES_MAX};
use crate::experiment::bench::pattern_text::{AccessPattern, PatternError};
use crate::experiment::bench::spec::{directory, lent};
use crate::experiment::bench::table::COURSE_BYTES;
use crate::experiment::bench::{self, MEASURING, pattern_trace, test_files};
use crate::experiment::memory::bound;
use crate::experiment::notice::{Notice, PathNotice};
use crate::experiment::result::AdviceDocument;
use crate::experiment::session::Session;
use crate::meter::probe::ceiling;
use crate::sys::input;
use crate::units::{Bytes, Size, TooLarge};
use crate::workload::format::native::{self, ReadError};

/// What a record takes: its length, and how far it is from the one before.
const REQUEST_BYTES: u64 = 76;

/// Why there is no advice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdviceError {
    /// The spec has nothing to advise on.
    #[error("give --pattern or --trace")]
    NoPattern,
    /// The pattern writes.
    #[error("--file is only read; give a pattern that reads")]
    Writes,
    /// A block is larger than the file.
    #[error("a block of {0} does not fit into --file; give a smaller one")]
    Block(u64),
    /// The pattern has the size of another file.
    #[error("the pattern has a file of {pattern}, and --file one of {file}: leave `file SIZE` out")]
    FileSize {
        /// What the pattern says.
        pattern: Bytes,
        /// What the file has.
        file: Bytes,
    },
    /// The file is too small for the pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The trace cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// Its requests take too much memory.
    #[error("cannot read {}", .path.display())]
    TooLarge {
        /// The trace.
        path: PathBuf,
        /// How much.
        source: TooLarge,
    },
    /// It has no requests.
    #[error("{} has no reads and no writes; give --pattern", .0.display())]
    Empty(PathBuf),
    /// The way it is done now gives no number.
    #[error("{test}: {reason}; give another --now")]
    Now {
        /// The test of it.
        test: String,
        /// Why it has none.
        reason: String,
    },
    /// Nothing can be measured.
    #[error(transparent)]
    Bench(#[from] bench::Error),
}

impl AdviceError {
    /// Whether another command line helps.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Pattern(_))
    }
}

/// Measures a pattern in the way it is done now and in others, and advises. The processes are those of
/// [`bench::run`](crate::experiment::bench::run).
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<AdviceDocument, AdviceError> {
    let session = &*session;
    let pattern = match (spec.pattern, &spec.trace) {
        (Some(pattern), _) => pattern,
        (None, Some(path)) => of_trace(path, spec.memory, session)?,
        (None, None) => return Err(AdviceError::NoPattern),
    };
    let lent = spec.file.as_deref().map(lent).transpose()?;
    let pattern = match &lent {
        Some(_) if pattern.is_write => return Err(AdviceError::Writes),
        Some(lent) if lent.size_bytes < pattern.block_bytes => {
            return Err(AdviceError::Block(pattern.block_bytes));
        }
        // Without a size in the pattern, it has the size of the course's files.
        Some(lent)
            if spec.pattern.is_some()
                && ![COURSE_BYTES, lent.size_bytes].contains(&pattern.file_bytes) =>
        {
            return Err(AdviceError::FileSize {
                pattern: Bytes(pattern.file_bytes),
                file: Bytes(lent.size_bytes),
            });
        }
        Some(lent) => pattern.on(lent.size_bytes)?,
        None => pattern.on(pattern.file_bytes)?,
    };
    let directory = directory(spec.directory.as_deref(), session);
    test_files::sweep(&directory);
    announce(&pattern, (lent.is_none()).then_some(&directory), session)?;
    session.cancellation.listen().map_err(bench::Error::Signals)?;
    let mut bench = Bench::new(session, directory, ceiling::copy_rate());
    bench.lent = lent;
    let (mut done, steps) = (0, steps(&pattern, spec.now.name(), spec.verify));
    let mut step = |_: &str| {
        session.observer.progress(MEASURING, done, steps);
        done += 1;
    };
    let found = measure(&mut bench, &pattern, spec.now.name(), spec.verify, &mut step);
    session.observer.stage_over();
    found?.map_err(|refused| AdviceError::Now { test: refused.test, reason: refused.reason })
}

/// What will be measured, and on files in which directory; refused where there is no room for them.
fn announce(
    pattern: &AccessPattern,
    directory: Option<&PathBuf>,
    session: &Session<'_>,
) -> Result<(), bench::Error> {
    let size = Bytes(pattern.file_bytes);
    if let Some(directory) = directory {
        // Files in memory are made again while the old ones are there.
        let needed = Bytes(size.0.saturating_add(size.0.min(HELD_BYTES_MAX)));
        if test_files::room(directory)? < needed {
            return Err(bench::Error::Full { directory: directory.clone(), size: needed });
        }
    }
    let directory = directory.map(PathBuf::as_path);
    session.observer.notice(&Notice::Path(PathNotice::AdviceBegins { size, directory }));
    Ok(())
}

/// What most requests of a trace are like.
fn of_trace(
    path: &Path,
    memory: Option<Size>,
    session: &Session<'_>,
) -> Result<AccessPattern, AdviceError> {
    let file = input::open(path).map_err(bench::Error::from)?;
    let bound = bound(memory, "allow more with --memory");
    let unreadable = |source| AdviceError::Read { path: path.to_owned(), source };
    let trace = native::read_within(file, bound).map_err(unreadable)?;
    let requests = REQUEST_BYTES * trace.records.len() as u64 + trace.records.bytes();
    let too_large = |source| AdviceError::TooLarge { path: path.to_owned(), source };
    bound.allow("the requests of this trace", requests).map_err(too_large)?;
    let found =
        pattern_trace::of_trace(&trace).ok_or_else(|| AdviceError::Empty(path.to_owned()))?;
    if found.is_pages {
        let whole = PathNotice::WholePages { has_repeats: found.repeats > 0 };
        session.observer.notice(&Notice::Path(whole));
    }
    Ok(found.pattern)
}
