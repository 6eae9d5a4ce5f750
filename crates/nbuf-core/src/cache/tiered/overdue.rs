//! How long the tier may take: a disc that hangs costs a read this time once, and never more.

use std::collections::BTreeSet;

use super::{Move, Tiered};
use crate::disc::Disc;
use crate::trace::request::Request;
use crate::units::Nanos;

/// When the requests to the tier that are under way were submitted.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// How long one may take; without a value for ever.
    limit: Option<Nanos>,
    /// Nothing has taken too long before.
    not_before: Nanos,
    since: BTreeSet<(Nanos, u32)>,
}

impl Waiting {
    /// When the oldest one has taken too long.
    pub(super) fn due(&self) -> Option<Nanos> {
        let &(since, _) = self.since.first()?;
        Some((since + self.limit?).max(self.not_before))
    }
}

impl<D: Disc, T: Disc> Tiered<D, T> {
    /// Gives the tier up when it has not answered a request for this long.
    pub(crate) fn give_up_after(&mut self, limit: Nanos) {
        self.waiting.limit = Some(limit);
    }

    /// Nothing is asked before this time: what comes with an earlier one waits from then on.
    pub(crate) fn begin_at(&mut self, now: Nanos) {
        self.now = self.now.max(now);
    }

    /// Gives the tier up at this time at the earliest: its owner was away, and has not seen what it answered.
    pub(crate) fn pardon_until(&mut self, at: Nanos) {
        self.waiting.not_before = at;
    }

    /// Whether the tier is given up by then, unless it has answered.
    pub(crate) fn is_due(&self, until: Nanos) -> bool {
        self.waiting.due().is_some_and(|due| due <= until)
    }

    /// Submits a request to the tier.
    pub(super) fn ask_tier(&mut self, what: Move, request: Request, data: Vec<u8>) {
        let task = self.moves.insert((what, self.now));
        self.waiting.since.insert((self.now, task));
        self.tier.submit(self.now, Request { task, ..request }, data);
    }

    /// A request to the tier is answered: what it was for.
    pub(super) fn answered(&mut self, task: u32) -> Option<Move> {
        let (what, since) = self.moves.take(task)?;
        self.waiting.since.remove(&(since, task));
        Some(what)
    }

    /// The oldest request has taken too long: the tier is not used any more, and the backing serves all reads that wait
    /// for it. What the tier answers later counts for nothing; until then the tier keeps the memory of its requests.
    pub(super) fn give_up(&mut self, due: Nanos) {
        self.now = self.now.max(due);
        let limit = self.waiting.limit.unwrap_or_default();
        self.lose(format!("it has not answered for {limit}"));
        for (_, task) in std::mem::take(&mut self.waiting.since) {
            self.counts.overdue += 1;
            let Some((what, _)) = self.moves.get_mut(task) else { continue };
            if let Move::Read { pending, slot, from, to } = *what {
                *what = Move::Late { slot };
                self.read_backing(pending, from, to);
                self.piece_is_done(pending, due);
            }
        }
    }
}
