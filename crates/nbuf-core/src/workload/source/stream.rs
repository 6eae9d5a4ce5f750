//! One input on its way to requests, whatever it is read by; and several of them merged by time.

use std::iter::Peekable;

use super::error::SourceError;
use super::feed::Feed;
use super::given::GivenStream;
use super::parser_pool::ParserPool;
use super::progress::Counter;
use crate::trace::Records;
use crate::trace::request::Request;
use crate::workload::format::{self, BATCH_REQUESTS, Batch};

/// An input on its way to requests.
pub(super) enum Stream {
    /// Read and parsed when it is asked.
    Feed(Box<Feed>),
    /// Read and parsed by others.
    ParserPool(Box<ParserPool>),
    /// In memory.
    Native(Box<Native>),
    /// In memory, with the caller.
    Given(GivenStream),
    /// Several of the others.
    Merged(Vec<Side>),
}

/// A native trace, which is in memory.
pub(super) struct Native {
    records: Peekable<<Records as IntoIterator>::IntoIter>,
    files: Vec<String>,
    /// What its files are numbered here, once that is known.
    numbers: Vec<u32>,
    /// Records that are left, and the bytes of the input that they count as.
    left: (u64, u64),
    counter: Counter,
}

/// One of the inputs that are merged.
pub(super) struct Side {
    stream: Stream,
    batch: Batch,
    /// The next request of the batch.
    at: usize,
    has_more: bool,
    /// What is added to its times.
    later_ns: i64,
    /// What its objects are numbered in the merged trace, once they have appeared there.
    numbers: Vec<Option<u32>>,
}

impl Side {
    pub(super) fn new(stream: Stream, later_ns: i64) -> Self {
        let (batch, numbers) = (Batch::default(), Vec::new());
        Self { stream, batch, at: 0, has_more: true, later_ns, numbers }
    }

    /// The next request, if there is one.
    fn peek(&mut self, input: usize, out: &mut Batch) -> Result<Option<Request>, SourceError> {
        while self.at == self.batch.requests.len() && self.has_more {
            self.batch.requests.clear();
            self.at = 0;
            let more = self.stream.fill(&mut self.batch);
            for problem in &mut self.batch.problems.kept {
                problem.input = input;
            }
            out.problems.append(&mut self.batch.problems);
            self.has_more = more?;
        }
        let later = |request: &Request| {
            let time_ns = request.time_ns.saturating_add(self.later_ns);
            Request { time_ns, ..*request }
        };
        Ok(self.batch.requests.get(self.at).map(later))
    }

    /// Hands over a request, with its object numbered as objects appear in the merged trace.
    fn take(&mut self, request: Request, out: &mut Batch) {
        self.at += 1;
        let own = request.object as usize;
        let Some(name) = self.batch.objects.names().get(own) else {
            out.requests.push(request);
            return;
        };
        if self.numbers.len() <= own {
            self.numbers.resize(own + 1, None);
        }
        let number = self.numbers[own].get_or_insert_with(|| out.objects.number(name.as_bytes()));
        out.requests.push(Request { object: *number, ..request });
    }
}

impl Stream {
    /// Reads on with what the input before has learned, where its format has that.
    pub(super) fn follow(&mut self, before: Option<Self>) {
        if let (Self::Feed(next), Some(Self::Feed(before))) = (self, before) {
            next.follow(*before);
        }
    }

    /// Fills a batch that is empty. Says whether there may be more.
    pub(super) fn fill(&mut self, out: &mut Batch) -> Result<bool, SourceError> {
        match self {
            Self::Feed(feed) => feed.fill(out),
            Self::ParserPool(parser_pool) => parser_pool.fill(out),
            Self::Native(native) => Ok(native.fill(out)),
            Self::Given(given) => Ok(given.fill(out)),
            Self::Merged(sides) => merge(sides, out),
        }
    }
}

impl Native {
    pub(super) fn new(records: Records, files: Vec<String>) -> Self {
        let left = (records.len() as u64, 0);
        let (numbers, counter) = (Vec::new(), Counter::default());
        Self { records: records.into_iter().peekable(), files, numbers, left, counter }
    }

    /// Counts its input as it is handed over, and not as it was read. `before` is what was counted before that.
    pub(super) fn count_by(&mut self, counter: &Counter, before: (u64, u64)) {
        let now = counter.counted();
        counter.take_back(now.0.saturating_sub(before.0));
        self.left.1 = now.1.saturating_sub(before.1);
        self.counter = counter.clone();
    }

    fn fill(&mut self, out: &mut Batch) -> bool {
        let Self { records, files, numbers, left, counter } = self;
        let mut taken = 0;
        numbers.extend(files.drain(..).map(|name| out.objects.number(name.as_bytes())));
        let records_seen = records.by_ref().inspect(|_| taken += 1);
        let requests = records_seen.filter_map(|record| format::native_request(&record));
        out.requests.extend(requests.take(BATCH_REQUESTS).map(|request| {
            let object = numbers.get(request.object as usize).copied();
            Request { object: object.unwrap_or(request.object), ..request }
        }));
        // The last record has all bytes that are left.
        let bytes = part(left.1, taken, left.0);
        *left = (left.0.saturating_sub(taken), left.1.saturating_sub(bytes));
        counter.done(bytes);
        records.peek().is_some()
    }
}

/// The part of these bytes that belongs to `taken` of `all` records.
fn part(bytes: u64, taken: u64, all: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(taken) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(bytes)
}

/// The earliest requests of all sides; of those of one time, the first input's.
fn merge(sides: &mut [Side], out: &mut Batch) -> Result<bool, SourceError> {
    out.held_bytes = sides.iter().map(|side| side.batch.held_bytes).sum();
    while !out.is_full() {
        let mut first: Option<(Request, usize)> = None;
        for (input, side) in sides.iter_mut().enumerate() {
            if let Some(request) = side.peek(input, out)?
                && first.is_none_or(|(first, _)| request.time_ns < first.time_ns)
            {
                first = Some((request, input));
            }
        }
        let Some((request, input)) = first else {
            return Ok(false);
        };
        sides[input].take(request, out);
    }
    Ok(true)
}
