//! The memory controller of cgroup v2. Tested on directories of plain files, and tried in a virtual
//! machine (docs/support.md).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Limiter, Usage, number, stat};
use crate::units::Bytes;

/// A private group in the unified hierarchy.
#[derive(Debug)]
pub(super) struct V2 {
    directory: PathBuf,
}

impl V2 {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }
}

impl Limiter for V2 {
    fn version(&self) -> &'static str {
        "cgroup v2"
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn limit(&self, limit: Option<Bytes>) -> io::Result<()> {
        let text = limit.map_or_else(|| "max".to_owned(), |limit| limit.0.to_string());
        // Swap would hide what a lack of memory costs; the file is absent where swap is not accounted.
        let swap = self.directory.join("memory.swap.max");
        if swap.exists() {
            fs::write(swap, "0")?;
        }
        fs::write(self.directory.join("memory.max"), text)
    }

    fn limited(&self) -> Option<Bytes> {
        let text = fs::read_to_string(self.directory.join("memory.max")).ok()?;
        text.trim().parse().ok().map(Bytes)
    }

    fn oom_kills(&self) -> u64 {
        let events = fs::read_to_string(self.directory.join("memory.events")).unwrap_or_default();
        stat(&events, "oom_kill")
    }

    fn usage(&self) -> io::Result<Usage> {
        let text = fs::read_to_string(self.directory.join("memory.stat"))?;
        let shmem = stat(&text, "shmem");
        Ok(Usage {
            anonymous: Bytes(stat(&text, "anon")),
            shmem: Bytes(shmem),
            kernel: Bytes(stat(&text, "kernel")),
            kernel_peak: Bytes(0),
            peak: Bytes(number(&self.directory.join("memory.peak"))),
            page_cache: Bytes(stat(&text, "file").saturating_sub(shmem)),
            major_faults: stat(&text, "pgmajfault"),
            oom_kills: self.oom_kills(),
        })
    }

    fn empty(&self) {
        // Everything the group holds; the kernel stops when nothing is left (EAGAIN).
        let _ = fs::write(self.directory.join("memory.reclaim"), "1T swappiness=0");
    }
}
