//! Touches of mapped pages: faults, what fault-around maps, and touches that do not fault.

use super::super::folio::{Slot, flag};
use super::super::readahead::Fetch;
use super::super::stream::{Advice, Touch};
use super::clock::Clock;
use super::{Model, Order};

/// Pages that a fault maps at most, from a multiple of this number on (`fault_around_bytes`).
const FAULT_AROUND_PAGES: u32 = 16;

impl<O: Order, C: Clock> Model<'_, O, C> {
    /// A fault on a page that is not mapped. Whether the page was missing: then the kernel waits for it without the
    /// lock of the mappings, and takes the fault again from its beginning.
    pub(super) fn fault(&mut self, touch: &Touch, page: u32) -> bool {
        let mut slot = self.cached(touch, page);
        let is_missing = slot == 0;
        let advice = self.stream.mapped_advice(touch);
        let is_random = advice == Advice::Random;
        if is_missing {
            let window = self.stream.window(touch);
            let state = &mut self.readahead[touch.stream as usize];
            match advice {
                Advice::Normal => {
                    let fetch = state.fault(window, page);
                    self.fetch(touch, fetch, true);
                }
                Advice::Random => self.fetch(touch, Fetch::single_pages(page, 1), true),
                Advice::Sequential => self.sync_readahead(touch, page, window.pages.max(1)),
            }
            slot = self.cached(touch, page);
            if slot == 0 {
                self.fetch_page(touch, page);
                slot = self.cached(touch, page);
            }
        } else {
            let state = &mut self.readahead[touch.stream as usize];
            state.mapped_misses = state.mapped_misses.saturating_sub(1);
            if self.arena.has(slot, flag::READAHEAD) && !is_random {
                let window = self.stream.window(touch);
                self.async_readahead(touch, slot, page + window.pages.max(1));
                slot = self.cached(touch, page);
            }
        }
        self.clock.reaches(touch, page, page + 1);
        self.mark_mapped(slot, advice);
        is_missing
    }

    /// Marks of mappings that are read at random or in sequence do not count (`vma_has_recency`).
    fn mark_mapped(&mut self, slot: Slot, advice: Advice) {
        if slot == 0 || self.arena.has(slot, flag::SHARED) {
            return;
        }
        if advice == Advice::Normal {
            self.order.mapped(&mut self.arena, slot);
        } else {
            self.arena.set(slot, flag::MAPPED);
        }
    }

    /// What was evicted or was only read ahead is not mapped, and faults.
    pub(super) fn touch_again(&mut self, touch: &Touch) {
        self.touch_others(touch);
        let slot = self.cached(touch, touch.first);
        if self.arena.has(slot, flag::SHARED) {
            return;
        }
        let counts = self.stream.mapped_advice(touch) == Advice::Normal;
        if slot != 0 && self.arena.has(slot, flag::MAPPED) {
            if counts {
                self.order.touched_again(&mut self.arena, slot);
            }
            return;
        }
        let marks = if counts { flag::MAPPED | flag::YOUNG } else { flag::MAPPED };
        self.map_around(touch, marks);
        let slot = self.cached(touch, touch.first);
        let is_mapped = slot != 0 && self.arena.has(slot, flag::MAPPED);
        if !is_mapped && self.fault(touch, touch.first) {
            self.map_around(touch, marks);
        }
    }

    /// The other pages of a large one, as far as they are there.
    fn touch_others(&mut self, touch: &Touch) {
        if self.stream.mapped_advice(touch) != Advice::Normal {
            return;
        }
        for page in touch.first + 1..touch.first + touch.count {
            let slot = self.cached(touch, page);
            let is_there = slot != 0 && self.arena.has(slot, flag::MAPPED);
            if is_there && !self.arena.has(slot, flag::SHARED) {
                self.order.touched_again(&mut self.arena, slot);
            }
        }
    }

    /// Before a page is asked for, those around it are mapped that are there; x86 marks them as accessed. Each counts
    /// as a hit of the file, but those of the working set (`filemap_map_order0_folio`).
    fn map_around(&mut self, touch: &Touch, marks: u16) {
        let first = touch.first / FAULT_AROUND_PAGES * FAULT_AROUND_PAGES;
        let end = (first + FAULT_AROUND_PAGES).min(touch.file_pages);
        let mut there = 0;
        for page in first..end {
            let slot = self.cached(touch, page);
            if slot == 0 || self.arena.has(slot, flag::SHARED | flag::READAHEAD) {
                continue;
            }
            there += u32::from(!self.arena.has(slot, flag::WORKINGSET));
            if !self.arena.has(slot, flag::MAPPED) {
                self.arena.set(slot, marks);
            }
        }
        let state = &mut self.readahead[touch.stream as usize];
        state.mapped_misses = state.mapped_misses.saturating_sub(there);
    }

    /// Fault-around maps what is there, but a page with a marker (`next_uptodate_folio`): that one faults
    /// when it is touched itself, which is taken to be after the next mapping of the file. Which page of
    /// the window was wanted is not known. If most of them are there, it is taken to be one of those; if
    /// not, the missing one that is nearest to the middle.
    pub(super) fn map(&mut self, touch: &Touch) {
        let advice = self.stream.mapped_advice(touch);
        let mut before = 0;
        let mut there = 0;
        let mut marked = 0;
        for page in touch.first..touch.first + touch.count {
            let slot = self.cached(touch, page);
            if slot != 0 {
                there += 1;
                if self.arena.has(slot, flag::READAHEAD) {
                    marked = page + 1;
                } else if slot != before {
                    self.mark_mapped(slot, advice);
                }
                if !self.arena.has(slot, flag::WORKINGSET) {
                    let state = &mut self.readahead[touch.stream as usize];
                    state.mapped_misses = state.mapped_misses.saturating_sub(1);
                }
            }
            before = slot;
        }
        // Where faults bring single pages, a fault on another page follows.
        let is_known = touch.count == 1;
        if there * 2 < touch.count && (advice != Advice::Random || is_known) {
            let middle = touch.first + touch.count / 2;
            let missing = (touch.first..touch.first + touch.count)
                .filter(|&page| self.cached(touch, page) == 0)
                .min_by_key(|&page| page.abs_diff(middle));
            if let Some(page) = missing {
                self.fault(touch, page);
            }
        }
        let postponed = std::mem::replace(&mut self.postponed[touch.stream as usize], marked);
        if let Some(page) = postponed.checked_sub(1)
            && self.cached(touch, page) != 0
        {
            self.fault(touch, page);
        }
    }
}
