//! What programs have in memory: of a group by its own account, of processes by the kernel's sums over their
//! mappings (`smaps_rollup`, `Documentation/filesystems/proc.rst`).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::super::result::LiveMemory;
use super::Running;
use crate::sys::files;
use crate::units::Bytes;

/// Memory of what runs now.
pub(super) fn of(running: &Running) -> LiveMemory {
    let of_group = running.cgroup.as_deref().filter(|_| running.processes.is_empty());
    of_group.and_then(group).unwrap_or_else(|| {
        let mut sum = LiveMemory::default();
        for process in running.threads().keys() {
            let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
            add(&mut sum, &of_process(&text.unwrap_or_default()));
        }
        sum
    })
}

fn add(sum: &mut LiveMemory, one: &LiveMemory) {
    sum.anonymous_bytes.0 += one.anonymous_bytes.0;
    sum.shared_bytes.0 += one.shared_bytes.0;
    sum.cache_bytes.0 += one.cache_bytes.0;
}

/// `Pss_Anon:  1234 kB`: pages that several processes share are divided among them.
fn of_process(text: &str) -> LiveMemory {
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        Bytes(number.unwrap_or(0).saturating_mul(1024))
    };
    LiveMemory {
        anonymous_bytes: bytes("Pss_Anon"),
        shared_bytes: bytes("Pss_Shmem"),
        cache_bytes: bytes("Pss_File"),
        kernel_bytes: Bytes(0),
        is_charged: false,
    }
}

/// The account of a group that has the memory controller.
fn group(directory: &Path) -> Option<LiveMemory> {
    let directory = files::directory(directory).ok()?;
    let read = |name: &str| {
        let file = files::open(&directory, Path::new(name), OFlags::RDONLY, Mode::empty()).ok()?;
        let mut text = String::new();
        File::from(file).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let kernel = read("memory.kmem.usage_in_bytes").and_then(|text| text.trim().parse().ok());
    Some(of_group(&read("memory.stat")?, kernel))
}

fn of_group(text: &str, kernel_v1: Option<u64>) -> LiveMemory {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let values: HashMap<&str, u64> =
        pairs.filter_map(|(name, value)| Some((name, value.trim().parse().ok()?))).collect();
    // Version 1 has the sums over the groups below under names of their own.
    let of = |v1: &str, v2: &str| values.get(v1).or_else(|| values.get(v2)).copied().unwrap_or(0);
    let shared = of("total_shmem", "shmem");
    // Both count shared memory as cache, too.
    let cache = of("total_cache", "file").saturating_sub(shared);
    LiveMemory {
        anonymous_bytes: Bytes(of("total_rss", "anon")),
        shared_bytes: Bytes(shared),
        kernel_bytes: Bytes(kernel_v1.unwrap_or_else(|| of("", "kernel"))),
        cache_bytes: Bytes(cache),
        is_charged: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_of_both_versions_are_read() {
        let want = LiveMemory {
            anonymous_bytes: Bytes(100),
            shared_bytes: Bytes(30),
            kernel_bytes: Bytes(7),
            cache_bytes: Bytes(20),
            is_charged: true,
        };
        let v1 = "cache 1\nrss 2\ntotal_cache 50\ntotal_rss 100\ntotal_shmem 30\n";
        assert_eq!(of_group(v1, Some(7)), want);
        assert_eq!(of_group("anon 100\nfile 50\nshmem 30\nkernel 7\n", None), want);
        let none = LiveMemory { is_charged: true, ..LiveMemory::default() };
        assert_eq!(of_group("broken\nanon x\n", None), none);
    }

    #[test]
    fn sums_over_mappings_are_read() {
        let text = "Rss:  9 kB\nPss_Anon:  2 kB\nPss_File:   3 kB\nPss_Shmem:  4 kB\n";
        let got = of_process(text);
        assert_eq!(got.other_bytes(), Bytes(6 << 10));
        assert_eq!(got.cache_bytes, Bytes(3 << 10));
        assert_eq!(of_process(""), LiveMemory::default());
    }
}
