//! What is foreseen, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Nanos;

/// What happens to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// It can go on.
    Ready,
    /// What it computes may be over.
    Computed,
    /// The cache has looked for what it asked, and copied it if it was there.
    Initiated,
    /// The cache has taken in what the disc gave.
    Terminated,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) at: Nanos,
    /// What was foreseen first comes first.
    sequence: u64,
    pub(super) process: u32,
    pub(super) what: What,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Event>>,
    sequence: u64,
}

impl Events {
    pub(super) fn push(&mut self, at: Nanos, process: u32, what: What) {
        self.sequence += 1;
        self.heap.push(Reverse(Event { at, sequence: self.sequence, process, what }));
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.heap.pop().map(|Reverse(event)| event)
    }

    /// When the next comes; never where there is none.
    pub(super) fn next_at(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |Reverse(event)| event.at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
