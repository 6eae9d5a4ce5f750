//! What `nbuf replay` gives, for people: sentences, a table of sizes, two plots, and a page.
//!
//! Invariant: no line is wider than asked for, from forty columns on.

mod chart;
mod page;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use nbuf::experiment::result::ReplayDocument;
use nbuf::units::Bytes;

use super::figures;
use super::report::warnings;
use super::table::{Table, number, text};
use super::text::{wrap, wrap_each};
pub(crate) use page::page;
use words::{facts, percent, points, seconds, size, title};

/// All that is to be said.
pub(crate) fn report(document: &ReplayDocument, width: usize, colour: bool) -> String {
    let mut out = String::new();
    let (workload, behind) = title(document);
    wrap_flush(&mut out, &workload, width);
    wrap(&mut out, &behind, width);
    out.push('\n');
    if document.sizes.is_empty() {
        out.push_str(&kinds(document).draw(width));
        out.push('\n');
    } else {
        out.push_str(&sizes(document).draw(width));
        out.push('\n');
        wrap_each(&mut out, points(document), width);
        out.push('\n');
        wrap_flush(&mut out, &format!("At {}", size(document, document.size_units)), width);
    }
    wrap_each(&mut out, facts(document), width);
    if !document.warnings.is_empty() {
        out.push('\n');
        out.push_str(&warnings(&document.warnings, width));
    }
    if !document.sizes.is_empty() {
        out.push('\n');
        out.push_str(&chart::plots(document, width, colour));
    }
    if let Some(figures) = &document.figures {
        out.push('\n');
        out.push_str(&figures::text(figures, figures::Of::Replay, width));
    }
    out
}

/// A paragraph that begins at the margin.
fn wrap_flush(out: &mut String, text: &str, width: usize) {
    let mut lines = String::new();
    wrap(&mut lines, text, width + 2);
    for line in lines.lines() {
        out.push_str(line.strip_prefix("  ").unwrap_or(line));
        out.push('\n');
    }
}

/// Requests by kind.
fn kinds(document: &ReplayDocument) -> Table {
    Table::of("Requests by kind", &document.requests)
        .column(text("requests"), |kind| kind.kind.as_str())
        .column(number("").label("count"), |kind| kind.count)
        .column(number("hits %"), |kind| percent(kind.hits as f64 / kind.count.max(1) as f64))
        .done()
}

/// What each size came to.
fn sizes(document: &ReplayDocument) -> Table {
    Table::of("Sizes of the cache", &document.sizes)
        .column(number(format!("{}s", document.unit)), |row| row.size_units)
        .column(number("elapsed"), |row| seconds(row.elapsed_seconds))
        .column(number("hits %"), |row| percent(row.hit_ratio))
        .column(number("disc busy %").rank(1), |row| percent(row.disc_utilisation))
        .column(number("CPU busy %").rank(2), |row| percent(row.cpu_utilisation))
        .column(number("response").rank(3), |row| seconds(row.response_mean_seconds))
        .column(number("bytes").rank(4), |row| {
            Bytes(row.size_units.saturating_mul(document.unit_bytes))
        })
        .done()
}
