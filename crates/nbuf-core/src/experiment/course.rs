//! The programs of the CS61 course: one file, written or read with the course's options, and how fast.
//!
//! A file that is written gets its name when it is whole: whatever ends the writing before, the name does
//! not exist, or still refers to the previous file.
//!
//! ```
//! use nbuf::experiment::course::{self, Program, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let directory = tempfile::tempdir()?;
//! let file = directory.path().join("data");
//! let spec = Spec {
//!     program: Program::Writer,
//!     file: file.clone(),
//!     size_bytes: 1 << 20,
//!     block_bytes: 4096,
//!     ..Spec::default()
//! };
//! let moved = course::run(&spec, &mut Session::new(&()))?;
//! assert_eq!((moved.bytes, std::fs::metadata(file)?.len()), (1 << 20, 1 << 20));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod spec;

pub use error::Error;
pub use spec::{Program, Spec};

use std::fs::File;
use std::time::Duration;

use super::notice::{Notice, PathNotice};
use super::result::CourseDocument;
use super::session::{Interim, Session};
use crate::clock::Stopwatch;
use crate::path::option_driven::{Loop, Means};
use crate::path::overwrite_guard::Draft;
use crate::path::{self, Direction, Pattern};
use crate::sys::input;

/// More writes that wait than this take minutes at least.
const SLOW_WRITES: u64 = 100_000;
/// Bytes, or operations if they are small, between two looks for a signal: a look costs a call.
const LOOK_BYTES: u64 = 1 << 20;
const LOOK_OPERATIONS: u64 = 1 << 10;
/// What stdio gathers before it asks the disc.
const STDIO_BYTES: u64 = 4096;
const NS_PER_SECOND: u128 = 1_000_000_000;

/// Writes or reads the file. The observer gets what was moved so far, as often as the spec has it. A signal
/// ends the writing, and the file is not made.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<CourseDocument, Error> {
    let pattern = spec.pattern()?;
    if (1..pattern.block_bytes).contains(&spec.stride_bytes) {
        session.observer.notice(&Notice::Path(PathNotice::BlocksOverlap {
            block_bytes: pattern.block_bytes,
            stride_bytes: spec.stride_bytes,
            end_bytes: pattern.end_bytes(),
        }));
    }
    match spec.program {
        Program::Writer => write(spec, pattern, session),
        Program::Reader | Program::Memreader => read(spec, pattern, session),
    }
}

fn write(spec: &Spec, pattern: Pattern, session: &Session<'_>) -> Result<CourseDocument, Error> {
    if spec.is_synced && pattern.operations() > SLOW_WRITES {
        let writes = pattern.operations();
        session.observer.notice(&Notice::Path(PathNotice::WritesWait { writes }));
    }
    session.cancellation.listen().map_err(Error::Signals)?;
    let path = || spec.file.clone();
    let refused = |source| Error::Refused { path: path(), source };
    let draft = Draft::begin(&spec.file, spec.force).map_err(refused)?;
    let file = draft.file(spec.is_synced);
    let file = file.map_err(|source| Error::Open { path: path(), source })?;
    let replaces = draft.replaces();
    let unfinished = |source| Error::Unfinished { path: path(), replaces, source };
    let abandoned = |is_interrupted| {
        let path = &spec.file;
        let abandoned = PathNotice::Abandoned { path, replaces, is_interrupted };
        session.observer.notice(&Notice::Path(abandoned));
    };
    match run_loop(spec, file, pattern, session) {
        Ok(moved) => {
            draft.publish().map_err(|error| unfinished(error.into()))?;
            Ok(moved)
        }
        Err(Stop::Signal(signal)) => {
            abandoned(true);
            Err(Error::Interrupted(signal))
        }
        Err(Stop::Failed(error)) => Err(unfinished(error)),
        Err(Stop::Observer(error)) => {
            if error.kind() != std::io::ErrorKind::BrokenPipe {
                abandoned(false);
            }
            Err(Error::Observer(error))
        }
    }
}

