//! Parsing on other threads, in the order of the input.
//!
//! Where lines do not depend on each other, every worker takes the next piece of the input under a
//! lock, cut at the end of a line, and parses it on its own; packed input is unpacked under that
//! lock, while the other workers parse. Anything else has one worker, which reads and parses ahead.
//! Invariant: requests, numbers of objects and numbers of lines are those of one thread.
//! Workers are not waited for: one may stand in a read of a pipe that no process writes to. They end
//! when no process takes what they have.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::error::SourceError;
use super::feed::{Feed, broken_text};
use super::input::Input;
use super::intake::Intake;
use crate::trace::request::Request;
use crate::workload::format::{Batch, Parser, Place, ProblemKind, Problems};

/// More workers than this wait for each other's reads.
const WORKERS_MAX: usize = 4;

/// Emptied vectors that are kept to be filled again.
type Spares = Arc<Mutex<Vec<Vec<Request>>>>;

/// What a worker made of a piece.
struct Parsed {
    /// Which piece, from 0.
    sequence: u64,
    worker: usize,
    batches: Vec<Vec<Request>>,
    /// Objects that the worker had not seen before.
    names: Vec<String>,
    problems: Problems,
    lines: u64,
    bytes: u64,
    held_bytes: u64,
    is_last: bool,
    error: Option<SourceError>,
}

/// Workers, and what came from them.
pub(super) struct ParserPool {
    path: PathBuf,
    parsed: Receiver<Parsed>,
    spares: Spares,
    /// What came before its turn.
    early: BTreeMap<u64, Parsed>,
    next: u64,
    ready: VecDeque<Vec<Request>>,
    /// By worker, what its objects are numbered here.
    numbers: Vec<Vec<u32>>,
    is_over: bool,
}

impl ParserPool {
    /// How many workers this machine feeds.
    pub(super) fn size() -> usize {
        thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX)
    }

    /// Workers for lines that do not depend on each other, one for each parser.
    pub(super) fn of_lines(input: Input, parsers: Vec<Box<dyn Parser>>) -> Self {
        let path = input.path.clone();
        let intake = Arc::new(Mutex::new(Intake::new(input)));
        let spares = Spares::default();
        let (sender, parsed) = sync_channel(2 * parsers.len());
        let count = parsers.len();
        for (worker, parser) in parsers.into_iter().enumerate() {
            let (intake, sender) = (Arc::clone(&intake), sender.clone());
            let spares = Arc::clone(&spares);
            thread::spawn(move || parse_lines(worker, parser, &intake, &sender, &spares));
        }
        Self::new(path, parsed, spares, count)
    }

    /// One worker that reads and parses ahead.
    pub(super) fn ahead(path: PathBuf, feed: Feed) -> Self {
        let spares = Spares::default();
        let (sender, parsed) = sync_channel(4);
        let theirs = Arc::clone(&spares);
        thread::spawn(move || parse_ahead(feed, &sender, &theirs));
        Self::new(path, parsed, spares, 1)
    }

    fn new(path: PathBuf, parsed: Receiver<Parsed>, spares: Spares, workers: usize) -> Self {
        Self {
            path,
            parsed,
            spares,
            early: BTreeMap::new(),
            next: 0,
            ready: VecDeque::new(),
            numbers: vec![Vec::new(); workers],
            is_over: false,
        }
    }

    /// Fills a batch that is empty. Says whether there may be more.
    pub(super) fn fill(&mut self, out: &mut Batch) -> Result<bool, SourceError> {
        loop {
            if let Some(requests) = self.ready.pop_front() {
                let spare = std::mem::replace(&mut out.requests, requests);
                lock(&self.spares).push(spare);
                return Ok(true);
            }
            if self.is_over {
                return Ok(false);
            }
            self.take(out)?;
        }
    }

    /// Waits for the next piece in order.
    fn take(&mut self, out: &mut Batch) -> Result<(), SourceError> {
        let mut parsed = loop {
            if let Some(parsed) = self.early.remove(&self.next) {
                break parsed;
            }
            let parsed = self.parsed.recv().map_err(|_| SourceError::Read {
                path: self.path.clone(),
                source: io::Error::other("a thread that parses ended early"),
            })?;
            self.early.insert(parsed.sequence, parsed);
        };
        self.next += 1;
        let numbers = &mut self.numbers[parsed.worker];
        numbers.extend(parsed.names.iter().map(|name| out.objects.number(name.as_bytes())));
        if (0..).zip(&*numbers).any(|(mine, number)| mine != *number) {
            for request in parsed.batches.iter_mut().flatten() {
                let number = numbers.get(request.object as usize);
                request.object = number.copied().unwrap_or(request.object);
            }
        }
        for problem in &mut parsed.problems.kept {
            match &mut problem.place {
                Place::Line(line) => *line += out.lines,
                Place::Byte(byte) => *byte += out.bytes,
            }
        }
        out.problems.append(&mut parsed.problems);
        out.lines += parsed.lines;
        out.bytes += parsed.bytes;
        // Parsers that keep something read from the front to the end: there is one.
        out.held_bytes = parsed.held_bytes;
        self.ready.extend(parsed.batches);
        self.is_over = parsed.is_last;
        parsed.error.map_or(Ok(()), Err)
    }
}

