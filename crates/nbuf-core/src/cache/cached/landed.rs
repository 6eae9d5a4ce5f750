//! Reads that are complete: their pages come in, and those who wait get their bytes.

use super::costs::Work;
use super::ids::{Absence, NONE};
use super::read::place;
use super::{Cached, Flight};
use crate::cache::policy::{AnyPolicy, Cause, Outcome};
use crate::disc::{Completion, Disc, DiscError};

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// A read is complete.
    pub(super) fn landed(&mut self, mut flight: Flight, completion: Completion) {
        let pages: Vec<u64> = (flight.first..).take(flight.stale.len()).collect();
        for &page in &pages {
            let id = self.number(page);
            self.ids.set_flight(id, NONE);
        }
        if flight.is_warm {
            self.warmed(completion.outcome.is_ok());
        }
        if let Err(error) = completion.outcome {
            return self.not_landed(&flight, &error);
        }
        let mut data = completion.data;
        for (at, &page) in pages.iter().enumerate() {
            self.merge(page, &mut flight.stale[at], &mut data, at);
        }
        if flight.is_ahead {
            self.install_ahead(&flight, &data);
            return self.deliver_all(flight, &data);
        }
        let cause = if flight.is_demand { Cause::Demand } else { Cause::Readahead };
        for (at, &page) in pages.iter().enumerate() {
            if self.is_too_late(&flight, page) || self.is_left_out(page, cause) {
                continue;
            }
            let began = self.costs.begin(Work::Fill);
            self.install(page, flight.stale[at], &data, at, cause);
            self.costs.end(Work::Fill, began);
        }
        self.deliver_all(flight, &data);
    }

    fn deliver_all(&mut self, mut flight: Flight, data: &[u8]) {
        for (pending, page) in std::mem::take(&mut flight.waiters) {
            self.deliver(pending, page, &flight, data);
        }
    }

    /// Whether a page that a client wants is not taken in, as the cache is aside.
    fn is_left_out(&mut self, page: u64, cause: Cause) -> bool {
        let id = self.number(page);
        let is_out = cause == Cause::Demand && self.ids.slot(id).frame == NONE;
        if is_out && self.aside.is_aside() {
            self.ids.set_absence(id, Absence::Bypassed);
            return true;
        }
        if is_out {
            self.aside.filled();
        }
        false
    }

    /// A read failed. Other requests than its own must not fail by a page that they did not ask for, so each
    /// page of a longer read is tried alone.
    fn not_landed(&mut self, flight: &Flight, error: &DiscError) {
        if flight.is_ahead {
            self.ahead_failed(flight);
        }
        let is_alone = flight.stale.len() == 1;
        for &(pending, page) in &flight.waiters {
            if is_alone {
                self.part_done(pending, Some(error.clone()));
            } else {
                self.again(pending, page);
            }
        }
    }

    /// Lets a request wait for a page once more.
    fn again(&mut self, pending: u32, page: u64) {
        let id = self.number(page);
        match self.ids.slot(id).flight {
            NONE => self.start(page, 1, pending),
            flight => self.join(flight, pending, page),
        }
    }

    /// Replaces what a read brought by what the frame has, which is never older.
    fn merge(&self, page: u64, stale: &mut u64, data: &mut [u8], at: usize) {
        let frame = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).frame);
        if frame == NONE {
            return;
        }
        let valid = self.frames.get(frame).valid;
        let bytes = self.frames.bytes(frame);
        let base = at * self.settings.page_bytes as usize;
        for (from, to) in super::frames::runs(valid) {
            let (from, to) = self.sector_bytes(page, from, to);
            data[base + from..base + to].copy_from_slice(&bytes[from..to]);
        }
        *stale &= !valid;
    }

    /// The bytes of sectors in a page, as far as the disc has them.
    pub(super) fn sector_bytes(&self, page: u64, from: u64, to: u64) -> (usize, usize) {
        let bytes =
            |sector: u64| (sector * super::frames::SECTOR_BYTES).min(self.page_length(page));
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        (whole(bytes(from)), whole(bytes(to)))
    }

    /// Takes a page in, or completes a part of it that is there. Whether it is there then.
    pub(super) fn install(
        &mut self,
        page: u64,
        stale: u64,
        data: &[u8],
        at: usize,
        cause: Cause,
    ) -> bool {
        if stale != 0 {
            return false;
        }
        let id = self.number(page);
        let all =
            self.part(page * u64::from(self.settings.page_bytes), self.page_length(page), page).all;
        let mut frame = self.ids.slot(id).frame;
        if frame == NONE {
            if !self.admit(id, cause) {
                return false;
            }
            frame = self.ids.slot(id).frame;
        }
        let base = at * self.settings.page_bytes as usize;
        let length = usize::try_from(self.page_length(page)).unwrap_or(usize::MAX);
        // What the frame had was merged into the data.
        self.frames.bytes_mut(frame)[..length].copy_from_slice(&data[base..base + length]);
        self.frames.get_mut(frame).valid = all;
        true
    }

    /// Asks the policy to take a page in. If it does, the page has a frame without valid bytes.
    pub(super) fn admit(&mut self, id: u32, cause: Cause) -> bool {
        if cause == Cause::Readahead
            && let Some(others) = &mut self.others
        {
            others.fetch(self.ids.slot(id).page);
        }
        let (ids, frames) = (&self.ids, &self.frames);
        let outcome = self.decider.fill(id, cause, |page| {
            let frame = ids.slot(page).frame;
            frame == NONE || !frames.get(frame).is_owed()
        });
        match outcome {
            Outcome::Filled { evicted } => {
                if let Some(victim) = evicted {
                    self.counts.evictions += 1;
                    self.give_frame(self.ids.slot(victim).frame);
                    self.ids.set_frame(victim, Err(Absence::Evicted));
                }
                let frame = self.frames.take(id);
                self.ids.set_frame(id, Ok(frame));
                true
            }
            Outcome::Bypassed => {
                self.ids.set_absence(id, Absence::Bypassed);
                false
            }
            Outcome::Hit => true,
        }
    }

    /// Gives a waiting request its part of a page.
    fn deliver(&mut self, pending: u32, page: u64, flight: &Flight, data: &[u8]) {
        let Some(request) = self.pending.get(pending).map(|pending| pending.request) else {
            return;
        };
        if !self.is_demand(pending) {
            return self.part_done(pending, None);
        }
        let part = self.part(request.offset, request.length_bytes, page);
        let at = usize::try_from(page - flight.first).unwrap_or(usize::MAX);
        if part.touched & flight.stale[at] != 0 {
            return self.again(pending, page);
        }
        let from = self.within(&request, page, &part);
        let base = at * self.settings.page_bytes as usize;
        let bytes = &data[base..][place(&part)];
        if let Some(waiting) = self.pending.get_mut(pending) {
            waiting.data[from..from + bytes.len()].copy_from_slice(bytes);
        }
        self.part_done(pending, None);
    }
}
