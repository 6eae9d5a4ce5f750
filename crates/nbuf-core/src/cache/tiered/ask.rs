//! What a read asks: the tier for blocks that it has, and the backing for the rest, in one piece.

use super::geometry::span;
use super::{Job, Move, PendingRequest, Tiered};
use crate::disc::Disc;
use crate::trace::request::{Op, Request};

impl<D: Disc, T: Disc> Tiered<D, T> {
    /// Begins a read.
    pub(super) fn read(&mut self, request: Request, data: Vec<u8>) {
        let (from, length) = (request.offset, request.length_bytes);
        let end = from.checked_add(length).filter(|&end| end <= self.geometry.size_bytes);
        self.counts.reads += 1;
        let Some(to) = end.filter(|_| length > 0 && data.len() as u64 == length) else {
            // The backing says what is wrong.
            return self.pass(request, data);
        };
        if self.lost.is_some() {
            return self.pass(request, data);
        }
        let geometry = self.geometry;
        // Where the blocks that are missing begin and end. Blocks between them are read from the backing too, so that a
        // request never becomes several for the slow disc.
        let mut missing: Option<(u64, u64)> = None;
        for number in geometry.blocks_of(from, to) {
            if self.slot_with(number, from, to).is_some() {
                // A part that the block lacks is no use of it: else a scan of parts looks like many uses.
                self.blocks.touch(number);
            } else {
                let (begins, ends) = geometry.within(number, from, to);
                missing = Some((missing.map_or(begins, |(first, _)| first), ends));
            }
        }
        if missing == Some((from, to)) {
            return self.pass(request, data);
        }
        let (begins, ends) = missing.unwrap_or((to, to));
        let came = self.now;
        let pending = PendingRequest { request, data, came, left: 0, is_hit: true, error: None };
        let pending = self.pending.insert(pending);
        for (from, to) in [(from, begins), (ends, to)] {
            if from < to {
                for number in geometry.blocks_of(from, to) {
                    self.read_tier(pending, number, from, to);
                }
            }
        }
        if begins < ends {
            self.read_backing(pending, begins, ends);
        }
    }

    /// The slot of a block that has all of the bytes that a range has of the block.
    fn slot_with(&self, number: u64, from: u64, to: u64) -> Option<u32> {
        let slot = self.blocks.find(number)?;
        let touched = self.geometry.touched(number, from, to);
        (touched & !self.blocks.get(slot).valid == 0).then_some(slot)
    }

    /// Reads what a range has of a block from the tier, which has it: whole parts, as their sums are of whole parts.
    fn read_tier(&mut self, pending: u32, number: u64, from: u64, to: u64) {
        let Some(slot) = self.slot_with(number, from, to) else { return };
        let parts = self.geometry.touched(number, from, to);
        let run = span(parts);
        let (begins, ends) = self.geometry.bytes_of(number, run);
        let (from, to) = self.geometry.within(number, from, to);
        self.blocks.begin_read(slot, parts);
        self.count_piece(pending);
        let request = Request::new(Op::Read, self.geometry.place(slot, run.0), ends - begins);
        let room = vec![0; usize::try_from(ends - begins).unwrap_or_default()];
        self.ask_tier(Move::Read { pending, slot, from, to }, request, room);
    }

    /// Reads a piece of a request from the backing.
    pub(super) fn read_backing(&mut self, pending: u32, from: u64, to: u64) {
        self.count_piece(pending);
        let Some(whole) = self.pending.get_mut(pending) else { return };
        whole.is_hit = false;
        let request = whole.request;
        let piece = Request { offset: from, length_bytes: to - from, ..request };
        let room = vec![0; usize::try_from(to - from).unwrap_or_default()];
        self.submit_backing(pending, false, piece, room);
    }

    fn count_piece(&mut self, pending: u32) {
        if let Some(pending) = self.pending.get_mut(pending) {
            pending.left += 1;
        }
    }

    /// Hands a request to the backing as it is.
    pub(super) fn pass(&mut self, request: Request, data: Vec<u8>) {
        let (came, left, is_hit, error) = (self.now, 1, false, None);
        let data_so_far = Vec::new();
        let pending = PendingRequest { request, data: data_so_far, came, left, is_hit, error };
        let pending = self.pending.insert(pending);
        self.submit_backing(pending, true, request, data);
    }

    fn submit_backing(&mut self, pending: u32, is_whole: bool, request: Request, data: Vec<u8>) {
        let Request { op, offset: from, length_bytes, .. } = request;
        let to = from.saturating_add(length_bytes);
        if op == Op::Read {
            self.counts.backing_reads += 1;
            self.counts.backing_read_bytes += length_bytes;
        }
        // What is read while its bytes are changed may be either. What changes the same bytes at the same time ends in
        // either order, and makes what is under way stale too.
        let mut is_stale = false;
        let is_change = matches!(op, Op::Write | Op::Discard);
        for job in self.jobs.iter_mut() {
            let meets = job.from < to && from < job.to;
            let changes = matches!(job.op, Op::Write | Op::Discard);
            is_stale |= meets && changes;
            job.is_stale |= meets && is_change;
        }
        let task = self.jobs.insert(Job { pending, op, from, to, is_whole, is_stale });
        self.backing.submit(self.now, Request { task, ..request }, data);
    }
}
