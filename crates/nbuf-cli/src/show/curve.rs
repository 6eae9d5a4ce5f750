//! What `nbuf curve` gives, for people and for spreadsheets: a table, a plot, CSV, and a page.
//!
//! Invariant: a value is shown at a size where it was counted. Where a corner of a curve lies
//! between two sizes, the text says `at least`, and a table names the size that it took.

mod csv;
mod plot;
mod table;

pub(crate) use csv::csv;
pub(crate) use plot::plot;
pub(crate) use table::table;

use nbuf::experiment::result::CurveDocument;

/// One page that needs nothing beside it.
pub(crate) fn page(document: &CurveDocument) -> String {
    let text = super::markup::escape(&table(document, 80)).replace(' ', "\u{a0}");
    format!("<!DOCTYPE html>\n<html lang=\"en\"><body><pre>{text}</pre></body></html>\n")
}
