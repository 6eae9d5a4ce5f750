//! What every version of the memory controller can do.

use std::io;
use std::path::Path;

use crate::units::Bytes;

/// What a group's memory is used for, now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Anonymous memory.
    pub anonymous: Bytes,
    /// Shared memory and tmpfs. Not part of `page_cache` here, though both versions count it there.
    pub shmem: Bytes,
    /// Kernel memory: slabs, page tables, stacks.
    pub kernel: Bytes,
    /// The most `kernel` has been, where the kernel keeps that figure.
    pub kernel_peak: Bytes,
    /// The most that all of it has been, page cache included; 0 where the kernel does not keep that.
    pub peak: Bytes,
    /// File pages.
    pub page_cache: Bytes,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Processes that the kernel OOM-killed.
    pub oom_kills: u64,
}

impl Usage {
    /// All that is not page cache of files, with the peak of kernel memory where it is known.
    pub fn other(&self) -> Bytes {
        self.anonymous + self.shmem + self.kernel.max(self.kernel_peak)
    }
}

/// One version of the memory controller, over one private group.
pub trait Limiter: Send + Sync {
    /// `cgroup v1` or `cgroup v2`, for reports.
    fn version(&self) -> &'static str;

    /// The directory of the group.
    fn directory(&self) -> &Path;

    /// Limits the group's memory, or lifts the limit.
    fn limit(&self, limit: Option<Bytes>) -> io::Result<()>;

    /// The limit of the group's memory; nothing where it has none of its own.
    fn limited(&self) -> Option<Bytes>;

    /// Processes that the kernel OOM-killed so far. Does not read statistics.
    fn oom_kills(&self) -> u64;

    /// What its memory is used for. Reading it makes the kernel bring its statistics up to date.
    fn usage(&self) -> io::Result<Usage>;

    /// Takes in a process that cannot enter by itself.
    fn admit(&self, _pid: i32) -> io::Result<()> {
        Ok(())
    }

    /// Gives back the pages that no process uses any more, so that the group can go without a
    /// trace.
    fn empty(&self);
}
