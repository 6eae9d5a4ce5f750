//! What may be in front of a backend: a second tier, a journal, or both. The tier is the outer one.

use std::io;

use super::Backend;
use super::journal::JournaledBackend;
use super::tier::{TierSnapshot, TieredBackend};
use crate::cache::journaled::Replayed;
use crate::cache::tiered::{Entry, Geometry};
use crate::clock::Stopwatch;
use crate::units::Nanos;

impl Backend {
    /// This one with a second tier in front of it, of this shape. What the tier held before is there again. It is given up
    /// when it has not answered a request for as long as the limit.
    pub(crate) fn with_tier(
        self,
        tier: Self,
        geometry: Geometry,
        entries: &[Entry],
        (clock, limit): (Stopwatch, Nanos),
    ) -> io::Result<Self> {
        let tiered = TieredBackend::new(self, tier, geometry, entries, (clock, limit))?;
        Ok(Self::Tiered(Box::new(tiered)))
    }

    /// This one with a journal in front of it, which has this: a checkpoint alone, or also what it owes.
    pub(crate) fn with_journal(
        self,
        journal: Self,
        replayed: impl Into<Replayed>,
    ) -> io::Result<Self> {
        let journaled = JournaledBackend::new(self, journal, replayed.into())?;
        Ok(Self::Journaled(Box::new(journaled)))
    }

    /// The journal, if there is one.
    fn journaled(&self) -> Option<&JournaledBackend> {
        match self {
            Self::Journaled(journaled) => Some(journaled),
            Self::Tiered(tiered) => tiered.disc.backing().journaled(),
            _ => None,
        }
    }

    /// Bytes that the journal has and the disc lacks.
    pub(super) fn owed_bytes(&self) -> u64 {
        self.journaled().map_or(0, |journaled| journaled.disc.owed_bytes())
    }

    /// Ranges of a range that the journal has data for and the disc lacks, in order and apart.
    pub(super) fn owed_within(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let journaled = self.journaled();
        journaled.map_or_else(Vec::new, |journaled| journaled.disc.owed_within(from, to))
    }

    /// Why the journal is not used any more, if so.
    pub(super) fn lost_journal(&self) -> Option<&str> {
        self.journaled()?.disc.lost()
    }

    /// From now on a flush waits until the journal owes nothing. For the end.
    pub(super) fn end_journal(&mut self) {
        match self {
            Self::Journaled(journaled) => journaled.disc.end(),
            Self::Tiered(tiered) => tiered.disc.backing_mut().end_journal(),
            _ => {}
        }
    }

    /// Why requests to an object failed, once for each reason.
    pub(super) fn complaint(&self) -> Option<String> {
        match self {
            Self::Object(object) => object.complaint(),
            Self::Tiered(tiered) => tiered.disc.backing().complaint(),
            Self::Journaled(journaled) => journaled.disc.backing().complaint(),
            Self::File(..) | Self::Direct(..) | Self::Nbd(_) => None,
        }
    }

    /// Uses the second tier no more, if there is one, for this reason.
    pub(crate) fn lose_tier(&mut self, why: String) {
        if let Self::Tiered(tiered) = self {
            tiered.disc.lose(why);
        }
    }

    /// What the second tier is at, if there is one.
    pub(super) fn tier(&self) -> Option<TierSnapshot> {
        if let Self::Tiered(tiered) = self { Some(tiered.snapshot()) } else { None }
    }

    /// Why the second tier is not used any more, if so.
    pub(super) fn lost_tier(&self) -> Option<&str> {
        if let Self::Tiered(tiered) = self { tiered.disc.lost() } else { None }
    }

    /// What the second tier holds at the end, if there is one that is in order then.
    pub(super) fn held(&mut self, insisted: &dyn Fn() -> bool) -> Option<Vec<Entry>> {
        if let Self::Tiered(tiered) = self { tiered.held(insisted) } else { None }
    }
}
