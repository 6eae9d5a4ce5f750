//! What a cache holds and owes, for those who look.

use super::frames::SECTOR_BYTES;
use super::ids::NONE;
use super::{Cached, Clock, Counts, Job, Measured, OtherSize, Others, Settings, State};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Disc, DiscError};
use crate::units::Nanos;

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Measures by this clock what the cache costs, from now on. Without one only the disc is measured.
    pub(crate) fn time_with(&mut self, clock: Clock) {
        self.costs.time_with(clock);
    }

    /// What was measured.
    pub(crate) fn measured(&self) -> &Measured {
        &self.costs.measured
    }

    /// Pages in the cache by equal pieces of the disc, and the pages of a piece.
    pub(crate) fn places(&self) -> (&[u32], u64) {
        self.ids.places()
    }

    /// Follows what other sizes and policies would give from now on.
    pub fn compare_with(&mut self, others: Others) {
        self.others = Some(others);
        self.begin_window();
    }

    /// What other sizes and policies would have given, if they were followed and anything was read.
    pub fn other_sizes(&self) -> Vec<OtherSize> {
        self.others.as_ref().map_or_else(Vec::new, |others| others.sizes(&self.counts))
    }

    /// Look-ups and hits since other sizes are followed, to compare with theirs.
    pub fn compared(&self) -> (u64, u64) {
        self.others.as_ref().map_or((0, 0), |others| others.compared(&self.counts))
    }

    /// Misses of pages that had been evicted, and that twice the size would have had; an estimate from a sample.
    pub fn would_hit_at_twice(&self) -> u64 {
        self.others.as_ref().map_or(0, |others| others.would_hit_at_twice(&self.counts))
    }

    /// How it was set.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The backend.
    pub fn disc(&self) -> &D {
        &self.disc
    }

    /// When the next answer that waits in the cache is due; requests on the disc are not known.
    pub fn next_done_at(&self) -> Option<Nanos> {
        self.done.front().map(|first| first.at)
    }

    /// The backend, to be changed. Its requests belong to the cache.
    pub fn disc_mut(&mut self) -> &mut D {
        &mut self.disc
    }

    /// Ends the cache and returns the disc. What is dirty is lost: flush before.
    pub fn into_disc(self) -> D {
        self.disc
    }

    /// Whether anything of a page is in the cache. One that has its place only has not.
    pub(super) fn has_bytes(&self, page: u64) -> bool {
        let frame = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).frame);
        frame != NONE && self.frames.get(frame).valid != 0
    }

    /// Pages that are in the cache.
    pub fn used_pages(&self) -> u64 {
        self.frames.used() as u64
    }

    /// Pages with bytes that the disc does not have.
    pub fn owed_pages(&self) -> u64 {
        self.owed_pages
    }

    /// Bytes that the disc does not have, to the sector. Costs a look at every page that is owed.
    pub fn owed_bytes(&self) -> u64 {
        let frame = |id: u32| self.frames.get(self.ids.slot(id).frame);
        let dirty = self.dirty.iter().filter_map(|&page| self.ids.find(page));
        let dirty: u64 = dirty.map(|id| u64::from(frame(id).dirty.count_ones())).sum();
        let written = self.jobs.iter().filter_map(|job| match job {
            Job::Back(pages) => Some(pages),
            _ => None,
        });
        // Sectors that are dirty again while they are written were counted.
        let written = written.flatten().map(|&(id, mask)| (mask & !frame(id).dirty).count_ones());
        (dirty + written.map(u64::from).sum::<u64>()) * SECTOR_BYTES
    }

    /// Ranges of bytes, by whole pages, that the disc may lack between two bytes. After `most` pages the look ends, at
    /// the byte that is returned too.
    pub(crate) fn owed_within(&self, from: u64, to: u64, most: usize) -> (Vec<(u64, u64)>, u64) {
        let page_bytes = u64::from(self.settings.page_bytes);
        let (first, mut end) = (from / page_bytes, to.div_ceil(page_bytes));
        let mut pages: Vec<u64> = self.dirty.range(first..end).take(most).copied().collect();
        if let Some(last) = pages.last().filter(|_| pages.len() == most) {
            end = last + 1;
        }
        let written = self.jobs.iter().filter_map(|job| match job {
            Job::Back(pages) => Some(pages),
            _ => None,
        });
        let written = written.flatten().map(|&(id, _)| self.ids.slot(id).page);
        pages.extend(written.filter(|page| (first..end).contains(page)));
        pages.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for page in pages {
            let (begins, ends) = (page * page_bytes, (page + 1) * page_bytes);
            match ranges.last_mut() {
                Some((_, last)) if *last >= begins => *last = ends,
                _ => ranges.push((begins, ends)),
            }
        }
        (ranges, to.min(end * page_bytes))
    }

    /// The error of the last write-back that failed.
    pub fn last_failure(&self) -> Option<&DiscError> {
        self.last_failure.as_ref()
    }

    /// The state of the page at a byte.
    pub fn state(&self, offset_bytes: u64) -> State {
        let page = offset_bytes / u64::from(self.settings.page_bytes);
        let Some(slot) = self.ids.find(page).map(|id| self.ids.slot(id)) else {
            return State::Empty;
        };
        match (slot.frame, slot.flight) {
            (NONE, NONE) => State::Empty,
            (NONE, _) => State::Reading,
            // It has its place, and its bytes are still to come.
            (frame, NONE) if self.frames.get(frame).valid == 0 => State::Empty,
            (frame, _) if self.frames.get(frame).valid == 0 => State::Reading,
            (frame, _) => self.frames.get(frame).state(),
        }
    }

    /// Verifies what always holds, slowly; for tests.
    pub fn check(&self) -> Result<(), String> {
        self.decider.policy.check()?;
        let mut owed = 0;
        let mut used = 0;
        let mut sectors = 0;
        let mut ahead = 0;
        for id in self.ids.within(0, u64::MAX) {
            let slot = self.ids.slot(id);
            if (slot.frame != NONE) != self.decider.policy.contains(id) {
                return Err(format!("page {}: frame and policy disagree", slot.page));
            }
            if slot.frame == NONE {
                continue;
            }
            let frame = self.frames.get(slot.frame);
            let is_sound = frame.id == id && (frame.dirty | frame.writing) & !frame.valid == 0;
            if !is_sound || (frame.dirty != 0) != self.dirty.contains(&slot.page) {
                return Err(format!("page {}: {frame:?}", slot.page));
            }
            used += 1;
            ahead += u64::from(frame.is_ahead);
            owed += u64::from(frame.is_owed());
            sectors += u64::from((frame.dirty | frame.writing).count_ones());
        }
        let on_their_way = self.jobs.iter().map(|job| match job {
            Job::Read(flight) if flight.is_ahead => flight.stale.len() as u64,
            _ => 0,
        });
        ahead += on_their_way.sum::<u64>();
        if ahead != self.counts.ahead_waiting() {
            return Err(format!("{ahead} pages were read ahead: {:?}", self.counts));
        }
        let placed: u32 = self.ids.places().0.iter().sum();
        if sectors * SECTOR_BYTES != self.owed_bytes() || placed as usize != used {
            return Err(format!("{sectors} sectors are owed, {placed} pages have a place"));
        }
        let counted: u64 = self.owed.values().sum();
        if used != self.frames.used() || owed != self.owed_pages || counted != owed {
            return Err(format!("{used} frames, {owed} owed, {counted} by epoch"));
        }
        Ok(())
    }
}
