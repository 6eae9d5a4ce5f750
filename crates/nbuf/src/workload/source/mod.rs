//! Traces in anybody's format as one stream of requests: the inputs are opened, unpacked,
//! recognised and parsed.
//!
//! Several inputs are one trace: one after the other, or merged by time where the format has a file
//! for each processor. Invariant: what cannot be read is counted and said, and too much of it is an
//! error. Cost: see `docs/performance.md`. The parsers are in [`format`](super::format), which opens
//! nothing.

mod error;
mod feed;
mod input;

pub use error::SourceError;
pub use input::Packing;

use std::collections::VecDeque;
use std::fmt;
use std::iter::Peekable;
use std::path::PathBuf;

use self::feed::Feed;
use self::input::Input;
use super::format::{
    self, BATCH_REQUESTS, Batch, FORMATS, Format, Head, Likeness, Objects, Parameters, Problem,
    Problems, Reading, native,
};
use super::request::{Request, Unit};
use super::trace::{Records, Trace};

/// How a trace is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its format, instead of what it looks like.
    pub format: Option<Parameters>,
    /// Reading ends with an error when more than this cannot be read.
    pub problems_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: None, problems_max: 1000 }
    }
}

/// What the inputs were taken for.
#[derive(Clone, Debug)]
pub struct Detected {
    /// The format of the first input.
    pub format: &'static Format,
    /// What it is packed with.
    pub packing: Packing,
    /// What the offsets count.
    pub unit: Unit,
    /// How sure that is; `None` when the format was named.
    pub likeness: Option<Likeness>,
    /// Other formats that are as likely.
    pub also: Vec<&'static str>,
}

impl fmt::Display for Detected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Bytes => "bytes",
            Unit::Keys => "keys",
        };
        write!(f, "{} ({unit}), {}", self.format.name, self.packing.name())?;
        match self.likeness {
            None => write!(f, ", as named"),
            Some(Likeness::Possible) => write!(f, ", a guess"),
            Some(_) => Ok(()),
        }?;
        if self.also.is_empty() {
            return Ok(());
        }
        write!(f, "; could as well be {}", self.also.join(", "))
    }
}

/// A trace that is being read.
pub struct Source {
    paths: Vec<PathBuf>,
    detected: Detected,
    waiting: VecDeque<Stream>,
    work: Batch,
    objects: Objects,
    problems: Problems,
    problems_max: u64,
    cautions: Vec<String>,
    /// The input that is read, from 0.
    current: usize,
}

/// A native trace, which is in memory.
struct Native {
    records: Peekable<<Records as IntoIterator>::IntoIter>,
    files: Vec<String>,
    /// What its files are numbered here, once that is known.
    numbers: Vec<u32>,
}

/// An input on its way to requests.
enum Stream {
    Feed(Feed),
    Native(Box<Native>),
}

