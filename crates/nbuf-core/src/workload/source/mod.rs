//! Traces in anybody's format as one stream of requests: the inputs are opened, unpacked,
//! recognised and parsed.
//!
//! Several inputs are one trace: one after the other, or merged by time where the format has a file
//! for each processor. Invariant: what cannot be read is counted and said, and too much of it is an
//! error. Cost: see `docs/performance.md`. The parsers are in [`format`](super::format), which opens
//! nothing.
//!
//! ```
//! use nbuf::workload::format::Batch;
//! use nbuf::workload::source::{Options, Source};
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("keys.txt");
//! std::fs::write(&path, "a\nb\na\n")?;
//! let mut source = Source::open(&[path], &Options::default())?;
//! let (mut batch, mut requests) = (Batch::default(), 0);
//! while source.next(&mut batch)? {
//!     requests += batch.requests.len();
//! }
//! assert_eq!(requests, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cancellation;
mod detected;
mod error;
mod feed;
mod given;
mod input;
mod intake;
pub(crate) mod object;
mod open;
mod opening;
mod options;
mod parser_pool;
mod progress;
mod snapshot;
mod stream;
mod text;
mod unpack;

pub(crate) use cancellation::CancellationToken;
pub use detected::Detected;
pub use error::{SourceError, input_name};
pub use given::{Given, Rows};
pub use input::Packing;
pub use object::ObjectError;
pub(crate) use object::expand;
pub(crate) use opening::Opening;
pub use options::Options;
pub use progress::Progress;
pub(crate) use snapshot::{must_be_apart, open_snapshot};

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use self::input::Input;
use self::open::{Opened, open};
use self::progress::Counter;
use self::stream::{Side, Stream};
use super::format::{Batch, Objects, Problem, Problems};
use crate::sys;
use crate::trace::request::Unit;
use crate::units::Bound;

/// Whether a file looks like a trace of some format. One that cannot be read, or is empty, may be one.
pub(crate) fn is_known(path: &Path, token: &CancellationToken) -> bool {
    let input = Input::open(path, Bound::NONE, 1, &mut Counter::default(), token);
    let looks = input.and_then(|input| open::looks_like_a_trace(&input));
    !matches!(looks, Err(SourceError::Unknown { .. }))
}

/// Whether an input can be read a second time from its beginning: a regular file by its name, or an object.
pub(crate) fn comes_again(path: &Path) -> bool {
    object::is_object(path) || sys::input::comes_again(path)
}

/// A trace that is being read.
pub struct Source {
    paths: Vec<PathBuf>,
    detected: Detected,
    waiting: VecDeque<Stream>,
    is_merged: bool,
    work: Batch,
    objects: Objects,
    problems: Problems,
    problems_max: u64,
    warnings: Vec<String>,
    memory: Bound,
    /// Memory of the inputs that are read at once.
    held: u64,
    /// Memory of what is joined to its requests.
    joined_bytes: u64,
    /// How often names are kept: by each thread that parses, too.
    copies: u64,
    /// The input that is read, from 0.
    current: usize,
    counter: Counter,
    token: CancellationToken,
}

