//! Pictures in the size of a word, for cells of tables.

use std::fmt::Write as _;

use super::places::{readable, texts};

/// A bar of a small picture: its ends as shares of the width, its parts as shares of the height, and
/// its numbers.
pub(in crate::show) struct Bin {
    pub(in crate::show) ends: [f64; 2],
    /// The first is clean, the second is not.
    pub(in crate::show) parts: [f64; 2],
    pub(in crate::show) says: String,
}

/// Bars, and a line across them.
pub(in crate::show) fn spark(bars: Vec<Bin>, line: f64, label: &str) -> String {
    const WIDTH: f64 = 160.0;
    const HIGH: f64 = 28.0;
    let mut body = String::new();
    let mut places = Vec::new();
    for Bin { ends, parts, says } in bars {
        let [left, right] = ends.map(|end| end * WIDTH);
        let mut ground = HIGH;
        for (class, part) in ["clean", "busy"].into_iter().zip(parts).filter(|(_, p)| *p > 0.0) {
            let high = part * (HIGH - 2.0);
            ground -= high;
            let _ = write!(
                body,
                "<path class=\"{class}\" d=\"M{left:.1} {ground:.1}H{right:.1}v{high:.1}H{left:.1}z\"/>"
            );
        }
        places.push(([left, 0.0, right - left, HIGH], says));
    }
    let x = line * WIDTH;
    let _ = write!(
        body,
        "<path class=\"knee\" d=\"M{x:.1} 0V{HIGH}\"/><path class=\"axis\" d=\"M0 {HIGH}H{WIDTH}\"/>"
    );
    readable("spark", [WIDTH, HIGH], label, &texts(label, places), &body)
}

/// An interval around a value, with a line in the middle of the axis. `says` are the numbers.
pub(in crate::show) fn whisker(
    ends: [f64; 3],
    says: [String; 3],
    is_sure: bool,
    label: &str,
) -> String {
    const WIDTH: f64 = 140.0;
    const HIGH: f64 = 16.0;
    let [low, value, high] = ends.map(|at| 6.0 + at * (WIDTH - 12.0));
    let (half, sure) = (WIDTH / 2.0, if is_sure { "c0" } else { "bound" });
    let body = format!(
        "<path class=\"mark\" d=\"M{half} 0v{HIGH}\"/><path class=\"line thick {sure}\" \
         d=\"M{low:.1} 8H{high:.1}\"/><circle class=\"shape {sure}\" cx=\"{value:.1}\" cy=\"8\" r=\"5\"/>"
    );
    let frames = [low, value, high].map(|x| [x, 0.0, 0.0, HIGH]);
    readable("spark", [WIDTH, HIGH], label, &texts(label, frames.into_iter().zip(says)), &body)
}
