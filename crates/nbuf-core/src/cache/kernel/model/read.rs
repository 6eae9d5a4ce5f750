//! A read: batches of cached folios, readahead where there is none, marks for what was read.

use super::super::folio::{Slot, flag};
use super::super::stream::{Touch, TouchKind};
use super::clock::Clock;
use super::{Model, Order};

/// A read takes folios from the cache in batches of this many (`PAGEVEC_SIZE`).
const BATCH_FOLIOS: usize = 31;

impl<O: Order, C: Clock> Model<'_, O, C> {
    /// `filemap_read`: batches of cached folios, readahead where there is none or a marker.
    pub(super) fn read(&mut self, touch: &Touch) {
        let end = touch.first + touch.count;
        let mut page = touch.first;
        // A pipe takes a folio piece by piece, and each piece marks it (`filemap_splice_read`).
        let is_splice = touch.kind == TouchKind::Splice;
        let previous = self.readahead[touch.stream as usize].previous;
        let mut last = previous.filter(|_| !is_splice);
        if touch.count == 1 {
            // Most touches of most traces, and the shortest way through what follows.
            let slot = self.cached(touch, page);
            if slot != 0 && !self.arena.has(slot, flag::READAHEAD) {
                self.clock.reaches(touch, page, end);
                if !self.ended_in(slot, page, last) {
                    self.mark_read(slot);
                }
                self.readahead[touch.stream as usize].previous = Some(end);
                return;
            }
        }
        while page < end {
            let mut marked = self.gather(touch, page, end);
            if self.batch.is_empty() {
                self.sync_readahead(touch, page, end - page);
                marked = self.gather(touch, page, end);
                if self.batch.is_empty() {
                    self.fetch_page(touch, page);
                    marked = self.gather(touch, page, end);
                }
            }
            self.clock.reaches(touch, page, self.batch_end);
            page = self.mark_batch(page, last);
            last = Some(page).filter(|_| !is_splice);
            if let Some(slot) = marked {
                self.async_readahead(touch, slot, end);
            }
        }
        self.readahead[touch.stream as usize].previous = Some(end);
    }

    /// Collects cached folios from `page` on; stops behind a marked one and gives it.
    fn gather(&mut self, touch: &Touch, page: u32, end: u32) -> Option<Slot> {
        self.batch.clear();
        let mut at = page;
        while at < end && self.batch.len() < BATCH_FOLIOS {
            let slot = self.cached(touch, at);
            if slot == 0 {
                break;
            }
            self.batch.push(slot);
            at = self.end_of(at, slot);
            if self.arena.has(slot, flag::READAHEAD) {
                self.batch_end = at;
                return Some(slot);
            }
        }
        self.batch_end = at;
        None
    }

    /// Marks the batch as read and gives the page behind it. Where the read before, or the batch
    /// before, ended in its first folio, that is not marked again (`pos_same_folio`).
    fn mark_batch(&mut self, page: u32, last: Option<u32>) -> u32 {
        let batch = std::mem::take(&mut self.batch);
        for (at, &slot) in batch.iter().enumerate() {
            if at > 0 || !self.ended_in(slot, page, last) {
                self.mark_read(slot);
            }
        }
        self.batch = batch;
        self.batch_end.max(page + 1)
    }

    /// Whether what ended before page `last` ended in the folio of `slot`, which holds `page`.
    fn ended_in(&self, slot: Slot, page: u32, last: Option<u32>) -> bool {
        let order = self.arena.order(slot);
        last.is_some_and(|last| last > 0 && (last - 1) >> order == page >> order)
    }

    fn mark_read(&mut self, slot: Slot) {
        if !self.arena.has(slot, flag::SHARED) {
            self.order.read(&mut self.arena, slot);
        }
    }
}
