//! Reads a trace from its beginning to its end, or to Ctrl-C: what was read by then counts.

use anyhow::Result;
use nbuf::sys::input::comes_again;
use nbuf::units::{Bound, TooLarge};
use nbuf::workload::format::Batch;
use nbuf::workload::request::Request;
use nbuf::workload::source::{Options, Source, input_name};

use super::Args;
use crate::command::memory::bound;
use crate::patience::Patience;
use crate::show::text::count;
use crate::voice::{detail, note};

/// What to do where there is too little memory for the whole, and for a sample.
const LESS: &str = "allow more with --memory, take larger pages with --page, or draw a sample with \
                    --sample 0.01";
const FEWER: &str = "allow more with --memory, or follow fewer keys with a smaller --sample";

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
    /// What may be used in all.
    bound: Bound,
}

impl<'a> Reading<'a> {
    /// Opens the trace, and says what it was taken for.
    pub(super) fn open(args: &'a Args, patience: &'a Patience) -> Result<Self> {
        let remedy = if args.sample.is_some() { FEWER } else { LESS };
        let bound = bound(args.memory, remedy);
        let source = source(args, bound)?;
        note(format_args!("{}: {}", named(args), source.detected()));
        let (requests, requests_last, ended, fresh) = (0, 0, None, true);
        Ok(Self { args, patience, source, requests, requests_last, ended, fresh, bound })
    }

    /// What may be used in all.
    pub(super) fn bound(&self) -> Bound {
        self.bound
    }

    /// Whether it can be read more than once.
    pub(super) fn again(&self) -> bool {
        self.args.traces.iter().all(|path| comes_again(path))
    }

    /// Gives all of it to `take`, from the beginning, with the memory that is left.
    pub(super) fn read(
        &mut self,
        mut take: impl FnMut(&[Request], Bound) -> Result<(), TooLarge>,
    ) -> Result<()> {
        let first = std::mem::take(&mut self.fresh);
        if !first {
            detail("reading the trace again");
            self.source = source(self.args, self.bound)?;
        }
        let mut batch = Batch::default();
        let mut requests = 0;
        while !self.patience.is_over() && self.source.next(&mut batch)? {
            requests += batch.requests.len() as u64;
            take(&batch.requests, self.bound.without(self.source.bytes()))?;
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

    /// Whether a reading was ended before its time.
    pub(super) fn is_ended(&self) -> bool {
        self.ended.is_some()
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

fn source(args: &Args, memory: Bound) -> Result<Source> {
    let options = Options {
        memory,
        format: args.from.clone(),
        problems_max: args.problems_max,
        ..Options::default()
    };
    Ok(Source::open(&args.traces, &options)?)
}
