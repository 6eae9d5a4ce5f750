//! How pages get into the cache and leave it: readahead's decisions carried out, folios put in, and
//! room made for them.

use super::super::folio::{Arena, Slot, flag};
use super::super::readahead::Fetch;
use super::super::stream::{Advice, Touch};
use super::super::walk::{self, Folios};
use super::clock::Clock;
use super::{Model, Order, RECLAIM_PAGES_MIN, SHADOW, folio_of};
use crate::units::Pages;

/// Time of a request that a touch waits for, and of a page of any request, on a virtual disc. The
/// replacement counts time by this clock. The clock decides, within factors, after how many fills
/// statistics are old.
const REQUEST_NS: u64 = 70_000;
const PAGE_NS: u64 = 5_000;

impl<O: Order, C: Clock> Model<'_, O, C> {
    pub(super) fn sync_readahead(&mut self, touch: &Touch, page: u32, request: u32) {
        let shape = self.stream.files[touch.file as usize];
        let cached = Cached {
            entries: &self.entries,
            arena: &self.arena,
            base: shape.base,
            file_pages: touch.file_pages,
        };
        let state = &mut self.readahead[touch.stream as usize];
        let fetch = match self.stream.advice(touch) {
            // Only the requested pages, whatever is around them (`FMODE_RANDOM`).
            Advice::Random => Fetch::single_pages(page, request),
            _ => state.miss(self.stream.window(touch), page, request, |most| {
                walk::cached_before(&cached, page - 1, most)
            }),
        };
        self.fetch(touch, fetch, true);
    }

    pub(super) fn async_readahead(&mut self, touch: &Touch, slot: Slot, end: u32) {
        self.arena.clear(slot, flag::READAHEAD);
        let shape = self.stream.files[touch.file as usize];
        let pages = self.arena.pages(slot);
        let index = u32::try_from(self.arena.base(slot) - shape.base).unwrap_or(0);
        let request = end.saturating_sub(index).max(1);
        let cached = Cached {
            entries: &self.entries,
            arena: &self.arena,
            base: shape.base,
            file_pages: touch.file_pages,
        };
        let state = &mut self.readahead[touch.stream as usize];
        let fetch = state.marker(self.stream.window(touch), (index, pages), request, |most| {
            walk::missing_behind(&cached, index + 1, most)
        });
        if let Some(fetch) = fetch {
            self.fetch(touch, fetch, false);
        }
    }

    /// `page_cache_ra_order`, and `do_page_cache_ra` for the gaps. The touch that misses waits.
    pub(super) fn fetch(&mut self, touch: &Touch, fetch: Fetch, waits: bool) {
        let shape = self.stream.files[touch.file as usize];
        let end = (fetch.start + fetch.pages).min(touch.file_pages);
        let mut index = fetch.start;
        let mut run = Run { first: index, waits };
        if let Some(order) = fetch.order.filter(|_| shape.order_max > 0) {
            let order = order.min(shape.order_max).min(fetch.pages.max(1).ilog2());
            self.readahead[touch.stream as usize].limit_order(order);
            while index < end {
                let mut order = order;
                if index & ((1 << order) - 1) != 0 {
                    order = index.trailing_zeros();
                }
                while order > 0 && index + (1 << order) > end {
                    order -= 1;
                }
                let marked = fetch.marker.is_some_and(|m| m >> order << order == index);
                if !self.insert(touch, index, order, marked) {
                    break;
                }
                index += 1 << order;
            }
        }
        while index < end {
            if !self.insert(touch, index, 0, fetch.marker == Some(index)) {
                run = self.ask(touch, run, index);
            }
            index += 1;
        }
        self.ask(touch, run, end);
    }

    /// Asks the disc for the run that ends before `end`, if there is one; another begins behind it.
    /// The first alone is waited for.
    fn ask(&mut self, touch: &Touch, run: Run, end: u32) -> Run {
        let pages = end.saturating_sub(run.first);
        if pages > 0 {
            self.clock.asks(touch, run.first, pages, run.waits);
            let request = if run.waits { REQUEST_NS } else { 0 };
            self.order.passes(u64::from(pages) * PAGE_NS + request);
        }
        Run { first: end + 1, waits: run.waits && pages == 0 }
    }

    /// Pages that the program asked for ahead of time: single ones, at most a window of them
    /// (`force_page_cache_ra`).
    pub(super) fn fetch_ahead(&mut self, touch: &Touch) {
        let window = self.stream.window(touch);
        let pages = touch.count.min(window.pages.max(window.io_pages));
        self.fetch(touch, Fetch::single_pages(touch.first, pages), false);
    }

    /// One page, without readahead.
    pub(super) fn fetch_page(&mut self, touch: &Touch, page: u32) {
        if self.insert(touch, page, 0, false) {
            self.clock.asks(touch, page, 1, true);
            self.order.passes(REQUEST_NS + PAGE_NS);
        }
    }

    /// Puts a folio in; false where one of its pages is cached already. Room for a large one is made
    /// before that is known.
    pub(super) fn insert(&mut self, touch: &Touch, page: u32, order: u32, marked: bool) -> bool {
        let pages = 1usize << order;
        let base = self.at(touch, page);
        let Some(range) = self.entries.get(base..base + pages) else { return false };
        let taken = range.iter().any(|&entry| folio_of(entry) != 0);
        if taken && order == 0 {
            return false;
        }
        let count = 1u32 << order;
        if self.used + count > self.capacity {
            self.reclaim(count);
        }
        if taken {
            return false;
        }
        let entries = &mut self.entries[base..base + pages];
        let shadow = entries.iter().rev().copied().find(|&entry| entry != 0);
        let slot = self.arena.insert(base, order);
        entries.fill(slot);
        if marked {
            self.arena.set(slot, flag::READAHEAD);
        }
        if self.stream.files[touch.file as usize].has_text(page, count) {
            self.arena.set(slot, flag::TEXT);
        }
        self.order.inserted(&mut self.arena, slot, shadow.map(|entry| entry & !SHADOW));
        self.used += count;
        self.out.fills += u64::from(count);
        self.out.fills_by_file[touch.file as usize] += u64::from(count);
        self.out.peak = self.out.peak.max(Pages(self.used.into()));
        true
    }

    pub(super) fn reclaim(&mut self, wanted: u32) {
        self.order.reclaim_begins(wanted.max(RECLAIM_PAGES_MIN));
        while let Some((slot, stamp)) = self.order.victim(&mut self.arena) {
            self.forget(slot, SHADOW | stamp);
        }
    }

    pub(super) fn forget(&mut self, slot: Slot, stamp: u32) {
        self.order.removed(&mut self.arena, slot);
        let (base, pages) = (self.arena.base(slot), self.arena.pages(slot));
        self.entries[base..base + pages as usize].fill(stamp);
        self.used -= pages;
        self.arena.remove(slot);
    }
}

/// Pages without a gap that are being put in, and whether a process waits for them.
#[derive(Clone, Copy)]
struct Run {
    first: u32,
    waits: bool,
}

/// The cached folios of one file.
struct Cached<'a> {
    entries: &'a [u32],
    arena: &'a Arena,
    base: usize,
    file_pages: u32,
}

impl Cached<'_> {
    fn slot(&self, page: u32) -> Slot {
        if page >= self.file_pages {
            return 0;
        }
        self.entries.get(self.base + page as usize).map_or(0, |&entry| folio_of(entry))
    }
}

impl Folios for Cached<'_> {
    fn has(&self, page: u32) -> bool {
        self.slot(page) != 0
    }

    fn folio(&self, page: u32) -> Option<(u32, u32)> {
        let slot = self.slot(page);
        if slot == 0 {
            return None;
        }
        let order = self.arena.order(slot);
        Some((page >> order << order, order))
    }
}
