//! The memory controller of cgroup v1. Its `cache` counts shared memory too; this module separates
//! the two.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Limiter, Usage, number, stat};
use crate::units::Bytes;

/// No limit is the most pages that a counter of the kernel holds.
const UNLIMITED: Bytes = Bytes(1 << 62);

/// A private group in a v1 memory hierarchy.
#[derive(Debug)]
pub(super) struct V1 {
    directory: PathBuf,
}

impl V1 {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }
}

impl V1 {
    /// Processes that were killed in a group below: the kernel counts them there only, and an engine removes
    /// the group of its container with the count.
    fn kills_below(&self) -> u64 {
        let below = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let groups = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let texts = groups
            .filter_map(|group| fs::read_to_string(group.path().join("memory.oom_control")).ok());
        texts.map(|text| stat(&text, "oom_kill")).sum()
    }
}

impl Limiter for V1 {
    fn version(&self) -> &'static str {
        "cgroup v1"
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn limit(&self, limit: Option<Bytes>) -> io::Result<()> {
        let text = limit.map_or_else(|| "-1".to_owned(), |limit| limit.0.to_string());
        let memory = self.directory.join("memory.limit_in_bytes");
        let with_swap = self.directory.join("memory.memsw.limit_in_bytes");
        // Memory must never exceed memory plus swap, so the order depends on the direction. The
        // first write of the second file fails where swap is not accounted: then it is not needed.
        let _ = fs::write(&with_swap, "-1");
        fs::write(memory, &text)?;
        let _ = fs::write(with_swap, &text);
        Ok(())
    }

    fn limited(&self) -> Option<Bytes> {
        let limit = Bytes(number(&self.directory.join("memory.limit_in_bytes")));
        (limit.0 > 0 && limit < UNLIMITED).then_some(limit)
    }

    fn oom_kills(&self) -> u64 {
        let control = fs::read_to_string(self.directory.join("memory.oom_control"));
        stat(&control.unwrap_or_default(), "oom_kill") + self.kills_below()
    }

    fn usage(&self) -> io::Result<Usage> {
        let text = fs::read_to_string(self.directory.join("memory.stat"))?;
        let shmem = stat(&text, "total_shmem");
        Ok(Usage {
            anonymous: Bytes(stat(&text, "total_rss")),
            shmem: Bytes(shmem),
            kernel: Bytes(number(&self.directory.join("memory.kmem.usage_in_bytes"))),
            kernel_peak: Bytes(number(&self.directory.join("memory.kmem.max_usage_in_bytes"))),
            peak: Bytes(number(&self.directory.join("memory.max_usage_in_bytes"))),
            page_cache: Bytes(stat(&text, "total_cache").saturating_sub(shmem)),
            major_faults: stat(&text, "total_pgmajfault"),
            oom_kills: self.oom_kills(),
        })
    }

    fn empty(&self) {
        // A v1 group lives on, unseen, for as long as a page is charged to it.
        let _ = fs::write(self.directory.join("memory.force_empty"), "0");
    }
}
