//! The mechanisms by which threads wake each other. `nbuf ping` measures them in round trips.
//!
//! To add one, write a file (or an `End` in the file of its family) and a row in [`WAKES`]. Help,
//! the table, documents and tests use that table. A mechanism runs a whole batch of rounds in one
//! call, with the loop inside. So the meter adds no cost to a round. Every message has a number,
//! and the receiver checks it. A lost wake-up is a hang, which only a watchdog in another process
//! can detect. An extra wake-up is an error here.

mod condvar;
mod descriptor;
mod futex;
mod loops;
mod pair;
mod pinned_threads;
mod pummel;
mod queue;
mod relay;
mod rings;
mod semaphore;
mod signal;
mod spin;
mod star;
mod table;

pub use pinned_threads::{Failed, Member, Placement, Setting};
pub use table::{ROUNDS, WAKES};

use std::io;
use std::ops::RangeInclusive;

/// The result of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The rounds to rate: the requested ones, except where only wake-ups count.
    pub rounds: u64,
    /// The number of sends, including those that woke no thread.
    pub sends: u64,
    /// The sends that needed a call into the kernel, or a store that a thread spins on. A send to a
    /// loop whose flag is already up does not count.
    pub wakes: u64,
}

/// A mechanism whose threads are ready.
pub trait Wake {
    /// Runs these rounds, and returns once the last has come back.
    fn run(&mut self, rounds: u64) -> io::Result<Tally>;

    /// The threads that take part, the caller's first.
    fn members(&self) -> &[Member];

    /// Ends the other threads. The error names the thread whose count of messages is wrong.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What a thread does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Sleeps, which frees the processor.
    Sleeping,
    /// Polls the word, but yields to other threads.
    Yielding,
    /// Polls the word for a while, then sleeps.
    Both,
    /// Polls the word without a pause. On one processor each thread waits for the end of the
    /// other's time slice.
    Spinning,
}

impl Waits {
    /// The name in tables and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sleeping => "sleeping",
            Self::Yielding => "yielding",
            Self::Both => "spinning, then sleeping",
            Self::Spinning => "spinning",
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name in options, tables and documents.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// The event that counts as a round.
    pub round: &'static str,
    /// What its threads do while they wait.
    pub waits: Waits,
    /// The number of threads, including the caller's.
    pub threads: usize,
    /// The rounds of a batch: at least a few dozen, and at most a few milliseconds of them.
    pub rounds: RangeInclusive<u64>,
    /// Starts its threads. The error names what the machine refuses.
    pub open: fn(&Setting<'_>) -> io::Result<Box<dyn Wake>>,
}

impl Row {
    /// The row with this name.
    pub fn named<'a>(rows: &'a [Self], name: &str) -> Option<&'a Self> {
        rows.iter().find(|row| row.name == name)
    }
}
