//! The shape of a trace: what its accesses have in common, whatever the cache.
//!
//! Each file counts one property, in one pass. A clock is any number that never falls: nanoseconds, or
//! the number of the access. Invariant: memory does not grow with the accesses.

mod columns;
mod loops;
mod popularity;
mod powers;
mod runs;
#[cfg(test)]
mod tests;
mod working_set;
mod zipf;

pub(crate) use columns::Columns;
pub(crate) use loops::{Loop, Loops};
pub(crate) use popularity::{deciles, ranks};
pub(crate) use powers::{Powers, ROWS, bounds, row};
pub(crate) use runs::{FirstUses, Runs, Scans};
pub(crate) use working_set::WorkingSet;
pub(crate) use zipf::fit;
