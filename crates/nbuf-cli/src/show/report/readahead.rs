//! What other readahead windows would change, in a few lines.

use nbuf::experiment::result::SizeReport;

use super::super::text::{grouped, wrap};
use super::{indent, plain, right};

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
    text.push_str(&indent(&table.to_string()));
    let note = format!(
        "fills with {} of cache, and the limit that needs no more fills than the window as it is; \
         predicted, not verified, and the setting is not changed",
        recommend.cache_bytes
    );
    wrap(&mut text, &note, width);
    text
}
