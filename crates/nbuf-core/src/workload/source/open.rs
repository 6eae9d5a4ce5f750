//! What an input is and how it is read.

use std::io::Read as _;

use super::error::SourceError;
use super::feed::Feed;
use super::input::{Input, Packing};
use super::opening::Opening;
use super::parser_pool::ParserPool;
use super::stream::{Native, Stream};
use super::{Detected, Options};
use crate::trace::Trace;
use crate::units::Bound;
use crate::workload::format::native::ReadError;
use crate::workload::format::{
    self, FORMATS, Format, Guess, Head, Make, ParameterError, Parameters, Parser, Reading, native,
};

/// An input that can be read.
pub(super) struct Opened {
    pub(super) stream: Stream,
    pub(super) detected: Detected,
    /// What its recording said of itself.
    pub(super) warnings: Vec<String>,
    /// Memory that is in use for as long as it is read.
    pub(super) bytes: u64,
}

/// Inputs that are merged are read at once: each has threads of its own up to this number of them.
const THREADED_INPUTS_MAX: usize = 8;

/// Finds out what an input is and how it is read, as one of several inputs.
///
/// A native trace is read at once.
pub(super) fn open(
    input: Input,
    options: &Options,
    inputs: usize,
    opening: &Opening<'_>,
) -> Result<Opened, SourceError> {
    if input.head.is_empty() {
        return Err(SourceError::Empty { path: input.path });
    }
    let none = Parameters::default();
    let parameters = options.format.as_ref().unwrap_or(&none);
    let (format, guess) = if let Some(named) = &options.format {
        (find(&named.format)?, None)
    } else {
        let guess = guess(&input)?;
        (guess.format, Some(guess))
    };
    let likeness = guess.as_ref().map(|guess| guess.likeness);
    let also = guess.map_or_else(Vec::new, |guess| guess.also);
    let (unit, packing) = (format.unit, input.packing);
    let mut detected = Detected { format, packing, unit, has_sizes: true, likeness, also };
    let (make, is_lines) = match format.reading {
        Reading::Native => {
            let Trace { records, files, facts } = read_native(input, options.memory, opening)?;
            let bytes =
                records.bytes() + files.iter().map(|name| name.len() as u64 + 24).sum::<u64>();
            let stream = Stream::Native(Box::new(Native::new(records, files)));
            let warnings = facts.capture.loss().into_iter().chain(facts.warnings).collect();
            return Ok(Opened { stream, detected, warnings, bytes });
        }
        Reading::Lines(make) => (make, true),
        Reading::Stream(make) => (make, false),
    };
    let head = Head { bytes: &input.head, is_whole: input.is_whole };
    let path = input.path.clone();
    let wrong = |source| SourceError::Parameter { path, source };
    let first = make(parameters, head).map_err(wrong)?;
    (detected.unit, detected.has_sizes) = (first.unit, first.has_sizes);
    // A parser that reads the next input too cannot be with another thread.
    let goes_on = first.parser.goes_on().is_some() && inputs > 1;
    let is_one_of_many = options.merge && inputs > THREADED_INPUTS_MAX;
    let stream = stream(input, first.parser, is_lines, parameters, make, goes_on || is_one_of_many);
    Ok(Opened {
        stream: stream.map_err(|(path, source)| SourceError::Parameter { path, source })?,
        detected,
        warnings: Vec::new(),
        bytes: 0,
    })
}

/// Who reads it: a small input is done before a thread has started, and a large array of records is
/// read as fast as it is handed over.
fn stream(
    input: Input,
    parser: Box<dyn Parser>,
    is_lines: bool,
    parameters: &Parameters,
    make: Make,
    is_read_here: bool,
) -> Result<Stream, (std::path::PathBuf, ParameterError)> {
    let path = input.path.clone();
    if input.is_whole || is_read_here {
        return Ok(Stream::Feed(Box::new(Feed::new(input, parser))));
    }
    if is_lines {
        let mut parsers = vec![parser];
        for _ in 1..ParserPool::size() {
            let head = Head { bytes: &input.head, is_whole: input.is_whole };
            let another = make(parameters, head).map_err(|error| (path.clone(), error))?;
            parsers.push(another.parser);
        }
        return Ok(Stream::ParserPool(Box::new(ParserPool::of_lines(input, parsers))));
    }
    let is_packed = input.packing != Packing::None;
    let feed = Feed::new(input, parser);
    Ok(if is_packed {
        Stream::ParserPool(Box::new(ParserPool::ahead(path, feed)))
    } else {
        Stream::Feed(Box::new(feed))
    })
}

fn find(name: &str) -> Result<&'static Format, SourceError> {
    format::find(name).ok_or_else(|| SourceError::NoFormat(name.to_owned()))
}

/// An error where an input has bytes, and looks like no format.
pub(super) fn looks_like_a_trace(input: &Input) -> Result<(), SourceError> {
    if input.head.is_empty() { Ok(()) } else { guess(input).map(drop) }
}

fn guess(input: &Input) -> Result<Guess, SourceError> {
    let head = Head { bytes: &input.head, is_whole: input.is_whole };
    format::guess(FORMATS, head, &input.name()).ok_or_else(|| {
        let is_text = input.head.iter().all(|byte| *byte >= 32 || b"\t\r\n".contains(byte));
        let looks = if is_text { "a text" } else { "a binary file" };
        SourceError::Unknown { path: input.path.clone(), looks }
    })
}

/// A native trace has its index at its end: it is read at once.
fn read_native(input: Input, bound: Bound, opening: &Opening<'_>) -> Result<Trace, SourceError> {
    let Input { path, mut head, rest, file, object, .. } = input;
    let fetched = object.map(|object| super::object::fetch(&object, opening)).transpose()?;
    let read = if let Some(file) = file.or(fetched) {
        native::read_with(file, bound, opening.loading)
    } else {
        // It grows by doubling, and so is counted twice.
        let most = bound.allowed.0 / 2;
        let room = most.saturating_sub(head.len() as u64).saturating_add(1);
        if let Err(source) = rest.take(room).read_to_end(&mut head) {
            return Err(SourceError::of_reading(&path, source));
        }
        let held = 2 * head.len() as u64;
        bound.allow("a native trace that is packed or comes through a pipe", held)?;
        native::read_with(bytes::Bytes::from(head), bound.without(held), opening.loading)
    };
    read.map_err(|source| match source {
        ReadError::TooLarge(too_large) => too_large.into(),
        source => SourceError::Native { path, source },
    })
}
