//! What a running cache costs, by samples, and how long its disc takes.
//!
//! The clock is the caller's. About one in 64 look-ups, copies and fills is measured, at distances drawn by
//! chance, less the time that the clock itself takes. The disc brings the time of each request along, so all of
//! these are counted. Cost: a count and a test for each part, two readings of the clock for a sample, 70 KiB.

use crate::clock::Random;
use crate::disc::Completion;
use crate::meter::times::Times;
use crate::trace::request::Op;
use crate::units::Nanos;

/// The mean distance of two samples.
const EVERY: u64 = 64;
/// Readings of the clock that show how long one takes.
const READINGS: usize = 64;

/// Reads the time of the caller.
pub(crate) type Clock = Box<dyn Fn() -> Nanos + Send>;

/// What takes processor time in a cache. Each is of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A read looks for it, and the policy notes that.
    Lookup,
    /// The bytes of a hit are copied to the client.
    Copy,
    /// The policy takes it in and its bytes are copied, for a read of the disc or a write of a client.
    Fill,
}

/// Pieces of work, of which some were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sampled {
    /// All of them.
    pub(crate) count: u64,
    /// Those that were measured.
    pub(crate) times: Times,
    /// How many come before the next sample.
    left: u64,
}

impl Sampled {
    /// The time of all, from the mean of those that were measured.
    pub(crate) fn seconds(&self) -> f64 {
        let measured = self.times.count().max(1) as f64;
        self.times.sum().seconds() / measured * self.count as f64
    }
}

/// What was measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// Processor time, by [`Work`].
    work: [Sampled; 3],
    /// Reads of the disc for clients.
    pub(crate) disc_reads: Times,
    /// Reads of the disc ahead of clients.
    pub(crate) disc_aheads: Times,
    /// Writes, discards and zeros of the disc.
    pub(crate) disc_writes: Times,
    /// Flushes of the disc.
    pub(crate) disc_flushes: Times,
}

impl Measured {
    /// The pieces of one kind of work.
    pub(crate) fn of(&self, work: Work) -> &Sampled {
        &self.work[work as usize]
    }

    /// Processor time of all of it.
    pub(crate) fn work_seconds(&self) -> f64 {
        self.work.iter().map(Sampled::seconds).sum()
    }
}

/// The measuring.
pub(super) struct Costs {
    pub(super) measured: Measured,
    clock: Option<Clock>,
    /// What a reading of the clock takes.
    reading: Nanos,
    random: Random,
}

impl Default for Costs {
    fn default() -> Self {
        Self { measured: <_>::default(), clock: None, reading: Nanos::ZERO, random: Random::new(1) }
    }
}

impl Costs {
    /// Measures work from now on.
    pub(super) fn time_with(&mut self, clock: Clock) {
        let readings = (0..READINGS).map(|_| {
            let before = clock();
            clock().saturating_sub(before)
        });
        self.reading = readings.min().unwrap_or(Nanos::ZERO);
        self.clock = Some(clock);
    }

    /// A piece of work begins. Its time, if it is a sample.
    #[inline]
    pub(super) fn begin(&mut self, work: Work) -> Option<Nanos> {
        let sampled = &mut self.measured.work[work as usize];
        match sampled.left.checked_sub(1) {
            Some(left) => sampled.left = left,
            None => return self.sample(work),
        }
        None
    }

    #[cold]
    fn sample(&mut self, work: Work) -> Option<Nanos> {
        self.measured.work[work as usize].left = self.random.below(2 * EVERY - 1);
        self.clock.as_ref().map(|clock| clock())
    }

    /// It is done.
    #[inline]
    pub(super) fn end(&mut self, work: Work, began: Option<Nanos>) {
        self.measured.work[work as usize].count += 1;
        if let Some(began) = began {
            self.note(work, began);
        }
    }

    #[cold]
    fn note(&mut self, work: Work, began: Nanos) {
        let Some(clock) = &self.clock else { return };
        let took = clock().saturating_sub(began).saturating_sub(self.reading);
        self.measured.work[work as usize].times.add(took);
    }

    /// The time of the caller.
    pub(super) fn now(&self) -> Option<Nanos> {
        self.clock.as_ref().map(|clock| clock())
    }

    /// The disc has served something, which may have been read ahead.
    pub(super) fn disc(&mut self, completion: &Completion, is_ahead: bool) {
        if completion.outcome.is_err() {
            return;
        }
        let times = match completion.request.op {
            Op::Read if is_ahead => &mut self.measured.disc_aheads,
            Op::Read => &mut self.measured.disc_reads,
            Op::Write | Op::Discard => &mut self.measured.disc_writes,
            Op::Flush => &mut self.measured.disc_flushes,
        };
        times.add(completion.breakdown.total());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn samples_stand_for_all_and_the_clock_is_not_counted() {
        let time = Arc::new(AtomicU64::new(0));
        let mut costs = Costs::default();
        let (now, takes) = (Arc::clone(&time), 30);
        costs.time_with(Box::new(move || Nanos(now.fetch_add(takes, Ordering::Relaxed))));
        // Every eighth look-up takes long: a fixed distance between samples would find all or none.
        for at in 0..64_000_u64 {
            let began = costs.begin(Work::Lookup);
            time.fetch_add(if at % 8 == 0 { 900 } else { 100 }, Ordering::Relaxed);
            costs.end(Work::Lookup, began);
        }
        let looked = costs.measured.of(Work::Lookup);
        assert_eq!(looked.count, 64_000);
        assert!((700..1400).contains(&looked.times.count()), "{}", looked.times.count());
        let mean = looked.seconds() * 1e9 / 64_000.0;
        assert!((170.0..230.0).contains(&mean), "{mean} ns of 200");
        assert!(costs.measured.of(Work::Copy).seconds().abs() < f64::EPSILON);
    }
}
