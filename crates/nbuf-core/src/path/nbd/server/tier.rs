//! A backend with a second tier in front of it, as a server waits for it: by one descriptor.

mod disc;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::Backend;
use super::pair::Pair;
use crate::cache::tiered::{Entry, Geometry, TierCounts, Tiered};
use crate::clock::Stopwatch;
use crate::disc::{Completion, Disc as _};
use crate::units::Nanos;
use disc::TierDisc;

/// How often a server that waits for writes to its tiers looks for a second signal.
const LOOK: Nanos = Nanos(20_000_000);
/// A server that has not looked for half of the limit did not run itself, and the tier gets all of its time again. That is
/// more than a server waits at most, and no more than two seconds.
const AWAY_MIN: Nanos = Nanos(500_000_000);
const AWAY_MAX: Nanos = Nanos(2_000_000_000);

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
    pub(super) disc: Tiered<Backend, TierDisc>,
    pair: Pair,
    /// How long the tier may take for a request.
    limit: Nanos,
    /// When the last look at what is complete was.
    looked: Nanos,
    clock: Stopwatch,
}

impl TieredBackend {
    /// A tier of this shape, with what it held before. Times are those of the clock. A tier that has not answered a
    /// request for as long as the limit is given up.
    pub(super) fn new(
        backing: Backend,
        tier: Backend,
        geometry: Geometry,
        entries: &[Entry],
        (clock, limit): (Stopwatch, Nanos),
    ) -> io::Result<Self> {
        let pair = Pair::new(&backing, &tier)?;
        let mut disc = Tiered::new(backing, TierDisc::new(tier, limit), geometry);
        disc.restore(entries);
        disc.give_up_after(limit);
        // Files were opened and read meanwhile.
        let looked = clock.nanos();
        disc.begin_at(looked);
        Ok(Self { disc, pair, limit, looked, clock })
    }

    /// Something of both may have come.
    pub(super) fn notice(&mut self) {
        self.disc.backing_mut().notice();
        self.disc.tier_mut().notice();
    }

    /// Sends what was asked of both, and notes what is to be waited for.
    pub(super) fn send(&mut self) {
        self.disc.tier_mut().send();
        self.disc.backing_mut().send();
        self.pair.settle(self.disc.backing());
    }

    /// The next completion, if it comes by then.
    pub(super) fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        let away = Nanos(self.limit.0 / 2).clamp(AWAY_MIN, AWAY_MAX);
        if until - self.looked > away {
            self.disc.pardon_until(until + self.limit);
        }
        self.looked = self.looked.max(until);
        if self.disc.is_due(until) {
            // An answer may be there that no event was taken for.
            self.notice();
        }
        self.disc.next_completion(until)
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

    /// Ends the writes to the tier. It waits for them as long as a request may take, unless a second signal came. What it
    /// holds then, if all of them came to an end.
    pub(super) fn held(&mut self, insisted: &dyn Fn() -> bool) -> Option<Vec<Entry>> {
        let until = self.looked + self.limit;
        // No event was taken for what came since then.
        self.notice();
        while self.disc.lost().is_none() {
            let now = self.clock.nanos();
            let is_over = now >= until || insisted();
            let look = if is_over { now } else { until.min(now + LOOK) };
            if self.disc.settle(look) {
                return self.disc.lost().is_none().then(|| self.disc.held());
            }
            if is_over {
                return None;
            }
        }
        None
    }
}

impl Drop for TieredBackend {
    /// Requests to the tier that have not come back may never do so, nor may the end of its file.
    fn drop(&mut self) {
        if self.disc.lost().is_some() || self.disc.tier().under_way() > 0 {
            self.disc.tier_mut().abandon();
        }
    }
}

impl AsFd for TieredBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pair.as_fd()
    }
}
