//! The texts of both versions of the memory controller, as a probe needs them.

use std::num::ParseIntError;

use crate::units::Bytes;

/// No limit is the most pages that a counter of version 1 holds.
const UNLIMITED: u64 = 1 << 62;

/// A version of the memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Has a hard limit alone.
    V1,
    /// Has a limit that slows down and does not kill.
    V2,
}

impl Version {
    /// The file of the limit that a probe writes.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::V1 => "memory.limit_in_bytes",
            Self::V2 => "memory.high",
        }
    }

    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::V1 => "memory.usage_in_bytes",
            Self::V2 => "memory.current",
        }
    }

    /// The file that counts kills.
    pub(super) fn events(self) -> &'static str {
        match self {
            Self::V1 => "memory.oom_control",
            Self::V2 => "memory.events",
        }
    }

    /// A limit as it is written.
    pub(super) fn text(self, limit: Option<Bytes>) -> String {
        match (self, limit) {
            (_, Some(Bytes(bytes))) => bytes.to_string(),
            (Self::V1, None) => "-1".to_owned(),
            (Self::V2, None) => "max".to_owned(),
        }
    }

    /// A limit as it is read.
    pub(super) fn parse(self, text: &str) -> Result<Option<Bytes>, ParseIntError> {
        match (self, text.trim()) {
            (Self::V2, "max") => Ok(None),
            (_, number) => {
                let bytes: u64 = number.parse()?;
                Ok((bytes < UNLIMITED).then_some(Bytes(bytes)))
            }
        }
    }
}

/// What a group has at a moment, and what was counted until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// When.
    pub(crate) time_ns: u64,
    /// All memory that is charged.
    pub(crate) usage: Bytes,
    /// Pages of files.
    pub(crate) cache: Bytes,
    /// Memory that no eviction of file pages gives back.
    pub(crate) other: Bytes,
    /// File pages that came back after they were evicted.
    pub(crate) refaults: u64,
    /// Time in which some task waited for memory.
    pub(crate) memory_some_ns: u64,
    /// The same for I/O.
    pub(crate) io_some_ns: u64,
    /// Processes that were killed.
    pub(crate) kills: u64,
}

/// The part of it that `memory.stat` has.
pub(super) fn look(version: Version, text: &str) -> Look {
    let of = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let names = match version {
        Version::V1 => {
            ["total_shmem", "total_cache", "total_rss", "-", "total_workingset_refault_file"]
        }
        Version::V2 => ["shmem", "file", "anon", "kernel", "workingset_refault_file"],
    };
    let [shared, cache, anonymous, kernel, refaults] = names.map(of);
    // Both count shared memory as cache, too.
    Look {
        cache: Bytes(cache.saturating_sub(shared)),
        other: Bytes(anonymous.saturating_add(shared).saturating_add(kernel)),
        refaults,
        ..Look::default()
    }
}

/// Processes that were killed, of `memory.oom_control` or `memory.events`.
pub(super) fn kills(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The total of the line `some` of a file of pressure.
pub(super) fn some_total_ns(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("some "));
    let total = line.and_then(|line| line.split("total=").nth(1));
    let micros = total.and_then(|total| total.split_whitespace().next()?.parse::<u64>().ok());
    micros.map_or(0, |micros| micros.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_written() {
        for version in [Version::V1, Version::V2] {
            for limit in [Some(Bytes(0)), Some(Bytes(4096)), Some(Bytes(1 << 40))] {
                assert_eq!(version.parse(&version.text(limit)), Ok(limit));
            }
            assert!(version.parse("x").is_err());
            assert!(version.parse("").is_err());
        }
        assert_eq!(Version::V1.parse("9223372036854771712\n"), Ok(None));
        assert_eq!(Version::V2.parse(&Version::V2.text(None)), Ok(None));
        // It writes -1, and the kernel never shows that.
        assert!(Version::V1.parse("-1").is_err());
    }

    #[test]
    fn accounts_of_both_versions_are_read() {
        let v1 = "cache 1\ntotal_cache 50\ntotal_rss 100\ntotal_shmem 30\n\
                  total_workingset_refault_file 7\n";
        let v2 = "anon 100\nfile 50\nshmem 30\nkernel 5\nworkingset_refault_file 7\n";
        let want = Look { cache: Bytes(20), other: Bytes(130), refaults: 7, ..Look::default() };
        assert_eq!(look(Version::V1, v1), want);
        assert_eq!(look(Version::V2, v2), Look { other: Bytes(135), ..want });
        assert_eq!(look(Version::V2, "anon x\nbroken"), Look::default());
        assert_eq!(kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3);
        assert_eq!(kills("low 1\noom_group_kill 9\n"), 0);
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 total=3\n";
        assert_eq!((some_total_ns(text), some_total_ns("")), (12_000, 0));
    }
}
