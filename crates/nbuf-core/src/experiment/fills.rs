//! Counts the pages the kernel puts into the cache for a command: the truth that predictions are
//! compared with. Where tracepoints are refused, what its processes read from discs stands in for it.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

pub(crate) use super::result::Meter;

use crate::sys::cgroup::Group;
use crate::sys::process::monotonic_ns;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::command::{Ended, TICK, Watcher};
use crate::workload::record::container::Container;
use crate::workload::record::events::{ADD, Sample};
use crate::workload::record::log::Event;
use crate::workload::record::mounted::Mounted;
use crate::workload::record::perf::{Error, Perf};

/// A group that may reclaim is looked at as often as the agents of clusters do (cAdvisor, every 10 seconds).
const LOOK_EVERY_NS: u64 = 10_000_000_000;

/// A group that holds less than its limit by this much reclaims nothing: processors charge up to 64 pages each
/// ahead of use.
const NEAR_LIMIT: Bytes = Bytes(1 << 20);

/// How an engine says that its container was killed.
const KILLED: i32 = 128 + 9;

/// Counts by one of the meters.
#[derive(Debug)]
pub(crate) enum Counter<'a> {
    /// By tracepoint.
    Tracepoint(Box<FillCounter<'a>>),
    /// By what was read.
    BytesRead(Looks<'a>),
}

impl<'a> Counter<'a> {
    /// Gets it ready. The command will run in `group`.
    pub(crate) fn prepare(meter: Meter, group: &'a Group) -> Result<Self, Error> {
        Ok(match meter {
            Meter::Tracepoint => Self::Tracepoint(Box::new(FillCounter::prepare(group)?)),
            Meter::BytesRead => Self::BytesRead(Looks::new(group)),
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
            Self::Tracepoint(counter) => counter.looks.other,
            Self::BytesRead(looks) => looks.other,
        }
    }

    /// Whether a look at the group found that the kernel had killed in it, which the group of a container
    /// takes with it; or a container ended as one that was killed does.
    pub(crate) fn saw_kill(&self, ended: &Ended) -> bool {
        match self {
            Self::Tracepoint(counter) => {
                counter.looks.kills > 0
                    || counter.container.is_some() && ended.exit_status == KILLED
            }
            Self::BytesRead(looks) => looks.kills > 0,
        }
    }

    /// Pages filled, and events that were lost on the way.
    pub(crate) fn finish(self, ended: &Ended) -> io::Result<(u64, u64)> {
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

    fn has_enough(&self) -> bool {
        match self {
            Self::Tracepoint(counter) => counter.pages > counter.most,
            Self::BytesRead(_) => false,
        }
    }

    fn tick_every(&self) -> Duration {
        match self {
            Self::Tracepoint(counter) => counter.tick_every(),
            Self::BytesRead(_) => TICK,
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        match self {
            Self::Tracepoint(counter) => counter.tick(),
            Self::BytesRead(looks) => {
                looks.look();
                Ok(())
            }
        }
    }
}

/// Looks at a group as rarely as monitoring does once it may reclaim: reading its statistics brings them up to
/// date, and reclaim then decides by better figures than in production (docs/decisions/0003-stale-statistics.md).
#[derive(Debug)]
pub(crate) struct Looks<'a> {
    group: &'a Group,
    limit: Option<Bytes>,
    /// Whether it came near its limit once. Reclaim frees more than it is asked for, so it is below it again.
    may_reclaim: bool,
    /// When the statistics may be read next although the group may reclaim.
    due_ns: u64,
    /// The most other memory and kills that were found.
    other: Bytes,
    kills: u64,
}

impl<'a> Looks<'a> {
    fn new(group: &'a Group) -> Self {
        let due_ns = monotonic_ns() + LOOK_EVERY_NS;
        let limit = group.limiter().limited();
        Self { group, limit, may_reclaim: false, due_ns, other: Bytes(0), kills: 0 }
    }

    fn look(&mut self) {
        self.kills = self.kills.max(self.group.limiter().oom_kills());
        self.may_reclaim |= self.limit.is_some_and(|limit| self.group.held() + NEAR_LIMIT > limit);
        let now_ns = monotonic_ns();
        if self.may_reclaim && now_ns < self.due_ns {
            return;
        }
        self.due_ns = now_ns + LOOK_EVERY_NS;
        let usage = self.group.limiter().usage().unwrap_or_default();
        self.other = self.other.max(usage.other());
    }
}

/// Counts folios added to the page cache, in pages, on mounted file systems.
#[derive(Debug)]
pub(crate) struct FillCounter<'a> {
    perf: Perf,
    looks: Looks<'a>,
    container: Option<Container<'a>>,
    mounted: Mounted,
    pages: u64,
    most: u64,
}

impl<'a> FillCounter<'a> {
    /// Finds the tracepoint. The command will run in `group`.
    pub(crate) fn prepare(group: &'a Group) -> Result<Self, Error> {
        Ok(Self {
            perf: Perf::prepare(&[ADD])?,
            looks: Looks::new(group),
            container: Container::of(Some(group)),
            mounted: Mounted::here(),
            pages: 0,
            most: u64::MAX,
        })
    }

    /// Counts the events until now.
    fn take(&mut self) -> io::Result<()> {
        let Self { perf, mounted, pages, container, .. } = self;
        perf.drain_batch(|batch| {
            for sample in batch {
                match sample {
                    Sample::Event(event) => *pages += filled(mounted, event),
                    Sample::Thread { task, .. } => {
                        if let Some(container) = container {
                            container.started(*task);
                        }
                    }
                    _ => {}
                }
            }
            Ok(batch.len())
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
        if self.container.is_some() {
            return Ok(());
        }
        self.perf.attach(pid).map_err(io::Error::other)
    }

    fn tick_every(&self) -> Duration {
        self.container.as_ref().map_or(TICK, Container::look_every)
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.perf.descriptors()
    }

    fn tick(&mut self) -> io::Result<()> {
        self.looks.look();
        self.take()?;
        let entered = self.container.as_mut().map(Container::entered).unwrap_or_default();
        for thread in entered.into_iter().flat_map(|(_, threads)| threads) {
            match self.perf.attach_running(thread.cast_signed()) {
                Ok(()) | Err(Error::Gone) => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(())
    }
}

/// Pages of a folio that was added, if it is of a file: what the kernel keeps for itself is filled through the
/// same tracepoint.
fn filled(mounted: &mut Mounted, event: &Event) -> u64 {
    let key = (event.device, event.inode);
    if !mounted.may_be_file(key) {
        mounted.meet(event.device, event.task);
    }
    if mounted.may_be_file(key) { 1 << event.extent.min(18) } else { 0 }
}
