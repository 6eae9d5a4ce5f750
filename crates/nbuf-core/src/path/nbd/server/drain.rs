//! The quiet time in which clients wait: the cache is written to the disc, for the end or for a new size.
//!
//! Discs do not wait for each other. For a new size the clients of one disc wait, and no longer than
//! [`RENEWAL_MAX`]; at the end each disc is flushed when its own requests are done.

use super::super::connection::Connection;
use super::{Change, Keeper, PendingRequest, Quiet, Served, Server};
use crate::disc::{Disc, DiscError};
use crate::sys::memory::available;
use crate::trace::request::{Op, Request};
use crate::units::{Bytes, Nanos};

/// Flushes that are tried before the server ends without.
const FLUSHES_MAX: u32 = 5;
/// The time between them.
const PAUSE: Nanos = Nanos(500_000_000);
/// How long the clients of a disc wait for a new size, before all stays as it is. Less than control clients wait for
/// an answer.
const RENEWAL_MAX: Nanos = Nanos(30_000_000_000);

/// What a frame takes in addition to its bytes, with the policy and the numbers of pages.
const FRAME_BYTES: u64 = 128;

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drained {
    /// Bytes that were acknowledged and are not on the disc.
    pub(crate) owed_bytes: u64,
    /// The error of the first disc that was not flushed.
    pub(crate) error: Option<String>,
}

/// The flush of a disc in a quiet time.
#[derive(Debug, Default)]
pub(super) struct Flushing {
    /// Its task, while it is under way.
    pub(super) task: Option<u32>,
    /// How the last one ended.
    pub(super) outcome: Option<Result<(), DiscError>>,
    failed: u32,
    /// When the next one may begin.
    at: Nanos,
    /// How all of them ended: flushed, or not.
    ended: Option<Result<(), String>>,
}

impl Server {
    /// Begins to end: no client comes and no request is read from now on.
    pub(super) fn drain(&mut self) {
        if !matches!(self.quiet, Some(Quiet::End)) {
            self.wanted.clear();
            // From now on a flush is one of the disc, and not of its journal alone.
            for served in &mut self.discs {
                served.cache.disc_mut().end_journal();
            }
            self.quieten_for(Quiet::End);
        }
    }

    /// Begins a quiet time. A flush for another one that is under way does not count.
    pub(super) fn quieten_for(&mut self, quiet: Quiet) {
        for served in &mut self.discs {
            served.flushing = Flushing::default();
        }
        self.quiet_since = self.now;
        if let Some(Quiet::Renew(_, _, Some(client))) = self.quiet.replace(quiet) {
            self.refuse(client, "the server is ending, so nothing was changed");
        }
    }

    /// Goes on with a quiet time.
    pub(super) fn quieten(&mut self, keeper: &mut dyn Keeper) {
        match self.quiet {
            None => {}
            Some(Quiet::Renew(disc, ..)) => {
                self.flush(disc);
                match self.discs[disc].flushing.ended.take() {
                    Some(Ok(())) => self.renewed(keeper),
                    Some(Err(_)) => {
                        let why = "dirty pages cannot be written, so nothing was changed";
                        self.not_renewed(why, keeper);
                    }
                    None if self.now - self.quiet_since > RENEWAL_MAX => {
                        let seconds = RENEWAL_MAX.0 / 1_000_000_000;
                        let why = format!(
                            "the disc has not answered for {seconds} s, so nothing was changed: ask again"
                        );
                        self.not_renewed(&why, keeper);
                    }
                    None => {}
                }
            }
            Some(Quiet::End) => {
                (0..self.discs.len()).for_each(|disc| self.flush(disc));
                if self.ended.is_none() && self.not_flushed().next().is_none() {
                    self.connections.touch_all();
                    self.send_all();
                    let now = self.now;
                    self.leaving.retain_mut(|client| !client.is_answered(now));
                    self.ended = Some(self.result());
                }
            }
        }
    }

    /// Takes the next steps in the flush of a disc whose requests are done.
    fn flush(&mut self, disc: usize) {
        while self.flush_goes_on(disc) {}
    }

