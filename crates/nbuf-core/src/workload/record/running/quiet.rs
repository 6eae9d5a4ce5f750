//! Whether the kernel leaves the memory of programs alone.
//!
//! Clearing marks makes pages look unused, so reclaim takes the wrong ones. Marks are cleared only after the groups of
//! the programs were left alone for ten seconds. In version 2 of cgroups, `memory.stat` of a group counts every scan of
//! its pages, for its own limit or for one around it. `memory.events.local` counts how often a group around it met its
//! own limit. Version 1 has `memory.failcnt` for limits, and no count of scans: there the machine's `/proc/vmstat` counts.
//!
//! Cost: a few files of the kernel twice a second. In version 2 reading them brings the counts up to date.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Running;
use crate::sys::cgroup::{memory_mount, memory_path};
use crate::sys::process::monotonic_ns;

/// For how long nothing may be reclaimed.
const QUIET_NS: u64 = 10_000_000_000;
/// How often the counts are read.
const EVERY_NS: u64 = 500_000_000;
/// Groups of one program; of the others nothing is read.
const GROUPS_MAX: usize = 64;
/// Counts of the machine. Others count what groups reclaim for limits of their own.
const OF_MACHINE: [&str; 6] = [
    "pgscan_kswapd",
    "pgscan_direct",
    "pgscan_khugepaged",
    "pgsteal_kswapd",
    "pgsteal_direct",
    "pgsteal_khugepaged",
];

/// Faults of the groups at a moment, since these began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    pub(crate) time_ns: u64,
    /// Pages of files that came back after they had been evicted.
    pub(crate) refaults: u64,
    /// Faults that waited for a disc.
    pub(crate) major: u64,
}

/// What the kernel takes from programs, followed over all their recordings. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Quiet(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The groups of the programs.
    groups: Vec<PathBuf>,
    /// These, and the groups around them.
    around: Vec<PathBuf>,
    looked_ns: u64,
    calm: Calm,
    noted: Vec<Faults>,
}

impl Quiet {
    /// A recording of these programs begins.
    pub(crate) fn begin(&self, running: &Running, user: u32) {
        let mount = memory_mount();
        let groups = mount.iter().flat_map(|mount| groups_of(running, user, mount));
        let groups: Vec<PathBuf> = groups.collect();
        let is_below = |path: &&Path| mount.as_deref().is_some_and(|mount| path.starts_with(mount));
        let all = groups.iter().flat_map(|group| group.ancestors().take_while(is_below));
        let around: BTreeSet<PathBuf> = all.map(Path::to_path_buf).collect();
        let mut state = self.state();
        state.around = around.into_iter().collect();
        state.groups = groups;
        state.noted.clear();
        state.note();
    }

    /// Whether nothing was reclaimed for a while.
    pub(in crate::workload::record) fn is_quiet(&self, now_ns: u64) -> bool {
        let mut state = self.state();
        if now_ns.saturating_sub(state.looked_ns) >= EVERY_NS {
            state.looked_ns = now_ns;
            let count = state.reclaimed();
            state.calm.see(now_ns, count);
        }
        state.calm.lasts(now_ns)
    }

    /// Notes the faults until now.
    pub(crate) fn note(&self) {
        self.state().note();
    }

    /// The faults that were noted since the recording began. The first are of its beginning.
    pub(crate) fn noted(&self) -> Vec<Faults> {
        self.state().noted.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A number that rises when the kernel reclaims.
    fn reclaimed(&self) -> u64 {
        let scans: Option<u64> =
            self.groups.iter().map(|group| scanned(&read(&group.join("memory.stat")))).sum();
        let machine = || of_machine(&read(Path::new("/proc/vmstat")));
        let scans = scans.filter(|_| !self.groups.is_empty()).unwrap_or_else(machine);
        let limits = self.around.iter().map(|group| {
            let met = read(&group.join("memory.failcnt")).trim().parse::<u64>();
            met.unwrap_or_else(|_| limits_met(&read(&group.join("memory.events.local"))))
        });
        limits.fold(scans, u64::saturating_add)
    }

    fn note(&mut self) {
        let mut faults = Faults { time_ns: monotonic_ns(), ..Faults::default() };
        for group in &self.groups {
            // A group counts those of the groups in it.
            if self.groups.iter().any(|other| other != group && group.starts_with(other)) {
                continue;
            }
            let text = read(&group.join("memory.stat"));
            let of = |names: &[&str]| names.iter().find_map(|name| value(&text, name)).unwrap_or(0);
            faults.refaults += of(&[
                "total_workingset_refault_file",
                "workingset_refault_file",
                "total_workingset_refault",
                "workingset_refault",
            ]);
            faults.major += of(&["total_pgmajfault", "pgmajfault"]);
        }
        self.noted.push(faults);
    }
}

/// For how long a count has not changed.
#[derive(Debug, Default)]
struct Calm {
    count: Option<u64>,
    since_ns: u64,
}

impl Calm {
    fn see(&mut self, now_ns: u64, count: u64) {
        if self.count != Some(count) {
            *self = Self { count: Some(count), since_ns: now_ns };
        }
    }

