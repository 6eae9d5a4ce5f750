//! Who asks: a trace that was surveyed, people, or requests that are made up; ready to be replayed again.

use anyhow::{Result, bail};
use nbuf::experiment::replay::{Deal, Figures, Layout, Pace, Seen, Watch};
use nbuf::experiment::result::ReplayFigures;
use nbuf::workload::request::Unit;

use super::Args;
use super::made::Made;
use super::setting::Setting;
use super::trace::Trace;
use super::until::UntilOver;
use super::users::Users;
use crate::fail::Senseless;
use crate::patience::Patience;

/// Who asks.
pub(super) enum Workload {
    /// A trace.
    Trace(Box<Trace>),
    /// Nobody whom we know.
    Made(Made),
    /// People.
    Users(Users),
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
        if let Some(made) = made.transpose().map_err(Senseless)? {
            if args.from.is_some() {
                bail!(Senseless(
                    "--from is for traces in files: leave it out, or name a file of this name with ./"
                        .to_owned()
                ));
            }
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
            Self::Trace(trace) => trace.comes_again(),
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
            Self::Trace(trace) => setting.figures(trace.bytes(unit_bytes), None),
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
                let feed = made.feed(unit_bytes, args.seed);
                let pace = Pace::Closed { think: args.think.unwrap_or_default() };
                let mut deal = Deal::new(feed, layout, pace, args.processes, false);
                let mut crowd = UntilOver::new(&mut deal, patience);
                let seen = setting.replay((size_units, 0), &mut crowd, watch)?;
                Ok(Outcome::of(seen, crowd.is_cut))
            }
        }
    }
}
