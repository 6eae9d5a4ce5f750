//! A program that is followed: found again by its name, recorded while it runs, and its windows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::record::{NameError, Named, Running, RunningError};
use super::super::result::{LiveFollow, LiveMemory};
use super::several::reason;
use super::window::Rolling;
use super::{Error, Spec, watch};
use crate::sys::process::monotonic_ns;
use crate::workload::record::running::{
    Stop, began, children, groups, is_pattern, may_trace, name_of,
};
use crate::workload::record::spool::Spool;

/// Pages on the stack of a program: 8 GiB of cache, in about 150 MiB.
const PAGES_MAX: u32 = 1 << 21;
/// How long to wait for a program that is not there.
const RETRY: Duration = Duration::from_millis(500);
/// Numbers of processes in a line.
const PROCESSES_MAX: usize = 100;

/// What is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Processes that count as one program, and what they start. Their end is the end.
    Processes(Vec<u32>),
    /// A cgroup by its directory, or the cgroups that match a pattern; looked for in each window.
    Cgroup(PathBuf),
    /// A container, unit or pod; looked for in each window.
    Named(Named),
}

impl Wanted {
    /// The name in the lines.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Processes(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                numbers.join(",")
            }
            Self::Cgroup(path) if is_pattern(path) => path.display().to_string(),
            Self::Cgroup(path) => groups(path)
                .ok()
                .and_then(|found| found.first().map(|directory| name_of(directory)))
                .unwrap_or_else(|| path.display().to_string()),
            Self::Named(named) => named.name().to_owned(),
        }
    }

    pub(super) fn pattern(&self) -> Option<&Path> {
        match self {
            Self::Cgroup(path) => Some(path.as_path()).filter(|path| is_pattern(path)),
            _ => None,
        }
    }

    /// What runs under this name now.
    fn running(&self) -> Result<Running, Error> {
        Ok(match self {
            Self::Processes(numbers) => Running { processes: numbers.clone(), cgroup: None },
            Self::Cgroup(path) => {
                Running::group(groups(path)?.into_iter().next().unwrap_or_default())
            }
            Self::Named(named) => Running::group(named.cgroup()?),
        })
    }
}

/// A window that all programs share.
pub(super) struct Round<'a> {
    pub(super) spec: &'a Spec,
    pub(super) spool: Option<PathBuf>,
    pub(super) log_bytes: usize,
    pub(super) caller: u32,
    pub(super) number: u64,
    pub(super) began_ns: u64,
    pub(super) stop: &'a (dyn Fn() -> Option<Stop> + Sync),
    /// One trace at a time is in memory.
    pub(super) traces: &'a Mutex<()>,
}

/// A program, and what was recorded of it.
pub(super) struct Followed {
    pub(super) name: String,
    wanted: Wanted,
    /// When each process of `wanted` began: its number may be given again.
    began: Vec<Option<u64>>,
    rolling: Rolling,
    /// Windows since something was watched.
    pub(super) absent: u64,
    pub(super) is_over: bool,
}

/// What a window has had of a program so far.
#[derive(Default)]
struct Parts {
    attached: u64,
    processes: BTreeSet<u32>,
    cgroup: Option<PathBuf>,
    memory: LiveMemory,
    living: u64,
    interrupted: Option<i32>,
    absent: Option<String>,
}

