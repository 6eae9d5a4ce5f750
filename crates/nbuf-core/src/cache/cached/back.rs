//! Write-back: which pages are owed, and when they are written.
//!
//! Pages go out in the order of the disc, from where the last one ended, and adjacent ones in one write. A
//! page whose write failed stays dirty. It goes alone the next time, so that it does not hold up its
//! neighbours: at the next flush, the next write that waits for room, or the next tick.

use super::frames::{Mask, SECTOR_BYTES, runs, sectors};
use super::ids::NONE;
use super::{Busy, Cached, Job};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Disc, DiscError};
use crate::trace::request::{Op, Request};

/// Writes that fail one after the other before an attempt is over.
const FAILURES_MAX: u32 = 16;
/// While a flush waits, this number of times as many write-backs are under way.
const FLUSH: u32 = 4;

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// Sectors of a frame were written, and the disc does not have them.
    pub(super) fn owe(&mut self, page: u64, frame: u32, mask: Mask) {
        let epoch = self.epoch;
        let frame = self.frames.get_mut(frame);
        if !frame.is_owed() {
            frame.epoch = epoch;
            self.owed_pages += 1;
            *self.owed.entry(epoch).or_default() += 1;
        } else if frame.dirty == 0 {
            frame.epoch_next = epoch;
        }
        frame.dirty |= mask;
        self.dirty.insert(page);
        self.is_stuck = false;
    }

    /// The disc has sectors of a page by another way, or nothing needs them.
    pub(super) fn owe_no_more(&mut self, id: u32, mask: Mask) {
        let slot = *self.ids.slot(id);
        if slot.frame == NONE {
            return;
        }
        let frame = self.frames.get_mut(slot.frame);
        if frame.dirty & mask == 0 {
            return;
        }
        frame.dirty &= !mask;
        if frame.dirty != 0 {
            return;
        }
        self.dirty.remove(&slot.page);
        // Nothing is left of what failed, also while another part is being written.
        frame.is_failed = false;
        if frame.writing == 0 {
            let epoch = frame.epoch;
            self.settled(epoch);
        }
    }

    /// A page of this epoch is owed no more.
    fn settled(&mut self, epoch: u64) {
        self.owed_pages -= 1;
        if let Some(count) = self.owed.get_mut(&epoch) {
            *count -= 1;
            if *count == 0 {
                self.owed.remove(&epoch);
            }
        }
    }

    /// Starts what can be started: writes that waited for room, write-backs, a flush of the disc.
    pub(super) fn pump(&mut self) {
        let is_idle = self.throttled.is_empty() && self.flushing.is_empty();
        let is_low = self.owed_pages <= u64::from(self.settings.dirty_low_pages);
        if is_idle && is_low && self.sweep.is_none() {
            return;
        }
        while self.owed_pages < u64::from(self.settings.dirty_high_pages) {
            let Some(pending) = self.throttled.pop_front() else { break };
            self.write(pending);
        }
        // No client waits for other write-backs: they leave the disc to reads.
        let backs_max = self.settings.backs_max.saturating_mul(if self.flushing.is_empty() {
            1
        } else {
            FLUSH
        });
        while self.backs_under_way < backs_max && self.has_to_write() {
            if !self.write_next() {
                self.is_stuck = true;
            }
        }
        self.give_up();
        self.flush_disc();
    }

    fn has_to_write(&mut self) -> bool {
        if self.is_stuck || self.dirty.is_empty() {
            return false;
        }
        let oldest = self.owed.first_key_value().map(|(&epoch, _)| epoch);
        let is_owed_at = |epoch: u64| oldest.is_some_and(|oldest| oldest <= epoch);
        if self.sweep.is_some_and(|epoch| !is_owed_at(epoch)) {
            self.sweep = None;
        }
        self.sweep.is_some()
            || !self.throttled.is_empty()
            || self.owed_pages > u64::from(self.settings.dirty_low_pages)
            || self.flushing.iter().any(|&(_, epoch)| is_owed_at(epoch))
    }

    /// Pages whose write failed may be tried again.
    pub(super) fn try_failed_again(&mut self) {
        self.attempt += 1;
        self.failures_in_turn = 0;
        self.is_stuck = false;
    }

    /// If nothing can be written and nothing is under way, those who wait get the disc's error.
    fn give_up(&mut self) {
        if !self.is_stuck || self.backs_under_way > 0 || !self.busy.is_empty() {
            return;
        }
        let Some(error) = self.last_failure.clone() else { return };
        for pending in std::mem::take(&mut self.throttled) {
            self.part_done(pending, Some(error.clone()));
        }
        let oldest = self.owed.first_key_value().map_or(u64::MAX, |(&epoch, _)| epoch);
        self.fail_flushes(oldest, &error);
    }

    /// Writes the next page that can be written, with those behind it.
    fn write_next(&mut self) -> bool {
        let behind = self.dirty.range(self.cursor..).chain(self.dirty.range(..self.cursor));
        let Some(page) = behind.copied().find(|&page| self.can_go(page)) else {
            return false;
        };
        let (frame, id) = self.frame_of(page);
        let mut rest = runs(self.frames.get(frame).dirty).collect::<Vec<_>>();
        let is_alone = rest.len() > 1 || self.frames.get(frame).is_failed;
        self.cursor = page + 1;
        if is_alone {
            for (from, to) in rest {
                self.write_back(vec![(page, id, from, to)]);
            }
            return true;
        }
        let Some(mut run) = rest.pop() else { return false };
        let mut parts = vec![(page, id, run.0, run.1)];
        let mut bytes = (run.1 - run.0) * SECTOR_BYTES;
        while let Some(next) = self.adjacent(self.cursor - 1, run) {
            bytes += (next.3 - next.2) * SECTOR_BYTES;
            if bytes > u64::from(self.settings.request_bytes_max) {
                break;
            }
            parts.push(next);
            self.cursor = next.0 + 1;
            run = (next.2, next.3);
        }
        self.write_back(parts);
        true
    }

    fn frame_of(&self, page: u64) -> (u32, u32) {
        let id = self.ids.find(page).expect("a dirty page is known");
        (self.ids.slot(id).frame, id)
    }

    /// Whether a dirty page can be written now.
    fn can_go(&self, page: u64) -> bool {
        let frame = self.frames.get(self.frame_of(page).0);
        let was_tried = frame.is_failed && frame.attempt == self.attempt;
        let begins = page * u64::from(self.settings.page_bytes);
        let ends = begins + u64::from(self.settings.page_bytes);
        let is_same = |busy: &Busy| busy.is_direct && busy.from < ends && begins < busy.to;
        frame.writing == 0 && !was_tried && !self.busy.iter().any(is_same)
    }

    /// The dirty run of the next page, if it continues this one.
    fn adjacent(&self, page: u64, (_, to): (u64, u64)) -> Option<(u64, u32, u64, u64)> {
        let last = u64::from(self.settings.page_bytes) / SECTOR_BYTES;
        let next = page + 1;
        if to != last || !self.dirty.contains(&next) || !self.can_go(next) {
            return None;
        }
        let (frame, id) = self.frame_of(next);
        let frame = self.frames.get(frame);
        let mut runs = runs(frame.dirty);
        let (from, to) = runs.next()?;
        (from == 0 && runs.next().is_none() && !frame.is_failed).then_some((next, id, from, to))
    }

    /// Writes adjacent sectors: for each page, its number and the sectors.
    fn write_back(&mut self, parts: Vec<(u64, u32, u64, u64)>) {
        let begins = parts[0].0 * u64::from(self.settings.page_bytes) + parts[0].2 * SECTOR_BYTES;
        let mut data = Vec::new();
        let mut pages = Vec::with_capacity(parts.len());
        for (page, id, from, to) in parts {
            let mask = sectors(from, to);
            let frame = self.ids.slot(id).frame;
            let (from, to) = self.sector_bytes(page, from, to);
            data.extend_from_slice(&self.frames.bytes(frame)[from..to]);
            let frame = self.frames.get_mut(frame);
            frame.writing |= mask;
            frame.dirty &= !mask;
            frame.is_failed = false;
            if frame.dirty == 0 {
                self.dirty.remove(&page);
            }
            pages.push((id, mask));
        }
        let length_bytes = data.len() as u64;
        self.counts.disc_writes += 1;
        self.counts.disc_write_bytes += length_bytes;
        self.backs_under_way += 1;
        let write = Request::new(Op::Write, begins, length_bytes);
        let job = self.ask(Job::Back(pages), write, data);
        let to = begins + length_bytes;
        self.busy.push(Busy { job, from: begins, to, is_direct: false });
    }

    /// The disc has answered a write-back.
    pub(super) fn back_done(&mut self, pages: &[(u32, Mask)], outcome: Result<(), DiscError>) {
        self.backs_under_way -= 1;
        let is_done = outcome.is_ok();
        self.failures_in_turn = if is_done { 0 } else { self.failures_in_turn + 1 };
        let mut oldest = u64::MAX;
        for &(id, mask) in pages {
            let slot = *self.ids.slot(id);
            let frame = self.frames.get_mut(slot.frame);
            frame.writing &= !mask;
            if !is_done {
                frame.dirty |= mask;
                frame.is_failed = true;
                frame.attempt = self.attempt;
                oldest = oldest.min(frame.epoch);
                self.dirty.insert(slot.page);
            }
            if frame.writing != 0 || frame.is_failed {
                continue;
            }
            let (epoch, next, is_clean) = (frame.epoch, frame.epoch_next, frame.dirty == 0);
            if !is_clean {
                frame.epoch = next;
                self.owed_pages += 1;
                *self.owed.entry(next).or_default() += 1;
            }
            self.settled(epoch);
        }
        if let Err(error) = outcome {
            self.failures += 1;
            self.last_failure = Some(error.clone());
            self.fail_flushes(oldest, &error);
        }
    }

    /// Whether an attempt to write has failed often enough.
    pub(super) fn note_stuck(&mut self) {
        self.is_stuck |= self.failures_in_turn >= FAILURES_MAX;
    }
}