impl Source {
    /// Opens a trace in one or several files; `-` is standard input.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self, SourceError> {
        let mut source: Option<Self> = None;
        for path in paths {
            let (stream, detected, cautions) = open(Input::open(path)?, options)?;
            let Some(source) = &mut source else {
                source = Some(Self {
                    paths: paths.to_vec(),
                    detected,
                    waiting: VecDeque::from([stream]),
                    work: Batch::default(),
                    objects: Objects::default(),
                    problems: Problems::default(),
                    problems_max: options.problems_max,
                    cautions,
                    current: 0,
                });
                continue;
            };
            if source.detected.unit != detected.unit {
                let name = |unit| if unit == Unit::Bytes { "bytes" } else { "keys" };
                let (found, wanted) = (name(detected.unit), name(source.detected.unit));
                return Err(SourceError::Mixed { path: path.clone(), found, wanted });
            }
            source.waiting.push_back(stream);
            source.cautions.extend(cautions);
        }
        source.ok_or(SourceError::NoInput)
    }

    /// Puts the next requests, about [`BATCH_REQUESTS`], in place of those of the batch; nothing
    /// else of the batch is used. False at the end.
    pub fn next(&mut self, batch: &mut Batch) -> Result<bool, SourceError> {
        batch.requests.clear();
        while let Some(stream) = self.waiting.front_mut() {
            std::mem::swap(&mut self.work.requests, &mut batch.requests);
            std::mem::swap(&mut self.work.objects, &mut self.objects);
            let more = stream.fill(&mut self.work);
            std::mem::swap(&mut self.work.objects, &mut self.objects);
            std::mem::swap(&mut self.work.requests, &mut batch.requests);
            self.judge()?;
            if !more? {
                self.waiting.pop_front();
                self.current += 1;
                (self.work.lines, self.work.bytes) = (0, 0);
            }
            if !batch.requests.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes over the problems of a batch, and refuses to go on when there are too many.
    fn judge(&mut self) -> Result<(), SourceError> {
        for problem in &mut self.work.problems.kept {
            problem.input = self.current;
        }
        self.problems.append(&mut self.work.problems);
        if self.problems.count <= self.problems_max {
            return Ok(());
        }
        let first = self.problems.kept.first().map(|problem| self.describe(problem));
        let count = self.problems.count;
        Err(SourceError::TooManyProblems { count, first: first.unwrap_or_default() })
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

    /// What a reader of any later report must be told of a recorded trace.
    pub fn cautions(&self) -> &[String] {
        &self.cautions
    }

    /// Where a problem is and what it is, in a line.
    pub fn describe(&self, problem: &Problem) -> String {
        error::describe(problem, &self.paths[problem.input.min(self.paths.len() - 1)])
    }
}

impl Stream {
    /// Fills a batch. Says whether there may be more.
    fn fill(&mut self, out: &mut Batch) -> Result<bool, SourceError> {
        match self {
            Self::Feed(feed) => feed.fill(out),
            Self::Native(native) => {
                let Native { records, files, numbers } = &mut **native;
                numbers.extend(files.drain(..).map(|name| out.objects.number(name.as_bytes())));
                let requests = records.filter_map(|record| format::native_request(&record));
                out.requests.extend(requests.take(BATCH_REQUESTS).map(|request| {
                    let object = numbers.get(request.object as usize).copied();
                    Request { object: object.unwrap_or(request.object), ..request }
                }));
                Ok(records.peek().is_some())
            }
        }
    }
}

/// Finds out what an input is and how it is read.
fn open(input: Input, options: &Options) -> Result<(Stream, Detected, Vec<String>), SourceError> {
    let path = input.path.clone();
    if input.head.is_empty() {
        return Err(SourceError::Empty { path });
    }
    let head = Head { bytes: &input.head, is_whole: input.is_whole };
    let none = Parameters::default();
    let (format, parameters, likeness, also) = if let Some(named) = &options.format {
        let format = format::find(&named.format)
            .ok_or_else(|| SourceError::NoFormat(named.format.clone()))?;
        (format, named, None, Vec::new())
    } else {
        let guess = format::guess(FORMATS, head, &input.name()).ok_or_else(|| {
            let is_text = input.head.iter().all(|byte| *byte >= 32 || b"\t\r\n".contains(byte));
            let looks = if is_text { "a text" } else { "a binary file" };
            SourceError::Unknown { path: path.clone(), looks }
        })?;
        (guess.format, &none, Some(guess.likeness), guess.also)
    };
    let detected = Detected { format, packing: input.packing, unit: format.unit, likeness, also };
    let (Reading::Lines(make) | Reading::Stream(make)) = format.reading else {
        let Trace { records, files, facts } = read_native(input)?;
        let records = records.into_iter().peekable();
        let native = Native { records, files, numbers: Vec::new() };
        return Ok((Stream::Native(Box::new(native)), detected, facts.cautions));
    };
    let made = make(parameters, head).map_err(|source| SourceError::Parameter { path, source })?;
    let detected = Detected { unit: made.unit, ..detected };
    Ok((Stream::Feed(Feed::new(input, made.parser)), detected, Vec::new()))
}

/// A native trace has its index at its end: it is read at once.
fn read_native(input: Input) -> Result<Trace, SourceError> {
    let Input { path, mut head, mut rest, file, .. } = input;
    let read = match file {
        Some(file) => native::read(file),
        None => {
            if let Err(source) = rest.read_to_end(&mut head) {
                return Err(SourceError::Read { path, source });
            }
            native::read(bytes::Bytes::from(head))
        }
    };
    read.map_err(|source| SourceError::Native { path, source })
}

#[cfg(test)]
mod tests;
