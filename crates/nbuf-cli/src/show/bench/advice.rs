//! Advice for people.

use nbuf::experiment::result::AdviceDocument;

use super::super::text::wrap;
use super::lines::verdict;
use super::words::{percent, rate, ratio, time, times};

/// What is done now, what to use instead, and what else was tried.
pub(crate) fn advice(document: &AdviceDocument, width: usize) -> String {
    let AdviceDocument { now, noise_floor, ways, .. } = document;
    let mut text = String::new();
    let line = format!(
        "{} ({}): {} bytes/s, {} an operation",
        document.pattern,
        now.path,
        rate(now.bytes_per_second),
        time(now.operation_ns)
    );
    text.push_str("Now\n");
    wrap(&mut text, &line, width);
    text.push_str("\nAdvice\n");
    match ways.first().filter(|_| document.is_advised) {
        Some(best) => {
            let line = format!(
                "use {}: {} times as fast [{}, {}], from {} pairs of fresh processes",
                best.b,
                times(best.ratio),
                times(best.low),
                times(best.high),
                best.pairs
            );
            wrap(&mut text, &line, width);
        }
        None => wrap(
            &mut text,
            &format!(
                "none: nothing that was tried is faster for sure (floor {})",
                percent(noise_floor.percent)
            ),
            width,
        ),
    }
    text.push_str("\nCompared with now\n");
    for way in ways {
        let said = verdict(way, noise_floor.percent);
        let [at, low, high] = [way.ratio, way.low, way.high].map(ratio);
        let line = format!("{}: {at} [{low}, {high}], {said}", way.b);
        wrap(&mut text, &line, width);
    }
    for refused in &document.refused {
        wrap(&mut text, &format!("{}: {}", refused.test, refused.reason), width);
    }
    text
}
