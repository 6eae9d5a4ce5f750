//! Where meters sit on a replay.

use crate::cache::front::{Front, Lookup};
use crate::disc::Spent;
use crate::units::Nanos;
use crate::workload::process::Ask;

/// A request that is over.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// Whose it was.
    pub process: u32,
    /// What was wanted.
    pub ask: &'a Ask,
    /// When it was asked for.
    pub asked_at: Nanos,
    /// When the process had it: cache, processor and disc are in between.
    pub at: Nanos,
    /// What the cache said at its initiation.
    pub lookup: &'a Lookup,
    /// What the disc did for it; none where the cache served it.
    pub spent: Option<Spent>,
    /// Whether it was done.
    pub is_done: bool,
}

/// A meter on a replay. Everything it is told comes in the order of time.
pub trait Watch {
    /// The cache has looked a request up, before anything is moved.
    fn initiated(&mut self, at: Nanos, process: u32, ask: &Ask, lookup: &Lookup) {
        let _ = (at, process, ask, lookup);
    }

    /// A request is over.
    fn finished(&mut self, finished: &Finished<'_>) {
        let _ = finished;
    }

    /// How often it wants to look at the cache; none for never.
    fn period(&self) -> Option<Nanos> {
        None
    }

    /// A period is over: whatever came before `at` was told.
    fn tick(&mut self, at: Nanos, cache: &dyn Front) {
        let _ = (at, cache);
    }

    /// All is over; the cache is as it was left.
    fn end(&mut self, at: Nanos, cache: &dyn Front) {
        let _ = (at, cache);
    }
}

/// Nobody looks.
impl Watch for () {}
