//! A replacement policy over equal units of a disc: sectors, tracks, cylinders, or chunks.
//!
//! | request | served on a hit | taken in when it is done |
//! |---|---|---|
//! | read | yes, where all its units are there | yes: the units that were not |
//! | write | no | what it covers whole, and what was there; or all of it is evicted |
//! | write that failed, write of no bytes, discard | no | what it touched is evicted |
//! | read of no bytes | yes, where its unit is there | no |
//! | flush | no | no |
//!
//! A read that is not served moves whole units: from the first that is not there to the last. A unit
//! that is larger than what was asked goes into a buffer of the cache, and only what was asked is
//! copied; one that is not comes out of the user's. Either way each byte of a read is copied once.
//!
//! Invariant: nothing is kept that the disc does not hold. Cost: a comparison a unit, since what finds
//! a unit is one large hash table; 8 bytes a unit ever seen, next to interner and policy. OPT cannot
//! stand here: what comes next depends on how long this takes.

use serde::{Deserialize, Serialize};

use super::super::interner::Interner;
use super::super::policy::{Access, AnyPolicy, Cause, Outcome};
use super::{Layer, Lookup, Work};
use crate::trace::request::{Op, Request, Span};
use crate::units::{Bound, TooLarge};

/// What a write does to the cache, when it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// What it wrote is taken in.
    #[default]
    Fill,
    /// What the cache has of it goes.
    Evict,
}

/// A layer of fixed units in front of a disc, with a policy of choice.
pub struct Units {
    policy: Box<dyn AnyPolicy>,
    unit_bytes: u64,
    disc_bytes: u64,
    writes: Writes,
    interner: Interner,
    /// The unit of each number of the interner.
    known: Vec<u64>,
    /// The numbers of the units of one request.
    numbers: Vec<u32>,
    bound: Bound,
}

/// What a unit takes at the most that was ever seen: its number, its place, what a policy keeps of it, and
/// what the layout of a trace of keys keeps, in tables that have just grown.
const UNIT_BYTES: u64 = 140;

impl Units {
    /// With this policy over units of this many bytes (at least one) of a disc of this many.
    pub fn new(
        policy: Box<dyn AnyPolicy>,
        unit_bytes: u64,
        disc_bytes: u64,
        writes: Writes,
    ) -> Self {
        Self {
            policy,
            unit_bytes: unit_bytes.max(1),
            disc_bytes,
            writes,
            interner: Interner::new(),
            known: Vec::new(),
            numbers: Vec::new(),
            bound: Bound::NONE,
        }
    }

    /// The same, in no more than this much memory.
    #[must_use]
    pub fn within(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// The first unit and the last.
    fn range(&self, request: &Request) -> (u64, u64) {
        let span = request.span();
        (span.offset_bytes / self.unit_bytes, (span.end() - 1) / self.unit_bytes)
    }

    /// The number of a unit.
    fn number(&mut self, unit: u64) -> u32 {
        self.numbers.clear();
        self.interner.intern(&[unit], &mut self.numbers);
        let number = self.numbers[0];
        if number as usize == self.known.len() {
            self.known.push(unit);
        }
        number
    }

    fn look(&mut self, request: &Request) -> Lookup {
        let (first, last) = self.range(request);
        let mut missing: Option<(u64, u64)> = None;
        let mut unit_hits = 0;
        for unit in first..=last {
            let number = self.number(unit);
            if self.policy.touch(Access::to(number)) {
                unit_hits += 1;
            } else {
                missing = Some((missing.map_or(unit, |(from, _)| from), unit));
            }
        }
        let count = last - first + 1;
        let copied_bytes = if missing.is_none() { request.length_bytes } else { 0 };
        Lookup {
            rest: missing.map(|(from, to)| self.span(from, to)),
            units: u32::try_from(count).unwrap_or(u32::MAX),
            unit_hits,
            work: Work { comparisons: count, copied_bytes },
        }
    }

    /// The bytes of these units, as far as the disc has them.
    fn span(&self, first: u64, last: u64) -> Span {
        let offset_bytes = first * self.unit_bytes;
        let end = (last + 1).saturating_mul(self.unit_bytes).min(self.disc_bytes);
        Span { offset_bytes, length_bytes: end - offset_bytes }
    }

    fn fill(&mut self, first: u64, last: u64) -> Work {
        let mut copies = false;
        for unit in first..=last {
            let number = self.number(unit);
            let outcome = self.policy.fill(Access::to(number), Cause::Demand, &mut |_| true);
            copies |= outcome != Outcome::Bypassed;
        }
        Work { comparisons: last - first + 1, copied_bytes: copies.into() }
    }

    /// Takes in what was written.
    fn update(&mut self, request: &Request) -> Work {
        let (first, last) = self.range(request);
        let span = request.span();
        let mut work = Work { comparisons: last - first + 1, copied_bytes: 0 };
        for unit in first..=last {
            let (from, to) = (unit * self.unit_bytes, (unit + 1).saturating_mul(self.unit_bytes));
            let covered = span.offset_bytes <= from && span.end() >= to.min(self.disc_bytes);
            let number = self.number(unit);
            let there = self.policy.touch(Access::to(number));
            let taken = there
                || covered
                    && self.policy.fill(Access::to(number), Cause::Demand, &mut |_| true)
                        != Outcome::Bypassed;
            if taken {
                work.copied_bytes += span.end().min(to) - span.offset_bytes.max(from);
            }
        }
        work
    }

    fn evict(&mut self, request: &Request) -> Work {
        let (first, last) = self.range(request);
        for number in self.interner.known(first, last) {
            self.policy.remove(number);
        }
        Work { comparisons: last - first + 1, copied_bytes: 0 }
    }
}

impl Layer for Units {
    fn allow(&self, request: &Request) -> Result<(), TooLarge> {
        if request.length_bytes == 0 {
            return Ok(());
        }
        let (first, last) = self.range(request);
        let units = u64::from(self.interner.pages()).saturating_add(last - first + 1);
        self.bound.allow("the units that the cache has seen", UNIT_BYTES.saturating_mul(units))
    }

    fn initiate(&mut self, request: &Request) -> Lookup {
        if request.op != Op::Read {
            return Lookup::past(request);
        }
        let lookup = self.look(request);
        if request.length_bytes == 0 {
            // Nothing will be taken in, so the rest of the unit need not come.
            return Lookup { rest: lookup.rest.map(|_| request.span()), ..lookup };
        }
        lookup
    }

    fn terminate(&mut self, request: &Request, is_done: bool) -> Work {
        let moves = is_done && request.length_bytes > 0;
        match request.op {
            Op::Read if moves => {
                let (first, last) = self.range(request);
                let work = self.fill(first, last);
                Work { copied_bytes: work.copied_bytes * request.length_bytes, ..work }
            }
            Op::Write if moves && self.writes == Writes::Fill => self.update(request),
            Op::Write | Op::Discard => self.evict(request),
            Op::Read | Op::Flush => Work::default(),
        }
    }

    fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    fn addresses(&self) -> Vec<u64> {
        let kept = (0..).zip(&self.known).filter(|&(number, _)| self.policy.contains(number));
        kept.map(|(_, unit)| unit * self.unit_bytes).collect()
    }
}
