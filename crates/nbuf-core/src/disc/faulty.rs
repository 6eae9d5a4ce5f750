//! A disc that refuses: an operation by its number, once or from then on, or some by chance. Or it hangs, as a disc does
//! whose cable was pulled.
//!
//! A refused read brings nothing. A refused write may have changed some of its sectors, as the write of a real
//! disc may.

use std::collections::VecDeque;

use super::{Completion, Disc, DiscError};
use crate::clock::Random;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Which operations fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// None.
    None,
    /// The operation with this number, counted from 0.
    Once(u64),
    /// That one and all later ones.
    From(u64),
    /// That many of a thousand.
    PerThousand(u64),
    /// That one and all later ones do not come back, until they are [released](Faulty::release).
    HangFrom(u64),
    /// Those that touch a byte from the first place to the one before the second.
    Within(u64, u64),
}

/// Errors in front of a disc that answers at once.
#[derive(Debug)]
pub struct Faulty<D> {
    disc: D,
    faults: Faults,
    /// Whether reads fail too.
    reads_fail: bool,
    /// Whether a refused write changes some of its sectors.
    tears: bool,
    random: Random,
    operations: u64,
    /// Requests that do not come back.
    hung: Vec<(Request, Vec<u8>)>,
    /// Refused requests on their way, as they came.
    refused: Vec<Request>,
    /// What came back while a write was torn.
    early: VecDeque<Completion>,
}

impl<D: Disc> Faulty<D> {
    /// Lets these operations fail.
    pub fn new(disc: D, faults: Faults, reads_fail: bool, tears: bool, seed: u64) -> Self {
        let (random, operations) = (Random::new(seed), 0);
        let (hung, refused, early) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { disc, faults, reads_fail, tears, random, operations, hung, refused, early }
    }

    /// From now on these fail. Numbers go on.
    pub fn set(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Hands the requests that hang to the disc. Later ones hang again, as long as the faults say so.
    pub fn release(&mut self, now: Nanos) {
        for (request, data) in std::mem::take(&mut self.hung) {
            self.disc.submit(now, request, data);
        }
    }

    /// Operations that came.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The wrapped disc.
    pub fn disc(&self) -> &D {
        &self.disc
    }

    /// Ends the faults and returns the disc.
    pub fn into_disc(self) -> D {
        self.disc
    }

    fn fails(&mut self, request: &Request) -> bool {
        let number = self.operations;
        self.operations += 1;
        let fails = match self.faults {
            Faults::None => false,
            Faults::Once(at) => number == at,
            Faults::From(at) | Faults::HangFrom(at) => number >= at,
            Faults::PerThousand(share) => self.random.below(1000) < share,
            Faults::Within(from, to) => {
                request.offset < to && from < request.offset.saturating_add(request.length_bytes)
            }
        };
        fails && (self.reads_fail || request.op != Op::Read)
    }

    /// Writes some of the sectors of a refused write.
    fn tear(&mut self, now: Nanos, request: &Request, data: &[u8]) {
        let mut at = 0;
        while at < data.len() {
            let offset = request.offset + at as u64;
            let rest = usize::try_from(512 - offset % 512).unwrap_or(512);
            let end = data.len().min(at + rest);
            if self.random.below(2) == 0 {
                let part = Request::new(Op::Write, offset, (end - at) as u64);
                let part = Request { task: TORN, ..part };
                self.disc.submit(now, part, data[at..end].to_vec());
                let ours = |completion: &Completion| completion.request.task == TORN;
                while let Some(completion) = self.disc.next_completion(Nanos::MAX) {
                    if ours(&completion) {
                        break;
                    }
                    self.early.push_back(completion);
                }
            }
            at = end;
        }
    }
}

/// The number that a request has on its way when it is to fail, where the disc has none such.
const REFUSED: u32 = 1 << 31;
/// The number of a part of a torn write.
const TORN: u32 = u32::MAX;

impl<D: Disc> Disc for Faulty<D> {
    fn size_bytes(&self) -> u64 {
        self.disc.size_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        if !self.fails(&request) {
            return self.disc.submit(now, request, data);
        }
        if matches!(self.faults, Faults::HangFrom(_)) {
            return self.hung.push((request, data));
        }
        if self.tears && request.op == Op::Write {
            self.tear(now, &request, &data);
        }
        self.refused.push(request);
        // It goes the way of the others, so that its time is as theirs, and asks for nothing.
        let nothing =
            Request { op: Op::Discard, zeros: false, task: request.task | REFUSED, ..request };
        self.disc.submit(now, nothing, data);
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        let mut completion = match self.early.front() {
            Some(first) if first.at > until => return None,
            Some(_) => self.early.pop_front()?,
            None => self.disc.next_completion(until)?,
        };
        if completion.request.task & REFUSED != 0 {
            completion.request.task &= !REFUSED;
            let is_it = |came: &Request| came.task == completion.request.task;
            if let Some(at) = self.refused.iter().position(is_it) {
                completion.request = self.refused.swap_remove(at);
            }
            completion.outcome = Err(DiscError::Failed { what: "refused by a test".to_owned() });
        }
        Some(completion)
    }

