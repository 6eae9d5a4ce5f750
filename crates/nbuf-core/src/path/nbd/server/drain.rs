//! The quiet time in which clients wait: the cache is written to the disc, for the end or for a new size.

use super::{Asked, Change, Keeper, Quiet, Server};
use crate::cache::cached::Others;
use crate::disc::{Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Flushes that are tried before the server ends without.
const FLUSHES_MAX: u32 = 5;
/// The time between them.
const PAUSE: Nanos = Nanos(500_000_000);

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drained {
    /// Bytes that were acknowledged and are not on the disc.
    pub(crate) owed_bytes: u64,
    /// The disc's last error, if a flush failed.
    pub(crate) error: Option<String>,
}

impl Server {
    /// Begins to end: no client comes and no request is read from now on.
    pub(super) fn drain(&mut self) {
        if !matches!(self.quiet, Some(Quiet::End)) {
            self.quiet = Some(Quiet::End);
        }
    }

    /// Goes on with a quiet time: when no request is under way, it flushes.
    pub(super) fn quieten(&mut self, keeper: &mut dyn Keeper) {
        if let Some(outcome) = self.flushed.take() {
            self.flush_is_done(&outcome, keeper);
        }
        if self.quiet.is_none() || self.flush.is_some() || self.now < self.flush_at {
            return;
        }
        if self.connections.iter().any(|client| client.under_way > 0) {
            return;
        }
        let (place, client, cookie, command, bytes) = (usize::MAX, 0, 0, 0, 0);
        let asked = Asked { place, client, cookie, command, bytes, began: None };
        let task = self.keep(asked);
        self.flush = Some(task);
        let flush = Request { task, ..Request::new(Op::Flush, 0, 0) };
        self.cache.client_came(0);
        self.cache.submit(self.now, flush, Vec::new());
        self.complete();
        if let Some(outcome) = self.flushed.take() {
            self.flush_is_done(&outcome, keeper);
        }
    }

    /// The flush of a quiet time is complete.
    fn flush_is_done(&mut self, outcome: &Result<(), DiscError>, keeper: &mut dyn Keeper) {
        if let Err(error) = outcome {
            self.flushes_failed += 1;
            self.flush_at = self.now + PAUSE;
            if self.flushes_failed < FLUSHES_MAX {
                return;
            }
            self.flushes_failed = 0;
            let why = "what is dirty cannot be written, so all stays as it is";
            match self.quiet.take() {
                Some(Quiet::Renew(_, Some(mut caller))) => caller.refuse(why),
                Some(Quiet::Renew(_, None)) => keeper.changed(Err(why)),
                _ => {
                    self.quiet = Some(Quiet::End);
                    self.ended = Some(Drained { error: Some(error.to_string()), ..self.result() });
                }
            }
            return;
        }
        self.flushes_failed = 0;
        let Some(Quiet::Renew(change, caller)) = self.quiet.take() else {
            self.connections.touch_all();
            self.send_all();
            self.ended = Some(self.result());
            return;
        };
        let before = self.setting();
        self.change(change);
        match caller {
            Some(mut caller) => {
                let (policy, pages) = (change.policy, change.pages);
                caller.answer(&format!("{{\"policy\": \"{policy}\", \"pages\": {pages}}}"));
            }
            None => keeper.changed(Ok((before, change))),
        }
    }

    /// Changes what differs. Nothing is owed.
    fn change(&mut self, change: Change) {
        let before = self.setting();
        let Change { policy, pages, writes, clients_max } = change;
        self.clients_max = clients_max;
        self.cache.set_writes(writes);
        if policy.to_string() != before.policy.to_string() || pages != before.pages {
            self.cache.renew(policy.build(pages, 0), pages);
            self.cache.compare_with(Others::new(policy, pages, self.cache.counts()));
            self.policy = policy;
        }
    }

    pub(super) fn result(&self) -> Drained {
        Drained { owed_bytes: self.cache.owed_bytes(), error: None }
    }
}