/// Nothing is left half done under these locks: what a thread that panicked held is as good.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a worker's batch has become since the last time; `told` of its names were handed over before.
fn collect(
    (sequence, worker): (u64, usize),
    batches: Vec<Vec<Request>>,
    out: &mut Batch,
    told: &mut usize,
) -> Parsed {
    let names = out.objects.names()[*told..].to_vec();
    *told += names.len();
    let (lines, bytes) = (std::mem::take(&mut out.lines), std::mem::take(&mut out.bytes));
    let problems = std::mem::take(&mut out.problems);
    let held_bytes = out.held_bytes;
    let (is_last, error) = (false, None);
    Parsed { sequence, worker, batches, names, problems, lines, bytes, held_bytes, is_last, error }
}

fn parse_lines(
    worker: usize,
    mut parser: Box<dyn Parser>,
    intake: &Mutex<Intake>,
    sender: &SyncSender<Parsed>,
    spares: &Mutex<Vec<Vec<Request>>>,
) {
    let (mut out, mut told, mut bytes) = (Batch::default(), 0, Vec::new());
    loop {
        let taken = lock(intake).take(&mut bytes);
        // A line that a failed read cut is no line of the input.
        let is_whole = taken.is_ok();
        let mut batches = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            out.requests = lock(spares).pop().unwrap_or_default();
            out.requests.clear();
            let parsed = parser.parse(&bytes[at..], is_whole, &mut out);
            batches.push(std::mem::take(&mut out.requests));
            at += parsed;
            if parsed == 0 {
                break;
            }
        }
        let mut parsed = match taken {
            Ok(Some(piece)) => {
                if let Some(error) = piece.broken {
                    let (packing, place) = (lock(intake).packing, Place::Byte(out.bytes));
                    out.problems.add(ProblemKind::CutOff, place, || broken_text(packing, &error));
                }
                let mut parsed = collect((piece.sequence, worker), batches, &mut out, &mut told);
                parsed.is_last = piece.is_last;
                parsed
            }
            // Another worker had the last piece.
            Ok(None) => return,
            Err(failed) => {
                let (sequence, error) = *failed;
                let mut parsed = collect((sequence, worker), batches, &mut out, &mut told);
                (parsed.is_last, parsed.error) = (true, Some(error));
                parsed
            }
        };
        parsed.batches.retain(|batch| !batch.is_empty());
        let is_last = parsed.is_last;
        if sender.send(parsed).is_err() || is_last {
            return;
        }
    }
}

fn parse_ahead(mut feed: Feed, sender: &SyncSender<Parsed>, spares: &Mutex<Vec<Vec<Request>>>) {
    let (mut out, mut told) = (Batch::default(), 0);
    for sequence in 0.. {
        out.requests = lock(spares).pop().unwrap_or_default();
        out.requests.clear();
        // Places count from the beginning here; nothing is added to them later.
        let (lines, bytes) = (out.lines, out.bytes);
        let more = feed.fill(&mut out);
        let batches = vec![std::mem::take(&mut out.requests)];
        let mut parsed = collect((sequence, 0), batches, &mut out, &mut told);
        parsed.batches.retain(|batch| !batch.is_empty());
        for problem in &mut parsed.problems.kept {
            match &mut problem.place {
                Place::Line(line) => *line -= lines,
                Place::Byte(byte) => *byte -= bytes,
            }
        }
        (out.lines, out.bytes) = (parsed.lines, parsed.bytes);
        (parsed.lines, parsed.bytes) = (out.lines - lines, out.bytes - bytes);
        parsed.is_last = !matches!(more, Ok(true));
        parsed.error = more.err();
        let is_last = parsed.is_last;
        if sender.send(parsed).is_err() || is_last {
            return;
        }
    }
}
