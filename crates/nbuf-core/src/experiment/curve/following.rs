//! Feeds a sample with the requests of a trace, within a bound of memory.

use crate::experiment::grid::Miniature;
use crate::meter::sampled::Sampled;
use crate::trace::request::Request;
use crate::workload::pages::{Pages, Step};
use crate::workload::within::Growing;

/// What grows with a trace.
pub(super) const FOLLOWED: &str = "the keys that the sample follows";

/// What an access of a step takes.
const ACCESS_BYTES: u64 = 16;

/// What follows a share of the keys.
pub(super) trait Sample {
    /// Accesses to these keys, in order.
    fn access(&mut self, keys: &[u64]);
    /// Keys from `first` to `last` leave every cache.
    fn remove(&mut self, first: u64, last: u64);
    /// What was counted so far belongs to the warm-up.
    fn start_counting(&mut self);
    /// Memory in use after this many more keys, at the most.
    fn bytes(&self, keys: u64) -> u64;
    /// The least memory for this many distinct keys.
    fn bytes_for(&self, distinct: u64) -> u64;
}

impl Sample for Sampled {
    fn access(&mut self, keys: &[u64]) {
        self.access(keys);
    }
    fn remove(&mut self, first: u64, last: u64) {
        self.remove(first, last);
    }
    fn start_counting(&mut self) {
        self.start_counting();
    }
    fn bytes(&self, keys: u64) -> u64 {
        self.bytes(keys)
    }
    fn bytes_for(&self, distinct: u64) -> u64 {
        self.bytes_for(distinct)
    }
}

impl Sample for Miniature {
    fn access(&mut self, keys: &[u64]) {
        self.access(keys);
    }
    fn remove(&mut self, first: u64, last: u64) {
        self.remove(first, last);
    }
    fn start_counting(&mut self) {
        self.start_counting();
    }
    fn bytes(&self, keys: u64) -> u64 {
        self.bytes(keys)
    }
    fn bytes_for(&self, _distinct: u64) -> u64 {
        0
    }
}

/// A sample that is fed.
pub(super) struct Following<'a, S> {
    pub(super) pages: &'a mut Pages,
    pub(super) sampled: &'a mut S,
    /// Requests of the warm-up that are still to come.
    pub(super) warming: &'a mut u64,
}

impl<S: Sample> Growing for Following<'_, S> {
    fn most(&self, requests: &[Request]) -> u64 {
        let ahead = self.pages.ahead(requests);
        let step = ACCESS_BYTES * ahead.longest;
        self.sampled.bytes(ahead.keys).saturating_add(self.pages.bytes(ahead.keys) + step)
    }

    fn least(&self, requests: &[Request]) -> u64 {
        self.sampled.bytes(0).max(self.sampled.bytes_for(self.pages.distinct(requests)))
    }

    fn take(&mut self, requests: &[Request]) {
        let (first, others) = requests.split_at(most(*self.warming, requests.len()));
        each(self.pages, first, |step| feed(self.sampled, step));
        if ends(self.warming, first.len()) {
            self.sampled.start_counting();
        }
        each(self.pages, others, |step| feed(self.sampled, step));
    }
}

/// How many of these requests can be taken at once: none of them beyond the end of the warm-up.
pub(super) fn most(warming: u64, requests: usize) -> usize {
    match usize::try_from(warming) {
        Ok(left) if left > 0 => left.min(requests),
        _ => requests,
    }
}

/// Takes requests off the warm-up; whether they end it.
pub(super) fn ends(warming: &mut u64, requests: usize) -> bool {
    let was_warming = *warming > 0;
    *warming = warming.saturating_sub(requests as u64);
    was_warming && *warming == 0
}

/// Gives the steps of these requests to `take`.
fn each(pages: &mut Pages, mut requests: &[Request], mut take: impl FnMut(&Step)) {
    let mut step = Step::default();
    while !requests.is_empty() {
        let taken = pages.step(requests, &mut step);
        take(&step);
        requests = &requests[taken..];
    }
}

pub(super) fn feed(sampled: &mut impl Sample, step: &Step) {
    sampled.access(&step.keys);
    step.gone.iter().for_each(|range| sampled.remove(range.first, range.last));
}
