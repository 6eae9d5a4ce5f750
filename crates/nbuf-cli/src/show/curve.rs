//! What `nbuf curve` gives, for people and for spreadsheets: a table, a plot, CSV, and a page.
//!
//! Invariant: a value is shown at a size where it was counted. Where a corner of a curve lies
//! between the sizes of a table, the table names the size that it took.

mod answer;
mod csv;
mod facts;
mod family;
pub(in crate::show) mod page;
mod parts;
mod plot;
mod scale;
mod shares;
mod table;
mod words;

pub(crate) use csv::csv;
pub(crate) use page::page;
pub(crate) use plot::plot;
pub(crate) use table::table;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