impl Source {
    /// Opens a trace in one or several files; `-` is standard input.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self, SourceError> {
        Self::open_with(paths, options, &Opening::default())
    }

    /// The same with reports, and an end before its time.
    pub(crate) fn open_with(
        paths: &[PathBuf],
        options: &Options,
        opening: &Opening<'_>,
    ) -> Result<Self, SourceError> {
        let mut waiting = VecDeque::new();
        let (mut first, mut warnings) = (None::<Detected>, Vec::new());
        let (mut held, mut counter) = (0, Counter::default());
        // The places of the inputs that are read.
        let mut places: Vec<usize> = Vec::new();
        if let Some(given) = &options.given {
            first = Some(given.detected());
            waiting.push_back(Stream::Given(given.stream(&mut counter)));
            places.extend(0..paths.len());
        }
        let merged = if options.merge { paths.len() } else { 1 };
        for (place, path) in paths.iter().enumerate().filter(|_| options.given.is_none()) {
            let memory = options.memory.without(held);
            let options = Options { memory, ..options.clone() };
            let before = counter.counted();
            let input = Input::open(path, memory, merged, &mut counter, &opening.token)?;
            if opening.skips_empty && input.head.is_empty() {
                continue;
            }
            let mut opened: Opened = open(input, &options, paths.len(), opening)?;
            held += opened.bytes;
            if let Stream::Native(native) = &mut opened.stream {
                native.count_by(&counter, before);
            }
            let first = first.get_or_insert_with(|| opened.detected.clone());
            must_count(path, opened.detected.unit, first.unit)?;
            places.push(place);
            waiting.push_back(opened.stream);
            warnings.extend(opened.warnings);
        }
        let detected = first.ok_or_else(|| none(paths))?;
        let is_shared = waiting.iter().any(|stream| matches!(stream, Stream::ParserPool(_)));
        let parser_pool = if is_shared { parser_pool::ParserPool::size() } else { 0 };
        let is_merged = waiting.len() > 1 && (options.merge || detected.format.is_merged);
        if is_merged {
            let later = |&place: &usize| options.later_ns.get(place).copied().unwrap_or(0);
            let sides = waiting.drain(..).zip(places.iter().map(later));
            let sides = sides.map(|(one, later)| Side::new(one, later)).collect();
            waiting.push_back(Stream::Merged(sides));
        }
        Ok(Self {
            paths: places.into_iter().map(|place| paths[place].clone()).collect(),
            detected,
            waiting,
            is_merged,
            work: Batch::default(),
            objects: Objects::default(),
            problems: Problems::default(),
            problems_max: options.problems_max,
            warnings,
            memory: options.memory,
            held,
            joined_bytes: 0,
            copies: 1 + parser_pool as u64 + u64::from(is_merged),
            current: 0,
            counter,
            token: opening.token.clone(),
        })
    }

    /// Puts the next requests, about [`BATCH_REQUESTS`](super::format::BATCH_REQUESTS), in place of those of the batch; nothing
    /// else of the batch is used. False at the end, and after a cancellation.
    pub fn next(&mut self, batch: &mut Batch) -> Result<bool, SourceError> {
        batch.requests.clear();
        while let Some(stream) = self.waiting.front_mut() {
            std::mem::swap(&mut self.work.requests, &mut batch.requests);
            std::mem::swap(&mut self.work.objects, &mut self.objects);
            let more = stream.fill(&mut self.work);
            std::mem::swap(&mut self.work.objects, &mut self.objects);
            std::mem::swap(&mut self.work.requests, &mut batch.requests);
            if more.is_err() && self.token.is_cancelled() {
                return Ok(!batch.requests.is_empty());
            }
            self.judge()?;
            self.memory.allow("the names and sizes of this trace", self.bytes())?;
            if !more? {
                let ended = self.waiting.pop_front();
                if let Some(next) = self.waiting.front_mut() {
                    next.follow(ended);
                }
                self.current += 1;
                (self.work.lines, self.work.bytes, self.work.held_bytes) = (0, 0, 0);
            }
            if !batch.requests.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes over the problems of a batch, and refuses to go on when there are too many.
    fn judge(&mut self) -> Result<(), SourceError> {
        // Inputs that are merged have said which they are.
        for problem in self.work.problems.kept.iter_mut().filter(|_| !self.is_merged) {
            problem.input = self.current;
        }
        self.problems.append(&mut self.work.problems);
        if self.problems.count <= self.problems_max { Ok(()) } else { Err(self.unreadable()) }
    }

    /// That records cannot be read, with the first of them.
    pub(crate) fn unreadable(&self) -> SourceError {
        let first = self.problems.kept.first().map(|problem| self.describe(problem));
        let count = self.problems.count;
        SourceError::TooManyProblems { count, first: first.unwrap_or_default() }
    }

    /// States the memory of what is joined to its requests.
    pub(crate) fn set_joined_bytes(&mut self, bytes: u64) {
        self.joined_bytes = bytes;
    }

    /// Memory that it has in use, next to blocks that are read.
    pub fn bytes(&self) -> u64 {
        self.held + self.joined_bytes + self.work.held_bytes + self.copies * self.objects.bytes()
    }

    /// How much was read; nothing where the whole is unknown, as for a pipe.
    pub fn progress(&self) -> Option<Progress> {
        self.counter.progress()
    }

    /// What the inputs were taken for.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// Names of the objects that appeared so far, by number. None for formats without names.
    pub fn objects(&self) -> &[String] {
        self.objects.names()
    }

    /// What could not be read so far.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// What a reader of any later report must know of a recorded trace.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where a problem is and what it is, in a line.
    pub fn describe(&self, problem: &Problem) -> String {
        error::describe(problem, &self.paths[problem.input.min(self.paths.len() - 1)])
    }
}

/// That there is nothing to read.
fn none(paths: &[PathBuf]) -> SourceError {
    match paths.first() {
        Some(path) => SourceError::Empty { path: path.clone() },
        None => SourceError::NoInput,
    }
}

/// Refuses an input that counts another thing than those before it.
fn must_count(path: &Path, found: Unit, wanted: Unit) -> Result<(), SourceError> {
    let name = |unit| if unit == Unit::Bytes { "bytes" } else { "keys" };
    if found == wanted {
        return Ok(());
    }
    let (path, found, wanted) = (path.to_owned(), name(found), name(wanted));
    Err(SourceError::Mixed { path, found, wanted })
}

#[cfg(test)]
mod tests;
