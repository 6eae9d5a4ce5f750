//! Pictures in the size of a word, for cells of tables.

use std::fmt::Write as _;

use super::super::markup::escape;

/// A picture in the size of a word, for a cell of a table: bars over an axis from 0 to 1, each with
/// the part of it that is `clean`, and a line.
pub(in crate::show) fn spark(bars: &[([f64; 2], [f64; 2])], line: f64, label: &str) -> String {
    const WIDTH: f64 = 160.0;
    const HIGH: f64 = 28.0;
    let mut body = String::new();
    for &([from, to], parts) in bars {
        let mut ground = HIGH;
        for (class, part) in ["clean", "busy"].into_iter().zip(parts).filter(|(_, p)| *p > 0.0) {
            let (left, right, high) = (from * WIDTH, to * WIDTH, part * (HIGH - 2.0));
            ground -= high;
            let _ = write!(
                body,
                "<path class=\"{class}\" d=\"M{left:.1} {ground:.1}H{right:.1}v{high:.1}H{left:.1}z\"/>"
            );
        }
    }
    let x = line * WIDTH;
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 {WIDTH} {HIGH}\" role=\"img\" aria-label=\"{}\">{body}\
         <path class=\"knee\" d=\"M{x:.1} 0V{HIGH}\"/><path class=\"axis\" d=\"M0 {HIGH}H{WIDTH}\"/></svg>",
        escape(label)
    )
}

/// The same for an interval around a value, with a line in the middle of the axis.
pub(in crate::show) fn whisker([low, value, high]: [f64; 3], is_sure: bool, label: &str) -> String {
    const WIDTH: f64 = 140.0;
    let [low, value, high] = [low, value, high].map(|at| 6.0 + at * (WIDTH - 12.0));
    let (half, sure) = (WIDTH / 2.0, if is_sure { "c0" } else { "bound" });
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 {WIDTH} 16\" role=\"img\" aria-label=\"{}\">\
         <path class=\"mark\" d=\"M{half} 0v16\"/><path class=\"line thick {sure}\" \
         d=\"M{low:.1} 8H{high:.1}\"/>{}</svg>",
        escape(label),
        format_args!("<circle class=\"shape {sure}\" cx=\"{value:.1}\" cy=\"8\" r=\"5\"/>")
    )
}
