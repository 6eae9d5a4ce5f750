//! Reads a trace from its beginning to its end, or to Ctrl-C: what was read by then counts.

use anyhow::Result;
use nbuf::sys::input::comes_again;
use nbuf::workload::format::Batch;
use nbuf::workload::request::Request;
use nbuf::workload::source::{Options, Source, input_name};

use super::Args;
use crate::patience::Patience;
use crate::show::text::count;
use crate::voice::{detail, note};

/// A trace and how it is read.
pub(super) struct Reading<'a> {
    args: &'a Args,
    patience: &'a Patience,
    /// The source that is open, or was read last.
    pub(super) source: Source,
    /// Requests read the first time.
    pub(super) requests: u64,
    /// Requests read the last time.
    requests_last: u64,
    /// What to say of the reading that was ended.
    ended: Option<String>,
    fresh: bool,
}

impl<'a> Reading<'a> {
    /// Opens the trace, and says what it was taken for.
    pub(super) fn open(args: &'a Args, patience: &'a Patience) -> Result<Self> {
        let source = source(args)?;
        note(format_args!("{}: {}", named(args), source.detected()));
        Ok(Self { args, patience, source, requests: 0, requests_last: 0, ended: None, fresh: true })
    }

    /// Whether it can be read more than once.
    pub(super) fn again(&self) -> bool {
        self.args.traces.iter().all(|path| comes_again(path))
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
        if first {
            self.requests = requests;
        }
        self.requests_last = requests;
        if self.patience.is_over() && self.ended.is_none() {
            let what = if first { "the reading" } else { "reading the trace again" };
            let requests = count(requests, "request", "requests");
            self.ended = Some(format!("{what} was ended after {requests}"));
        }
        Ok(())
    }

    /// Why the last reading was not the first once more.
    pub(super) fn unequal(&self) -> String {
        if self.patience.is_over() {
            return "the second reading was ended".to_owned();
        }
        format!(
            "the trace changed while it was read; it had {} at first, and {} later",
            count(self.requests, "request", "requests"),
            count(self.requests_last, "request", "requests")
        )
    }

    /// What a reader must be told of what was read.
    pub(super) fn cautions(&self) -> Vec<String> {
        let mut cautions = self.source.cautions().to_vec();
        cautions.extend(self.source.left_out());
        cautions.extend(self.ended.clone());
        cautions
    }
}

/// The names of the inputs, shortened when there are many.
pub(super) fn named(args: &Args) -> String {
    let first = args.traces.first().map(|path| input_name(path)).unwrap_or_default();
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
