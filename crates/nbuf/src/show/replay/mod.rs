//! What `nbuf replay` gives, for people: sentences, a table of sizes, two plots, and a page.
//!
//! Invariant: no line is wider than asked for, from forty columns on.

mod chart;
mod page;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use nbuf::experiment::result::ReplayDocument;

use super::figures;
use super::report::warnings;
use super::table::{Table, number, text};
use super::text::{grouped, wrap};
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
        for text in points(document) {
            wrap(&mut out, &text, width);
        }
        out.push('\n');
        wrap_flush(&mut out, &format!("At {}", size(document, document.size_units)), width);
    }
    for text in facts(document) {
        wrap(&mut out, &text, width);
    }
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
    let columns = [text("requests"), number("").label("count"), number("hits %")];
    Table::new("Requests by kind", columns).with(document.requests.iter().map(|kind| {
        let hits = percent(kind.hits as f64 / kind.count.max(1) as f64);
        [kind.kind.clone(), grouped(kind.count), hits]
    }))
}

/// What each size came to.
fn sizes(document: &ReplayDocument) -> Table {
    let columns = [
        number(format!("{}s", document.unit)),
        number("elapsed"),
        number("hits %"),
        number("disc busy %").rank(1),
        number("CPU busy %").rank(2),
        number("response").rank(3),
        number("bytes").rank(4),
    ];
    Table::new("Sizes of the cache", columns).with(document.sizes.iter().map(|row| {
        let bytes = nbuf::units::Bytes(row.size_units.saturating_mul(document.unit_bytes));
        [
            grouped(row.size_units),
            seconds(row.elapsed_seconds),
            percent(row.hit_ratio),
            percent(row.disc_utilisation),
            percent(row.cpu_utilisation),
            seconds(row.response_mean_seconds),
            bytes.to_string(),
        ]
    }))
}
