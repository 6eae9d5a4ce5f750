//! What a group holds now, and what its processes have done so far.
//!
//! Sources: `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`, `cgroup-v2.rst`.

use std::fs;
use std::path::Path;

use super::{Error, Group, Hierarchies, Throttle, number, stat};
use crate::units::Bytes;

/// What all processes of a group have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupCounts {
    /// Processor time; nothing where the unified hierarchy is not mounted.
    pub cpu_ns: Option<u64>,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that needed none.
    pub minor_faults: u64,
    /// Pages that were read again after reclaim took them (`workingset_refault`).
    pub refaults: u64,
    /// Bytes that were read from discs; nothing where no controller counts them.
    pub read: Option<Bytes>,
}

impl GroupCounts {
    /// What was done since an earlier look.
    pub(crate) fn since(self, earlier: Self) -> Self {
        let optional = |to: Option<u64>, from: Option<u64>| Some(to?.saturating_sub(from?));
        let read = |counts: Self| counts.read.map(|read| read.0);
        Self {
            cpu_ns: optional(self.cpu_ns, earlier.cpu_ns),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            refaults: self.refaults.saturating_sub(earlier.refaults),
            read: optional(read(self), read(earlier)).map(Bytes),
        }
    }

    /// From the text of `memory.stat`, with the prefix of its keys: `total_` where groups below are in them only then.
    fn of_memory(text: &str, prefix: &str) -> Self {
        let count = |key: &str| stat(text, &format!("{prefix}{key}"));
        let (all, major_faults) = (count("pgfault"), count("pgmajfault"));
        // Kernels before 5.9 do not keep files and anonymous memory apart.
        let refaults = ["workingset_refault", "workingset_refault_file", "workingset_refault_anon"];
        Self {
            major_faults,
            minor_faults: all.saturating_sub(major_faults),
            refaults: refaults.into_iter().map(count).sum(),
            ..Self::default()
        }
    }
}

impl Group {
    /// Makes a private group that also counts operations of discs, where a controller can.
    pub fn create_counting(hierarchies: &Hierarchies) -> Result<Self, Error> {
        // A rate without discs is a group of the controller, and nothing more.
        let counting = hierarchies.blkio_v1.as_ref().map(|_| Throttle::default());
        Self::create_with(hierarchies, counting.as_ref()).or_else(|error| match counting {
            Some(_) => Self::create(hierarchies),
            None => Err(error),
        })
    }

    /// All memory that is charged to it, page cache included. Cost: reads a file of the kernel.
    pub fn held(&self) -> Bytes {
        let file = |name| number(&self.limiter.directory().join(name));
        Bytes(file("memory.current").max(file("memory.usage_in_bytes")))
    }

    /// What its processes have done so far. Cost: reads three files of the kernel, which sums up `memory.stat` over
    /// all processors: not to be read often.
    pub(crate) fn counts(&self) -> GroupCounts {
        let read =
            |directory: Option<&Path>, file: &str| fs::read_to_string(directory?.join(file)).ok();
        let memory = read(Some(self.limiter.directory()), "memory.stat").unwrap_or_default();
        let prefix = if memory.contains("total_pgfault ") { "total_" } else { "" };
        let used = read(self.pressure.as_deref(), "cpu.stat");
        let v1 = read(self.rate.as_deref(), "blkio.throttle.io_service_bytes_recursive");
        let v2 = || read(self.pressure.as_deref(), "io.stat");
        GroupCounts {
            cpu_ns: used.map(|text| stat(&text, "usage_usec").saturating_mul(1000)),
            read: v1
                .map(|text| v1_sum(&text, &["Read"]))
                .or_else(|| v2().map(|text| v2_sum(&text, &["rbytes"])))
                .map(Bytes),
            ..GroupCounts::of_memory(&memory, prefix)
        }
    }

    /// Reads and writes that it asked discs for so far; nothing where no controller counts them. Write-back
    /// is in it with cgroup v2 only.
    pub fn disc_operations(&self) -> Option<u64> {
        let read =
            |directory: Option<&Path>, file: &str| fs::read_to_string(directory?.join(file)).ok();
        let v1 = read(self.rate.as_deref(), "blkio.throttle.io_serviced_recursive");
        let v2 = || read(self.pressure.as_deref(), "io.stat");
        v1.map(|text| v1_sum(&text, &["Read", "Write"]))
            .or_else(|| v2().map(|text| v2_sum(&text, &["rios", "wios"])))
    }
}

/// From lines such as `254:0 Read 8`, those of these ways.
fn v1_sum(text: &str, ways: &[&str]) -> u64 {
    let count = |line: &str| {
        let mut words = line.split_whitespace();
        let (device, way, count) = (words.next()?, words.next()?, words.next()?);
        let is_counted = ways.contains(&way) && !is_stacked(device);
        count.parse::<u64>().ok().filter(|_| is_counted)
    };
    text.lines().filter_map(count).sum()
}

/// From lines such as `254:0 rbytes=8192 wbytes=0 rios=2 wios=0`, these fields.
fn v2_sum(text: &str, keys: &[&str]) -> u64 {
    let count = |line: &str| {
        let (device, fields) = line.split_once(' ')?;
        let field = |field: &str| -> Option<u64> {
            let (key, count) = field.split_once('=')?;
            count.parse().ok().filter(|_| keys.contains(&key))
        };
        (!is_stacked(device)).then(|| fields.split(' ').filter_map(field).sum::<u64>())
    };
    text.lines().filter_map(count).sum()
}

/// Whether the operations of a device are counted at the discs below it, too.
fn is_stacked(device: &str) -> bool {
    let below = fs::read_dir(format!("/sys/dev/block/{device}/slaves"));
    below.is_ok_and(|mut below| below.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_summed_over_discs() {
        let text = "7:999 Read 8\n7:999 Write 3\n7:999 Sync 11\n7:999 Total 11\nTotal 11\n";
        assert_eq!(v1_sum(text, &["Read", "Write"]), 11);
        assert_eq!(v1_sum(text, &["Read"]), 8);
        let text =
            "7:999 rbytes=8192 wbytes=0 rios=2 wios=0 dbytes=0 dios=5\n7:998 rios=1 wios=4\n";
        assert_eq!(v2_sum(text, &["rios", "wios"]), 7);
        assert_eq!(v2_sum(text, &["rbytes"]), 8192);
        assert_eq!((v1_sum("Total 0\n", &["Read"]), v2_sum("", &["rios"])), (0, 0));
    }

    #[test]
    fn faults_and_refaults_are_those_of_the_group_and_what_is_below() {
        let text = "pgfault 5\nworkingset_refault_file 1\ntotal_workingset_refault_anon 2\n\
                    total_workingset_refault_file 7\ntotal_pgfault 50\ntotal_pgmajfault 8\n";
        let counts = GroupCounts::of_memory(text, "total_");
        assert_eq!((counts.major_faults, counts.minor_faults, counts.refaults), (8, 42, 9));
        assert_eq!(GroupCounts::of_memory(text, "").refaults, 1);
    }
}
