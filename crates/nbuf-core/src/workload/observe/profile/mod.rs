//! The samples of a command's profile: opened, drained and closed.
//!
//! An ordinary user may sample his own programs, and not the kernel.

pub(crate) mod decode;
pub(crate) mod kernel;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use perf_event_open_sys::bindings as b;

use super::SETTLED_NS;
use crate::clock;
use crate::meter::profile::{Counted, Profile, Record};
use crate::sys::linger::close_later;
use crate::sys::perf::Event;
use crate::sys::perf::profile::{PERIOD_NS, ProfileEvents, Sampled, open};
use crate::sys::process::monotonic_ns;
use crate::sys::ring::Ring;
use crate::sys::tracefs::Tracefs;
use crate::workload::record::events::{field_named, id};
use crate::workload::record::machine;
use decode::{FillLayout, decode};

/// Room of a ring; the second is what an ordinary user may lock on every system.
const RING_BYTES: usize = 4 << 20;
const RING_BYTES_ORDINARY: usize = 128 << 10;

/// What was sampled of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiled {
    /// The counts; nothing where no event could be opened.
    pub counted: Option<Counted>,
    /// Time between two samples.
    pub period_ns: u64,
    /// Records that did not reach us.
    pub lost: u64,
    /// Times that the kernel held samples back.
    pub throttled: u64,
    /// Why the kernel's own functions are missing.
    pub no_kernel: Option<String>,
    /// Why all is missing.
    pub nothing: Option<String>,
    /// When the command began: a file that changed later is not the one that ran.
    pub began_unix_seconds: i64,
    /// Whether fills could be seen.
    pub has_fills: bool,
}

/// Samples a command.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    fill: Option<(u16, FillLayout)>,
    events: Vec<ProfileEvents>,
    rings: Vec<Ring>,
    profile: Profile,
    batch: Vec<(u64, Record)>,
    seen: Profiled,
}

impl Profiler {
    pub(super) fn prepare() -> Self {
        Self { fill: fill(), ..Self::default() }
    }

    /// Attaches to a task that has not executed yet.
    pub(super) fn attach(&mut self, pid: i32) {
        let now = clock::unix_time().unwrap_or_default();
        self.seen.began_unix_seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if !machine::is_in_first_pid_namespace() {
            let reason = "processes have other numbers in this container than for the kernel";
            self.seen.nothing = Some(reason.to_owned());
            return;
        }
        let fill = self.fill.map(|(id, _)| id);
        let whole = Sampled { kernel: true, fill, wakeup_bytes: 0 };
        let Err(error) = self.open(pid, whole, RING_BYTES) else { return };
        self.fill = None;
        self.seen.no_kernel = Some(refusal(&error));
        if let Err(error) = self.open(pid, Sampled::default(), RING_BYTES_ORDINARY) {
            self.seen.nothing = Some(refusal(&error));
        }
    }

    fn open(&mut self, pid: i32, sampled: Sampled, ring_bytes: usize) -> io::Result<()> {
        let wakeup_bytes = u32::try_from(ring_bytes / 4).unwrap_or(u32::MAX);
        self.events.clear();
        self.rings.clear();
        for processor in machine::processors_online()? {
            let events = open(pid, processor, Sampled { wakeup_bytes, ..sampled })?;
            self.rings.push(Ring::map(events.leader().descriptor(), ring_bytes)?);
            events.share_ring()?;
            self.events.push(events);
        }
        Ok(())
    }

    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.events.iter().map(|events| events.leader().descriptor().as_fd())
    }

    pub(super) fn tick(&mut self) {
        self.take(monotonic_ns().saturating_sub(SETTLED_NS));
    }

    /// The rings are read one after the other, so that the newest records wait for those of other rings.
    fn take(&mut self, until_ns: u64) {
        let Self { events, rings, fill, batch, seen, profile } = self;
        let layout = fill.map(|(_, layout)| layout);
        for (events, ring) in events.iter().zip(rings) {
            ring.drain(|record| {
                seen.lost += record.lost();
                seen.throttled += u64::from(record.kind == b::PERF_RECORD_THROTTLE);
                let identifiers = events.identifiers();
                batch.extend(decode(identifiers, layout, record.kind, record.misc, record.body));
            });
        }
        batch.sort_by_key(|(time_ns, _)| *time_ns);
        let ready = batch.partition_point(|(time_ns, _)| *time_ns <= until_ns);
        batch.drain(..ready).for_each(|(_, record)| profile.take(record));
    }

    /// After the command.
    pub(super) fn finish(mut self) -> Profiled {
        self.take(u64::MAX);
        self.rings.clear();
        let events = self.events.into_iter().flat_map(ProfileEvents::into_events);
        close_later(events.map(Event::into_descriptor).collect());
        let counted = self.seen.nothing.is_none().then(|| self.profile.finish());
        let has_fills = self.fill.is_some();
        Profiled { counted, period_ns: PERIOD_NS, has_fills, ..self.seen }
    }
}

/// The tracepoint of filled pages, where it may be read.
fn fill() -> Option<(u16, FillLayout)> {
    let tracefs = Tracefs::open().ok()?;
    let text = tracefs.read("events/filemap/mm_filemap_add_to_page_cache/format").ok()?;
    let field = |name| field_named(&text, name);
    let layout =
        FillLayout { inode: field("i_ino")?, device: field("s_dev")?, order: field("order") };
    Some((id(&text)?, layout))
}

fn refusal(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission to sample it".to_owned(),
        _ => format!("samples cannot be opened: {error}"),
    }
}
