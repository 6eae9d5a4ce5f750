//! What other readahead windows would change; nothing where they change little.

use nbuf::experiment::result::SizeReport;

use super::super::text::grouped;
use super::table;

const HEADER: [&str; 4] = ["window", "fills", "limit", "now"];

pub(super) fn section(report: &SizeReport) -> String {
    let Some(recommend) = report.recommend.as_ref().filter(|_| !report.readahead.is_empty()) else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = report
        .readahead
        .iter()
        .map(|point| {
            vec![
                point.readahead_bytes.to_string(),
                grouped(point.fills),
                point.limit_bytes.map_or("none".into(), |limit| limit.to_string()),
                if point.is_own { "as it is".into() } else { String::new() },
            ]
        })
        .collect();
    format!(
        "<p>Fills with {} of cache, and the limit that needs no more fills than the window as it is. \
         Predicted and not verified; the setting was not changed.</p>\n{}",
        recommend.cache_bytes,
        table("readahead", &HEADER, &[3], &rows)
    )
}
