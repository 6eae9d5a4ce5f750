//! Flushes. Each ends an epoch: it waits until all that was dirtied before it is written, then for one
//! flush of the disc, which all share that are ready for it.
//!
//! A write-back that failed is reported once to each client, by its next flush; and a flush fails as long as
//! what was acknowledged before it is not on the disc.
//!
//! A flush that the disc refuses is final: nothing says which of the bytes that were written before it are safe,
//! and the next flush of the disc may succeed without them (as `fsync` of a file does). All later ones fail. Only a disc
//! that keeps what it owes is asked again: it says so of this flush ([`DiscError::Owed`]).

use super::{Cached, Job};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Disc, DiscError};
use crate::trace::request::{Op, Request};

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// A client is there that has missed no failure.
    pub fn client_came(&mut self, client: u32) {
        self.seen.insert(client, self.failures);
    }

    /// A client is gone.
    pub fn client_left(&mut self, client: u32) {
        self.seen.remove(&client);
    }

    pub(super) fn flush(&mut self, pending: u32) {
        self.flushing.push((pending, self.epoch));
        self.epoch += 1;
        self.try_failed_again();
    }

    /// Flushes the disc for all flushes whose bytes it has, unless it is being flushed.
    pub(super) fn flush_disc(&mut self) {
        if self.has_disc_flush || self.flushing.is_empty() {
            return;
        }
        let oldest = self.owed.first_key_value().map_or(u64::MAX, |(&epoch, _)| epoch);
        let is_ready = |&mut (_, epoch): &mut (u32, u64)| oldest > epoch;
        let ready: Vec<u32> =
            self.flushing.extract_if(.., is_ready).map(|(pending, _)| pending).collect();
        if ready.is_empty() {
            return;
        }
        self.has_disc_flush = true;
        self.counts.disc_flushes += 1;
        self.ask(Job::Flush(ready), Request::new(Op::Flush, 0, 0), Vec::new());
    }

    /// The disc has answered a flush.
    pub(super) fn disc_flushed(&mut self, flushes: &[u32], outcome: &Result<(), DiscError>) {
        self.has_disc_flush = false;
        let refused = outcome.as_ref().err();
        let is_final = |error: &&DiscError| !matches!(error, DiscError::Owed { .. });
        if self.flush_failure.is_none() {
            self.flush_failure = refused.filter(is_final).cloned();
        }
        let failure = self.flush_failure.clone().or_else(|| refused.cloned());
        for &pending in flushes {
            let unseen = self.report_failures(pending);
            self.part_done(pending, failure.clone().or(unseen));
        }
    }

    /// Fails the flushes that wait for bytes of this epoch.
    pub(super) fn fail_flushes(&mut self, epoch: u64, error: &DiscError) {
        let waits = |&mut (_, until): &mut (u32, u64)| epoch <= until;
        let failed: Vec<_> = self.flushing.extract_if(.., waits).collect();
        for (pending, _) in failed {
            self.report_failures(pending);
            self.part_done(pending, Some(error.clone()));
        }
    }

    /// The last failure, if the client of a flush was not notified of it yet. It is now.
    fn report_failures(&mut self, pending: u32) -> Option<DiscError> {
        let client = self.pending.get(pending)?.request.object;
        let seen = self.seen.insert(client, self.failures).unwrap_or(0);
        if seen < self.failures { self.last_failure.clone() } else { None }
    }
}
