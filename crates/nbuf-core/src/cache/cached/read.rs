//! Reads: hits at once, misses once.

use super::arrive::Part;
use super::costs::Work;
use super::ids::{Absence, NONE, STARTING};
use super::{Cached, Flight, Job};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// Serves a read if all of it is there: its bytes are appended to `out`, and nothing else is to be done. If
    /// not, nothing has happened, and the request is to be submitted. For callers with a buffer of their own.
    pub fn read_hit(&mut self, request: &Request, out: &mut Vec<u8>) -> bool {
        let Some(end) = request.offset.checked_add(request.length_bytes) else { return false };
        if request.length_bytes == 0 || end > self.size_bytes {
            return false;
        }
        let (first, last) = self.pages(request);
        // One page is the common case, and needs its number once.
        if first == last {
            let began = self.costs.begin(Work::Lookup);
            let id = self.ids.find(first).unwrap_or(NONE);
            let part = self.part(request.offset, request.length_bytes, first);
            let frame = if id == NONE { NONE } else { self.ids.slot(id).frame };
            if frame == NONE || part.touched & !self.frames.get(frame).valid != 0 {
                // It will be looked up again, which costs too.
                self.costs.end(Work::Lookup, began);
                return false;
            }
            self.decider.touch(id);
            self.use_frame(frame);
            self.compare_read(first, false);
            self.costs.end(Work::Lookup, began);
            let began = self.costs.begin(Work::Copy);
            out.extend_from_slice(&self.frames.bytes(frame)[place(&part)]);
            self.costs.end(Work::Copy, began);
        } else {
            let is_there = |page| {
                let id = self.ids.find(page)?;
                let frame = self.ids.slot(id).frame;
                let part = self.part(request.offset, request.length_bytes, page);
                (frame != NONE && part.touched & !self.frames.get(frame).valid == 0).then_some(())
            };
            if !(first..=last).all(|page| is_there(page).is_some()) {
                return false;
            }
            for page in first..=last {
                let began = self.costs.begin(Work::Lookup);
                let part = self.part(request.offset, request.length_bytes, page);
                let id = self.ids.find(page).unwrap_or(NONE);
                self.decider.touch(id);
                self.use_frame(self.ids.slot(id).frame);
                self.compare_read(page, false);
                self.costs.end(Work::Lookup, began);
                let began = self.costs.begin(Work::Copy);
                out.extend_from_slice(&self.frames.bytes(self.ids.slot(id).frame)[place(&part)]);
                self.costs.end(Work::Copy, began);
            }
        }
        self.counts.reads += 1;
        self.counts.read_hits += 1;
        self.counts.read_bytes += request.length_bytes;
        self.counts.lookups += last - first + 1;
        self.counts.hits += last - first + 1;
        self.follow(first, last);
        true
    }

    pub(super) fn read(&mut self, request: Request, mut data: Vec<u8>) {
        let (first, last) = self.pages(&request);
        if self.goes_past(&request, &mut data) {
            return self.follow(first, last);
        }
        let mut missing = std::mem::take(&mut self.missing);
        missing.clear();
        for page in first..=last {
            if !self.look(&request, page, &mut data) {
                missing.push(page);
            }
        }
        self.counts.lookups += last - first + 1;
        self.counts.hits += last - first + 1 - missing.len() as u64;
        if missing.is_empty() {
            self.counts.read_hits += 1;
            self.answer(request, data, self.now, Ok(()));
        } else {
            let pending = self.wait(request, data);
            self.bring(&missing, pending);
        }
        self.fresh += missing.len() as u64;
        self.missing = missing;
        self.follow(first, last);
    }

    /// Looks a page up, and copies what is asked of it if that is there.
    fn look(&mut self, request: &Request, page: u64, data: &mut [u8]) -> bool {
        let began = self.costs.begin(Work::Lookup);
        let id = self.number(page);
        let is_there = self.decider.touch(id);
        let part = self.part(request.offset, request.length_bytes, page);
        let slot = *self.ids.slot(id);
        self.compare_read(page, !is_there && slot.absence == Absence::Evicted);
        self.costs.end(Work::Lookup, began);
        if is_there && part.touched & !self.frames.get(slot.frame).valid == 0 {
            self.use_frame(slot.frame);
            let from = self.within(request, page, &part);
            let began = self.costs.begin(Work::Copy);
            let bytes = &self.frames.bytes(slot.frame)[place(&part)];
            data[from..from + bytes.len()].copy_from_slice(bytes);
            self.costs.end(Work::Copy, began);
            return true;
        }
        self.counts.miss(if is_there { Absence::Invalidated } else { slot.absence });
        self.counts.joined += u64::from(slot.flight != NONE);
        false
    }

    #[inline]
    fn compare_read(&mut self, page: u64, was_evicted: bool) {
        if let Some(others) = &mut self.others {
            others.read(page, was_evicted);
        }
    }

    /// Where a part of a request is in its data.
    pub(super) fn within(&self, request: &Request, page: u64, part: &Part) -> usize {
        let at = page * u64::from(self.settings.page_bytes) + part.from - request.offset;
        usize::try_from(at).unwrap_or(usize::MAX)
    }

    /// Brings in the pages of a read, which completes without data when they are there.
    pub fn fetch(&mut self, now: Nanos, request: Request) {
        self.now = self.now.max(now);
        let checked = DiscError::check(&request, self.size_bytes);
        if checked.is_err() || request.length_bytes == 0 {
            return self.answer(request, Vec::new(), self.now, checked);
        }
        let (first, last) = self.pages(&request);
        // More than the cache holds would evict what was just brought.
        let last = last.min(first + u64::from(self.settings.pages) - 1);
        let is_absent = |page: &u64| !self.has_bytes(*page);
        let missing: Vec<u64> = (first..=last).filter(is_absent).collect();
        if missing.is_empty() {
            return self.answer(request, Vec::new(), self.now, Ok(()));
        }
        for page in &missing {
            self.number(*page);
        }
        let pending = self.wait(request, Vec::new());
        if let Some(pending) = self.pending.get_mut(pending) {
            pending.is_fetch = true;
        }
        self.bring(&missing, pending);
    }

    /// Lets a request wait for pages: joins reads under way, and starts others.
    fn bring(&mut self, pages: &[u64], pending: u32) {
        if let Some(waiting) = self.pending.get_mut(pending) {
            waiting.left = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        }
        let longest = u64::from(self.settings.request_bytes_max / self.settings.page_bytes);
        let mut at = 0;
        while at < pages.len() {
            let first = pages[at];
            let id = self.number(first);
            let flight = self.ids.slot(id).flight;
            if flight != NONE {
                self.join(flight, pending, first);
                at += 1;
                continue;
            }
            let mut count = 1;
            while count < longest
                && pages.get(at + usize::try_from(count).unwrap_or(usize::MAX))
                    == Some(&(first + count))
                && !self.is_in_flight(first + count)
            {
                count += 1;
            }
            self.start(first, count, pending);
            at += usize::try_from(count).unwrap_or(usize::MAX);
        }
    }

    fn is_in_flight(&self, page: u64) -> bool {
        self.ids.find(page).is_some_and(|id| self.ids.slot(id).flight != NONE)
    }

    pub(super) fn join(&mut self, flight: u32, pending: u32, page: u64) {
        let is_demand = self.is_demand(pending);
        if let Some(Job::Read(flight)) = self.jobs.get_mut(flight) {
            flight.is_demand |= is_demand;
            flight.waiters.push((pending, page));
        }
    }

    pub(super) fn is_demand(&self, pending: u32) -> bool {
        self.pending.get(pending).is_some_and(|pending| !pending.is_fetch)
    }

    /// Asks the disc for adjacent pages.
    pub(super) fn start(&mut self, first: u64, count: u64, pending: u32) {
        let page_bytes = u64::from(self.settings.page_bytes);
        let from = first * page_bytes;
        let length_bytes = (count * page_bytes).min(self.size_bytes - from);
        let ids = self.reserve(first, count);
        let stale = (first..).zip(&ids).map(|(page, &id)| self.stale_from_start(page, id));
        let waiters = (first..first + count).map(|page| (pending, page)).collect();
        let is_demand = self.is_demand(pending);
        let (stale, is_ahead, is_warm) = (stale.collect(), false, false);
        let flight = Flight { first, stale, waiters, is_demand, is_ahead, is_warm };
        let data = vec![0; usize::try_from(length_bytes).unwrap_or(usize::MAX)];
        self.counts.disc_reads += 1;
        self.counts.disc_read_bytes += length_bytes;
        let job = self.ask(Job::Read(flight), Request::new(Op::Read, from, length_bytes), data);
        for id in ids {
            self.ids.set_flight(id, job);
        }
    }

    /// Numbers of pages that a read will bring.
    pub(super) fn reserve(&mut self, first: u64, count: u64) -> Vec<u32> {
        let mut ids = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        for page in first..first + count {
            let id = self.number(page);
            // When nearly all numbers are in use, the next page would take this one.
            self.ids.set_flight(id, STARTING);
            ids.push(id);
        }
        ids
    }

    /// Sectors of which a read that begins now may bring an older state: those that the disc does not
    /// have yet, and those that a write under way changes.
    pub(super) fn stale_from_start(&self, page: u64, id: u32) -> u64 {
        let slot = self.ids.slot(id);
        let owed = if slot.frame == NONE {
            0
        } else {
            let frame = self.frames.get(slot.frame);
            frame.dirty | frame.writing
        };
        let begins = page * u64::from(self.settings.page_bytes);
        let ends = begins + self.page_length(page);
        let busy = self.busy.iter().filter(|busy| busy.from < ends && begins < busy.to);
        busy.fold(owed, |stale, busy| {
            stale | self.part(busy.from, busy.to - busy.from, page).touched
        })
    }

    /// A write of these bytes began: what reads under way bring of them may be older.
    pub(super) fn mark_stale(&mut self, from: u64, to: u64) {
        let page_bytes = u64::from(self.settings.page_bytes);
        let (first, last) = (from / page_bytes, (to - 1) / page_bytes);
        let mut touched = Vec::new();
        for job in self.jobs.iter_mut() {
            let Job::Read(flight) = job else { continue };
            let end = flight.first + flight.stale.len() as u64 - 1;
            for page in first.max(flight.first)..=last.min(end) {
                touched.push(page);
            }
        }
        for page in touched {
            let mask = self.part(from, to - from, page).touched;
            let flight = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).flight);
            if let Some(Job::Read(flight)) = self.jobs.get_mut(flight) {
                let at = usize::try_from(page - flight.first).unwrap_or(usize::MAX);
                flight.stale[at] |= mask;
            }
        }
    }
}

/// The bytes of a part in its page.
#[inline]
pub(super) fn place(part: &Part) -> std::ops::Range<usize> {
    let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    whole(part.from)..whole(part.to)
}
