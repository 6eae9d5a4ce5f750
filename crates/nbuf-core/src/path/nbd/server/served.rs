//! A disc of a server with the cache in front of it: each export has its own.

use super::Backend;
use super::drain::Flushing;
use super::figures::Figures;
use super::keeper::Change;
use super::snapshot::Snapshot;
use crate::cache::cached::{Cached, Counts, Others, Settings};
use crate::cache::policy::{self, AnyPolicy};
use crate::clock::Stopwatch;
use crate::units::Nanos;

/// A disc to serve.
pub(crate) struct Offer {
    /// The disc.
    pub(crate) disc: Backend,
    /// Its name.
    pub(crate) name: String,
    /// Whether the empty name leads to it too.
    pub(crate) is_default: bool,
    /// Whether writes are refused.
    pub(crate) is_read_only: bool,
    /// The policy.
    pub(crate) policy: policy::Choice,
    /// The cache.
    pub(crate) settings: Settings,
    /// Pages that a cache held before, the first one to be evicted first.
    pub(crate) pages: Vec<u64>,
}

/// A disc that is served.
pub(super) struct Served {
    pub(super) cache: Cached<dyn AnyPolicy, Backend>,
    pub(super) policy: policy::Choice,
    pub(super) figures: Figures,
    pub(super) flushing: Flushing,
    pub(super) clients: u64,
    pub(super) clients_ever: u64,
    /// Changes of [`Cached::aside`] that the program was notified of.
    noted: u64,
    /// Whether the program was notified that the second tier is lost.
    noted_loss: bool,
    /// Whether the program was notified that the journal has failed.
    noted_failure: bool,
}

impl Served {
    /// With an empty cache, in which these pages have their places.
    pub(super) fn new(
        disc: Backend,
        choice: policy::Choice,
        settings: Settings,
        pages: &[u64],
        clock: Stopwatch,
    ) -> Self {
        let policy = choice.build(settings.pages, 0);
        let mut cache = Cached::new(disc, policy, settings);
        cache.time_with(Box::new(move || clock.nanos()));
        cache.compare_with(Others::new(choice, settings.pages, Counts::default()));
        cache.expect(pages);
        Self {
            cache,
            policy: choice,
            figures: Figures::new(),
            flushing: Flushing::default(),
            clients: 0,
            clients_ever: 0,
            noted: 0,
            noted_loss: false,
            noted_failure: false,
        }
    }

    /// Whether anything was written or discarded.
    pub(super) fn was_written(&self) -> bool {
        let counts = self.cache.counts();
        counts.writes > 0 || counts.disc_writes > 0
    }

    /// Changes what differs. Nothing is owed.
    pub(super) fn change(&mut self, change: Change) {
        let Change { policy, pages, writes, .. } = change;
        self.change_at_once(change);
        self.cache.set_writes(writes);
        let is_same = policy.to_string() == self.policy.to_string();
        if !is_same || pages != self.cache.settings().pages {
            self.cache.renew(policy.build(pages, 0), pages);
            self.cache.compare_with(Others::new(policy, pages, self.cache.counts()));
            self.policy = policy;
        }
    }

    /// Whether the cache is aside, if that is new.
    pub(super) fn stepped(&mut self) -> Option<bool> {
        let (is_aside, changes) = self.cache.aside();
        (std::mem::replace(&mut self.noted, changes) != changes).then_some(is_aside)
    }

    /// Why the second tier is not used any more, if that is new.
    pub(super) fn lost_tier(&mut self) -> Option<String> {
        let why = self.cache.disc().lost_tier().filter(|_| !self.noted_loss)?.to_owned();
        self.noted_loss = true;
        Some(why)
    }

    /// Why the journal is not used any more, if that is new, and how many bytes of it the disc lacks.
    pub(super) fn lost_journal(&mut self) -> Option<(String, u64)> {
        let disc = self.cache.disc();
        let why = disc.lost_journal().filter(|_| !self.noted_failure)?.to_owned();
        let owed_bytes = disc.owed_bytes();
        self.noted_failure = true;
        Some((why, owed_bytes))
    }

    /// Bytes that were acknowledged and that the disc lacks.
    pub(super) fn owed_bytes(&self) -> u64 {
        self.cache.owed_bytes() + self.cache.disc().owed_bytes()
    }

    /// Changes what may change while pages are owed.
    pub(super) fn change_at_once(&mut self, change: Change) {
        self.cache.set_readahead(change.readahead_bytes);
        self.cache.set_bypass(change.bypass);
    }

    /// What it is at.
    pub(super) fn snapshot(&self, up: Nanos) -> Snapshot {
        let (places, place_pages) = self.cache.places();
        Snapshot {
            counts: self.cache.counts(),
            measured: self.cache.measured().clone(),
            figures: self.figures.until(up),
            places: places.to_vec(),
            place_pages,
            would_hit_at_twice: self.cache.would_hit_at_twice(),
            compared: self.cache.compared(),
            others: self.cache.other_sizes(),
            policy: self.policy,
            settings: self.cache.settings(),
            aside: self.cache.aside(),
            used_pages: self.cache.used_pages(),
            owed_bytes: self.owed_bytes(),
            tier: self.cache.disc().tier(),
            clients: self.clients,
            clients_ever: self.clients_ever,
            up,
        }
    }
}
