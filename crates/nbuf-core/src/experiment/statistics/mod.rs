//! What measurements of one thing say, and whether two things differ: pure arithmetic, for all verbs.
//!
//! Medians and ratios, not means and differences: what disturbs a run makes it longer, never
//! shorter, and does so by a factor. Nothing here is random that has no seed.

mod bootstrap;
mod floor;
mod line;
mod pairs;
mod ranks;
mod rerun;
mod serial;
mod signed;
mod spread;

pub(super) use bootstrap::{Interval, interval_of_median};
pub(super) use floor::{Floor, percentile};
pub(super) use line::fit_line;
pub(super) use pairs::{Finding, Ratio, Turn, Verdict, abba};
pub(super) use ranks::{Ranks, holm};
pub(super) use rerun::rerun_interval;
pub(super) use serial::serial_factor;
pub(super) use signed::signed_rank_chance;
pub use spread::Spread;
pub(super) use spread::median_count;
