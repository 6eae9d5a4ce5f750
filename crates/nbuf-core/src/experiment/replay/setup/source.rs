//! A trace: surveyed where it can be read twice, judged by its beginning where it comes once.

use std::sync::{Mutex, PoisonError};

use super::super::error::Error;
use super::super::spec::Spec;
use super::super::{Dispatcher, Feed, Layout, Observer, Pace, Stats, Survey};
use super::Config;
use super::replaying::Replaying;
use super::until::UntilOver;
use super::workload::Outcome;
use crate::experiment::left_out;
use crate::experiment::notice::Notice;
use crate::experiment::session::Session;
use crate::experiment::warning::Warning;
use crate::trace::request::{Op, Request, Unit};
use crate::units::Nanos;
use crate::workload::format::Batch;
use crate::workload::source::{ObjectError, Opening, Options, Source, SourceError, comes_again};

/// Requests by which a trace that is read once is judged.
const GLANCE: usize = 4096;

/// A trace and its survey.
pub(in super::super) struct Trace {
    /// Its format, named or detected.
    pub(in super::super) format: String,
    unit: Unit,
    /// The result of a first reading, where there can be a second.
    survey: Option<Survey>,
    /// A pipe, until it is read.
    once: Mutex<Option<Source>>,
    warnings: Vec<Warning>,
}

impl Trace {
    /// Reads what must be known of it before anything is replayed.
    pub(super) fn open(spec: &Spec, config: &Config, session: &Session<'_>) -> Result<Self, Error> {
        let open = |opening: &Opening<'_>| source(spec, config, session, opening);
        let mut source = session.opening(open)?;
        let detected = source.detected();
        session.observer.notice(&Notice::Detected { input: &named(spec), detected });
        let (format, unit) = (detected.format.name.to_owned(), detected.unit);
        let (once, warnings) = (Mutex::new(None), Vec::new());
        let mut trace = Self { format, unit, survey: None, once, warnings };
        let is_given = session.given.is_some();
        if !is_given && !spec.traces.iter().all(|path| comes_again(path)) {
            trace.once = Mutex::new(Some(source));
            return Ok(trace);
        }
        session.observer.notice(&Notice::Surveying);
        let mut survey = Survey::new(unit);
        let mut batch = Batch::default();
        while !session.is_over() && source.next(&mut batch)? {
            survey.take(&batch.requests);
            let held = survey.memory_bytes() + source.bytes();
            config.memory.allow("where the keys of this trace are", held)?;
            session.reading(&source);
        }
        session.observer.stage_over();
        trace.warnings = left_out::warnings(&source);
        if survey.requests == 0 && !session.is_over() {
            return Err(Error::Empty { name: named(spec) });
        }
        config.must_hold(survey.bytes(config.unit_bytes.into()))?;
        config.may_write(survey.writes > 0)?;
        trace.survey = Some(survey);
        Ok(trace)
    }

    /// Whether it can be read again and again.
    pub(super) fn comes_again(&self) -> bool {
        self.survey.is_some()
    }

    /// Requests of one replay; nothing where it comes once.
    pub(super) fn requests(&self) -> Option<u64> {
        self.survey.as_ref().map(|survey| survey.requests)
    }

    /// Bytes of the disc that it touches; 0 where that is unknown.
    pub(super) fn bytes(&self, unit_bytes: u64) -> u64 {
        self.survey.as_ref().map_or(0, |survey| survey.bytes(unit_bytes))
    }

