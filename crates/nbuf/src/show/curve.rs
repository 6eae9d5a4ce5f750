//! What `nbuf curve` gives, for people and for spreadsheets: a table, a plot, CSV, and a page.
//!
//! Invariant: a value is shown at a size where it was counted. Where a corner of a curve is between
//! the sizes of a table, the table names the size that it took.

mod answer;
mod chart;
mod csv;
mod facts;
mod family;
mod page;
mod parts;
mod prefetches;
mod table;
mod times;
mod words;

pub(crate) use chart::plot;
pub(crate) use csv::csv;
pub(crate) use family::is_floor_at_most;
pub(crate) use page::page;
pub(crate) use table::table;

#[cfg(test)]
pub(crate) mod tests;
