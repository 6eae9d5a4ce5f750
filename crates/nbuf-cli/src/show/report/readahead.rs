//! What other readahead windows would change, in a few lines.

use nbuf::experiment::result::SizeReport;

use super::super::text::{grouped, wrap};
use super::{fits, indent, plain, right};

/// Nothing where nothing is known or nothing changes.
pub(crate) fn readahead(report: &SizeReport, width: usize) -> String {
    let Some(recommend) = report.recommend.as_ref().filter(|_| !report.readahead.is_empty()) else {
        return String::new();
    };
    let mut text = String::from("With another readahead window\n");
    let mut table = plain();
    table.set_header(["window", "fills", "limit", ""]);
    for point in &report.readahead {
        table.add_row([
            point.readahead_bytes.to_string(),
            grouped(point.fills),
            point.limit_bytes.map_or("none".into(), |limit| limit.to_string()),
            if point.is_own { "as it is".into() } else { String::new() },
        ]);
    }
    right(&mut table, &[0, 1, 2]);
    let table = indent(&table.to_string());
    if fits(&table, width) {
        text.push_str(&table);
    } else {
        for point in &report.readahead {
            let limit = point.limit_bytes.map_or("none".into(), |limit| limit.to_string());
            let own = if point.is_own { ", as it is" } else { "" };
            let (window, fills) = (point.readahead_bytes, grouped(point.fills));
            wrap(&mut text, &format!("{window}{own}: {fills} fills, limit {limit}"), width);
        }
    }
    let note = format!(
        "fills with {} of cache, and the limit that needs no more fills than the window as it is; \
         predicted, not verified, and the setting is not changed",
        recommend.cache_bytes
    );
    wrap(&mut text, &note, width);
    text
}