    /// Replays it with a cache of `size_units`.
    pub(super) fn replay(
        &self,
        (spec, config): (&Spec, &Config),
        size_units: u64,
        replaying: &Replaying<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let session = replaying.session;
        let once = self.once.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Replays run at once, and share the bar of all.
        let again = || source(spec, config, session, &session.opening_quietly());
        let source = match once.map_or_else(again, Ok) {
            // An object is not opened after a signal. What the replays before gave stays.
            Err(Error::Source(SourceError::Object(ObjectError::Cancelled(_)))) => {
                let (cut, warnings) = (Outcome::of(Stats::default(), true), self.warnings.clone());
                return Ok(Outcome { warnings, ..cut });
            }
            opened => opened?,
        };
        let held = source.bytes() + self.survey.as_ref().map_or(0, Survey::memory_bytes);
        let unseen = if self.survey.is_none() { Some(config) } else { None };
        let mut feed = TraceFeed::new(source, session, unseen);
        let glanced = if self.survey.is_none() { Some(feed.glance(self.unit)) } else { None };
        if let Some(error) = feed.error.take() {
            return Err(error);
        }
        let Some(survey) = self.survey.as_ref().or(glanced.as_ref()) else {
            return Err(Error::Empty { name: named(spec) });
        };
        let unit_bytes = config.unit_bytes.into();
        let layout = match &self.survey {
            Some(survey) => Layout::of(survey, unit_bytes),
            None => Layout::blind(self.unit, unit_bytes),
        };
        let pace = match spec.think {
            None if !spec.closed && survey.has_times => Pace::Trace { first_ns: survey.first_ns() },
            think => Pace::Closed { think: think.unwrap_or(Nanos::ZERO) },
        };
        let by_task = survey.has_tasks;
        let mut dispatcher = Dispatcher::new(feed, layout, pace, spec.processes, by_task);
        let mut clients = UntilOver::new(&mut dispatcher, replaying);
        let stats = config.replay((size_units, held), session, &mut clients, observer)?;
        let is_cut = clients.finish();
        let left_out = dispatcher.left_out();
        let (feed, wrong) = dispatcher.finish();
        if let Some(wrong) = wrong {
            return Err(wrong.into());
        }
        let mut warnings = self.warnings.clone();
        if self.survey.is_none() {
            warnings = left_out::warnings(&feed.source);
        }
        if let Some(error) = feed.error {
            return Err(error);
        }
        let is_cut = is_cut || feed.is_cut;
        if stats.requests() == 0 && !is_cut {
            return Err(Error::Empty { name: named(spec) });
        }
        Ok(Outcome { stats, is_cut, left_out, warnings, figures: None })
    }
}

/// The requests of a trace, to their end or to a signal.
struct TraceFeed<'a> {
    source: Source,
    session: &'a Session<'a>,
    /// For a trace without a survey: refuses writes.
    unseen: Option<&'a Config>,
    /// Requests that were read by [`Self::glance`].
    ahead: Option<Vec<Request>>,
    error: Option<Error>,
    is_cut: bool,
}

impl<'a> TraceFeed<'a> {
    fn new(source: Source, session: &'a Session<'a>, unseen: Option<&'a Config>) -> Self {
        Self { source, session, unseen, ahead: None, error: None, is_cut: false }
    }

    /// The next requests of the trace; refuses those that write where nothing may be written.
    fn read(&mut self, batch: &mut Batch) -> Result<(), Error> {
        self.source.next(batch)?;
        let writes = || batch.requests.iter().any(|request| request.op == Op::Write);
        self.unseen.map_or(Ok(()), |config| config.may_write(writes()))
    }

    /// Surveys the beginning of a trace that is read once.
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
        if self.session.is_over() {
            self.is_cut = true;
            return;
        }
        let mut batch = Batch::default();
        std::mem::swap(requests, &mut batch.requests);
        if let Err(error) = self.read(&mut batch) {
            batch.requests.clear();
            self.error = Some(error);
        }
        self.is_cut |= batch.requests.is_empty() && self.session.is_over();
        std::mem::swap(requests, &mut batch.requests);
    }
}

/// The names of the inputs, shortened when there are many.
pub(in super::super) fn named(spec: &Spec) -> String {
    let first = spec.traces.first().map(|path| path.display().to_string()).unwrap_or_default();
    match spec.traces.len() {
        0 | 1 => first,
        several => format!("{first} and {} more", several - 1),
    }
}

fn source(
    spec: &Spec,
    config: &Config,
    session: &Session<'_>,
    opening: &Opening<'_>,
) -> Result<Source, Error> {
    let (format, problems_max, memory) = (spec.format.clone(), spec.problems_max, config.memory);
    let given = session.given.clone();
    let options = Options { format, problems_max, given, memory, ..Options::default() };
    Ok(Source::open_with(&spec.traces, &options, opening)?)
}
