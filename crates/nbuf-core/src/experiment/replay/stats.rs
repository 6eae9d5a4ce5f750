//! The counts of a replay, independent of its observer.

use super::processor::InterruptsOff;
use crate::cache::layer::Lookup;
use crate::disc::Breakdown;
use crate::meter::times::Times;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// What requests are counted as. A write of no bytes ends a file.
pub const KINDS: [&str; 5] = ["read", "write", "write EOF", "discard", "flush"];

/// The place of a request in [`KINDS`].
fn kind(request: &Request) -> usize {
    match (request.op, request.length_bytes) {
        (Op::Read, _) => 0,
        (Op::Write, 1..) => 1,
        (Op::Write, 0) => 2,
        (Op::Discard, _) => 3,
        (Op::Flush, _) => 4,
    }
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// How many were made.
    pub count: u64,
    /// Those that the cache served.
    pub hits: u64,
    /// Those that the disc failed.
    pub failed: u64,
}

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// From the beginning to the end of the last step.
    pub elapsed: Nanos,
    /// As long as some request was with the disc.
    pub disc_busy: Nanos,
    /// As long as some process computed, without what interrupted it.
    pub computed: Nanos,
    /// What the cache took of the processor.
    pub interrupts_off: InterruptsOff,
    /// By [`KINDS`].
    pub kinds: [Kind; KINDS.len()],
    /// Units of the cache that were looked for.
    pub units: u64,
    /// Those of `units` that were there.
    pub unit_hits: u64,
    /// Entries that were compared.
    pub comparisons: u64,
    /// Bytes that were copied.
    pub copied_bytes: u64,
    /// From asking to having, of each request.
    pub responses: Times,
    /// From its beginning to its end, of each command.
    pub commands: Times,
    /// Requests that the disc did.
    pub disc_requests: u64,
    /// Bytes that it moved.
    pub disc_bytes: u64,
    /// Where its time went.
    pub breakdown: Breakdown,
    /// Why it failed the first request that it failed.
    pub failure: Option<String>,
}

impl Stats {
    /// All requests.
    pub fn requests(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// Requests that the cache served.
    pub fn hits(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.hits).sum()
    }

    /// The share of requests that the cache served; 0 where there are none.
    pub fn hit_ratio(&self) -> f64 {
        self.hits() as f64 / self.requests().max(1) as f64
    }

    /// The share of the time during which the disc had something to do.
    pub fn disc_utilisation(&self) -> f64 {
        self.share(self.disc_busy)
    }

    /// The share of the time during which the processor had something to do.
    pub fn cpu_utilisation(&self) -> f64 {
        self.share(self.computed + self.interrupts_off.total)
    }

    fn share(&self, time: Nanos) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { time.seconds() / self.elapsed.seconds() }
    }

    pub(super) fn looked(&mut self, request: &Request, lookup: &Lookup) {
        let kind = &mut self.kinds[kind(request)];
        kind.count += 1;
        kind.hits += u64::from(lookup.is_hit());
        self.units += u64::from(lookup.units);
        self.unit_hits += u64::from(lookup.unit_hits);
    }

    pub(super) fn failed(&mut self, request: &Request) {
        self.kinds[kind(request)].failed += 1;
    }

    pub(super) fn served(&mut self, breakdown: &Breakdown, bytes: u64) {
        self.disc_requests += 1;
        self.disc_bytes += bytes;
        let sum = &mut self.breakdown;
        sum.queued += breakdown.queued;
        sum.overhead += breakdown.overhead;
        sum.seek += breakdown.seek;
        sum.rotation += breakdown.rotation;
        sum.transfer += breakdown.transfer;
    }
}
