//! Counts the pages the kernel puts into the cache for a command: the truth that predictions are
//! held against. Where tracepoints are refused, what its processes read from discs stands in for it.

use std::io;
use std::os::fd::BorrowedFd;

use serde::{Deserialize, Serialize};

use crate::sys::cgroup::Group;
use crate::units::PAGE_BYTES;
use crate::workload::command::{Ended, Watcher};
use crate::workload::record::events::ADD;
use crate::workload::record::log::Event;
use crate::workload::record::mounted::Mounted;
use crate::workload::record::perf::{Error, Perf};

/// What predictions of fills are held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// The tracepoint of pages put into the cache. Exact, and for the privileged.
    #[default]
    Tracepoint,
    /// The kernel's account of what each process has read from discs (`ru_inblock`), which anybody
    /// may see of their own: a fill is a read, but for pages that writes put into the cache, and for
    /// holes. Reads of directories and inodes are in it, and calls with `O_DIRECT`.
    BytesRead,
}

/// Counts by one of the meters.
#[derive(Debug)]
pub enum Counter<'a> {
    /// By tracepoint.
    Tracepoint(Box<FillCounter<'a>>),
    /// By what was read.
    BytesRead(&'a Group),
}

impl<'a> Counter<'a> {
    /// Gets it ready. The command will run in `group`.
    pub fn prepare(meter: Meter, group: &'a Group) -> Result<Self, Error> {
        Ok(match meter {
            Meter::Tracepoint => Self::Tracepoint(Box::new(FillCounter::prepare(group)?)),
            Meter::BytesRead => Self::BytesRead(group),
        })
    }

    /// Pages filled, and events that were lost on the way.
    pub fn finish(self, ended: &Ended) -> io::Result<(u64, u64)> {
        match self {
            Self::Tracepoint(counter) => counter.finish(),
            Self::BytesRead(_) => Ok((ended.bytes_read.div_ceil(PAGE_BYTES), 0)),
        }
    }
}

impl Watcher for Counter<'_> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        match self {
            Self::Tracepoint(counter) => counter.attach(pid),
            Self::BytesRead(_) => Ok(()),
        }
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Tracepoint(counter) => counter.descriptors(),
            Self::BytesRead(_) => Vec::new(),
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        match self {
            Self::Tracepoint(counter) => counter.tick(),
            Self::BytesRead(group) => {
                refresh(group);
                Ok(())
            }
        }
    }
}

/// Reading the group's statistics makes the kernel bring them up to date. Reclaim decides by them, and
/// decides by chance when they are two seconds old.
fn refresh(group: &Group) {
    let _ = group.limiter().usage();
}

/// Counts folios added to the page cache, in pages, on mounted file systems.
#[derive(Debug)]
pub struct FillCounter<'a> {
    perf: Perf,
    group: &'a Group,
    mounted: Mounted,
    pages: u64,
}

impl<'a> FillCounter<'a> {
    /// Finds the tracepoint. The command will run in `group`.
    pub fn prepare(group: &'a Group) -> Result<Self, Error> {
        Ok(Self { perf: Perf::prepare(&[ADD])?, group, mounted: Mounted::here(), pages: 0 })
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
        refresh(self.group);
        let Self { perf, mounted, pages, .. } = self;
        perf.drain(|event: &Event| {
            // What the kernel keeps for itself is filled through the same tracepoint.
            let key = (event.device, event.inode);
            if !mounted.may_be_file(key) {
                mounted.meet(event.device, event.task);
            }
            if mounted.may_be_file(key) {
                *pages += 1 << event.extent.min(18);
            }
            Ok(())
        })
    }
}
