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
mod spread;

pub use bootstrap::{Interval, interval_of_groups, interval_of_median};
pub use floor::{Floor, percentile};
pub use line::{Fit, fit_line};
pub use pairs::{Finding, Ratio, Turn, Verdict, abba};
pub use ranks::{holm, rank_test};
pub use rerun::rerun_interval;
pub use spread::{Spread, median_count};
