//! What stands in front of a disc: it decides of each request whether the disc is asked at all.
//!
//! A request is looked at twice: when it is initiated, where it is served if it can be, and when the
//! disc has terminated it, where the cache takes in what was moved. All is written through: what the
//! cache holds is on the disc. No bytes are moved here, only what moving them costs is said, so that
//! whoever knows the processor can price it; [`MaxIv`](super::max_iv::MaxIv) itself holds the bytes.
//!
//! | front | decides by |
//! |---|---|
//! | [`Nothing`] | nothing: no cache |
//! | [`Units`] | a policy of [`POLICIES`](super::policy::POLICIES), over sectors, tracks, cylinders or chunks |
//! | [`Sectors`] | the rules of MAX-IV, over its own sectors |
//!
//! Cost: two virtual calls a request, and what is behind them.

mod sectors;
mod units;

pub use sectors::{Addressing, SECTOR_BYTES, Sectors};
pub use units::{Units, Writes};

use std::ops::{Add, AddAssign};

use crate::units::TooLarge;

pub use super::max_iv::Operation;

/// A request on its way to the disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Which of the seven.
    pub operation: Operation,
    /// From this byte of the disc on.
    pub offset_bytes: u64,
    /// So many bytes; 0 for what moves none and looks at one sector.
    pub length_bytes: u32,
    /// Which sector of its file that is, counted from 0; 0 where nobody knows.
    pub position: u32,
}

impl Demand {
    /// The bytes that are touched: at least one.
    pub fn span(&self) -> Span {
        Span { offset_bytes: self.offset_bytes, length_bytes: self.length_bytes.max(1) }
    }
}

/// Some bytes of the disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub offset_bytes: u64,
    /// How many, at least one.
    pub length_bytes: u32,
}

impl Span {
    /// The byte behind the last.
    pub fn end(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes.into())
    }

    /// Grown to whole units of so many bytes, at both ends. One that would be too long for a number
    /// is not grown at its end.
    #[must_use]
    pub fn aligned(&self, unit_bytes: u64) -> Self {
        let unit = unit_bytes.max(1);
        let offset_bytes = self.offset_bytes / unit * unit;
        let end = self.end().div_ceil(unit).saturating_mul(unit);
        let grown = u32::try_from(end - offset_bytes);
        let length_bytes = grown.unwrap_or(self.length_bytes);
        Self { offset_bytes, length_bytes }
    }
}

/// What looking and copying cost the processor, to be priced by whoever knows the processor.
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
    /// Of these, those that were there.
    pub unit_hits: u32,
    /// What it cost.
    pub work: Work,
}

impl Lookup {
    /// Past the cache, without looking.
    pub fn past(demand: &Demand) -> Self {
        Self { rest: Some(demand.span()), units: 0, unit_hits: 0, work: Work::default() }
    }

    /// Whether the disc need not be asked.
    pub fn is_hit(&self) -> bool {
        self.rest.is_none()
    }
}

/// See the module.
pub trait Front: Send {
    /// A request is about to go to the disc.
    fn initiate(&mut self, demand: &Demand) -> Lookup;

    /// An error where looking this up would take more memory than may be used.
    fn allow(&self, _: &Demand) -> Result<(), TooLarge> {
        Ok(())
    }

    /// The disc is done with a request that was not a hit, or has failed it. What it cost.
    fn terminate(&mut self, demand: &Demand, is_done: bool) -> Work;

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

/// No cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Front for Nothing {
    fn initiate(&mut self, demand: &Demand) -> Lookup {
        Lookup::past(demand)
    }

    fn terminate(&mut self, _: &Demand, _: bool) -> Work {
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