fn read(spec: &Spec, pattern: Pattern, session: &Session<'_>) -> Result<CourseDocument, Error> {
    let file = open(spec, &pattern)?;
    run_loop(spec, file, pattern, session).map_err(|stop| match stop {
        Stop::Signal(signal) => Error::Interrupted(signal),
        Stop::Observer(error) => Error::Observer(error),
        Stop::Failed(source) if spec.program == Program::Memreader => {
            Error::Map { path: spec.file.clone(), source }
        }
        Stop::Failed(source) => Error::Read { path: spec.file.clone(), source },
    })
}

/// A file with enough in it.
fn open(spec: &Spec, pattern: &Pattern) -> Result<File, Error> {
    let path = || spec.file.clone();
    let metadata = std::fs::metadata(&spec.file);
    let metadata = metadata.map_err(|source| Error::Absent { path: path(), source })?;
    if !metadata.is_file() {
        return Err(Error::NotRegular(path()));
    }
    let (has, wants) = (metadata.len(), pattern.size_bytes);
    if has < wants {
        return Err(Error::Short { path: path(), has, wants });
    }
    input::open(&spec.file).map_err(|source| Error::Input { path: path(), source })
}

/// Why a loop ended early.
enum Stop {
    Signal(i32),
    Failed(path::Error),
    Observer(std::io::Error),
}

impl<E: Into<path::Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// All of it; or until a signal comes, which only a writer listens for.
fn run_loop(
    spec: &Spec,
    file: File,
    pattern: Pattern,
    session: &Session<'_>,
) -> Result<CourseDocument, Stop> {
    let is_write = pattern.direction == Direction::Write;
    let (look, every) = (looks(&pattern, spec), spec.print_bytes);
    let mut steps = Loop::new(file, pattern, spec.means())?;
    let mut next = every;
    let clock = Stopwatch::start();
    steps.begin()?;
    for operation in 0..pattern.operations() {
        if is_write
            && operation % look == 0
            && let Some(signal) = session.cancellation.poll()
        {
            return Err(Stop::Signal(signal));
        }
        steps.step()?;
        if every > 0 && steps.moved_bytes() >= next {
            let moved = moved(steps.moved_bytes(), clock.elapsed());
            session.observer.interim(Interim::Moved(&moved)).map_err(Stop::Observer)?;
            next = (steps.moved_bytes() / every + 1).saturating_mul(every);
        }
    }
    steps.end()?;
    Ok(moved(steps.moved_bytes(), clock.elapsed()))
}

/// The document of these bytes in this time. No time at all counts as a nanosecond.
fn moved(bytes: u64, elapsed: Duration) -> CourseDocument {
    let rate = u128::from(bytes) * NS_PER_SECOND / elapsed.as_nanos().max(1);
    CourseDocument {
        schema: CourseDocument::SCHEMA.to_owned(),
        bytes,
        seconds: elapsed.as_secs_f64(),
        bytes_per_second: u64::try_from(rate).unwrap_or(u64::MAX),
    }
}

/// Operations between two looks for a signal. Where each call waits for the disc, a look costs little
/// compared with it, and Ctrl-C would have to wait for all of them.
fn looks(pattern: &Pattern, spec: &Spec) -> u64 {
    let bytes = match (spec.is_synced, spec.means()) {
        (true, Means::Streams) => STDIO_BYTES,
        (true, _) => 1,
        (false, _) => LOOK_BYTES,
    };
    (bytes / pattern.block_bytes.max(1)).clamp(1, LOOK_OPERATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_rounded_down_and_finite() {
        let rate = |bytes, ns| moved(bytes, Duration::from_nanos(ns)).bytes_per_second;
        assert_eq!(rate(10, 3_000_000_000), 3);
        assert_eq!(rate(5, 0), 5_000_000_000);
        assert_eq!(rate(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn who_waits_for_the_disc_looks_up_each_time() {
        let check = |block_bytes, uses_stdio, is_synced, want| {
            let spec = Spec { block_bytes, uses_stdio, is_synced, ..Spec::default() };
            assert_eq!(looks(&spec.pattern().unwrap(), &spec), want, "{spec:?}");
        };
        check(1, false, true, 1);
        check(4096, false, true, 1);
        check(1, true, true, 1024);
        check(512, true, true, 8);
        check(1, false, false, 1024);
        check(65536, false, false, 16);
        check(4 << 20, true, false, 1);
    }
}
