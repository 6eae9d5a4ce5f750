//! The comparisons: each ratio with its interval, on a scale of equal ratios around "the same".

use nbuf::experiment::result::{BenchComparison, BenchDocument};

use super::super::super::html::table;
use super::super::super::markup::escape;
use super::super::lines::{floor_of, verdict};
use super::super::words::ratio;

/// Width of a picture, and ratios at its ends.
const WIDTH: f64 = 140.0;
const REACH: f64 = 32.0;

pub(super) fn section(document: &BenchDocument) -> String {
    let row = |found: &BenchComparison| {
        vec![
            escape(&found.question),
            escape(&found.pattern),
            escape(&format!("{} to {}", found.a, found.b)),
            ratio(found.ratio),
            format!("{} to {}", ratio(found.low), ratio(found.high)),
            whisker(found),
            escape(&verdict(found, floor_of(document, found))),
        ]
    };
    let rows: Vec<Vec<String>> = document.comparisons.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["question", "pattern", "ways", "ratio", "95 % interval", "", "the second is"];
    let note = format!(
        "<p class=\"note\">Ratios of rates, from pairs of fresh processes in turn. The scale goes from 1/{REACH} \
         to {REACH} in equal ratios; the dashed line is no difference.</p>\n"
    );
    table("versus", &header, &[0, 1, 2, 6], &rows) + &note
}

/// Where a ratio lies on the scale.
fn place(ratio: f64) -> f64 {
    let position = 0.5 + 0.5 * (ratio.ln() / REACH.ln()).clamp(-1.0, 1.0);
    6.0 + position * (WIDTH - 12.0)
}

fn whisker(found: &BenchComparison) -> String {
    let even = if ["faster", "slower"].contains(&found.verdict.as_str()) { "" } else { " even" };
    let (low, middle, high) = (place(found.low), place(found.ratio), place(found.high));
    let half = WIDTH / 2.0;
    format!(
        "<svg viewBox=\"0 0 {WIDTH} 16\" role=\"img\" aria-label=\"{:.3}\"><path class=\"rule\" \
         d=\"M{half} 0v16\"/><path class=\"whisker{even}\" d=\"M{low:.1} 8H{high:.1}\"/><circle \
         class=\"dot{even}\" cx=\"{middle:.1}\" cy=\"8\" r=\"5\"/></svg>",
        found.ratio
    )
}
