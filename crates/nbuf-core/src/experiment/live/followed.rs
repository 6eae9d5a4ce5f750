//! A program that is followed: found again by its name, recorded while it runs, and its windows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::record::{NameError, Running, RunningError};
use super::super::result::{LiveFollow, LiveMemory, LiveService};
use super::several::reason;
use super::wanted::Wanted;
use super::window::Rolling;
use super::{Error, Spec, marks, stall, watch};
use crate::sys::process::monotonic_ns;
use crate::workload::record::running::{Faults, Quiet, Stop, began};
use crate::workload::record::spool::Spool;

/// Pages on the stack of each program: 8 GiB of cache, in about 150 MiB.
const PAGES_MAX: u32 = 1 << 21;
/// How long to wait for a program that is not there.
const RETRY: Duration = Duration::from_millis(500);
/// Numbers of processes in a line.
const PROCESSES_MAX: usize = 100;

/// A window that all programs share.
pub(super) struct Round<'a> {
    pub(super) spec: &'a Spec,
    pub(super) spool: Option<PathBuf>,
    pub(super) log_bytes: usize,
    pub(super) user: u32,
    pub(super) number: u64,
    pub(super) began_ns: u64,
    pub(super) stop: &'a (dyn Fn() -> Option<Stop> + Sync),
    /// Whether one of the programs has an error that ends all.
    pub(super) has_failed: &'a AtomicBool,
    /// One trace at a time is in memory.
    pub(super) traces: &'a Mutex<()>,
}

/// A program, and what was recorded of it.
pub(super) struct Followed {
    pub(super) name: String,
    pub(super) wanted: Wanted,
    /// The directory of its group, as it was found last.
    directory: Option<PathBuf>,
    /// When each process of `wanted` began: its number may be given again.
    began: Vec<Option<u64>>,
    rolling: Rolling,
    quiet: Quiet,
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
    service: Option<LiveService>,
    living: u64,
    interrupted: Option<i32>,
    faults: Vec<Faults>,
    absent: Option<String>,
}

impl Followed {
    pub(super) fn new(wanted: Wanted, window: Duration) -> Self {
        let began = match &wanted {
            Wanted::Processes(numbers) => numbers.iter().map(|&it| began(it)).collect(),
            _ => Vec::new(),
        };
        let window_ns = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX).max(1);
        let directory = wanted.running().ok().and_then(|running| running.cgroup);
        Self {
            name: wanted.name(),
            directory,
            began,
            rolling: Rolling::new(window_ns, PAGES_MAX),
            absent: 0,
            is_over: false,
            quiet: Quiet::default(),
            wanted,
        }
    }

    /// The directory that is followed, if it is one.
    pub(super) fn directory(&self) -> Option<&Path> {
        match &self.wanted {
            Wanted::Cgroup(path) => Some(self.directory.as_deref().unwrap_or(path)),
            _ => self.directory.as_deref(),
        }
    }

    /// Whether both are one program.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let directory = self.directory();
        self.wanted == other.wanted || directory.is_some() && directory == other.directory()
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
            self.keep_living(&mut running);
        }
        self.directory.clone_from(&running.cgroup);
        let spec = Spec { running, duration: None, ..round.spec.clone() };
        let from_ns = monotonic_ns().saturating_sub(round.began_ns);
        let before = spec.running.threads(round.user);
        let log = Spool::new(round.spool.clone()).with_memory(round.log_bytes);
        let watched = watch(&spec, round.user, log, &self.quiet, &|| {}, round.stop)?;
        parts.attached += 1;
        parts.processes.extend(before.keys().chain(spec.running.threads(round.user).keys()));
        parts.cgroup.clone_from(&spec.running.cgroup);
        parts.living = watched.processes;
        parts.service = watched.service.or(parts.service);
        parts.interrupted = watched.ended.interrupted;
        parts.faults = watched.faults;
        if watched.processes > 0 || parts.attached == 1 {
            parts.memory = watched.memory;
        }
        let _one = round.traces.lock();
        self.rolling.take(&watched.log.trace()?, from_ns);
        Ok(())
    }

    /// Leaves out the processes that ended. The first that is missing gives the error, if all of them did.
    fn keep_living(&self, running: &mut Running) {
        let Wanted::Processes(numbers) = &self.wanted else { return };
        let living = self.living(numbers);
        if !living.is_empty() {
            running.processes = living;
        }
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
        stall::add(&mut live, round.spec, parts.service);
        marks::add_faults(&mut live, &parts.faults);
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
}