impl Followed {
    pub(super) fn new(wanted: Wanted, window: Duration) -> Self {
        let began = match &wanted {
            Wanted::Processes(numbers) => numbers.iter().map(|&it| began(it)).collect(),
            _ => Vec::new(),
        };
        let window_ns = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX).max(1);
        let rolling = Rolling::new(window_ns, PAGES_MAX);
        Self { name: wanted.name(), wanted, began, rolling, absent: 0, is_over: false }
    }

    /// The directory that is followed, if it is one.
    pub(super) fn directory(&self) -> Option<&Path> {
        match &self.wanted {
            Wanted::Cgroup(path) => Some(path),
            _ => None,
        }
    }

    /// Records it until the window is over, as often as it starts again, and gives the line of the window.
    ///
    /// # Errors
    /// What no wait repairs, in the first window.
    pub(super) fn window(&mut self, round: &Round<'_>) -> Result<LiveFollow, Error> {
        let mut parts = Parts::default();
        while (round.stop)().is_none() {
            match self.part(round, &mut parts) {
                Ok(()) => parts.absent = None,
                Err(error) if round.number == 1 && !is_passing(&error) => return Err(error),
                Err(error) => {
                    parts.absent = Some(reason(&error));
                    // Rings are not asked for twice in a second.
                    let waits = matches!(error, Error::Record(_) | Error::Spool(_));
                    pause(round, if waits { 10 } else { 1 });
                }
            }
            if self.has_ended() {
                self.is_over = true;
                break;
            }
        }
        Ok(self.line(round, parts))
    }

    /// Records it until the window is over or it ends.
    fn part(&mut self, round: &Round<'_>, parts: &mut Parts) -> Result<(), Error> {
        let mut running = self.wanted.running()?;
        // At first each of them must be there.
        if round.number > 1 || parts.attached > 0 {
            self.with_descendants(&mut running, round.caller);
        }
        let spec = Spec { running, duration: None, ..round.spec.clone() };
        let from_ns = monotonic_ns().saturating_sub(round.began_ns);
        let before = spec.running.threads();
        let log = Spool::new(round.spool.clone()).with_memory(round.log_bytes);
        let watched = watch(&spec, round.caller, log, &|| {}, round.stop)?;
        parts.attached += 1;
        parts.processes.extend(before.keys().chain(spec.running.threads().keys()));
        parts.cgroup.clone_from(&spec.running.cgroup);
        parts.living = watched.processes;
        parts.interrupted = watched.ended.interrupted;
        if watched.processes > 0 || parts.attached == 1 {
            parts.memory = watched.memory;
        }
        let _one = round.traces.lock();
        self.rolling.take(&watched.log.trace()?, from_ns);
        Ok(())
    }

    /// Adds the processes that ours have started since they are followed, and leaves out those that ended.
    fn with_descendants(&self, running: &mut Running, caller: u32) {
        let Some(first) = self.began.iter().flatten().min().copied() else { return };
        let Wanted::Processes(numbers) = &self.wanted else { return };
        let ours: Vec<u32> = self.living(numbers);
        // The first that is missing gives the error, if all of them ended.
        if ours.is_empty() {
            return;
        }
        let mut all = ours;
        let mut at = 0;
        while at < all.len() {
            let new = children(all[at]).into_iter().filter(|child| {
                !all.contains(child)
                    && began(*child).is_some_and(|began| began >= first)
                    && may_trace(*child, caller)
            });
            let new: Vec<u32> = new.collect();
            all.extend(new);
            at += 1;
        }
        running.processes = all;
    }

    fn living(&self, numbers: &[u32]) -> Vec<u32> {
        let pairs = numbers.iter().copied().zip(&self.began);
        pairs
            .filter(|&(number, at)| at.is_some() && began(number) == *at)
            .map(|(number, _)| number)
            .collect()
    }

    /// Whether it is of processes, and all have ended.
    fn has_ended(&self) -> bool {
        match &self.wanted {
            Wanted::Processes(numbers) => self.living(numbers).is_empty(),
            _ => false,
        }
    }

    fn line(&mut self, round: &Round<'_>, parts: Parts) -> LiveFollow {
        let is_watched = parts.attached > 0;
        self.absent = if is_watched { 0 } else { self.absent + 1 };
        let mut live = self.rolling.close(round.spec, parts.memory);
        live.processes = parts.living;
        live.interrupted = parts.interrupted;
        let ended = self.is_over.then(|| "all of its processes have ended".to_owned());
        LiveFollow {
            schema: LiveFollow::SCHEMA.to_owned(),
            target: self.name.clone(),
            window: round.number,
            windows: self.rolling.windows(),
            attached: parts.attached,
            cgroup: parts.cgroup.map(|path| path.display().to_string()),
            processes: parts.processes.into_iter().take(PROCESSES_MAX).collect(),
            absent: ended.or(parts.absent),
            live: is_watched.then_some(live),
            ..LiveFollow::default()
        }
    }
}

/// Whether a program may come that is not there now.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Running(RunningError::Cgroup { .. } | RunningError::Empty(_)) => true,
        Error::Name(error) => !matches!(error, NameError::NoHierarchy),
        _ => false,
    }
}

fn pause(round: &Round<'_>, times: u32) {
    let until_ns = monotonic_ns() + u64::try_from((RETRY * times).as_nanos()).unwrap_or(u64::MAX);
    while (round.stop)().is_none() && monotonic_ns() < until_ns {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_given_again_is_another_process() {
        let own = std::process::id();
        let wanted = Wanted::Processes(vec![own]);
        let mut followed = Followed::new(wanted, Duration::from_secs(1));
        assert!(!followed.has_ended());
        followed.began[0] = Some(1);
        assert!(followed.has_ended());
    }

    #[test]
    fn only_descendants_that_began_later_are_added() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let followed =
            Followed::new(Wanted::Processes(vec![std::process::id()]), Duration::from_secs(1));
        let mut running = followed.wanted.running().unwrap();
        followed.with_descendants(&mut running, 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(running.processes.contains(&child.id()), "{running:?}");
    }
}
