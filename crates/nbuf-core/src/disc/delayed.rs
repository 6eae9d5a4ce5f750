//! A disc that takes longer: each request waits for a random time, in virtual time.
//!
//! Half of the requests take effect when they arrive and are reported later; the others take effect at
//! their end. So requests overtake each other in every way that a real disc permits.

use std::collections::BTreeMap;

use super::{Completion, Disc};
use crate::clock::Random;
use crate::trace::request::Request;
use crate::units::Nanos;

/// A request that waits before it takes effect, or a completion that waits afterwards.
#[derive(Debug)]
enum Waiting {
    Before(Request, Vec<u8>, Nanos),
    After(Completion, Nanos),
}

/// A delay in front of a disc that answers at once.
#[derive(Debug)]
pub struct Delayed<D> {
    disc: D,
    shortest: Nanos,
    longest: Nanos,
    random: Random,
    waiting: BTreeMap<(Nanos, u64), Waiting>,
    sequence: u64,
    last: Nanos,
}

impl<D: Disc> Delayed<D> {
    /// Delays each request by a time between these two.
    pub fn new(disc: D, shortest: Nanos, longest: Nanos, seed: u64) -> Self {
        let random = Random::new(seed);
        let (waiting, sequence, last) = (BTreeMap::new(), 0, Nanos::ZERO);
        Self { disc, shortest, longest, random, waiting, sequence, last }
    }

    /// The wrapped disc.
    pub fn disc(&self) -> &D {
        &self.disc
    }

    /// The wrapped disc, to be changed.
    pub fn disc_mut(&mut self) -> &mut D {
        &mut self.disc
    }

    /// Ends the delay and returns the disc.
    pub fn into_disc(self) -> D {
        self.disc
    }

    fn put(&mut self, at: Nanos, waiting: Waiting) {
        self.sequence += 1;
        self.waiting.insert((at, self.sequence), waiting);
    }
}

impl<D: Disc> Disc for Delayed<D> {
    fn size_bytes(&self) -> u64 {
        self.disc.size_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let span = (self.longest - self.shortest).0 + 1;
        let due = now + self.shortest + Nanos(self.random.below(span));
        if self.random.below(2) == 0 {
            return self.put(due, Waiting::Before(request, data, now));
        }
        self.disc.submit(now, request, data);
        if let Some(completion) = self.disc.next_completion(Nanos::MAX) {
            self.put(due, Waiting::After(completion, now));
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        let first = self.waiting.first_entry().filter(|first| first.key().0 <= until)?;
        let ((due, _), waiting) = first.remove_entry();
        let (mut completion, came) = match waiting {
            Waiting::After(completion, came) => (completion, came),
            Waiting::Before(request, data, came) => {
                self.disc.submit(due, request, data);
                (self.disc.next_completion(Nanos::MAX)?, came)
            }
        };
        self.last = self.last.max(due);
        completion.breakdown.queued = self.last - came - completion.breakdown.service();
        completion.at = self.last;
        Some(completion)
    }

    fn under_way(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ram;
    use super::*;
    use crate::trace::request::Op;

    #[test]
    fn requests_overtake_each_other_within_the_bounds() {
        let (shortest, longest) = (Nanos(100), Nanos(200));
        let mut disc = Delayed::new(Ram::zeroed(4096), shortest, longest, 7);
        for task in 0..50 {
            let request = Request { task, ..Request::new(Op::Read, 0, 1) };
            disc.submit(Nanos(1000), request, vec![0]);
        }
        assert_eq!(disc.next_completion(Nanos(1099)), None);
        let mut tasks = Vec::new();
        let mut last = Nanos(1100);
        while let Some(done) = disc.next_completion(Nanos(1200)) {
            assert!(done.at >= last && done.breakdown.total() == done.at - Nanos(1000));
            last = done.at;
            tasks.push(done.request.task);
        }
        assert!(tasks.len() == 50 && !tasks.is_sorted() && disc.under_way() == 0);
    }
}
