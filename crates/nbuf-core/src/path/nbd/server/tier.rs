//! A backend with a second tier in front of it, as a server waits for it: by one descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::Backend;
use crate::cache::tiered::{Entry, Geometry, TierCounts, Tiered};
use crate::clock::Stopwatch;
use crate::units::Nanos;

/// How long a server that ends waits for writes to the tier.
const SETTLING_MAX: Nanos = Nanos(10_000_000_000);

/// What a tier is at.
#[derive(Clone, Debug)]
pub(crate) struct TierSnapshot {
    /// What it did.
    pub(crate) counts: TierCounts,
    /// Bytes that it has room for.
    pub(crate) size_bytes: u64,
    /// Bytes that it holds.
    pub(crate) used_bytes: u64,
    /// Why it is not used any more, if so.
    pub(crate) lost: Option<String>,
}

/// Such a backend.
pub(crate) struct TieredBackend {
    pub(super) disc: Tiered<Backend, Backend>,
    /// Readable when one of both is ready, or when the backing can be written to and has something to send.
    ready: OwnedFd,
    /// What is waited for of the backing; none when it has ended.
    waits_for: Option<EventFlags>,
    clock: Stopwatch,
}

impl TieredBackend {
    /// A tier of this shape, with what it held before. Times are those of the clock.
    pub(super) fn new(
        backing: Backend,
        tier: Backend,
        geometry: Geometry,
        entries: &[Entry],
        clock: Stopwatch,
    ) -> io::Result<Self> {
        let ready = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&ready, &backing, EventData::new_u64(0), EventFlags::IN)?;
        epoll::add(&ready, &tier, EventData::new_u64(1), EventFlags::IN)?;
        let mut disc = Tiered::new(backing, tier, geometry);
        disc.restore(entries);
        Ok(Self { disc, ready, waits_for: Some(EventFlags::IN), clock })
    }

    /// Something of both may have come.
    pub(super) fn notice(&mut self) {
        self.disc.backing_mut().notice();
        self.disc.tier_mut().notice();
    }

    /// Sends what was asked of both, and notes what is to be waited for.
    pub(super) fn send(&mut self) {
        self.disc.tier_mut().send();
        let backing = self.disc.backing_mut();
        backing.send();
        let writes = if backing.wants_to_write() { EventFlags::OUT } else { EventFlags::empty() };
        let wanted = (!backing.is_broken()).then_some(EventFlags::IN | writes);
        if wanted == self.waits_for {
            return;
        }
        let backing = self.disc.backing();
        // Where the kernel refuses, the server looks again after its longest wait.
        let _ = match wanted {
            Some(flags) if self.waits_for.is_some() => {
                epoll::modify(&self.ready, backing, EventData::new_u64(0), flags)
            }
            Some(flags) => epoll::add(&self.ready, backing, EventData::new_u64(0), flags),
            None => epoll::delete(&self.ready, backing),
        };
        self.waits_for = wanted;
    }

    /// Whether it has answered already what no descriptor wakes for.
    pub(super) fn has_done(&self) -> bool {
        self.disc.has_done() || self.disc.backing().has_done() || self.disc.tier().has_done()
    }

    pub(super) fn snapshot(&self) -> TierSnapshot {
        let geometry = self.disc.geometry();
        TierSnapshot {
            counts: self.disc.counts(),
            size_bytes: u64::from(geometry.slots) * geometry.block_bytes(),
            used_bytes: self.disc.used_bytes(),
            lost: self.disc.lost().map(str::to_owned),
        }
    }

    /// Ends the writes to the tier. What it holds then, if all of them came to an end.
    pub(super) fn held(&mut self) -> Option<Vec<Entry>> {
        let until = self.clock.nanos() + SETTLING_MAX;
        let is_settled = self.disc.settle(until) && self.disc.lost().is_none();
        is_settled.then(|| self.disc.held())
    }
}

impl AsFd for TieredBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}
