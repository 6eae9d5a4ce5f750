//! People who type commands, or who wait for a shot: `tools` and `shot`.

use anyhow::{Result, bail};
use nbuf::experiment::replay::{Crowd, Figures, Next, Watch};
use nbuf::workload::synthetic::shot::{self, Worker};
use nbuf::workload::synthetic::tools::{self, PARAMETERS, Parameters, User};

use super::Args;
use super::setting::Setting;
use super::until::UntilOver;
use super::workload::Outcome;
use crate::fail::Senseless;
use crate::patience::Patience;

/// A file that is made for them is as large as the disc of their paper.
const DISC_BYTES: u64 = 80_000_000;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Users {
    /// Users of the MAX-IV Tools.
    Tools(Parameters),
    /// The machine of the NBS after a shot.
    Shot(u64),
}

/// They, and where the management space of their disc ends, if it has one.
pub(super) struct Present {
    crowd: Any,
    management_bytes: Option<u64>,
}

/// Either of them.
enum Any {
    Tools(Vec<User>),
    Shot(Vec<Worker>),
}

impl Users {
    /// Whom the first argument names; nobody where it is a file. Refuses options that are theirs alone for
    /// others, and options of others for them.
    pub(super) fn of(args: &Args) -> Result<Option<Self>> {
        let name = args.traces[0].to_str().unwrap_or_default();
        let has_own = args.users.is_some() || args.commands.is_some() || !args.set.is_empty();
        if name != "tools" && has_own {
            bail!("--users, --commands and --set are for tools: write nbuf replay tools --users 5");
        }
        if !["tools", "shot"].contains(&name) {
            return Ok(None);
        }
        if args.traces.len() > 1 {
            bail!("{name} stands alone: give it, or files; a file of this name is ./{name}");
        }
        if args.from.is_some() {
            bail!(Senseless(format!(
                "--from is for traces in files: leave it out, or name a file of this name with ./{name}"
            )));
        }
        if args.processes > 1 || args.closed || args.think.is_some() {
            bail!(
                "--processes, --closed and --think are for traces: {name} has users of its own, with \
                 --users and --set think_ms=10000 for tools"
            );
        }
        if name == "shot" {
            return Ok(Some(Self::Shot(args.seed)));
        }
        let mut parameters = Parameters { seed: args.seed, ..Parameters::DEFAULT };
        let named = [("users", args.users), ("commands", args.commands)];
        for (name, value) in named.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            parameters.set(name, value)?;
        }
        for (name, value) in &args.set {
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

    /// All of them, at their terminals; refuses a disc that is too small for their files, or that may not be
    /// written to.
    pub(super) fn come(&self, setting: &Setting) -> Result<Present> {
        let disc_bytes = setting.disc_bytes().unwrap_or(DISC_BYTES);
        let present = match self {
            Self::Tools(parameters) => {
                let (layout, users) = tools::users(*parameters, disc_bytes)?;
                let management_bytes = Some(layout.management_bytes());
                Present { crowd: Any::Tools(users), management_bytes }
            }
            Self::Shot(seed) => {
                let crowd = Any::Shot(shot::workers(*seed, disc_bytes)?);
                Present { crowd, management_bytes: None }
            }
        };
        setting.must_hold(disc_bytes)?;
        Ok(present)
    }
}

impl Present {
    /// The meters of the six figures, for all of the disc.
    pub(super) fn figures(&self, setting: &Setting) -> Figures {
        setting.figures(setting.disc_bytes().unwrap_or(DISC_BYTES), self.management_bytes)
    }

    /// Has them do what they do.
    pub(super) fn replay(
        mut self,
        setting: &Setting,
        size_units: u64,
        patience: &Patience,
        watch: &mut dyn Watch,
    ) -> Result<Outcome> {
        let mut crowd = UntilOver::new(&mut self.crowd, patience);
        let seen = setting.replay((size_units, 0), &mut crowd, watch)?;
        Ok(Outcome::of(seen, crowd.is_cut))
    }
}

impl Crowd for Any {
    fn count(&self) -> u32 {
        match self {
            Self::Tools(users) => Crowd::count(users),
            Self::Shot(workers) => Crowd::count(workers),
        }
    }

    fn next(&mut self, process: u32) -> Next {
        match self {
            Self::Tools(users) => Crowd::next(users, process),
            Self::Shot(workers) => Crowd::next(workers, process),
        }
    }
}

/// `name=value`, for the numbers of the tools.
pub(super) fn setting(text: &str) -> Result<(String, u32), String> {
    let wrong = || "write name=value, such as think_ms=2000; --help lists the names".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.to_owned(), number(name, value)?))
}

/// What one of the numbers of the tools is set to, if it may be.
pub(super) fn number(name: &str, text: &str) -> Result<u32, String> {
    let wrong = |_| format!("{text} is no whole number from 0 to 4294967295");
    let value = text.parse().map_err(wrong)?;
    Parameters::DEFAULT.clone().set(name, value).map_err(|error| error.to_string())?;
    Ok(value)
}

/// What may be set, for the help.
pub(super) fn help() -> String {
    let line = |parameter: &tools::Parameter| {
        format!("  {}={}: {}\n", parameter.name, parameter.default, parameter.about)
    };
    PARAMETERS.iter().map(line).collect()
}
