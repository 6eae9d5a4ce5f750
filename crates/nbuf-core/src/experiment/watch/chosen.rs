//! Processes of which figures are shown apart: named ones, or those of a cgroup and of the groups below it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::interval::states_of;
use crate::experiment::result::WatchChosen;
use crate::meter::probe::tasks::{self, TaskCounts};
use crate::units::Bytes;
use crate::workload::record::running::members;

/// Which processes.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    processes: Vec<u32>,
    cgroup: Option<PathBuf>,
}

/// What the kernel has counted of each.
pub(super) type ChosenCounts = BTreeMap<u32, TaskCounts>;

impl Chosen {
    /// Checks that there are such processes, and such a cgroup.
    pub(super) fn find(processes: &[u32], cgroup: Option<&Path>) -> Result<Option<Self>, Error> {
        if processes.is_empty() && cgroup.is_none() {
            return Ok(None);
        }
        for &process in processes {
            tasks::counts(process).ok_or(Error::Process(process))?;
        }
        if let Some(path) = cgroup {
            let failed = |cause| Error::Cgroup { path: path.to_owned(), cause };
            members(path).map_err(failed)?;
        }
        Ok(Some(Self { processes: processes.to_vec(), cgroup: cgroup.map(Path::to_owned) }))
    }

    /// Counts of those that are there now.
    pub(super) fn counts(&self) -> ChosenCounts {
        let mut numbers = self.processes.clone();
        if let Some(cgroup) = &self.cgroup {
            numbers.extend(members(cgroup).unwrap_or_default());
        }
        numbers.into_iter().filter_map(|process| Some((process, tasks::counts(process)?))).collect()
    }
}

/// What came between two readings, of the processes that are in both.
pub(super) fn between(before: &ChosenCounts, now: &ChosenCounts) -> WatchChosen {
    let processes: Vec<u32> = now.keys().copied().collect();
    let page_bytes = rustix::param::page_size() as u64;
    let resident: u64 = now.values().map(|counts| counts.resident_pages).sum();
    let mut seen = WatchChosen {
        thread_states: states_of(&tasks::thread_states(&processes)),
        processes,
        resident_bytes: Bytes(resident * page_bytes),
        ..WatchChosen::default()
    };
    let seconds = |ticks: u64| ticks as f64 / tasks::ticks_per_second() as f64;
    for (process, now) in now {
        let Some(before) = before.get(process) else { continue };
        seen.user_seconds += seconds(now.user_ticks.saturating_sub(before.user_ticks));
        seen.system_seconds += seconds(now.system_ticks.saturating_sub(before.system_ticks));
        seen.faults_major += now.faults_major.saturating_sub(before.faults_major);
        seen.faults_minor += now.faults_minor.saturating_sub(before.faults_minor);
    }
    let faults = seen.faults_major + seen.faults_minor;
    let running = seen.user_seconds + seen.system_seconds;
    seen.running_between_mean_seconds = (faults > 0).then(|| running / faults as f64);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_are_not_there_are_refused() {
        assert!(Chosen::find(&[], None).unwrap().is_none());
        assert!(matches!(Chosen::find(&[u32::MAX], None), Err(Error::Process(u32::MAX))));
        let no_group = Chosen::find(&[], Some(Path::new("/proc")));
        assert!(matches!(no_group, Err(Error::Cgroup { .. })));
    }

    #[test]
    fn only_processes_of_both_readings_count() {
        let counts = |faults_minor| TaskCounts { faults_minor, ..TaskCounts::default() };
        let before = ChosenCounts::from([(u32::MAX - 1, counts(100)), (u32::MAX - 2, counts(5))]);
        let now = ChosenCounts::from([(u32::MAX - 1, counts(130)), (u32::MAX, counts(1000))]);
        let seen = between(&before, &now);
        assert_eq!((seen.faults_minor, seen.processes.len()), (30, 2));
    }
}
