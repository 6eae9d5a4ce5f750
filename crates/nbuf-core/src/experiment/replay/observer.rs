//! Where meters sit on a replay.

use crate::cache::layer::{Layer, Lookup};
use crate::disc::Breakdown;
use crate::trace::request::Request;
use crate::units::Nanos;

/// A request that is over.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// Whose it was.
    pub process: u32,
    /// What was wanted.
    pub request: &'a Request,
    /// When the process requested it.
    pub requested_at: Nanos,
    /// When the process had it: cache, processor and disc are in between.
    pub at: Nanos,
    /// What the cache said at its initiation.
    pub lookup: &'a Lookup,
    /// What the disc did for it; none where the cache served it.
    pub breakdown: Option<Breakdown>,
    /// Whether it was done.
    pub is_done: bool,
}

/// A meter on a replay. It receives all events in the order of time.
pub trait Observer {
    /// The cache has looked a request up, before anything is moved.
    fn initiated(&mut self, at: Nanos, process: u32, request: &Request, lookup: &Lookup) {
        let _ = (at, process, request, lookup);
    }

    /// A request is over.
    fn finished(&mut self, finished: &Finished<'_>) {
        let _ = finished;
    }

    /// How often it wants to look at the cache; none for never.
    fn period(&self) -> Option<Nanos> {
        None
    }

    /// A period is over: everything before `at` was reported.
    fn tick(&mut self, at: Nanos, cache: &dyn Layer) {
        let _ = (at, cache);
    }

    /// All is over; the cache is as it was left.
    fn end(&mut self, at: Nanos, cache: &dyn Layer) {
        let _ = (at, cache);
    }
}

/// An observer that ignores everything.
impl Observer for () {}