    /// Takes a step; whether another may follow at once.
    fn flush_goes_on(&mut self, disc: usize) -> bool {
        let now = self.now;
        let flushing = &mut self.discs[disc].flushing;
        match flushing.outcome.take() {
            Some(Ok(())) => flushing.ended = Some(Ok(())),
            Some(Err(error)) => {
                flushing.failed += 1;
                flushing.at = now + PAUSE;
                if flushing.failed == FLUSHES_MAX {
                    flushing.ended = Some(Err(error.to_string()));
                }
            }
            None => {}
        }
        if flushing.ended.is_some() || flushing.task.is_some() || now < flushing.at {
            return false;
        }
        let asks = |client: &Connection| client.export == Some(disc) && client.under_way > 0;
        if self.connections.iter().any(asks) {
            return false;
        }
        let (place, client, cookie, command, bytes) = (usize::MAX, 0, 0, 0, 0);
        let task = self.keep(PendingRequest { place, client, cookie, command, bytes, began: None });
        let served = &mut self.discs[disc];
        served.flushing.task = Some(task);
        served.cache.client_came(0);
        served.cache.submit(now, Request { task, ..Request::new(Op::Flush, 0, 0) }, Vec::new());
        self.complete();
        self.discs[disc].flushing.outcome.is_some()
    }

    /// All that was dirty is written: the change is made, if there is memory for it.
    fn renewed(&mut self, keeper: &mut dyn Keeper) {
        let Some(Quiet::Renew(disc, change, client)) = self.quiet.take() else { return };
        let before = self.setting(disc);
        if let Err(why) = self.has_memory_for(disc, change) {
            self.quiet = Some(Quiet::Renew(disc, change, client));
            return self.not_renewed(&why, keeper);
        }
        self.clients_max = change.clients_max;
        self.discs[disc].change(change);
        match client {
            Some(client) => {
                let (policy, pages) = (change.policy, change.pages);
                let bytes =
                    u64::from(pages) * u64::from(self.discs[disc].cache.settings().page_bytes);
                self.answer(
                    client,
                    &format!(
                        "{{\"policy\": \"{policy}\", \"pages\": {pages}, \"bytes\": {bytes}}}"
                    ),
                );
            }
            None => keeper.changed(disc, Ok((before, change))),
        }
    }

    fn not_renewed(&mut self, why: &str, keeper: &mut dyn Keeper) {
        match self.quiet.take() {
            Some(Quiet::Renew(_, _, Some(client))) => self.refuse(client, why),
            Some(Quiet::Renew(disc, _, None)) => keeper.changed(disc, Err(why)),
            _ => {}
        }
    }

    /// Makes a change that needs no quiet time; whether it was one.
    pub(super) fn is_changed_at_once(
        &mut self,
        disc: usize,
        change: Change,
        keeper: &mut dyn Keeper,
    ) -> bool {
        // A change of this disc that is under way comes first.
        let is_busy = matches!(self.quiet, Some(Quiet::Renew(busy, ..)) if busy == disc);
        let before = self.setting(disc);
        let is_same = !is_busy
            && before.policy.to_string() == change.policy.to_string()
            && (before.pages, before.writes) == (change.pages, change.writes);
        if is_same {
            self.clients_max = change.clients_max;
            self.discs[disc].change_at_once(change);
            keeper.changed(disc, Ok((before, change)));
        }
        is_same
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
            "the new cache takes {bytes} next to the old one, and {available} of memory is available: nothing was changed"
        ))
    }

    /// Discs whose flush at the end has not ended.
    fn not_flushed(&self) -> impl Iterator<Item = usize> {
        (0..self.discs.len()).filter(|&disc| self.discs[disc].flushing.ended.is_none())
    }

    /// How it ends now, flushed or not.
    pub(super) fn result(&self) -> Drained {
        let owed_bytes = self.discs.iter().map(Served::owed_bytes).sum();
        let failed = |disc: usize| match &self.discs[disc].flushing.ended {
            Some(Ok(())) => None,
            Some(Err(error)) => Some(match self.exports[disc].name.as_str() {
                "" => error.clone(),
                name => format!("{name}: {error}"),
            }),
            // Nothing was promised of a disc that was only read.
            None if !self.discs[disc].was_written() => None,
            None => Some(match self.exports[disc].name.as_str() {
                "" => "a second signal came before it was flushed".to_owned(),
                name => format!("a second signal came before {name} was flushed"),
            }),
        };
        Drained { owed_bytes, error: (0..self.discs.len()).find_map(failed) }
    }
}

/// Whether the clients of an export wait for a quiet time.
pub(super) fn waits(quiet: Option<&Quiet>, export: Option<usize>) -> bool {
    match quiet {
        None => false,
        Some(Quiet::End) => true,
        Some(Quiet::Renew(disc, ..)) => export == Some(*disc),
    }
}
