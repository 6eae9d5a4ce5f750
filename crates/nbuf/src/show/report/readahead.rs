//! What other readahead windows would change, in a few lines.

use nbuf::experiment::result::SizeReport;
use nbuf::units::Bytes;

use super::super::table::{Table, number, text as words};
use super::super::text::{grouped, wrap};

/// Nothing where nothing is known or nothing changes.
pub(super) fn readahead(report: &SizeReport, width: usize) -> String {
    let Some(note) = note(report) else { return String::new() };
    let mut text = String::from("With another readahead window\n") + &table(report).draw(width);
    wrap(&mut text, &note, width);
    text
}

/// A row for each window.
pub(super) fn table(report: &SizeReport) -> Table {
    let columns = [number("window"), number("fills"), number("limit"), words("").label("now")];
    let limit = |limit: Option<Bytes>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    let rows = report.readahead.iter().map(|point| {
        let own = if point.is_own { "current" } else { "" };
        let window = point.readahead_bytes.to_string();
        [window, grouped(point.fills), limit(point.limit_bytes), own.to_owned()]
    });
    let lines = report.readahead.iter().map(|point| {
        let own = if point.is_own { ", current" } else { "" };
        let (window, fills) = (point.readahead_bytes, grouped(point.fills));
        format!("{window}{own}: {fills} fills, limit {}", limit(point.limit_bytes))
    });
    Table::new("Fills by readahead window", columns).with(rows).else_lines(lines)
}

/// What the table says; nothing where it would say nothing.
pub(super) fn note(report: &SizeReport) -> Option<String> {
    let recommend = report.recommend.as_ref().filter(|_| !report.readahead.is_empty())?;
    Some(format!(
        "fills: with {} of cache; limit: the smallest with no more fills than the current window. \
         Predicted, not verified; nbuf does not change the setting",
        recommend.cache_bytes
    ))
}
