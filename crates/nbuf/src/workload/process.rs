//! What a process does, step by step: computes, thinks, asks a disc for something and waits for it.
//!
//! Everything that can be replayed against a disc comes down to this: a trace, users of the MAX-IV
//! tools, a script. The steps carry the requests of a disc handler of 1982, of which a trace knows
//! two: read and write.

use crate::cache::max_iv::Operation;
use crate::units::Nanos;

/// A request of a process; it goes on when the request is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What is wanted.
    pub operation: Operation,
    /// From this byte of the disc on.
    pub offset_bytes: u64,
    /// So many bytes; 0 for what moves none and looks at one sector.
    pub length_bytes: u32,
    /// Which sector of its file that is, counted from 0; 0 where nobody knows.
    pub position: u32,
}

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Needs the processor for so long.
    Compute(Nanos),
    /// Needs nothing for so long: somebody thinks, or a terminal prints.
    Think(Nanos),
    /// Does nothing before this moment of the run; nothing at all where it has passed.
    Until(Nanos),
    /// Asks, and waits.
    Ask(Ask),
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
