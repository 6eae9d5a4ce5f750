//! What stands below the table: what was refused, and what differs.

use std::fmt::Write as _;

use nbuf::experiment::result::{BenchComparison, BenchDocument};

use super::super::text::{clean, wrap};
use super::words::{percent, ratio, times};

/// A ratio below is said in percent.
const NEAR: f64 = 1.1;

/// Tests without a number, and why.
pub(super) fn refused(document: &BenchDocument, width: usize) -> String {
    let mut text = String::new();
    let parts =
        [(true, "Failed: did not do what the name says"), (false, "Refused by this machine")];
    for (is_contradiction, title) in parts {
        let mut those = document
            .refused
            .iter()
            .filter(|refused| refused.is_contradiction == is_contradiction)
            .peekable();
        if those.peek().is_some() {
            let _ = writeln!(text, "\n{title}");
        }
        for refused in those {
            wrap(&mut text, &format!("{}: {}", refused.test, refused.reason), width);
        }
    }
    text
}

/// Returns the verdict of a comparison, with the noise floor of its run.
pub(crate) fn verdict(found: &BenchComparison, floor_percent: f64) -> String {
    match found.verdict.as_str() {
        "no difference seen" => format!("no difference seen (floor {})", percent(floor_percent)),
        // As a factor, a difference of a few percent would be 1.0.
        "faster" if found.ratio < NEAR => {
            format!("{} faster", percent((found.ratio - 1.0) * 100.0))
        }
        "slower" if found.ratio * NEAR > 1.0 => {
            format!("{} slower", percent((1.0 - found.ratio) * 100.0))
        }
        "faster" => format!("{} times as fast", times(found.ratio)),
        "slower" => format!("{} times as slow", times(1.0 / found.ratio)),
        other => clean(other),
    }
}

/// The floor that a comparison has to pass.
pub(crate) fn floor_of(document: &BenchDocument, found: &BenchComparison) -> f64 {
    let sides = [&found.a, &found.b];
    let is_device =
        sides.iter().any(|side| ["cold", "device", "synced"].iter().any(|s| side.ends_with(s)));
    let floor = if is_device { &document.noise_floor_device } else { &document.noise_floor };
    floor.as_ref().map_or(0.0, |floor| floor.percent)
}

/// The comparisons, under their questions.
pub(super) fn comparisons(document: &BenchDocument, width: usize) -> String {
    let mut text = String::new();
    let mut question = "";
    for found in &document.comparisons {
        if found.question != question {
            question = &found.question;
            let _ = writeln!(text, "\n{}", clean(question));
        }
        let [at, low, high] = [found.ratio, found.low, found.high].map(ratio);
        let BenchComparison { pattern, a, b, .. } = found;
        let verdict = verdict(found, floor_of(document, found));
        let line = format!("{pattern}: {a} to {b}: {at} [{low}, {high}], {verdict}");
        wrap(&mut text, &line, width);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_percent_are_no_factor() {
        let said = |verdict: &str, ratio| {
            let verdict = verdict.to_owned();
            super::verdict(&BenchComparison { verdict, ratio, ..BenchComparison::default() }, 1.0)
        };
        assert_eq!(said("slower", 0.98), "2.0 % slower");
        assert_eq!(said("faster", 1.05), "5.0 % faster");
        assert_eq!(said("slower", 0.5), "2.0 times as slow");
        assert_eq!(said("faster", 3.0), "3.0 times as fast");
    }
}
