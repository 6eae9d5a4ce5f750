//! Counts the pages the kernel puts into the cache for a command: the truth that predictions are
//! held against.

use std::io;
use std::os::fd::BorrowedFd;

use crate::sys::cgroup::Group;
use crate::units::PAGE_BYTES;
use crate::workload::command::Watcher;
use crate::workload::record::events::ADD;
use crate::workload::record::log::Event;
use crate::workload::record::mounts::{self, Mount};
use crate::workload::record::perf::{Error, Perf};

/// Counts folios added to the page cache, in pages, on mounted file systems.
#[derive(Debug)]
pub struct FillCounter<'a> {
    perf: Perf,
    group: &'a Group,
    mounts: Vec<Mount>,
    pages: u64,
}

impl<'a> FillCounter<'a> {
    /// Finds the tracepoint. The command will run in `group`.
    pub fn prepare(group: &'a Group) -> Result<Self, Error> {
        Ok(Self { perf: Perf::prepare(&[ADD])?, group, mounts: mounts::backed(), pages: 0 })
    }

    /// Pages filled, and events that were lost on the way (then the count is too low).
    pub fn finish(mut self) -> io::Result<(u64, u64)> {
        self.tick()?;
        let (_, lost) = self.perf.losses()?;
        Ok((self.pages, lost))
    }

    /// The same in bytes, so far.
    pub fn bytes(&self) -> u64 {
        self.pages * PAGE_BYTES
    }
}

impl Watcher for FillCounter<'_> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        self.perf.attach(pid).map_err(io::Error::other)
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.perf.descriptors()
    }

    fn tick(&mut self) -> io::Result<()> {
        // Reading the group's statistics makes the kernel bring them up to date. Reclaim decides by
        // them, and decides by chance when they are two seconds old.
        let _ = self.group.limiter().usage();
        let Self { perf, mounts, pages, .. } = self;
        perf.drain(|event: &Event| {
            // What the kernel keeps for itself is filled through the same tracepoint.
            if mounts::may_be_file(mounts, (event.device, event.inode)) {
                *pages += 1 << event.extent.min(18);
            }
            Ok(())
        })
    }
}
