//! Reads a trace from its beginning to its end, or to Ctrl-C: what was read by then counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context, Result};
use nbuf::sys::signal::Signals;
use nbuf::workload::format::Batch;
use nbuf::workload::request::Request;
use nbuf::workload::source::{Options, Source};

use super::Args;
use crate::exit;
use crate::voice::{detail, note};

/// Knows whether somebody wants it to end.
#[derive(Clone)]
pub(super) struct Patience(Arc<AtomicU8>);

impl Patience {
    /// Listens from now on. The first signal ends the reading; the second, everything.
    pub(super) fn listen() -> Result<Self> {
        let signals = Signals::block().context("cannot listen for Ctrl-C")?;
        let ended = Arc::new(AtomicU8::new(0));
        let told = Arc::clone(&ended);
        std::thread::spawn(move || {
            // Nothing is ever written there, so that only signals end the waiting.
            let Ok((other, _open)) = std::io::pipe() else { return };
            while signals.comes_before(&other).unwrap_or(false) {
                let number = signals.next().map_or(0, |signal| signal.number);
                let status = u8::try_from(128 + number).unwrap_or(exit::OURS);
                if told.swap(status, Ordering::Relaxed) != 0 {
                    std::process::exit(status.into());
                }
            }
        });
        Ok(Self(ended))
    }

    /// Whether the reading was ended.
    pub(super) fn is_over(&self) -> bool {
        self.status() != 0
    }

    /// The exit status: 0, or that of a program ended by the signal.
    pub(super) fn status(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A trace and how it is read.
pub(super) struct Reading<'a> {
    args: &'a Args,
    patience: &'a Patience,
    /// The source that is open, or was read last.
    pub(super) source: Source,
    /// Requests read the first time.
    pub(super) requests: u64,
    fresh: bool,
}

impl<'a> Reading<'a> {
    /// Opens the trace, and says what it was taken for.
    pub(super) fn open(args: &'a Args, patience: &'a Patience) -> Result<Self> {
        let source = source(args)?;
        note(format_args!("{}: {}", named(args), source.detected()));
        Ok(Self { args, patience, source, requests: 0, fresh: true })
    }

    /// Whether it can be read more than once.
    pub(super) fn again(&self) -> bool {
        let ordinary = |path: &std::path::PathBuf| {
            std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        };
        self.args.traces.iter().all(ordinary)
    }

    /// Gives all of it to `take`, from the beginning.
    pub(super) fn read(&mut self, mut take: impl FnMut(&[Request])) -> Result<()> {
        let first = std::mem::take(&mut self.fresh);
        if !first {
            detail("reading the trace again");
            self.source = source(self.args)?;
        }
        let mut batch = Batch::default();
        let mut requests = 0;
        while !self.patience.is_over() && self.source.next(&mut batch)? {
            requests += batch.requests.len() as u64;
            take(&batch.requests);
        }
        self.requests = self.requests.max(requests);
        Ok(())
    }

    /// What a reader must be told of what was read.
    pub(super) fn cautions(&self) -> Vec<String> {
        let mut cautions = self.source.cautions().to_vec();
        let problems = self.source.problems();
        if let Some(first) = problems.kept.first() {
            let others = match problems.count - 1 {
                0 => String::new(),
                others => format!(", and {others} more"),
            };
            cautions.push(format!("left out: {}{others}", self.source.describe(first)));
        }
        if self.patience.is_over() {
            cautions.push(format!("the reading was ended after {} requests", self.requests));
        }
        cautions
    }
}

/// The names of the inputs, shortened when there are many.
pub(super) fn named(args: &Args) -> String {
    let first = args.traces.first().map(|path| path.display().to_string()).unwrap_or_default();
    match args.traces.len() {
        0 | 1 => first,
        several => format!("{first} and {} more", several - 1),
    }
}

fn source(args: &Args) -> Result<Source> {
    let options = Options {
        format: args.from.clone(),
        problems_max: args.problems_max,
        ..Options::default()
    };
    Ok(Source::open(&args.traces, &options)?)
}
