//! Writes: what the cache can keep until later, and what goes to the disc at once.

use super::Cached;
use super::costs::Work;
use super::ids::NONE;
use super::settings::Writes;
use crate::cache::policy::{AnyPolicy, Cause};
use crate::disc::Disc;
use crate::trace::request::{Op, Request};

use super::frames::{Mask, SECTOR_BYTES};

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// Writes, or lets the write wait for others of the same bytes or for room.
    pub(super) fn write(&mut self, pending: u32) {
        let Some(request) = self.pending.get(pending).map(|pending| pending.request) else {
            return;
        };
        let absorbs = self.settings.writes == Writes::Back
            && request.op == Op::Write
            && !request.durable
            && self.has_whole_sectors(&request);
        let (from, to) = sector_span(request.offset, request.length_bytes);
        let is_same = |busy: &super::Busy| busy.from < to && from < busy.to;
        if self.busy.iter().any(|busy| is_same(busy) && (busy.is_direct || !absorbs)) {
            self.blocked.push_back(pending);
        } else if !absorbs {
            self.write_direct(pending, &request);
        } else if self.owed_pages >= u64::from(self.settings.dirty_high_pages) {
            self.counts.throttled += 1;
            self.try_failed_again();
            self.throttled.push_back(pending);
        } else {
            self.absorb(pending, &request);
        }
    }

    /// Whether each sector that a write covers in part is valid, so that nothing must be read for it.
    pub(crate) fn has_whole_sectors(&self, request: &Request) -> bool {
        let (first, last) = self.pages(request);
        [first, last].into_iter().all(|page| {
            let part = self.part(request.offset, request.length_bytes, page);
            let torn = part.touched & !part.covered;
            torn == 0 || torn & !self.valid(page) == 0
        })
    }

    /// The valid sectors of a page.
    fn valid(&self, page: u64) -> Mask {
        let frame = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).frame);
        if frame == NONE { 0 } else { self.frames.get(frame).valid }
    }

    /// Takes a write in. What the policy refuses goes to the disc.
    fn absorb(&mut self, pending: u32, request: &Request) {
        let Some(waiting) = self.pending.get_mut(pending) else { return };
        let data = std::mem::take(&mut waiting.data);
        let (from, to) = sector_span(request.offset, request.length_bytes);
        self.mark_stale(from, to);
        let (first, last) = self.pages(request);
        let mut refused: Vec<(u64, u64)> = Vec::new();
        for page in first..=last {
            let began = self.costs.begin(Work::Fill);
            let is_absorbed = self.absorb_page(request, page, &data);
            self.costs.end(Work::Fill, began);
            if is_absorbed {
                continue;
            }
            match refused.last_mut() {
                Some((_, end)) if *end == page => *end += 1,
                _ => refused.push((page, page + 1)),
            }
        }
        self.counts.writes_absorbed += u64::from(refused.is_empty());
        let page_bytes = u64::from(self.settings.page_bytes);
        let end = request.offset + request.length_bytes;
        for (first, behind) in refused {
            let from = request.offset.max(first * page_bytes);
            let to = end.min(behind * page_bytes);
            let whole = |at: u64| usize::try_from(at - request.offset).unwrap_or(usize::MAX);
            let part = data[whole(from)..whole(to)].to_vec();
            if let Some(waiting) = self.pending.get_mut(pending) {
                waiting.left += 1;
            }
            let write = Request::new(Op::Write, from, to - from);
            self.go_direct(pending, write, part, false);
        }
        if let Some(waiting) = self.pending.get_mut(pending) {
            waiting.data = data;
        }
        self.part_done(pending, None);
    }

    fn absorb_page(&mut self, request: &Request, page: u64, data: &[u8]) -> bool {
        let part = self.part(request.offset, request.length_bytes, page);
        let id = self.number(page);
        if !self.decider.touch(id) {
            // A page of the same request may have evicted the one whose sectors were whole.
            if part.touched != part.covered || !self.admit(id, Cause::Demand) {
                return false;
            }
        }
        if let Some(others) = &mut self.others {
            others.write(page);
        }
        self.copy_in(request.offset, page, &part, data);
        let frame = self.ids.slot(id).frame;
        self.frames.get_mut(frame).valid |= part.covered;
        self.owe(page, frame, part.touched);
        true
    }

    /// Copies the part of a write that is in a page into its frame.
    pub(super) fn copy_in(
        &mut self,
        offset: u64,
        page: u64,
        part: &super::arrive::Part,
        data: &[u8],
    ) {
        let frame = self.ids.find(page).map_or(NONE, |id| self.ids.slot(id).frame);
        if frame == NONE {
            return;
        }
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let begins = page * u64::from(self.settings.page_bytes) + part.from - offset;
        let bytes = &data[whole(begins)..][..whole(part.to - part.from)];
        self.frames.bytes_mut(frame)[whole(part.from)..whole(part.to)].copy_from_slice(bytes);
    }

    /// Tries writes again that waited for others.
    pub(super) fn unblock(&mut self) {
        self.is_stuck = false;
        for _ in 0..self.blocked.len() {
            if let Some(pending) = self.blocked.pop_front() {
                self.write(pending);
            }
        }
    }
}

/// Some bytes, extended to whole sectors.
pub(super) fn sector_span(offset: u64, length_bytes: u64) -> (u64, u64) {
    let to = offset + length_bytes;
    (offset / SECTOR_BYTES * SECTOR_BYTES, to.div_ceil(SECTOR_BYTES) * SECTOR_BYTES)
}
