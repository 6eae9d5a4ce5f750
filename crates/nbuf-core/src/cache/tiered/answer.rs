//! What comes back: pieces of requests, fills that are done, and what goes wrong.

use super::fill::sum;
use super::geometry::span;
use super::{DISC_REFUSED, Job, Move, PendingRequest, Tiered};
use crate::disc::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::Op;
use crate::units::Nanos;

impl<D: Disc, T: Disc> Tiered<D, T> {
    /// The backing has answered.
    pub(super) fn backing_has(&mut self, completion: Completion) {
        self.now = self.now.max(completion.at);
        let Some(job) = self.jobs.take(completion.request.task) else { return };
        let Job { pending, op, from, to, is_whole, is_stale } = job;
        // What was acknowledged before may not be on the disc then, and the tier would show it. What is owed is kept, and
        // the backing reads it from there.
        let stores = op == Op::Flush || (completion.request.durable && op != Op::Read);
        let is_owed = matches!(completion.outcome, Err(DiscError::Owed { .. }));
        if stores && completion.outcome.is_err() && !is_owed {
            self.lose(DISC_REFUSED.to_owned());
        }
        let Completion { data, at, breakdown, outcome, .. } = completion;
        let moves_bytes = matches!(op, Op::Read | Op::Write) && data.len() as u64 == to - from;
        if moves_bytes && !is_stale && outcome.is_ok() {
            self.fill(from, &data);
        }
        if is_whole {
            let Some(pending) = self.pending.take(pending) else { return };
            let completion = Completion { request: pending.request, data, at, breakdown, outcome };
            return self.complete(completion);
        }
        self.piece_is_there(pending, from, &data);
        if let Err(error) = outcome
            && let Some(pending) = self.pending.get_mut(pending)
        {
            pending.error.get_or_insert(error);
        }
        self.piece_is_done(pending, at);
    }

    /// The tier has answered.
    pub(super) fn tier_has(&mut self, completion: Completion) {
        self.now = self.now.max(completion.at);
        let Some(done) = self.answered(completion.request.task) else { return };
        match done {
            Move::Late { slot } => self.blocks.end_read(slot),
            Move::Fill { slot, parts, bytes } => {
                self.filling_bytes -= bytes;
                let is_good = completion.outcome.is_ok() && self.lost.is_none();
                self.blocks.end_fill(slot, parts, is_good);
                if let Err(error) = completion.outcome {
                    self.failed(error.words_of("the tier"));
                }
            }
            Move::Read { pending, slot, from, to } => {
                let block = self.blocks.get(slot).number;
                let checked = match &completion.outcome {
                    Ok(()) => self.check_sums(slot, (from, to), &completion.data),
                    Err(error) => Err(error.words_of("the tier")),
                };
                self.blocks.end_read(slot);
                match checked {
                    Ok(()) => {
                        let run = span(self.geometry.touched(block, from, to));
                        let (begins, _) = self.geometry.bytes_of(block, run);
                        let place =
                            |byte: u64| usize::try_from(byte - begins).unwrap_or(usize::MAX);
                        let bytes = completion.data.get(place(from)..place(to));
                        self.counts.hit_bytes += to - from;
                        self.piece_is_there(pending, from, bytes.unwrap_or_default());
                    }
                    Err(why) => {
                        self.failed(why);
                        self.read_backing(pending, from, to);
                    }
                }
                self.piece_is_done(pending, completion.at);
            }
        }
    }

    /// Whether the parts that a read of the tier brought are those that were written.
    fn check_sums(&self, slot: u32, (from, to): (u64, u64), data: &[u8]) -> Result<(), String> {
        let block = self.blocks.get(slot);
        let (first, end) = span(self.geometry.touched(block.number, from, to));
        let (begins, ends) = self.geometry.bytes_of(block.number, (first, end));
        let mut at = begins;
        let sums = &block.sums[first as usize..end as usize];
        for (part, &want) in data.chunks(self.geometry.part_bytes as usize).zip(sums) {
            if sum(at, part) != want {
                return Err(format!("its sum of byte {at} of the disc is wrong"));
            }
            at += part.len() as u64;
        }
        if at == ends { Ok(()) } else { Err("it answered with too few bytes".to_owned()) }
    }

    /// The tier failed, and is not used any more.
    fn failed(&mut self, why: String) {
        self.counts.errors += 1;
        self.lose(why);
    }

    /// Bytes of a piece of a read.
    fn piece_is_there(&mut self, pending: u32, from: u64, bytes: &[u8]) {
        let Some(pending) = self.pending.get_mut(pending) else { return };
        let at = usize::try_from(from - pending.request.offset).unwrap_or(usize::MAX);
        let room = pending.data.get_mut(at..).and_then(|room| room.get_mut(..bytes.len()));
        if let Some(room) = room {
            room.copy_from_slice(bytes);
        }
    }

    pub(super) fn piece_is_done(&mut self, number: u32, at: Nanos) {
        let Some(pending) = self.pending.get_mut(number) else { return };
        pending.left -= 1;
        if pending.left > 0 {
            return;
        }
        let Some(PendingRequest { request, data, came, is_hit, error, .. }) =
            self.pending.take(number)
        else {
            return;
        };
        self.counts.hits += u64::from(is_hit);
        let transfer = at.max(came) - came;
        let breakdown = Breakdown { transfer, ..Breakdown::default() };
        let outcome = error.map_or(Ok(()), Err);
        let at = at.max(came);
        self.complete(Completion { request, data, at, breakdown, outcome });
    }

    /// Keeps an answer for the owner. The two discs may answer in the other order.
    fn complete(&mut self, mut completion: Completion) {
        self.last = self.last.max(completion.at);
        completion.breakdown.queued += self.last - completion.at;
        completion.at = self.last;
        self.done.push_back(completion);
    }
}
