//! A workload that is ready to be replayed: a surveyed trace, users, or a synthetic one.

use super::super::error::Error;
use super::super::spec::Spec;
use super::super::{Dispatcher, Figures, Layout, Observer, Pace, Stats};
use super::Config;
use super::replaying::{Replaying, Work};
use super::source::Trace;
use super::synthetic::Synthetic;
use super::until::UntilOver;
use super::users::Users;
use crate::experiment::result::ReplayFigures;
use crate::experiment::session::Session;
use crate::experiment::warning::Warning;
use crate::trace::request::Unit;

/// What sends the requests.
pub(in super::super) enum Workload {
    /// A trace.
    Trace(Box<Trace>),
    /// A pattern.
    Synthetic(Synthetic),
    /// Users of 1982.
    Users(Users),
}

/// The outcome of one replay.
pub(in super::super) struct Outcome {
    pub(in super::super) stats: Stats,
    /// Whether a signal ended it.
    pub(in super::super) is_cut: bool,
    pub(in super::super) left_out: u64,
    pub(in super::super) warnings: Vec<Warning>,
    /// The six figures, if they were measured.
    pub(in super::super) figures: Option<ReplayFigures>,
}

impl Outcome {
    pub(super) fn of(stats: Stats, is_cut: bool) -> Self {
        Self { stats, is_cut, left_out: 0, warnings: Vec::new(), figures: None }
    }
}

impl Workload {
    /// Reads what must be known before anything is replayed.
    pub(in super::super) fn open(
        spec: &Spec,
        config: &Config,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        if let Some(users) = Users::of(spec, session.seed)? {
            users.come(config)?;
            config.may_write(true)?;
            return Ok(Self::Users(users));
        }
        let first = spec.traces.first().and_then(|path| path.to_str());
        let synthetic = first.and_then(Synthetic::parse);
        if let Some(synthetic) = synthetic.transpose().map_err(Error::Option)? {
            if spec.format.is_some() {
                return Err(Error::Option(format!(
                    "--from is for traces in files: leave it out, or name a file of this name with ./{}",
                    first.unwrap_or_default()
                )));
            }
            if spec.traces.len() > 1 {
                return Err(Error::Mixed(
                    "a synthetic workload stands alone: give one of them, or files".to_owned(),
                ));
            }
            config.must_hold(synthetic.units().saturating_mul(config.unit_bytes.into()))?;
            config.may_write(synthetic.is_writing())?;
            return Ok(Self::Synthetic(synthetic));
        }
        Trace::open(spec, config, session).map(|trace| Self::Trace(Box::new(trace)))
    }

    /// Whether it can be replayed again and again.
    pub(in super::super) fn comes_again(&self) -> bool {
        match self {
            Self::Trace(trace) => trace.comes_again(),
            Self::Synthetic(_) | Self::Users(_) => true,
        }
    }

    /// The number of processes.
    pub(in super::super) fn processes(&self, spec: &Spec) -> u32 {
        match self {
            Self::Users(users) => users.count(),
            Self::Trace(_) | Self::Synthetic(_) => spec.processes,
        }
    }

    /// The meters of the six figures, for the part of the disc that it takes.
    pub(in super::super) fn figures(&self, config: &Config) -> Result<Figures, Error> {
        let unit_bytes = config.unit_bytes.into();
        Ok(match self {
            Self::Trace(trace) => config.figures(trace.bytes(unit_bytes), None),
            Self::Synthetic(synthetic) => {
                config.figures(synthetic.units().saturating_mul(unit_bytes), None)
            }
            Self::Users(users) => users.come(config)?.figures(config),
        })
    }

    /// This number of replays of it, whose progress the session gets.
    pub(in super::super) fn replaying<'a>(
        &self,
        session: &'a Session<'a>,
        replays: usize,
    ) -> Replaying<'a> {
        let work = match self {
            Self::Trace(trace) => trace.requests().map_or(Work::Unknown, Work::Requests),
            Self::Synthetic(synthetic) => Work::Requests(synthetic.requests()),
            Self::Users(users) => users.work(),
        };
        Replaying::new(session, work, replays)
    }

    /// Replays it with a cache of `size_units`.
    pub(in super::super) fn replay(
        &self,
        (spec, config): (&Spec, &Config),
        size_units: u64,
        replaying: &Replaying<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let session = replaying.session;
        match self {
            Self::Trace(trace) => trace.replay((spec, config), size_units, replaying, observer),
            Self::Users(users) => {
                users.come(config)?.replay(config, size_units, replaying, observer)
            }
            Self::Synthetic(synthetic) => {
                let unit_bytes = config.unit_bytes;
                let layout = Layout::blind(Unit::Bytes, unit_bytes.into());
                let feed = synthetic.feed(unit_bytes, session.seed);
                let pace = Pace::Closed { think: spec.think.unwrap_or_default() };
                let mut dispatcher = Dispatcher::new(feed, layout, pace, spec.processes, false);
                let mut clients = UntilOver::new(&mut dispatcher, replaying);
                let stats = config.replay((size_units, 0), session, &mut clients, observer)?;
                Ok(Outcome::of(stats, clients.finish()))
            }
        }
    }
}
