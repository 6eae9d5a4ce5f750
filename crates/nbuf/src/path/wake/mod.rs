//! The ways in which threads wake each other, measured in round trips by `nbuf ping`.
//!
//! Adding one is a file (or an `End` in the file of its family) and a row in [`WAKES`];
//! help, the table, documents and tests go through it. A way plays a whole batch of rounds in one
//! call, with the loop inside it, so that the meter costs nothing a round. Every message has a number
//! and every number is checked: a wake-up that is lost is a hang, which only a watchdog in another
//! process can tell, and one too many is an error here.

mod condvar;
mod crew;
mod descriptor;
mod futex;
mod loops;
mod pair;
mod pummel;
mod queue;
mod relay;
mod rings;
mod semaphore;
mod signal;
mod spin;
mod star;
mod table;

pub use crew::{Failed, Member, Placement, Setting};
pub use table::{ROUNDS, WAKES};

use std::io;
use std::ops::RangeInclusive;

/// What came of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rounds that are to be rated: those that were asked for, but where only wake-ups count.
    pub rounds: u64,
    /// Times that a thread told another one, or would have.
    pub sends: u64,
    /// Times that it took a call into the kernel, or a store that somebody spins for: a send to a loop
    /// that knows already that it has been sent to is none.
    pub wakes: u64,
}

/// A way, with its threads waiting.
pub trait Wake {
    /// Plays rounds, and returns when the last has come back.
    fn run(&mut self, rounds: u64) -> io::Result<Tally>;

    /// The threads that take part, the caller's first.
    fn members(&self) -> &[Member];

    /// Ends the other threads. The error says whose count of messages is not ours.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What the threads do while there is nothing for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// They sleep, and the processor is free.
    Sleeping,
    /// They ask again and again, but let others go first.
    Yielding,
    /// They ask again and again, and then sleep.
    Both,
    /// They ask again and again, and nothing else: on one processor each waits for the end of the
    /// other's time slice.
    Spinning,
}

impl Waits {
    /// What it is called everywhere.
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
    /// What it is called everywhere.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// What is counted as a round.
    pub round: &'static str,
    /// What its threads do meanwhile.
    pub waits: Waits,
    /// Threads that take part, the caller's among them.
    pub threads: usize,
    /// Rounds of a batch: at least a few dozen, and no more than take some milliseconds.
    pub rounds: RangeInclusive<u64>,
    /// Starts its threads. The error says what the machine refuses.
    pub open: fn(&Setting<'_>) -> io::Result<Box<dyn Wake>>,
}

impl Row {
    /// The row with this name.
    pub fn named<'a>(rows: &'a [Self], name: &str) -> Option<&'a Self> {
        rows.iter().find(|row| row.name == name)
    }
}
