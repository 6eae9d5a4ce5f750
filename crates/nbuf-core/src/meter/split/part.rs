//! The parts that time falls into, and sums by part.

use std::ops::{Index, IndexMut};

/// What a thread does at an instant. The order is the precedence in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// It has a processor.
    OnCpu,
    /// It could run, and has none.
    Runnable,
    /// It waits for a disc.
    Disc,
    /// It waits for a disc, if the command used one at all. A result has none of it.
    PerhapsDisc,
    /// It waits for memory to be reclaimed.
    Memory,
    /// It waits for another thread or program: a lock, a pipe, a socket, a terminal.
    LockOrPipe,
    /// It waits for a time, a signal or the end of a child.
    Asleep,
    /// It waits, and no rule says for what.
    Unknown,
}

/// All parts, in their order.
pub(crate) const PARTS: [Part; 8] = [
    Part::OnCpu,
    Part::Runnable,
    Part::Disc,
    Part::PerhapsDisc,
    Part::Memory,
    Part::LockOrPipe,
    Part::Asleep,
    Part::Unknown,
];

/// Nanoseconds, or threads, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times([u64; PARTS.len()]);

impl Index<Part> for Times {
    type Output = u64;

    fn index(&self, part: Part) -> &u64 {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Times {
    fn index_mut(&mut self, part: Part) -> &mut u64 {
        &mut self.0[part as usize]
    }
}
