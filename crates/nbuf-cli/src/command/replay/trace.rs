//! A trace that asks: surveyed where it can be read twice, and glanced at where it comes once.

use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use nbuf::experiment::replay::{Deal, Feed, Layout, Pace, Survey, Watch};
use nbuf::sys::input::comes_again;
use nbuf::units::Nanos;
use nbuf::workload::format::Batch;
use nbuf::workload::request::{Ask, Request, Unit};
use nbuf::workload::source::{Options, Source};

use super::Args;
use super::setting::Setting;
use super::until::UntilOver;
use super::workload::Outcome;
use crate::patience::Patience;
use crate::voice::{detail, note};

/// Requests by which a trace that is read once is judged.
const GLANCE: usize = 4096;

/// A trace, and what is known of it.
pub(super) struct Trace {
    /// What it was taken for.
    pub(super) format: String,
    unit: Unit,
    /// What was learned on a first reading, where there can be a second.
    survey: Option<Survey>,
    /// What comes once, until it is read.
    once: Mutex<Option<Source>>,
    cautions: Vec<String>,
}

impl Trace {
    /// Reads what must be known of it before anything is replayed.
    pub(super) fn open(args: &Args, setting: &Setting, patience: &Patience) -> Result<Self> {
        let mut source = source(args, setting)?;
        note(format_args!("{}: {}", named(args), source.detected()));
        let detected = source.detected();
        let (format, unit) = (detected.format.name.to_owned(), detected.unit);
        let (once, cautions) = (Mutex::new(None), Vec::new());
        let mut trace = Self { format, unit, survey: None, once, cautions };
        if !args.traces.iter().all(|path| comes_again(path)) {
            trace.once = Mutex::new(Some(source));
            return Ok(trace);
        }
        detail("reading the trace, to learn where its files lie");
        let mut survey = Survey::new(unit);
        let mut batch = Batch::default();
        while !patience.is_over() && source.next(&mut batch)? {
            survey.take(&batch.requests);
            let held = survey.memory_bytes() + source.bytes();
            setting.memory.allow("where the keys of this trace lie", held)?;
        }
        trace.cautions = told(&source);
        if survey.requests == 0 && !patience.is_over() {
            bail!("{} has no reads and no writes: there is nothing to replay", named(args));
        }
        setting.must_hold(survey.bytes(setting.unit_bytes.into()))?;
        setting.may_write(survey.writes > 0)?;
        trace.survey = Some(survey);
        Ok(trace)
    }

    /// Whether it can be read again and again.
    pub(super) fn comes_again(&self) -> bool {
        self.survey.is_some()
    }

    /// How much of a disc it takes; 0 where nobody knows.
    pub(super) fn bytes(&self, unit_bytes: u64) -> u64 {
        self.survey.as_ref().map_or(0, |survey| survey.bytes(unit_bytes))
    }

    /// Replays it with a cache of so many units.
    pub(super) fn replay(
        &self,
        args: &Args,
        setting: &Setting,
        size_units: u64,
        patience: &Patience,
        watch: &mut dyn Watch,
    ) -> Result<Outcome> {
        let once = self.once.lock().unwrap_or_else(PoisonError::into_inner).take();
        let source = once.map_or_else(|| source(args, setting), Ok)?;
        let held = source.bytes() + self.survey.as_ref().map_or(0, Survey::memory_bytes);
        let unseen = if self.survey.is_none() { Some(setting) } else { None };
        let mut feed = TraceFeed::new(source, patience, unseen);
        let glanced = if self.survey.is_none() { Some(feed.glance(self.unit)) } else { None };
        if let Some(error) = feed.error.take() {
            return Err(error);
        }
        let Some(survey) = self.survey.as_ref().or(glanced.as_ref()) else {
            bail!("nothing is known of {}", named(args));
        };
        let unit_bytes = setting.unit_bytes.into();
        let layout = match &self.survey {
            Some(survey) => Layout::of(survey, unit_bytes),
            None => Layout::blind(self.unit, unit_bytes),
        };
        let pace = match args.think {
            None if !args.closed && survey.has_times => Pace::Trace { first_ns: survey.first_ns() },
            think => Pace::Closed { think: think.unwrap_or(Nanos::ZERO) },
        };
        let by_task = survey.has_tasks;
        let mut deal = Deal::new(feed, layout, pace, args.processes, by_task);
        let mut crowd = UntilOver::new(&mut deal, patience);
        let seen = setting.replay((size_units, held), &mut crowd, watch)?;
        let is_cut = crowd.is_cut;
        let left_out = deal.left_out();
        let (feed, wrong) = deal.finish();
        if let Some(wrong) = wrong {
            return Err(wrong.into());
        }
        let mut cautions = self.cautions.clone();
        if self.survey.is_none() {
            cautions = told(&feed.source);
        }
        if let Some(error) = feed.error {
            return Err(error);
        }
        let is_cut = is_cut || feed.is_cut;
        if seen.requests() == 0 && !is_cut {
            bail!("{} has no reads and no writes: there is nothing to replay", named(args));
        }
        Ok(Outcome { seen, is_cut, left_out, cautions, figures: None })
    }
}

/// The requests of a trace, to their end or to Ctrl-C.
struct TraceFeed<'a> {
    source: Source,
    patience: &'a Patience,
    /// Where nobody has looked yet whether it writes: what may refuse that.
    unseen: Option<&'a Setting>,
    /// What was read before it was asked for.
    ahead: Option<Vec<Request>>,
    error: Option<anyhow::Error>,
    is_cut: bool,
}

impl<'a> TraceFeed<'a> {
    fn new(source: Source, patience: &'a Patience, unseen: Option<&'a Setting>) -> Self {
        Self { source, patience, unseen, ahead: None, error: None, is_cut: false }
    }

    /// The next requests of the trace; refuses those that write where nothing may be written.
    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        self.source.next(batch)?;
        let writes = || batch.requests.iter().any(|request| request.ask == Ask::Write);
        self.unseen.map_or(Ok(()), |setting| setting.may_write(writes()))
    }

    /// What the beginning says of a trace that is read once.
    fn glance(&mut self, unit: Unit) -> Survey {
        let (mut requests, mut more) = (Vec::new(), Vec::new());
        while requests.len() < GLANCE {
            self.next(&mut more);
            if more.is_empty() {
                break;
            }
            requests.append(&mut more);
        }
        let mut survey = Survey::new(unit);
        // The same requests, however they came.
        survey.take(&requests[..requests.len().min(GLANCE)]);
        self.ahead = Some(requests).filter(|requests| !requests.is_empty());
        survey
    }
}

impl Feed for TraceFeed<'_> {
    fn next(&mut self, requests: &mut Vec<Request>) {
        if let Some(ahead) = self.ahead.take() {
            *requests = ahead;
            return;
        }
        requests.clear();
        if self.patience.is_over() {
            self.is_cut = true;
            return;
        }
        let mut batch = Batch::default();
        std::mem::swap(requests, &mut batch.requests);
        if let Err(error) = self.read(&mut batch) {
            batch.requests.clear();
            self.error = Some(error);
        }
        std::mem::swap(requests, &mut batch.requests);
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

fn source(args: &Args, setting: &Setting) -> Result<Source> {
    let (format, problems_max, memory) = (args.from.clone(), args.problems_max, setting.memory);
    let options = Options { format, problems_max, memory, ..Options::default() };
    Ok(Source::open(&args.traces, &options)?)
}

/// What a reader must be told of what was read.
fn told(source: &Source) -> Vec<String> {
    let mut cautions = source.cautions().to_vec();
    cautions.extend(source.left_out());
    cautions
}
