//! Three of the figures of 1982 for requests as they come: hit rates, rates, and service times.
//!
//! Hit rates are of reads, rates are of all requests. About one request in 64 has its service time measured, from its
//! arrival to its reply. After V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, whose periods have 10 s.

use crate::clock::Random;
use crate::meter::periods::Periods;
use crate::meter::times::Times;
use crate::units::Nanos;

/// A second, because a person looks on.
const PERIOD: Nanos = Nanos(1_000_000_000);
/// The mean distance of two samples.
const EVERY: u64 = 64;

/// Hit rates, rates and service times so far.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// Reads by period.
    pub(crate) reads: Periods,
    /// All requests by period.
    pub(crate) requests: Periods,
    /// Times of a sample, from asking to having.
    pub(crate) service: Times,
    left: u64,
    random: Random,
}

impl Figures {
    pub(super) fn new() -> Self {
        let periods = || Periods::new(PERIOD);
        let (reads, requests) = (periods(), periods());
        Self { reads, requests, service: Times::default(), left: 0, random: Random::new(2) }
    }

    /// A request came; whether its time is to be measured.
    #[inline]
    pub(super) fn came(&mut self, at: Nanos) -> bool {
        self.requests.add(at, false);
        let is_sample = self.left == 0;
        self.left = if is_sample { self.random.below(2 * EVERY - 1) } else { self.left - 1 };
        is_sample
    }

    /// It is a read, which the cache served or not.
    #[inline]
    pub(super) fn read(&mut self, at: Nanos, is_hit: bool) {
        self.reads.add(at, is_hit);
    }

    /// One that is measured is served.
    pub(super) fn served(&mut self, took: Nanos) {
        self.service.add(took);
    }

    /// The same with all periods that are over by then.
    pub(super) fn until(&self, now: Nanos) -> Self {
        let mut all = self.clone();
        all.reads.end(now);
        all.requests.end(now);
        all
    }
}
