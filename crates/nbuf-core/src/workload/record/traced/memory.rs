//! Memory next to the page cache of processes that are in no group of their own: an estimate from
//! `/proc/PID/status`.
//!
//! Too high where processes share copies that none has written to since a fork; too low by all
//! kernel memory but page tables, and by what came and went between two looks.

use std::fs;

use crate::sys::process::monotonic_ns;
use crate::workload::record::log::MemorySeen;

/// The sum over these processes, now.
pub(super) fn of(processes: &[i32]) -> MemorySeen {
    let none = MemorySeen {
        time_ns: monotonic_ns(),
        anonymous_bytes: 0,
        shmem_bytes: 0,
        kernel_bytes: 0,
        page_cache_bytes: 0,
    };
    let texts = processes.iter().filter_map(|process| {
        let text = fs::read(format!("/proc/{process}/status")).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    });
    texts.fold(none, |sum, text| add(sum, &text))
}

fn add(sum: MemorySeen, status: &str) -> MemorySeen {
    let bytes = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let kib = line.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.unwrap_or(0).saturating_mul(1024)
    };
    MemorySeen {
        anonymous_bytes: sum.anonymous_bytes.saturating_add(bytes("RssAnon:")),
        // Shared by processes that map the same: counted once.
        shmem_bytes: sum.shmem_bytes.max(bytes("RssShmem:")),
        kernel_bytes: sum.kernel_bytes.saturating_add(bytes("VmPTE:")),
        ..sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_status_says_is_summed_up() {
        let ours = i32::try_from(std::process::id()).unwrap();
        let seen = of(&[ours, -1]);
        assert!(seen.anonymous_bytes > 4096 && seen.kernel_bytes > 0, "{seen:?}");
        let text = "Name:\tx\nVmPTE:\t      64 kB\nRssAnon:\t     100 kB\nRssShmem:\t 8 kB\n";
        let twice = add(add(of(&[]), text), text);
        assert_eq!((twice.anonymous_bytes, twice.shmem_bytes), (204_800, 8192));
        assert_eq!(add(of(&[]), "RssAnon: x kB").anonymous_bytes, 0);
    }
}
