//! Readahead: what streams of reads will want is asked for before they do.
//!
//! Clients come first: it is asked for only while the disc has less than half of the requests that it can serve at
//! once. What is there or on its way is left out. A read that wants a page on its way waits for that.

use super::costs::Work;
use super::ids::NONE;
use super::streams::Window;
use super::{Cached, Flight, Job};
use crate::cache::policy::{AnyPolicy, Cause};
use crate::disc::Disc;
use crate::trace::request::{Op, Request};

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// These pages were read, ends included: asks for those that their stream will want.
    #[inline]
    pub(super) fn follow(&mut self, first: u64, last: u64) {
        let fresh = std::mem::take(&mut self.fresh);
        if self.streams.most() > 0
            && let Some(window) = self.streams.read(first, last, fresh)
        {
            self.read_ahead(&window);
        }
    }

    /// Asks for a window as far as that may be now. What is not asked for now is wanted again by the next read.
    fn read_ahead(&mut self, window: &Window) {
        let disc_pages = self.size_bytes.div_ceil(self.settings.page_bytes.into());
        let end = disc_pages.min(window.first.saturating_add(window.pages));
        let longest = u64::from(self.settings.request_bytes_max / self.settings.page_bytes);
        let mut page = window.first;
        while page < end {
            if !self.is_absent(page) {
                // A smaller cache would have read it.
                if let Some(others) = &mut self.others {
                    others.fetch(page);
                }
                page += 1;
                continue;
            }
            if self.disc.under_way() >= self.settings.disc_requests as usize / 2 {
                break;
            }
            let most = end.min(page + longest);
            let count = (page..most).take_while(|&page| self.is_absent(page)).count() as u64;
            self.start_ahead(page, count);
            page += count;
        }
        if page > window.first {
            self.streams.requested(window, page - window.first);
        }
    }

    /// Whether nothing of a page is there, and no read brings it.
    pub(super) fn is_absent(&self, page: u64) -> bool {
        let slot = self.ids.find(page).map(|id| self.ids.slot(id));
        slot.is_none_or(|slot| slot.flight == NONE) && !self.has_bytes(page)
    }

    fn start_ahead(&mut self, first: u64, count: u64) {
        let page_bytes = u64::from(self.settings.page_bytes);
        let from = first * page_bytes;
        let length_bytes = (count * page_bytes).min(self.size_bytes - from);
        let ids = self.reserve(first, count);
        let stale = (first..).zip(&ids).map(|(page, &id)| self.stale_from_start(page, id));
        let stale = stale.collect();
        let (waiters, is_demand, is_ahead, is_warm) = (Vec::new(), false, true, false);
        let flight = Flight { first, stale, waiters, is_demand, is_ahead, is_warm };
        self.counts.aheads += 1;
        self.counts.ahead_pages += count;
        self.counts.disc_reads += 1;
        self.counts.disc_read_bytes += length_bytes;
        let data = vec![0; usize::try_from(length_bytes).unwrap_or(usize::MAX)];
        let task = self.jobs.insert(Job::Read(flight));
        let read = Request { task, ..Request::new(Op::Read, from, length_bytes) };
        // A hit gives no time of its own.
        let now = self.costs.now().map_or(self.now, |now| now.max(self.now));
        self.disc.submit(now, read, data);
        for id in ids {
            self.ids.set_flight(id, task);
        }
    }

    /// Takes in what was read ahead. A page that a read waits for is wanted, and the others are not yet.
    pub(super) fn install_ahead(&mut self, flight: &Flight, data: &[u8]) {
        let mut is_wanted = vec![false; flight.stale.len()];
        for &(pending, page) in &flight.waiters {
            let at = usize::try_from(page - flight.first).unwrap_or(usize::MAX);
            is_wanted[at] |= self.is_demand(pending);
        }
        for (at, page) in (flight.first..).take(flight.stale.len()).enumerate() {
            let began = self.costs.begin(Work::Fill);
            let cause = if is_wanted[at] { Cause::Demand } else { Cause::Readahead };
            let is_in = self.install(page, flight.stale[at], data, at, cause);
            self.costs.end(Work::Fill, began);
            let frame = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).frame);
            if is_wanted[at] {
                self.ahead_ends(true);
            } else if !is_in || frame == NONE || self.frames.get(frame).is_ahead {
                self.ahead_ends(false);
            } else {
                self.frames.get_mut(frame).is_ahead = true;
            }
        }
    }

    /// A read ahead failed. Those who wait for its pages ask again.
    pub(super) fn ahead_failed(&mut self, flight: &Flight) {
        let pages = flight.stale.len() as u64;
        self.streams.failed(flight.first, flight.first + pages - 1);
        (0..pages).for_each(|_| self.ahead_ends(false));
    }

    /// A page that was read ahead is used, or leaves without.
    pub(super) fn ahead_ends(&mut self, is_used: bool) {
        let counts = &mut self.counts;
        *(if is_used { &mut counts.ahead_used } else { &mut counts.ahead_useless }) += 1;
        self.streams.note(is_used);
    }

    /// A read uses a page that is there.
    #[inline]
    pub(super) fn use_frame(&mut self, frame: u32) {
        if self.frames.get(frame).is_ahead {
            self.frames.get_mut(frame).is_ahead = false;
            self.aside.ahead_hit();
            self.fresh += 1;
            self.ahead_ends(true);
        }
    }

    /// Frees the frame of a page that leaves.
    pub(super) fn give_frame(&mut self, frame: u32) {
        if self.frames.get(frame).is_ahead {
            self.ahead_ends(false);
        }
        self.frames.give(frame);
    }
}
