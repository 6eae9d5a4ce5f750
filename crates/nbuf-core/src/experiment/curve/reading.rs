//! Reads a trace from its beginning to its end, or to a signal: what was read by then counts.

use super::{Error, Spec, snapshot};
use crate::experiment::joined;
use crate::experiment::left_out;
use crate::experiment::memory::bound;
use crate::experiment::notice::Notice;
use crate::experiment::result::Warning;
use crate::experiment::session::Session;
use crate::trace::request::Request;
use crate::units::{Bound, TooLarge};
use crate::workload::format::snapshot::Join;
use crate::workload::format::{Batch, Parameters};
use crate::workload::source::{
    ObjectError, Options, Source, SourceError, comes_again, input_name, must_be_apart,
};

/// What to do where there is too little memory for the whole, and for a sample.
const LESS: &str = "allow more with --memory, take larger pages with --page, or draw a sample with \
                    --sample 0.01";
const FEWER: &str = "allow more with --memory, or follow fewer keys with a smaller --sample";

/// A trace and how it is read.
pub(super) struct Reading<'a> {
    pub(super) spec: &'a Spec,
    pub(super) session: &'a Session<'a>,
    /// The source that is open, or was read last.
    pub(super) source: Source,
    /// The snapshot whose sizes and times to live are joined.
    pub(super) join: Option<Join>,
    /// Requests read the first time.
    pub(super) requests: u64,
    /// Requests read the last time.
    requests_last: u64,
    /// The reading that was ended.
    ended: Option<Warning>,
    fresh: bool,
    /// What may be used in all.
    bound: Bound,
}

impl<'a> Reading<'a> {
    /// Opens the trace, and reports what it was taken for.
    pub(super) fn open(spec: &'a Spec, session: &'a Session<'a>) -> Result<Self, Error> {
        let remedy = if spec.sample.is_some() { FEWER } else { LESS };
        let bound = bound(spec.memory, remedy);
        must_be_apart(&spec.traces, spec.snapshot.as_deref())?;
        let source = source(spec, session, bound)?;
        let input = named(spec);
        let detected = source.detected();
        session.observer.notice(&Notice::Detected { input: &input, detected });
        let join = snapshot::open(spec, session, &source, bound)?;
        let (requests, requests_last, ended, fresh) = (0, 0, None, true);
        Ok(Self { spec, session, source, join, requests, requests_last, ended, fresh, bound })
    }

    pub(super) fn notice(&self, notice: &Notice<'_>) {
        self.session.observer.notice(notice);
    }

    /// What may be used in all.
    pub(super) fn bound(&self) -> Bound {
        self.bound
    }

    /// Whether it can be read more than once.
    pub(super) fn again(&self) -> bool {
        self.session.given.is_some() || self.spec.traces.iter().all(|path| comes_again(path))
    }

    fn is_over(&self) -> bool {
        self.session.cancellation.signal().is_some()
    }

    /// Gives all of it to `take`, from the beginning, with the memory that is left.
    pub(super) fn read(
        &mut self,
        mut take: impl FnMut(&[Request], Bound) -> Result<(), TooLarge>,
    ) -> Result<(), Error> {
        let first = std::mem::take(&mut self.fresh);
        if !first {
            self.notice(&Notice::ReadingAgain);
            match source(self.spec, self.session, self.bound) {
                // An object is not opened after a signal. What the readings before gave stays.
                Err(Error::Source(SourceError::Object(ObjectError::Cancelled(_)))) => {}
                opened => self.source = opened?,
            }
            if let Some(join) = &mut self.join {
                join.begin_again();
            }
        }
        let mut batch = Batch::default();
        let mut requests = 0;
        while !self.is_over() && self.source.next(&mut batch)? {
            requests += batch.requests.len() as u64;
            let has_sizes = self.source.detected().has_sizes;
            if let Some(join) = &mut self.join {
                join.join(&mut batch.requests, has_sizes);
                self.source.set_joined_bytes(join.bytes());
            }
            take(&batch.requests, self.bound.without(self.source.bytes()))?;
            self.session.reading(&self.source);
        }
        self.session.observer.stage_over();
        if first {
            self.requests = requests;
        }
        self.requests_last = requests;
        if self.is_over() && self.ended.is_none() {
            self.ended = Some(Warning::ReadingEnded { is_again: !first, requests });
        }
        Ok(())
    }

    /// Whether a reading was ended before its time.
    pub(super) fn is_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// The requests of the first and the last reading where the trace changed; nothing where the last one
    /// was ended.
    pub(super) fn changed(&self) -> Option<(u64, u64)> {
        (!self.is_over()).then_some((self.requests, self.requests_last))
    }

    /// Whether the last reading was whole, and as long as the first.
    pub(super) fn is_as_before(&self) -> bool {
        !self.is_over() && self.requests == self.requests_last
    }

    /// The warnings of what was read.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = left_out::warnings(&self.source);
        if let Some(join) = &self.join {
            let uses_lifetimes = self.spec.ttl.is_some_and(|ttl| ttl.of_trace);
            joined::warn(&mut warnings, join, uses_lifetimes, true);
        }
        warnings.extend(self.ended.clone());
        warnings
    }
}

/// The names of the inputs, shortened when there are many.
pub(super) fn named(spec: &Spec) -> String {
    let first = spec.traces.first().map(|path| input_name(path)).unwrap_or_default();
    match spec.traces.len() {
        0 | 1 => first,
        several => format!("{first} and {} more", several - 1),
    }
}

/// The format that was named; with a column of costs, a CSV.
fn format(spec: &Spec, session: &Session<'_>) -> Result<Option<Parameters>, Error> {
    let Some(column) = &spec.cost else { return Ok(spec.format.clone()) };
    match &session.given {
        Some(given) if given.0.has_costs() => return Ok(None),
        Some(_) => return Err(Error::NoCosts { column: column.clone() }),
        None => {}
    }
    let csv = || Parameters { format: "csv".to_owned(), pairs: Vec::new() };
    let mut format = spec.format.clone().unwrap_or_else(csv);
    if format.format != "csv" {
        return Err(Error::CostOfFormat { format: format.format });
    }
    format.pairs.push(("cost".to_owned(), column.clone()));
    Ok(Some(format))
}

fn source(spec: &Spec, session: &Session<'_>, memory: Bound) -> Result<Source, Error> {
    let options = Options {
        memory,
        format: format(spec, session)?,
        given: session.given.clone(),
        problems_max: spec.problems_max,
        ..Options::default()
    };
    Ok(session.opening(|opening| Source::open_with(&spec.traces, &options, opening))?)
}
