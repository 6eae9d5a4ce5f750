//! The way back to the disc: all that is owed and safe in the journal, in the order of the disc, and then a flush.
//!
//! An error of the disc loses nothing. What it refuses stays owed, and is written again later; so is all of it where the
//! flush fails, as nothing says then what the disc has.

use super::writes::{Refused, Writes};
use super::{Job, Journaled};
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Requests to the disc at once: they leave it room for reads.
const REQUESTS_MAX: u32 = 8;
/// The time after an error.
const PAUSE: Nanos = Nanos(500_000_000);

/// What is on its way to the disc.
#[derive(Debug, Default)]
enum Round {
    #[default]
    None,
    Writing {
        writes: Writes,
        under_way: u32,
        /// The last record whose bytes are in it.
        seq: u64,
    },
    Flushing {
        seq: u64,
        refused: Refused,
    },
}

/// The way back.
#[derive(Debug, Default)]
pub(super) struct Back {
    round: Round,
    /// When the next round may begin, after an error.
    at: Nanos,
}

impl Back {
    /// With a disc that refused something before: it is asked again after a while.
    pub(super) fn later() -> Self {
        Self { round: Round::None, at: PAUSE }
    }

    /// Whether nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.round, Round::None)
    }
}

impl<D: Disc, J: Disc> Journaled<D, J> {
    /// Begins a round, if there is something to write and all of it is safe in the journal. Without a journal nothing
    /// becomes safer by waiting.
    pub(super) fn begin_back(&mut self) {
        let may_begin = self.lost.is_some() || !self.log.is_unsynced();
        if !may_begin || !self.back.is_idle() || self.owed.is_empty() || self.now < self.back.at {
            return;
        }
        let (writes, seq) = (Writes::new(&self.owed), self.log.written_seq);
        self.back.round = Round::Writing { writes, under_way: 0, seq };
        self.write_more();
    }

    /// Whether a round may begin again by then, after an error.
    pub(super) fn is_due(&self, until: Nanos) -> bool {
        let may_begin = self.back.is_idle() && !self.owed.is_empty();
        may_begin && self.back.at > Nanos::ZERO && self.back.at <= until
    }

    /// Begins again after an error.
    pub(super) fn retry(&mut self) {
        self.now = self.now.max(self.back.at);
        self.go_on();
    }

    fn write_more(&mut self) {
        let Round::Writing { writes, under_way, .. } = &mut self.back.round else { return };
        while *under_way < REQUESTS_MAX {
            let Some((request, data)) = writes.next() else { break };
            *under_way += 1;
            let task = self.jobs.insert(Job::Back);
            self.backing.submit(self.now, Request { task, ..request }, data);
        }
        if *under_way > 0 {
            return;
        }
        let Round::Writing { writes, seq, .. } = std::mem::take(&mut self.back.round) else {
            return;
        };
        let (refused, has_taken) = writes.end();
        if let Some(error) = refused.error.as_ref().filter(|_| !has_taken) {
            // There is nothing that a flush could make safe.
            return self.failed(error);
        }
        self.back.round = Round::Flushing { seq, refused };
        let task = self.jobs.insert(Job::Flush);
        let flush = Request { task, ..Request::new(Op::Flush, 0, 0) };
        self.backing.submit(self.now, flush, Vec::new());
    }

    /// The disc has answered a write.
    pub(super) fn written_back(&mut self, completion: Completion) {
        if let Round::Writing { writes, under_way, .. } = &mut self.back.round {
            *under_way -= 1;
            writes.answered(completion);
        }
        self.write_more();
        self.go_on();
    }

    /// The disc has answered the flush behind them.
    pub(super) fn backing_flushed(&mut self, outcome: Result<(), DiscError>) {
        let round = std::mem::take(&mut self.back.round);
        let Round::Flushing { seq, refused } = round else { return };
        match outcome {
            Ok(()) => {
                self.back = Back::default();
                self.owed.forget_except(seq, &refused.ranges);
                // Also where a newer record has the same bytes by now: it may not be safe.
                self.log.gone(refused.oldest.map_or(seq, |oldest| oldest.saturating_sub(1)));
                if let Some(error) = &refused.error {
                    self.failed(error);
                }
            }
            // The disc keeps what it was sent, but nothing keeps a write that waits for room.
            Err(DiscError::Owed { what }) => self.failed(&DiscError::Failed { what }),
            Err(error) => self.failed(&error),
        }
        self.go_on();
    }

    fn failed(&mut self, error: &DiscError) {
        self.back = Back { round: Round::None, at: self.now + PAUSE };
        self.fail_waiting(error);
    }
}
