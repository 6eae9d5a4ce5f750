//! How much memory this process can have now: what the machine has free, and what groups and limits
//! around us leave of it.

use std::fs;

use rustix::process::{Resource, getrlimit};

use super::cgroup::Hierarchies;
use crate::units::Bytes;

/// The least of what the machine, the groups around us and our own limit of addresses leave.
pub(crate) fn available() -> Bytes {
    let machine = machine(&fs::read_to_string("/proc/meminfo").unwrap_or_default());
    let groups = Hierarchies::of_this_process().memory_left();
    let own = getrlimit(Resource::As).current.map(|limit| Bytes(limit) - addresses());
    [machine, groups, own].into_iter().flatten().min().unwrap_or(Bytes(1 << 30))
}

/// What can be had without swapping.
fn machine(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kib.saturating_mul(1024)))
}

/// Addresses that are taken.
fn addresses() -> Bytes {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0_u64);
    Bytes(pages.saturating_mul(rustix::param::page_size() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some_and_no_more_than_the_machine_has() {
        let text = "MemTotal:       24576 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(machine(text), Some(Bytes(2 << 20)));
        assert_eq!(machine("MemFree: 5 kB\n"), None);
        let here = fs::read_to_string("/proc/meminfo").unwrap();
        assert!(available() > Bytes(0) && machine(&here).is_some());
        assert!(addresses() > Bytes(1 << 20));
    }
}
