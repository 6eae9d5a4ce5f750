//! The quiet time in which clients wait: the cache is written to the disc, for the end or for a new size.

use super::{Asked, Change, Keeper, Quiet, Server};
use crate::disc::{Disc, DiscError};
use crate::sys::memory::available;
use crate::trace::request::{Op, Request};
use crate::units::{Bytes, Nanos};

/// Flushes that are tried before the server ends without.
const FLUSHES_MAX: u32 = 5;
/// The time between them.
const PAUSE: Nanos = Nanos(500_000_000);

/// What a frame takes in addition to its bytes, with the policy and the numbers of pages.
const FRAME_BYTES: u64 = 128;

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
            self.wanted.clear();
            self.quieten_for(Quiet::End);
        }
    }

    /// Begins a quiet time. A flush for another one that is under way does not count.
    pub(super) fn quieten_for(&mut self, quiet: Quiet) {
        (self.flush, self.flushed, self.flushes_failed) = (None, None, 0);
        self.flushing = match quiet {
            Quiet::End => 0,
            Quiet::Renew(disc, ..) => disc,
        };
        self.quiet = Some(quiet);
    }

    /// Goes on with a quiet time: when no request is under way, it flushes.
    pub(super) fn quieten(&mut self, keeper: &mut dyn Keeper) {
        while self.goes_on(keeper) {}
    }

    /// The next step of a quiet time; whether another may follow at once.
    fn goes_on(&mut self, keeper: &mut dyn Keeper) -> bool {
        if let Some(outcome) = self.flushed.take() {
            self.flush_is_done(&outcome, keeper);
        }
        if self.quiet.is_none() || self.flush.is_some() || self.now < self.flush_at {
            return false;
        }
        if self.ended.is_some() || self.connections.iter().any(|client| client.under_way > 0) {
            return false;
        }
        let (place, client, cookie, command, bytes) = (usize::MAX, 0, 0, 0, 0);
        let asked = Asked { place, client, cookie, command, bytes, began: None };
        let task = self.keep(asked);
        self.flush = Some(task);
        let flush = Request { task, ..Request::new(Op::Flush, 0, 0) };
        let cache = &mut self.discs[self.flushing].cache;
        cache.client_came(0);
        cache.submit(self.now, flush, Vec::new());
        self.complete();
        self.flushed.is_some()
    }

    /// The flush of a quiet time is complete.
    fn flush_is_done(&mut self, outcome: &Result<(), DiscError>, keeper: &mut dyn Keeper) {
        if let Err(error) = outcome {
            self.flushes_failed += 1;
            self.flush_at = self.now + PAUSE;
            if self.flushes_failed < FLUSHES_MAX {
                return;
            }
            let why = "what is dirty cannot be written, so all stays as it is";
            match self.quiet.take() {
                Some(Quiet::Renew(_, _, Some(mut caller))) => caller.refuse(why),
                Some(Quiet::Renew(disc, _, None)) => keeper.changed(disc, Err(why)),
                _ => {
                    self.failed.get_or_insert(error.to_string());
                    self.next_disc();
                }
            }
            self.flushes_failed = 0;
            return;
        }
        self.flushes_failed = 0;
        let Some(Quiet::Renew(disc, change, caller)) = self.quiet.take() else {
            return self.next_disc();
        };
        let before = self.setting(disc);
        if let Err(why) = self.has_memory_for(disc, change) {
            match caller {
                Some(mut caller) => caller.refuse(&why),
                None => keeper.changed(disc, Err(&why)),
            }
            return;
        }
        self.clients_max = change.clients_max;
        self.discs[disc].change(change);
        match caller {
            Some(mut caller) => {
                let (policy, pages) = (change.policy, change.pages);
                caller.answer(&format!("{{\"policy\": \"{policy}\", \"pages\": {pages}}}"));
            }
            None => keeper.changed(disc, Ok((before, change))),
        }
    }

    /// Whether a larger cache can be had. The old one is there until the pages are in the new one, and without memory
    /// the process would end with what others owe.
    fn has_memory_for(&self, disc: usize, change: Change) -> Result<(), String> {
        let settings = self.discs[disc].cache.settings();
        let bytes = Bytes(u64::from(change.pages) * (u64::from(settings.page_bytes) + FRAME_BYTES));
        let available = available();
        if change.pages <= settings.pages || bytes <= available {
            return Ok(());
        }
        Err(format!(
            "the new cache takes {bytes} next to the old one, and {available} of memory is available: all stays as it is"
        ))
    }

    /// At the end the next disc is flushed; after the last the server has ended.
    fn next_disc(&mut self) {
        self.quiet = Some(Quiet::End);
        self.flushing += 1;
        if self.flushing < self.discs.len() {
            self.flush_at = Nanos::ZERO;
            return;
        }
        self.connections.touch_all();
        self.send_all();
        self.ended = Some(Drained { error: self.failed.take(), ..self.result() });
    }

    pub(super) fn result(&self) -> Drained {
        let owed_bytes = self.discs.iter().map(|served| served.cache.owed_bytes()).sum();
        Drained { owed_bytes, error: None }
    }
}
