//! What the journal does next: records, flushes with a note behind each, and checkpoints, one after the other.
//!
//! What comes while one is on its way goes into the next record together. A request of the journal never waits for the
//! backing, unless the ring is full of records that are owed.

use super::log::{Part, Step};
use super::record::RING_BYTE;
use super::{Journaled, Waiter};
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};

impl<D: Disc, J: Disc> Journaled<D, J> {
    /// Begins what can begin.
    pub(super) fn go_on(&mut self) {
        self.answer_waiters();
        if self.lost.is_none() && self.log.step.is_none() {
            self.next_step();
        }
        self.begin_back();
    }

    fn next_step(&mut self) {
        let is_wanted = self.waiters.iter().any(|waiter| waiter.mark <= self.log.written);
        // Nothing is written back before it is safe here.
        let back_waits = self.log.is_unsynced() && self.back.is_idle();
        if is_wanted || back_waits && self.log.is_half_full() {
            self.flush_journal();
        } else if let Some((byte, bytes)) = self.log.next_checkpoint() {
            self.ask_journal(byte, bytes, true);
        } else if let Some((place, bytes)) = self.log.next_record() {
            self.ask_journal(RING_BYTE + place, bytes, false);
        } else if back_waits {
            self.flush_journal();
        }
    }

    fn flush_journal(&mut self) {
        let (part, seq) = (self.log.written, self.log.written_seq);
        self.log.step = Some(Step::Flush { part, seq });
        self.journal.submit(self.now, Request::new(Op::Flush, 0, 0), Vec::new());
    }

    fn ask_journal(&mut self, byte: u64, bytes: Vec<u8>, durable: bool) {
        let write = Request::new(Op::Write, byte, bytes.len() as u64);
        self.journal.submit(self.now, Request { durable, ..write }, bytes);
    }

    /// The journal has answered.
    pub(super) fn journal_has(&mut self, completion: Completion) {
        self.now = self.now.max(completion.at);
        let Some(step) = self.log.step.take() else { return };
        if let Err(error) = completion.outcome {
            let why = error.words_of("the journal");
            if let Step::Record(parts) = step {
                // They fail with those behind them.
                for part in parts.into_iter().rev() {
                    self.log.queue.push_front(part);
                }
            }
            self.lose(why);
            return self.go_on();
        }
        match step {
            Step::Record(parts) => {
                self.log.written_seq += 1;
                for part in parts {
                    self.log.written = self.log.written.max(part.number);
                    self.owed.put(part.extent(self.log.written_seq));
                    self.part_is_done(&part, None);
                }
            }
            Step::Flush { part, seq } => {
                let (byte, bytes) = self.log.next_note(part, seq);
                self.ask_journal(byte, bytes, false);
            }
            // Only now those who wait are answered: a kill comes before their answer, or finds the note.
            Step::Note(part) => self.log.synced = self.log.synced.max(part),
            Step::Checkpoint(gone) => self.log.forget(gone),
        }
        self.go_on();
    }

    /// A part is in a record, or will never be.
    fn part_is_done(&mut self, part: &Part, error: Option<&DiscError>) {
        let Some(pending) = self.pending.get_mut(part.pending) else { return };
        pending.left -= 1;
        if pending.error.is_none() {
            pending.error = error.cloned();
        }
        if pending.left > 0 {
            return;
        }
        if pending.request.durable && pending.error.is_none() {
            self.waiters.push(Waiter { pending: part.pending, mark: part.number });
        } else {
            self.finish(part.pending, None);
        }
    }

    /// Answers those whose parts are safe, and at the end those that wait until nothing is owed.
    fn answer_waiters(&mut self) {
        let synced = self.log.synced;
        let is_safe = |waiter: &mut Waiter| waiter.mark <= synced;
        let safe: Vec<Waiter> = self.waiters.extract_if(.., is_safe).collect();
        for Waiter { pending, .. } in safe {
            let found = self.pending.get(pending);
            let is_flush = found.is_some_and(|found| found.request.op == Op::Flush);
            if is_flush && self.is_ending {
                self.enders.push(pending);
            } else {
                let lacking = if is_flush { self.arrears() } else { None };
                self.finish(pending, lacking);
            }
        }
        if self.owed.is_empty() && self.log.is_empty() {
            for pending in std::mem::take(&mut self.enders) {
                self.finish(pending, None);
            }
        }
    }

    /// The parts that wait for room get this error, and so does who waits for the end.
    pub(super) fn fail_waiting(&mut self, error: &DiscError) {
        if self.log.is_full() && !self.log.has_gone() {
            self.fail_queue(error);
        }
        for pending in std::mem::take(&mut self.enders) {
            // It is kept, and the next flush may find it on the disc.
            self.finish(pending, Some(DiscError::Owed { what: error.to_string() }));
        }
    }

    fn fail_queue(&mut self, error: &DiscError) {
        for part in std::mem::take(&mut self.log.queue) {
            self.part_is_done(&part, Some(error));
        }
        self.log.written = self.log.enqueued;
    }

    /// Uses the journal no more, for this reason.
    pub(super) fn lose(&mut self, why: String) {
        let error = self.refusal(&why);
        self.lost = Some(why);
        self.fail_queue(&error);
        for Waiter { pending, .. } in std::mem::take(&mut self.waiters) {
            self.finish(pending, Some(error.clone()));
        }
        for pending in std::mem::take(&mut self.enders) {
            self.finish(pending, Some(error.clone()));
        }
    }

    /// What writes and flushes complete with, without a journal.
    pub(super) fn refusal(&self, why: &str) -> DiscError {
        let owed = self.owed.bytes();
        DiscError::Failed {
            what: format!("the journal has failed ({why}); {owed} B of it were not on the disc"),
        }
    }
}