    fn under_way(&self) -> usize {
        self.disc.under_way() + self.hung.len() + self.early.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ram, wait_for};
    use super::*;

    #[test]
    fn the_operations_that_were_named_fail() {
        for (faults, want) in [
            (Faults::None, [true; 4]),
            (Faults::Once(1), [true, false, true, true]),
            (Faults::From(2), [true, true, false, false]),
            (Faults::PerThousand(1000), [false; 4]),
        ] {
            let mut disc = Faulty::new(Ram::zeroed(2048), faults, true, false, 1);
            for (at, is_done) in want.into_iter().enumerate() {
                let write = Request::new(Op::Write, at as u64 * 512, 512);
                let done = wait_for(&mut disc, Nanos::ZERO, write, vec![1; 512]).unwrap();
                assert_eq!(done.outcome.is_ok(), is_done, "{faults:?} {at}");
                assert_eq!(disc.disc().image()[at * 512] == 1, is_done);
            }
        }
    }

    #[test]
    fn a_place_is_refused_to_all_that_touch_it() {
        let mut disc = Faulty::new(Ram::zeroed(2048), Faults::Within(600, 700), false, false, 1);
        for (op, offset, length, is_done) in [
            (Op::Write, 0, 600, true),
            (Op::Write, 0, 601, false),
            (Op::Write, 650, 1, false),
            (Op::Write, 699, 9, false),
            (Op::Write, 700, 9, true),
            (Op::Discard, 512, 512, false),
            (Op::Read, 512, 512, true),
            (Op::Flush, 0, 0, true),
        ] {
            let data = if op == Op::Discard { Vec::new() } else { vec![1; length] };
            let request = Request::new(op, offset, length as u64);
            let done = wait_for(&mut disc, Nanos::ZERO, request, data).unwrap();
            assert_eq!(done.outcome.is_ok(), is_done, "{op:?} {offset} {length}");
            assert_eq!(done.request, request, "it comes back as it came");
        }
    }

    #[test]
    fn what_hangs_comes_back_when_it_is_released() {
        let mut disc = Faulty::new(Ram::zeroed(2048), Faults::HangFrom(1), true, true, 1);
        for at in 0..3 {
            let request = Request { task: at, ..Request::new(Op::Write, u64::from(at) * 512, 512) };
            disc.submit(Nanos::ZERO, request, vec![1; 512]);
        }
        let next = |disc: &mut Faulty<Ram>| {
            let done = disc.next_completion(Nanos::MAX)?;
            assert_eq!(done.outcome, Ok(()));
            Some(done.request.task)
        };
        assert_eq!((next(&mut disc), next(&mut disc), disc.under_way()), (Some(0), None, 2));
        assert_eq!(disc.disc().image()[512..1536], [0; 1024], "what hangs has no effect");
        disc.release(Nanos(5));
        assert_eq!([next(&mut disc), next(&mut disc), next(&mut disc)], [Some(1), Some(2), None]);
        assert_eq!((disc.under_way(), &disc.disc().image()[..1536]), (0, &[1; 1536][..]));
    }

    #[test]
    fn a_torn_write_hides_no_other_answer() {
        let mut disc = Faulty::new(Ram::zeroed(8192), Faults::From(2), true, true, 1);
        for task in 0..4 {
            let write = Request::new(Op::Write, u64::from(task) * 2048, 2048);
            disc.submit(Nanos::ZERO, Request { task, ..write }, vec![1; 2048]);
        }
        assert_eq!(disc.under_way(), 4);
        for task in 0..4 {
            let done = disc.next_completion(Nanos::ZERO).unwrap();
            assert_eq!((done.request.task, done.outcome.is_ok()), (task, task < 2));
        }
        assert_eq!((disc.next_completion(Nanos::MAX), disc.under_way()), (None, 0));
    }

    #[test]
    fn a_refused_write_may_be_torn_at_sectors() {
        let mut disc = Faulty::new(Ram::zeroed(8192), Faults::From(0), true, true, 1);
        let write = Request::new(Op::Write, 100, 8000);
        wait_for(&mut disc, Nanos::ZERO, write, vec![1; 8000]).unwrap().outcome.unwrap_err();
        let written: usize = disc.disc().image().iter().map(|&byte| usize::from(byte)).sum();
        assert!(written > 0 && written < 8000);
        assert!(
            disc.disc().image()[512..1024].iter().all(|byte| *byte == disc.disc().image()[512])
        );
    }
}
