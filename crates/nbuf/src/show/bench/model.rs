//! The line through the times of each path: the cost of a call and of a byte. Each block has its
//! predicted time next to the measured time; some paths have no line.

use nbuf::experiment::bench::MODEL_PROCESSES;
use nbuf::experiment::bench::path_names;
use nbuf::experiment::result::{BenchDocument, BenchModel, ModelPoint};
use nbuf::units::{Bytes, whole};

use super::super::table::{Table, number, text as words};
use super::super::text::{clean, grouped, wrap};
use super::words::time;

/// The lines of times.
pub(super) fn lines(document: &BenchDocument, width: usize) -> String {
    if document.models.is_empty() {
        return String::new();
    }
    "\nTime of an operation: a + b x block\n".to_owned() + &table(document).draw(width)
}

/// A row for each line.
pub(super) fn table(document: &BenchDocument) -> Table {
    let path = |model: &BenchModel| format!("{} {}", model.path, model.direction);
    let byte = |model: &BenchModel| time(model.byte_ns * 1024.0);
    let line = |model: &BenchModel| {
        let (path, state, base) = (path(model), model.state.name(), time(model.base_ns));
        let (byte, half, odd) = (byte(model), half(model), odd(model));
        format!(
            "{path} {state}: {base} and {byte} a KiB; half bandwidth at {half}; off the line: {odd}"
        )
    };
    Table::of("Time of an operation: a + b x block", &document.models)
        .column(words("path"), path)
        .column(words("state"), |model| model.state.name())
        .column(number("a, a call"), |model| time(model.base_ns))
        .column(number("b, a KiB"), byte)
        .column(number("half bandwidth"), half)
        .column(words("off the line"), odd)
        .done()
        .else_lines(document.models.iter().map(line))
}

/// What was measured of each block, and what the line says of it.
pub(super) fn points(document: &BenchDocument, width: usize) -> String {
    if document.models.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nMeasured, and in brackets what the line says\n");
    for model in &document.models {
        let points: Vec<String> = model.points.iter().map(point).collect();
        let (path, state) = (clean(&model.path), model.state.name());
        let line = format!("{path} {} {state}: {}", model.direction, points.join(", "));
        wrap(&mut text, &line, width);
    }
    wrap(&mut text, &without(document), width);
    text
}

pub(super) fn point(point: &ModelPoint) -> String {
    format!("{} {}", Bytes(point.block_bytes), beside(point))
}

/// What was measured, and what the line says.
pub(super) fn beside(point: &ModelPoint) -> String {
    let ModelPoint { measured_ns, predicted_ns, residual_percent, .. } = *point;
    format!("{} ({}, {residual_percent:+.0} %)", time(measured_ns), time(predicted_ns))
}

/// The paths without a line, and why they have none. Those whose line was refused or not reached are named
/// elsewhere, with another reason.
pub(super) fn without(document: &BenchDocument) -> String {
    let refused = document.refused.iter().map(|refused| refused.test.as_str());
    let missed: Vec<&str> =
        refused.chain(document.not_reached.iter().map(String::as_str)).collect();
    let is_named = |name: &str| {
        let start = format!("model {name} ");
        missed.iter().any(|test| test.starts_with(&start))
            || document.models.iter().any(|model| model.path == name)
    };
    let names: Vec<&str> = path_names().filter(|name| !is_named(name)).collect();
    format!(
        "no line of {}: each takes {} processes, and the paths that were tried are one of each kind (calls, \
         standard I/O, mapping, ring, past the cache)",
        names.join(", "),
        MODEL_PROCESSES
    )
}

/// The block with which half of the time is for the bytes.
fn half(model: &BenchModel) -> String {
    model.half_bandwidth_bytes.map_or("-".into(), |bytes| format!("{} B", grouped(whole(bytes))))
}

/// The blocks that the line misses, and by how much.
fn odd(model: &BenchModel) -> String {
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

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::Refused;

    use super::*;

    #[test]
    fn every_point_stands_beside_its_line_and_other_paths_are_named() {
        let point = |block_bytes| ModelPoint {
            block_bytes,
            measured_ns: 1200.0,
            predicted_ns: 1000.0,
            residual_percent: 20.0,
        };
        let model = BenchModel {
            path: "read".to_owned(),
            direction: "read".to_owned(),
            points: vec![point(1), point(4096)],
            ..BenchModel::default()
        };
        let document = BenchDocument { models: vec![model], ..BenchDocument::default() };
        let text = points(&document, 500);
        let want = "read read hot: 1 B 1200 ns (1000 ns, +20 %), 4.00 KiB 1200 ns (1000 ns, +20 %)";
        assert!(text.contains(want), "{text}");
        let without = without(&document);
        assert!(without.starts_with("no line of null, pread, "), "{without}");
        assert!(without.contains(" 27 processes") && !without.contains(" read,"), "{without}");
        assert_eq!(points(&BenchDocument::default(), 80), "");
    }

    #[test]
    fn a_path_that_no_line_fits_is_not_one_that_was_left_out() {
        let misfit = Refused {
            test: "model stdio hot".to_owned(),
            reason: "no line fits".to_owned(),
            is_contradiction: false,
        };
        let document = BenchDocument {
            refused: vec![misfit],
            not_reached: vec!["model mmap hot".to_owned()],
            ..BenchDocument::default()
        };
        let said = without(&document);
        assert!(said.starts_with("no line of null, read, pread, "), "{said}");
        assert!(!said.contains(" stdio,") && !said.contains(" mmap,"), "{said}");
        assert!(said.contains(" stdio-unlocked,") && said.contains(" mmap-random,"), "{said}");
    }
}
