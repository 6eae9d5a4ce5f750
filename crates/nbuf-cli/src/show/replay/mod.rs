//! What `nbuf replay` gives, for people: sentences, a table of sizes, two plots, and a page.
//!
//! Invariant: no line is wider than asked for, from forty columns on.

mod page;
mod plot;
#[cfg(test)]
mod tests;
mod words;

use nbuf::experiment::result::ReplayDocument;

use super::figures;
use super::report::cautions;
use super::report::table::{fits, indent, plain, right};
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
        out.push_str(&kinds(document));
        out.push('\n');
    } else {
        out.push_str(&sizes(document, width));
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
    if !document.cautions.is_empty() {
        out.push('\n');
        out.push_str(&cautions(&document.cautions, width));
    }
    if !document.sizes.is_empty() {
        out.push('\n');
        out.push_str(&plot::plots(document, width, colour));
    }
    if let Some(figures) = &document.figures {
        out.push('\n');
        out.push_str(&figures::text(figures, width));
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
fn kinds(document: &ReplayDocument) -> String {
    let mut table = plain();
    table.add_row(["requests", "", "hits %"]);
    for kind in &document.requests {
        let hits = percent(kind.hits as f64 / kind.count.max(1) as f64);
        table.add_row([kind.kind.clone(), grouped(kind.count), hits]);
    }
    right(&mut table, &[1, 2]);
    indent(&table.to_string())
}

/// What each size came to; what is least needed goes first where there is no room for it.
fn sizes(document: &ReplayDocument, width: usize) -> String {
    let tables = [7, 6, 5, 4, 3].map(|columns| sizes_of(document, columns));
    let fitting = tables.iter().find(|table| fits(table, width));
    fitting.unwrap_or(&tables[4]).clone()
}

fn sizes_of(document: &ReplayDocument, columns: usize) -> String {
    let mut table = plain();
    let name = format!("{}s", document.unit);
    let header = [&name, "elapsed", "hits %", "disc busy %", "CPU busy %", "response", "bytes"];
    table.add_row(header.into_iter().take(columns));
    for row in &document.sizes {
        let bytes = nbuf::units::Bytes(row.size_units.saturating_mul(document.unit_bytes));
        let cells = [
            grouped(row.size_units),
            seconds(row.elapsed_seconds),
            percent(row.hit_ratio),
            percent(row.disc_utilisation),
            percent(row.cpu_utilisation),
            seconds(row.response_mean_seconds),
            bytes.to_string(),
        ];
        table.add_row(cells.into_iter().take(columns));
    }
    right(&mut table, &[0, 1, 2, 3, 4, 5, 6]);
    indent(&table.to_string())
}
