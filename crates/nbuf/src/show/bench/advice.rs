//! Advice for people.

use nbuf::experiment::bench::advise::GAIN;
use nbuf::experiment::result::{AdviceCheck, AdviceDocument, AdviceWay};
use nbuf::units::Bytes;

use super::super::text::wrap;
use super::words::{rate, ratio, time, times};

/// What is done now, what to use instead, and what else was measured.
pub(crate) fn advice(document: &AdviceDocument, width: usize) -> String {
    let AdviceDocument { now, ways, .. } = document;
    let mut text = String::new();
    let line = format!(
        "{} ({}): {}, {} an operation",
        document.pattern,
        now.path,
        rate(now.bytes_per_second),
        time(now.operation_ns)
    );
    text.push_str("Now\n");
    wrap(&mut text, &line, width);
    text.push_str("\nAdvice\n");
    wrap(&mut text, &said(document), width);
    wrap(&mut text, &conditions(document), width);
    text.push_str("\nCompared with now\n");
    for way in ways {
        let [at, low, high] = [way.ratio, way.low, way.high].map(ratio);
        wrap(&mut text, &format!("{}: {at} [{low}, {high}], {}", name(way), way.verdict), width);
    }
    if let Some(check) = &document.check {
        text.push_str("\nChecked by doing\n");
        checked(&mut text, check, width);
    }
    for refused in &document.refused {
        wrap(&mut text, &format!("{}: {}", refused.test, refused.reason), width);
    }
    text
}

fn said(document: &AdviceDocument) -> String {
    match document.advised() {
        Some(best) => {
            let [at, low, high] = [best.ratio, best.low, best.high].map(times);
            let (name, processes) = (name(best), best.processes);
            format!(
                "use {name}: {at} times as fast [{low}, {high}], from {processes} fresh processes each"
            )
        }
        None => format!("none: no path is firmly faster by {:.0} % here", (GAIN - 1.0) * 100.0),
    }
}

/// Under which conditions it was measured, and holds.
fn conditions(document: &AdviceDocument) -> String {
    let (file, touched) = (document.file_bytes, document.touched_bytes);
    let touched = if touched < file {
        format!("of which {} are touched once", Bytes(touched))
    } else {
        "all of which is touched once".to_owned()
    };
    format!(
        "for a file of {}, {touched}; give yours with `file SIZE` and `touches SIZE`, because both matter",
        Bytes(file)
    )
}

fn name(way: &AdviceWay) -> String {
    let depth = if way.depth > 1 { format!(", {} at a time", way.depth) } else { String::new() };
    format!("{}, {} B{depth}", way.path, way.block_bytes)
}

fn checked(text: &mut String, check: &AdviceCheck, width: usize) {
    let line = format!(
        "now: {} for {}, the median of whole jobs in fresh processes",
        time(check.now_seconds * 1e9),
        Bytes(check.job_bytes)
    );
    wrap(text, &line, width);
    for way in &check.ways {
        let [at, low, high] = [way.ratio, way.low, way.high].map(ratio);
        let line = format!("{}, {} B: {at} [{low}, {high}]", way.path, way.block_bytes);
        wrap(text, &line, width);
    }
}
