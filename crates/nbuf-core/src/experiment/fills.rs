//! Counts the pages the kernel puts into the cache for a command: the truth that predictions are
//! held against. Where tracepoints are refused, what its processes read from discs stands in for it.

use std::io;
use std::os::fd::BorrowedFd;

pub(crate) use super::result::Meter;

use crate::sys::cgroup::Group;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::command::{Ended, Watcher};
use crate::workload::record::events::ADD;
use crate::workload::record::log::Event;
use crate::workload::record::mounted::Mounted;
use crate::workload::record::perf::{Error, Perf};

/// Counts by one of the meters.
#[derive(Debug)]
pub(crate) enum Counter<'a> {
    /// By tracepoint.
    Tracepoint(Box<FillCounter<'a>>),
    /// By what was read.
    BytesRead {
        /// The group of the command.
        group: &'a Group,
        /// Its most other memory.
        other: Bytes,
    },
}

impl<'a> Counter<'a> {
    /// Gets it ready. The command will run in `group`.
    pub(crate) fn prepare(meter: Meter, group: &'a Group) -> Result<Self, Error> {
        Ok(match meter {
            Meter::Tracepoint => Self::Tracepoint(Box::new(FillCounter::prepare(group)?)),
            Meter::BytesRead => Self::BytesRead { group, other: Bytes(0) },
        })
    }

    /// Ends the command when it has filled more than this. Bytes read are counted only at the end.
    pub(crate) fn stop_above(&mut self, pages: u64) {
        if let Self::Tracepoint(counter) = self {
            counter.most = pages;
        }
    }

    /// The most memory other than the cache that a look at the group found.
    pub(crate) fn other_peak(&self) -> Bytes {
        match self {
            Self::Tracepoint(counter) => counter.other,
            Self::BytesRead { other, .. } => *other,
        }
    }

    /// Pages filled, and events that were lost on the way.
    pub(crate) fn finish(self, ended: &Ended) -> io::Result<(u64, u64)> {
        match self {
            Self::Tracepoint(counter) => counter.finish(),
            Self::BytesRead { .. } => Ok((ended.bytes_read.div_ceil(PAGE_BYTES), 0)),
        }
    }
}

impl Watcher for Counter<'_> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        match self {
            Self::Tracepoint(counter) => counter.attach(pid),
            Self::BytesRead { .. } => Ok(()),
        }
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Tracepoint(counter) => counter.descriptors(),
            Self::BytesRead { .. } => Vec::new(),
        }
    }

    fn has_enough(&self) -> bool {
        match self {
            Self::Tracepoint(counter) => counter.pages > counter.most,
            Self::BytesRead { .. } => false,
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        match self {
            Self::Tracepoint(counter) => counter.tick(),
            Self::BytesRead { group, other } => {
                *other = (*other).max(look(group));
                Ok(())
            }
        }
    }
}

/// The memory of the group other than its cache. Reading its statistics also makes the kernel bring them up
/// to date. Reclaim decides by them, and decides by chance when they are two seconds old.
fn look(group: &Group) -> Bytes {
    group.limiter().usage().map_or(Bytes(0), |usage| usage.other())
}

/// Counts folios added to the page cache, in pages, on mounted file systems.
#[derive(Debug)]
pub(crate) struct FillCounter<'a> {
    perf: Perf,
    group: &'a Group,
    mounted: Mounted,
    pages: u64,
    most: u64,
    other: Bytes,
}

impl<'a> FillCounter<'a> {
    /// Finds the tracepoint. The command will run in `group`.
    pub(crate) fn prepare(group: &'a Group) -> Result<Self, Error> {
        Ok(Self {
            perf: Perf::prepare(&[ADD])?,
            group,
            mounted: Mounted::here(),
            pages: 0,
            most: u64::MAX,
            other: Bytes(0),
        })
    }

    /// Pages filled, and events that were lost on the way (then the count is too low).
    pub(crate) fn finish(mut self) -> io::Result<(u64, u64)> {
        self.tick()?;
        let (_, lost) = self.perf.losses()?;
        Ok((self.pages, lost))
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
        self.other = self.other.max(look(self.group));
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
