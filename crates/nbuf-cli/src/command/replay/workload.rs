//! Who asks: a trace that was surveyed, people, or requests that are made up; ready to be replayed again.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use nbuf::experiment::replay::{Deal, Feed, Figures, Layout, Pace, Seen, Survey, Watch};
use nbuf::experiment::result::ReplayFigures;
use nbuf::units::Nanos;
use nbuf::workload::format::Batch;
use nbuf::workload::request::{Request, Unit};
use nbuf::workload::source::{Options, Source, SourceError};

use super::Args;
use super::made::Made;
use super::setting::Setting;
use super::users::Users;
use crate::patience::Patience;
use crate::voice::{detail, note};

/// Requests by which a trace that is read once is judged.
const GLANCE: usize = 4096;

/// Who asks.
pub(super) enum Workload {
    /// A trace.
    Trace(Box<Trace>),
    /// Nobody whom we know.
    Made(Made),
    /// People.
    Users(Users),
}

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

/// What came of one replay.
pub(super) struct Outcome {
    pub(super) seen: Seen,
    /// Whether it was ended before its end.
    pub(super) is_cut: bool,
    pub(super) left_out: u64,
    pub(super) cautions: Vec<String>,
    /// What the meters showed that it wore.
    pub(super) figures: Option<ReplayFigures>,
}

impl Outcome {
    pub(super) fn of(seen: Seen, is_cut: bool) -> Self {
        Self { seen, is_cut, left_out: 0, cautions: Vec::new(), figures: None }
    }
}

impl Workload {
    /// Reads what must be known before anything is replayed.
    pub(super) fn open(args: &Args, setting: &Setting, patience: &Patience) -> Result<Self> {
        if let Some(users) = Users::of(args)? {
            users.come(setting)?;
            setting.may_write(true)?;
            return Ok(Self::Users(users));
        }
        let made = args.traces[0].to_str().and_then(Made::parse);
        if let Some(made) = made.transpose().map_err(anyhow::Error::msg)? {
            if args.traces.len() > 1 {
                bail!("requests that are made up stand alone: give one of them, or files");
            }
            setting.must_hold(made.units().saturating_mul(setting.unit_bytes.into()))?;
            setting.may_write(made.is_writing())?;
            return Ok(Self::Made(made));
        }
        Trace::open(args, setting, patience).map(|trace| Self::Trace(Box::new(trace)))
    }

    /// Whether it can be replayed again and again.
    pub(super) fn comes_again(&self) -> bool {
        match self {
            Self::Trace(trace) => trace.survey.is_some(),
            Self::Made(_) | Self::Users(_) => true,
        }
    }

    /// How many processes ask.
    pub(super) fn processes(&self, args: &Args) -> u32 {
        match self {
            Self::Users(users) => users.count(),
            Self::Trace(_) | Self::Made(_) => args.processes,
        }
    }

    /// The meters of the six figures, for the part of the disc that it takes.
    pub(super) fn figures(&self, setting: &Setting) -> Result<Figures> {
        let unit_bytes = setting.unit_bytes.into();
        Ok(match self {
            Self::Trace(trace) => {
                let known = trace.survey.as_ref().map(|known| Layout::of(known, unit_bytes));
                setting.figures(known.map_or(0, |layout| layout.bytes()), None)
            }
            Self::Made(made) => setting.figures(made.units().saturating_mul(unit_bytes), None),
            Self::Users(users) => users.come(setting)?.figures(setting),
        })
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
        match self {
            Self::Trace(trace) => trace.replay(args, setting, size_units, patience, watch),
            Self::Users(users) => users.come(setting)?.replay(setting, size_units, patience, watch),
            Self::Made(made) => {
                let unit_bytes = setting.unit_bytes;
                let layout = Layout::blind(Unit::Bytes, unit_bytes.into());
                let feed = made.feed(unit_bytes, args.seed, patience);
                let pace = Pace::Closed { think: args.think.unwrap_or_default() };
                let mut deal = Deal::new(feed, layout, pace, args.processes, false);
                let seen = setting.replay(size_units, &mut deal, watch)?;
                let is_cut = deal.finish().0.is_cut();
                Ok(Outcome::of(seen, is_cut))
            }
        }
    }
}

