//! What a process does, step by step: computes, thinks, asks a disc for something and waits for it.
//!
//! Everything that can be replayed against a disc comes down to this: a trace, users of the MAX-IV
//! tools, a script.

use crate::trace::request::Request;
use crate::units::Nanos;

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Needs the processor for so long.
    Compute(Nanos),
    /// Needs nothing for this long: a user thinks, or a terminal prints.
    Think(Nanos),
    /// Does nothing before this moment of the run; nothing at all where it has passed.
    Until(Nanos),
    /// Makes a request of the disc, and waits until it is done.
    Request(Request),
    /// A command of a user begins: what follows, to [`Step::Done`], is its response time.
    Begin,
    /// It is over.
    Done,
}

/// Steps without a clock: a process knows what it does, not when. Deterministic by its seed.
pub trait Process {
    /// What comes next; nothing at its end.
    fn step(&mut self) -> Option<Step>;
}

impl<I: Iterator<Item = Step>> Process for I {
    fn step(&mut self) -> Option<Step> {
        self.next()
    }
}
