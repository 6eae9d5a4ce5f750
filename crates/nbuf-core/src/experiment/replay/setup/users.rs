//! Users who type commands, or wait for a shot: `tools` and `shot`.

use super::super::error::Error;
use super::super::spec::Spec;
use super::super::{Clients, Figures, Next, Observer};
use super::Config;
use super::replaying::{Replaying, Work};
use super::until::UntilOver;
use super::workload::Outcome;
use crate::workload::synthetic::shot::{self, Worker};
use crate::workload::synthetic::tools::{self, Parameters, User};

/// A file that is created for them is as large as the disc of their paper.
const DISC_BYTES: u64 = 80_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Users {
    /// Users of the MAX-IV Tools.
    Tools(Parameters),
    /// The machine of the NBS after a shot.
    Shot(u64),
}

/// Seated users, and the end of the management space of their disc, if it has one.
pub(super) struct Present {
    clients: Any,
    management_bytes: Option<u64>,
}

/// Users of either kind.
enum Any {
    Tools(Vec<User>),
    Shot(Vec<Worker>),
}

impl Users {
    /// The users that the first argument names; none where it is a file. Refuses their options for other
    /// workloads, and options of others for them.
    pub(super) fn of(spec: &Spec, seed: u64) -> Result<Option<Self>, Error> {
        let name = spec.traces.first().and_then(|path| path.to_str()).unwrap_or_default();
        let has_own = spec.users.is_some() || spec.commands.is_some() || !spec.set.is_empty();
        if name != "tools" && has_own {
            return Err(Error::Mixed(
                "--users, --commands and --set are for tools: write nbuf replay tools --users 5"
                    .to_owned(),
            ));
        }
        if !["tools", "shot"].contains(&name) {
            return Ok(None);
        }
        if spec.traces.len() > 1 {
            return Err(Error::Mixed(format!(
                "{name} stands alone: give it, or files; a file of this name is ./{name}"
            )));
        }
        if spec.format.is_some() {
            return Err(Error::Option(format!(
                "--from is for traces in files: leave it out, or name a file of this name with ./{name}"
            )));
        }
        if spec.processes > 1 || spec.closed || spec.think.is_some() {
            return Err(Error::Mixed(format!(
                "--processes, --closed and --think are for traces: {name} has users of its own, with \
                 --users and --set think_ms=10000 for tools"
            )));
        }
        if name == "shot" {
            return Ok(Some(Self::Shot(seed)));
        }
        let mut parameters = Parameters { seed, ..Parameters::DEFAULT };
        let named = [("users", spec.users), ("commands", spec.commands)];
        for (name, value) in named.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            parameters.set(name, value)?;
        }
        for (name, value) in &spec.set {
            parameters.set(name, *value)?;
        }
        Ok(Some(Self::Tools(parameters)))
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Tools(parameters) => parameters.users,
            Self::Shot(_) => shot::PROCESSES,
        }
    }

    /// What they do in one replay.
    pub(super) fn work(&self) -> Work {
        match self {
            Self::Tools(Parameters { users, commands, .. }) => {
                Work::Commands(u64::from(*users) * u64::from(*commands))
            }
            // Some hundred requests.
            Self::Shot(_) => Work::Unknown,
        }
    }

    /// Seats all of them; refuses a disc that is too small for their files.
    pub(super) fn come(&self, config: &Config) -> Result<Present, Error> {
        let disc_bytes = config.disc_bytes().unwrap_or(DISC_BYTES);
        let present = match self {
            Self::Tools(parameters) => {
                let (layout, users) = tools::users(*parameters, disc_bytes)?;
                let management_bytes = Some(layout.management_bytes());
                Present { clients: Any::Tools(users), management_bytes }
            }
            Self::Shot(seed) => {
                let clients = Any::Shot(shot::workers(*seed, disc_bytes)?);
                Present { clients, management_bytes: None }
            }
        };
        config.must_hold(disc_bytes)?;
        Ok(present)
    }
}

impl Present {
    /// The meters of the six figures, for all of the disc.
    pub(super) fn figures(&self, config: &Config) -> Figures {
        config.figures(config.disc_bytes().unwrap_or(DISC_BYTES), self.management_bytes)
    }

    /// Replays their work.
    pub(super) fn replay(
        mut self,
        config: &Config,
        size_units: u64,
        replaying: &Replaying<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let mut clients = UntilOver::new(&mut self.clients, replaying);
        let session = replaying.session;
        let stats = config.replay((size_units, 0), session, &mut clients, observer)?;
        Ok(Outcome::of(stats, clients.finish()))
    }
}

impl Clients for Any {
    fn count(&self) -> u32 {
        match self {
            Self::Tools(users) => Clients::count(users),
            Self::Shot(workers) => Clients::count(workers),
        }
    }

    fn next(&mut self, process: u32) -> Next {
        match self {
            Self::Tools(users) => Clients::next(users, process),
            Self::Shot(workers) => Clients::next(workers, process),
        }
    }
}