impl Trace {
    fn open(args: &Args, setting: &Setting, patience: &Patience) -> Result<Self> {
        let mut source = source(args)?;
        note(format_args!("{}: {}", named(args), source.detected()));
        let detected = source.detected();
        let (format, unit) = (detected.format.name.to_owned(), detected.unit);
        let (once, cautions) = (Mutex::new(None), Vec::new());
        let mut trace = Self { format, unit, survey: None, once, cautions };
        if !args.traces.iter().all(is_ordinary) {
            trace.once = Mutex::new(Some(source));
            return Ok(trace);
        }
        detail("reading the trace, to learn where its files lie");
        let mut survey = Survey::new(unit);
        let mut batch = Batch::default();
        while !patience.is_over() && source.next(&mut batch)? {
            survey.take(&batch.requests);
        }
        trace.cautions = told(&source);
        if survey.requests == 0 && !patience.is_over() {
            bail!("{} has no reads and no writes: there is nothing to replay", named(args));
        }
        setting.must_hold(Layout::of(&survey, setting.unit_bytes.into()).bytes())?;
        setting.may_write(survey.writes > 0)?;
        trace.survey = Some(survey);
        Ok(trace)
    }

    fn replay(
        &self,
        args: &Args,
        setting: &Setting,
        size_units: u64,
        patience: &Patience,
        watch: &mut dyn Watch,
    ) -> Result<Outcome> {
        let once = self.once.lock().unwrap_or_else(PoisonError::into_inner).take();
        let source = once.map_or_else(|| source(args), Ok)?;
        let mut feed = TraceFeed::new(source, patience);
        let unit_bytes = setting.unit_bytes.into();
        let glanced = if self.survey.is_none() { Some(feed.glance(self.unit)) } else { None };
        let Some(survey) = self.survey.as_ref().or(glanced.as_ref()) else {
            bail!("nothing is known of {}", named(args));
        };
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
        let seen = setting.replay(size_units, &mut deal, watch)?;
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
            return Err(error.into());
        }
        if seen.requests() == 0 && !feed.is_cut {
            bail!("{} has no reads and no writes: there is nothing to replay", named(args));
        }
        Ok(Outcome { seen, is_cut: feed.is_cut, left_out, cautions, figures: None })
    }
}

/// The requests of a trace, to their end or to Ctrl-C.
struct TraceFeed {
    source: Source,
    patience: Patience,
    /// What was read before it was asked for.
    ahead: Option<Vec<Request>>,
    error: Option<SourceError>,
    is_cut: bool,
}

impl TraceFeed {
    fn new(source: Source, patience: &Patience) -> Self {
        let patience = patience.clone();
        Self { source, patience, ahead: None, error: None, is_cut: false }
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

impl Feed for TraceFeed {
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
        if let Err(error) = self.source.next(&mut batch) {
            batch.requests.clear();
            self.error = Some(error);
        }
        std::mem::swap(requests, &mut batch.requests);
    }
}

/// Whether it can be read more than once.
fn is_ordinary(path: &PathBuf) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
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
    let (format, problems_max) = (args.from.clone(), args.problems_max);
    Ok(Source::open(&args.traces, &Options { format, problems_max, ..Options::default() })?)
}

/// What a reader must be told of what was read.
fn told(source: &Source) -> Vec<String> {
    let mut cautions = source.cautions().to_vec();
    let problems = source.problems();
    if let Some(first) = problems.kept.first() {
        let others = match problems.count - 1 {
            0 => String::new(),
            others => format!(", and {others} more"),
        };
        cautions.push(format!("left out: {}{others}", source.describe(first)));
    }
    cautions
}
