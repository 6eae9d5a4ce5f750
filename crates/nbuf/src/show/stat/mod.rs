//! Counts and the shape of a trace, as text, page and comma-separated values.
//!
//! One list of sections serves terminal and page, so that both have the same sentences, tables, charts and
//! maps.

mod against;
mod counts;
mod csv;
mod page;
mod patterns;
mod policies;
mod popularity;
mod reuse;
mod sections;
#[cfg(test)]
pub(crate) mod tests;
mod time;
mod words;

use std::fmt::Write as _;

use nbuf::experiment::result::TraceDocument;

use super::plot;
use super::text::{wrap, wrap_each};
pub(crate) use csv::csv;
pub(crate) use page::page;
use sections::sections;

/// Everything, on lines of at most `width` columns.
pub(crate) fn text(document: &TraceDocument, width: usize, colour: bool) -> String {
    let mut out = counts::table(document);
    if let Some(other) = &document.against {
        out.push_str("against\n");
        out += &counts::table(other);
    }
    for section in sections(document) {
        let _ = writeln!(out, "\n{}", section.title);
        wrap_each(&mut out, &section.lines, width);
        for table in &section.tables {
            out.push('\n');
            wrap(&mut out, table.caption(), width);
            out += &table.draw(width);
        }
        for chart in &section.charts {
            let _ = write!(out, "\n{}", plot::draw(chart, width, plot::height(width), colour));
        }
        for heat in &section.heats {
            let _ = write!(out, "\n{}", heat.draw(width));
        }
    }
    out
}
