//! What stands below the table: what was refused, what differs, and the line of each path.

use std::fmt::Write as _;

use nbuf::experiment::result::{BenchComparison, BenchDocument, BenchModel, ModelPoint};
use nbuf::units::{Bytes, whole};

use super::super::report::table::{fits, indent, plain, right};
use super::super::text::{clean, grouped, wrap};
use super::words::{percent, ratio, time, times};

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

/// What is said of a comparison, beside the floor of its run.
pub(crate) fn verdict(found: &BenchComparison, floor_percent: f64) -> String {
    match found.verdict.as_str() {
        "no difference seen" => format!("no difference seen (floor {})", percent(floor_percent)),
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
        let line = format!(
            "{}: {} to {}: {} [{}, {}], {}",
            found.pattern,
            found.a,
            found.b,
            ratio(found.ratio),
            ratio(found.low),
            ratio(found.high),
            verdict(found, floor_of(document, found))
        );
        wrap(&mut text, &line, width);
    }
    text
}

/// The lines of times.
pub(super) fn models(document: &BenchDocument, width: usize) -> String {
    if document.models.is_empty() {
        return String::new();
    }
    let mut table = plain();
    table.set_header(["path", "state", "a, a call", "b, a KiB", "half bandwidth", "off the line"]);
    for model in &document.models {
        table.add_row([
            format!("{} {}", clean(&model.path), clean(&model.direction)),
            model.state.name().to_owned(),
            time(model.base_ns),
            time(model.byte_ns * 1024.0),
            half(model),
            odd(model),
        ]);
    }
    right(&mut table, &[2, 3, 4]);
    let drawn = indent(&table.to_string());
    let mut text = String::from("\nTime of an operation: a + b x block\n");
    if fits(&drawn, width) {
        text.push_str(&drawn);
    } else {
        for model in &document.models {
            let line = format!(
                "{} {} {}: {} and {} a KiB; half bandwidth at {}; off the line: {}",
                model.path,
                model.direction,
                model.state.name(),
                time(model.base_ns),
                time(model.byte_ns * 1024.0),
                half(model),
                odd(model)
            );
            wrap(&mut text, &line, width);
        }
    }
    text
}

/// The block with which half of the time is for the bytes.
pub(super) fn half(model: &BenchModel) -> String {
    model.half_bandwidth_bytes.map_or("-".into(), |bytes| format!("{} B", grouped(whole(bytes))))
}

/// The blocks that the line misses, and by how much.
pub(super) fn odd(model: &BenchModel) -> String {
    let odd: Vec<String> = model
        .points
        .iter()
        .filter(|point| point.is_odd())
        .map(|ModelPoint { block_bytes, residual_percent, .. }| {
            format!("{} {residual_percent:+.0} %", Bytes(*block_bytes))
        })
        .collect();
    if odd.is_empty() { "nothing".to_owned() } else { odd.join(", ") }
}