    fn lasts(&self, now_ns: u64) -> bool {
        self.count.is_some() && now_ns.saturating_sub(self.since_ns) >= QUIET_NS
    }
}

/// The directories of the groups that memory of programs is charged to.
fn groups_of(running: &Running, user: u32, mount: &Path) -> Vec<PathBuf> {
    let of = |process: u32| {
        let text = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        Some(mount.join(memory_path(&text)?.trim_start_matches('/')))
    };
    let all: BTreeSet<PathBuf> = running.threads(user).into_keys().filter_map(of).collect();
    all.into_iter().take(GROUPS_MAX).collect()
}

/// A file of the kernel's; nothing where it does not exist.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn lines(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name, value.trim().parse().ok()?))
    })
}

fn value(text: &str, name: &str) -> Option<u64> {
    lines(text).find(|&(found, _)| found == name).map(|(_, value)| value)
}

fn sum(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<u64> {
    let wanted = lines(text).filter(|(name, _)| is_wanted(name)).map(|(_, value)| value);
    wanted.reduce(u64::saturating_add)
}

/// Pages of a group that reclaim looked at or took; nothing in version 1, which does not count them.
fn scanned(stat: &str) -> Option<u64> {
    sum(stat, |name| name.starts_with("pgscan") || name.starts_with("pgsteal"))
}

/// How often a group met its own limits.
fn limits_met(events: &str) -> u64 {
    sum(events, |name| ["high", "max"].contains(&name)).unwrap_or(0)
}

fn of_machine(vmstat: &str) -> u64 {
    sum(vmstat, |name| OF_MACHINE.contains(&name)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn ten_seconds_without_a_change_are_quiet() {
        let mut calm = Calm::default();
        assert!(!calm.lasts(100 * SECOND), "nothing was seen");
        calm.see(100 * SECOND, 7);
        calm.see(105 * SECOND, 7);
        assert!(!calm.lasts(109 * SECOND) && calm.lasts(110 * SECOND));
        calm.see(111 * SECOND, 8);
        assert!(!calm.lasts(111 * SECOND) && !calm.lasts(120 * SECOND));
        calm.see(121 * SECOND, 8);
        assert!(calm.lasts(121 * SECOND));
        // Another group begins to count at 0.
        calm.see(122 * SECOND, 0);
        assert!(!calm.lasts(131 * SECOND));
    }

    #[test]
    fn counts_of_both_versions_are_read() {
        let v2 = "anon 1\npgscan 10\npgsteal 5\npgscan_kswapd 4\nworkingset_refault_file 3\n";
        assert_eq!(scanned(v2), Some(19));
        assert_eq!(scanned("cache 1\npgpgin 5\ntotal_pgmajfault 2\n"), None);
        assert_eq!(scanned("pgscan x\npgsteal\n"), None);
        assert_eq!(limits_met("low 1\nhigh 2\nmax 3\noom 4\n"), 5);
        assert_eq!(limits_met(""), 0);
        // A group that reclaims for its own limit counts as `pgscan_file` of the machine.
        assert_eq!(of_machine("pgscan_kswapd 1\npgsteal_direct 2\npgscan_file 9\n"), 3);
    }

    #[test]
    fn our_own_group_has_faults() {
        let running = Running { processes: vec![std::process::id()], cgroup: None };
        let quiet = Quiet::default();
        quiet.begin(&running, 0);
        quiet.clone().note();
        let noted = quiet.noted();
        assert_eq!(noted.len(), 2);
        assert!(noted[0].time_ns <= noted[1].time_ns && noted[0].major <= noted[1].major);
        quiet.begin(&running, 0);
        assert_eq!(quiet.noted().len(), 1);
        // It was seen for the first time.
        assert!(!quiet.is_quiet(monotonic_ns()));
    }
}
