//! Requests by periods of time: how the hit rate and the rate of operations are distributed over them.
//!
//! Requests come in the order of time. Invariant: every whole period from the beginning to the end is in
//! either distribution once, or among the idle ones, which have no hit rate. Cost: a few nanoseconds a
//! request, 13 KiB, whatever the time. After two figures of V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552,
//! 1982, whose periods have 10 s.

use super::bins::{BINS, bin, edge};
use crate::units::Nanos;

/// Parts into which hit rates are divided.
pub(crate) const PARTS: usize = 20;

/// Counts per period of virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Periods {
    period: Nanos,
    /// The number of the period that is under way.
    current: u64,
    requests: u64,
    hits: u64,
    hit_rates: [u64; PARTS],
    idle: u64,
    /// Periods by their requests.
    counts: Vec<u64>,
}

/// Periods by a range of their number of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    /// The least number of requests.
    pub from: u64,
    /// The greatest number of requests.
    pub to: u64,
    /// How many periods.
    pub periods: u64,
}

impl Periods {
    /// Periods of this length, from the beginning of time on. No time at all is taken for a nanosecond.
    pub(crate) fn new(period: Nanos) -> Self {
        Self {
            period: period.max(Nanos(1)),
            current: 0,
            requests: 0,
            hits: 0,
            hit_rates: [0; PARTS],
            idle: 0,
            counts: vec![0; BINS],
        }
    }

    /// A request came.
    pub(crate) fn add(&mut self, at: Nanos, is_hit: bool) {
        self.close_before(at);
        self.requests += 1;
        self.hits += u64::from(is_hit);
    }

    /// All is over: what is left of a period does not count.
    pub(crate) fn end(&mut self, at: Nanos) {
        self.close_before(at);
    }

    fn close_before(&mut self, at: Nanos) {
        let number = at.0 / self.period.0;
        let Some(passed) = number.checked_sub(self.current).filter(|&passed| passed > 0) else {
            return;
        };
        if let Some(part) = (self.hits * PARTS as u64).checked_div(self.requests) {
            self.hit_rates[usize::try_from(part).unwrap_or(PARTS).min(PARTS - 1)] += 1;
            self.counts[bin(self.requests as f64)] += 1;
        } else {
            self.idle += 1;
        }
        self.idle += passed - 1;
        (self.current, self.requests, self.hits) = (number, 0, 0);
    }

    /// Periods by their hit rate, in [`PARTS`] parts of 1; the last includes 1.
    pub(crate) fn hit_rates(&self) -> &[u64; PARTS] {
        &self.hit_rates
    }

    /// Periods by how many requests came, ascending, without the idle ones: exact up to 64, then within a
    /// thirtieth.
    pub(crate) fn rates(&self) -> impl Iterator<Item = Busy> + '_ {
        let busy = |(at, &periods)| Busy { from: edge(at) + 1, to: edge(at + 1), periods };
        self.counts.iter().enumerate().filter(|(_, periods)| **periods > 0).map(busy)
    }

    /// Periods without any request.
    pub(crate) fn idle(&self) -> u64 {
        self.idle
    }

    /// How long each is.
    pub(crate) fn period(&self) -> Nanos {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_whole_period_is_counted_once(
            gaps in proptest::collection::vec((0..50_u64, any::<bool>()), 0..200),
            rest in 0..50_u64,
        ) {
            let mut periods = Periods::new(Nanos(10));
            let mut now = 0;
            let mut told = std::collections::BTreeMap::<u64, u64>::new();
            for (gap, is_hit) in gaps {
                now += gap;
                periods.add(Nanos(now), is_hit);
                *told.entry(now / 10).or_default() += 1;
            }
            periods.end(Nanos(now + rest));
            let whole = (now + rest) / 10;
            let busy = told.range(..whole).count() as u64;
            prop_assert_eq!(periods.hit_rates().iter().sum::<u64>(), busy);
            prop_assert_eq!(periods.idle(), whole - busy);
            let requests: u64 = periods.rates().map(|busy| busy.from * busy.periods).sum();
            prop_assert_eq!(requests, told.range(..whole).map(|(_, count)| count).sum::<u64>());
        }
    }

    #[test]
    fn hit_rates_fall_into_their_parts() {
        let mut periods = Periods::new(Nanos(10));
        // 0 of 1; 1 of 2; none; 3 of 3; and one that is not over.
        for (at, is_hit) in
            [(0, false), (10, true), (19, false), (30, true), (31, true), (32, true)]
        {
            periods.add(Nanos(at), is_hit);
        }
        periods.add(Nanos(40), true);
        periods.end(Nanos(49));
        let rates = periods.hit_rates();
        assert_eq!((rates[0], rates[10], rates[19], rates.iter().sum::<u64>()), (1, 1, 1, 3));
        assert_eq!(periods.idle(), 1);
        let busy: Vec<(u64, u64)> = periods.rates().map(|busy| (busy.to, busy.periods)).collect();
        assert_eq!(busy, [(1, 1), (2, 1), (3, 1)]);
    }
}
