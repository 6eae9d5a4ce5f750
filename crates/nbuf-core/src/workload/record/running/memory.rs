//! What programs have in memory: of a group by its own account, of processes by the kernel's sums over their
//! mappings (`smaps_rollup`, `Documentation/filesystems/proc.rst`).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::Running;
use crate::sys::files;
use crate::units::Bytes;

/// What programs have in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Heap, stacks, private copies.
    pub(crate) anonymous_bytes: Bytes,
    /// Shared memory and tmpfs.
    pub(crate) shared_bytes: Bytes,
    /// Kernel memory charged to a group.
    pub(crate) kernel_bytes: Bytes,
    /// Pages of files.
    pub(crate) cache_bytes: Bytes,
    /// Whether a group's own account says so.
    pub(crate) is_charged: bool,
}

/// Memory of what runs now.
pub(crate) fn of(running: &Running, user: u32) -> Held {
    let of_group = running.cgroup.as_deref().filter(|_| running.processes.is_empty());
    of_group.and_then(group).unwrap_or_else(|| {
        let mut sum = Held::default();
        for process in running.threads(user).keys() {
            let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
            add(&mut sum, &of_process(&text.unwrap_or_default()));
        }
        sum
    })
}

fn add(sum: &mut Held, one: &Held) {
    sum.anonymous_bytes.0 += one.anonymous_bytes.0;
    sum.shared_bytes.0 += one.shared_bytes.0;
    sum.cache_bytes.0 += one.cache_bytes.0;
}

/// `Pss_Anon:  1234 kB`: pages that several processes share are divided among them.
fn of_process(text: &str) -> Held {
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        Bytes(number.unwrap_or(0).saturating_mul(1024))
    };
    Held {
        anonymous_bytes: bytes("Pss_Anon"),
        shared_bytes: bytes("Pss_Shmem"),
        cache_bytes: bytes("Pss_File"),
        kernel_bytes: Bytes(0),
        is_charged: false,
    }
}

/// The account of a group that has the memory controller.
fn group(directory: &Path) -> Option<Held> {
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

fn of_group(text: &str, kernel_v1: Option<u64>) -> Held {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let values: HashMap<&str, u64> =
        pairs.filter_map(|(name, value)| Some((name, value.trim().parse().ok()?))).collect();
    // Version 1 has the sums over the groups below under names of their own.
    let of = |v1: &str, v2: &str| values.get(v1).or_else(|| values.get(v2)).copied().unwrap_or(0);
    let shared = of("total_shmem", "shmem");
    // Both count shared memory as cache, too.
    let cache = of("total_cache", "file").saturating_sub(shared);
    Held {
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
        let want = Held {
            anonymous_bytes: Bytes(100),
            shared_bytes: Bytes(30),
            kernel_bytes: Bytes(7),
            cache_bytes: Bytes(20),
            is_charged: true,
        };
        let v1 = "cache 1\nrss 2\ntotal_cache 50\ntotal_rss 100\ntotal_shmem 30\n";
        assert_eq!(of_group(v1, Some(7)), want);
        assert_eq!(of_group("anon 100\nfile 50\nshmem 30\nkernel 7\n", None), want);
        let none = Held { is_charged: true, ..Held::default() };
        assert_eq!(of_group("broken\nanon x\n", None), none);
    }

    #[test]
    fn sums_over_mappings_are_read() {
        let text = "Rss:  9 kB\nPss_Anon:  2 kB\nPss_File:   3 kB\nPss_Shmem:  4 kB\n";
        let got = of_process(text);
        assert_eq!((got.anonymous_bytes, got.shared_bytes), (Bytes(2 << 10), Bytes(4 << 10)));
        assert_eq!(got.cache_bytes, Bytes(3 << 10));
        assert_eq!(of_process(""), Held::default());
    }
}
