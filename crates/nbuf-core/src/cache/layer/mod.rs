//! What stands in front of a disc: it decides of each request whether the disc is asked at all.
//!
//! A request is looked at twice: when it is initiated, where it is served if it can be, and when the
//! disc has terminated it, where the cache takes in what was moved. All is written through: what the
//! cache holds is on the disc. No bytes are moved here, only what moving them costs is said, so that
//! a caller with the figures of the processor can price it; [`MaxIv`](super::max_iv::MaxIv) itself holds the bytes.
//!
//! | layer | decides by |
//! |---|---|
//! | [`NoCache`] | nothing: no cache |
//! | [`Units`] | a policy of [`POLICIES`](super::policy::POLICIES), over sectors, tracks, cylinders or chunks |
//! | [`Sectors`] | the rules of MAX-IV, over its own sectors |
//!
//! Cost: two virtual calls a request, and what is behind them.
//!
//! ```
//! use nbuf::cache::layer::{Layer, NoCache};
//! use nbuf::trace::request::{Op, Request};
//!
//! let read = Request::new(Op::Read, 0, 4096);
//! assert_eq!(NoCache.initiate(&read).rest, Some(read.span()));
//! ```

mod sectors;
mod units;

pub use sectors::{Addressing, SECTOR_BYTES, Sectors};
pub use units::{Units, Writes};

use std::ops::{Add, AddAssign};

use crate::trace::request::{Request, Span};
use crate::units::TooLarge;

/// What looking and copying cost the processor, to be priced by a caller with the figures of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Entries that were compared with an address.
    pub comparisons: u64,
    /// Bytes that were copied, to the user or from him.
    pub copied_bytes: u64,
}

impl Add for Work {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            comparisons: self.comparisons + other.comparisons,
            copied_bytes: self.copied_bytes + other.copied_bytes,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What came of looking a request up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// What the disc must move; nothing where the cache served all of it.
    pub rest: Option<Span>,
    /// Units that were looked for so that they be served.
    pub units: u32,
    /// Those of `units` that were there.
    pub unit_hits: u32,
    /// What it cost.
    pub work: Work,
}

impl Lookup {
    /// Past the cache, without looking.
    pub fn past(request: &Request) -> Self {
        Self { rest: Some(request.span()), units: 0, unit_hits: 0, work: Work::default() }
    }

    /// Whether the disc need not be asked.
    pub fn is_hit(&self) -> bool {
        self.rest.is_none()
    }
}

/// A cache between the clients and the disc of a replay.
pub trait Layer: Send {
    /// A request is about to go to the disc.
    fn initiate(&mut self, request: &Request) -> Lookup;

    /// An error where looking this up would take more memory than may be used.
    fn allow(&self, _: &Request) -> Result<(), TooLarge> {
        Ok(())
    }

    /// The disc is done with a request that was not a hit, or has failed it. What it cost.
    fn terminate(&mut self, request: &Request, is_done: bool) -> Work;

    /// Bytes of a unit; 0 where nothing is kept.
    fn unit_bytes(&self) -> u64;

    /// Where on the disc each unit that is kept begins, in bytes, in no order. Costs a look at every
    /// unit ever seen.
    fn addresses(&self) -> Vec<u64>;

    /// How long each hash list is; empty where there are no lists.
    fn list_lengths(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// No cache: every request goes to the disc.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl Layer for NoCache {
    fn initiate(&mut self, request: &Request) -> Lookup {
        Lookup::past(request)
    }

    fn terminate(&mut self, _: &Request, _: bool) -> Work {
        Work::default()
    }

    fn unit_bytes(&self) -> u64 {
        0
    }

    fn addresses(&self) -> Vec<u64> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
