//! Two documents side by side: the rates of tests that both have.
//!
//! They come from different hours, and often machines, so that no pair of them met the same weather: a
//! difference is told only where it is above both floors and the intervals are apart.

use nbuf::experiment::result::{BenchDocument, BenchRow};
use serde::Serialize;

use super::super::report::table::{fits, indent, plain, right};
use super::super::text::{clean, wrap};
use super::words::{percent, rate, ratio};

/// A test that both have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Compared {
    test: String,
    a: f64,
    b: f64,
    ratio: f64,
    verdict: &'static str,
}

/// The tests that both have, in the order of the first.
pub(crate) fn compared(a: &BenchDocument, b: &BenchDocument) -> Vec<Compared> {
    let floor = floor(a, b);
    let both = a.rows.iter().filter_map(|row| {
        let other = b
            .rows
            .iter()
            .find(|other| other.test == row.test && other.size_bytes == row.size_bytes)?;
        Some((row, other))
    });
    both.map(|(a, b)| Compared {
        test: a.test.clone(),
        a: a.bytes_per_second,
        b: b.bytes_per_second,
        ratio: b.bytes_per_second / a.bytes_per_second,
        verdict: verdict(a, b, floor),
    })
    .collect()
}

/// The larger of the two floors, in percent.
fn floor(a: &BenchDocument, b: &BenchDocument) -> f64 {
    let of = |document: &BenchDocument| document.noise_floor.as_ref().map_or(0.0, |f| f.percent);
    of(a).max(of(b))
}

fn verdict(a: &BenchRow, b: &BenchRow, floor: f64) -> &'static str {
    let ratio = b.bytes_per_second / a.bytes_per_second;
    if ratio.ln().abs() <= (floor / 100.0).ln_1p() {
        "no difference seen"
    } else if b.low > a.high {
        "faster"
    } else if b.high < a.low {
        "slower"
    } else {
        "unsure"
    }
}

/// The table, and what it does not say.
pub(crate) fn comparison(a: &BenchDocument, b: &BenchDocument, width: usize) -> String {
    let rows = compared(a, b);
    if rows.is_empty() {
        return "The two have no test in common.\n".to_owned();
    }
    let mut table = plain();
    table.set_header(["test", "A", "B", "B/A", ""]);
    for row in &rows {
        let times = ratio(row.ratio);
        table.add_row([clean(&row.test), rate(row.a), rate(row.b), times, row.verdict.into()]);
    }
    right(&mut table, &[1, 2, 3]);
    let drawn = indent(&table.to_string());
    let mut text = String::from("Compared: A and B, bytes a second\n");
    if fits(&drawn, width) {
        text.push_str(&drawn);
    } else {
        for row in &rows {
            let line = format!("{}: {} to {}: {}", row.test, rate(row.a), rate(row.b), row.verdict);
            wrap(&mut text, &line, width);
        }
    }
    let left = a.rows.len() + b.rows.len() - 2 * rows.len();
    let mut notes = vec![format!(
        "noise floor {}; the two were not measured in turn, so that what drifted between them is in \
         the ratios",
        percent(floor(a, b))
    )];
    if left > 0 {
        notes.push(format!("{left} rows are in one of them only"));
    }
    if a.machine.processor != b.machine.processor || a.machine.kernel != b.machine.kernel {
        notes.push("they come from different machines or kernels".to_owned());
    }
    for note in notes {
        wrap(&mut text, &note, width);
    }
    text
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::NoiseFloor;

    use super::*;

    fn document(rates: &[(&str, f64)], floor: f64) -> BenchDocument {
        let row = |&(test, rate): &(&str, f64)| BenchRow {
            test: test.to_owned(),
            bytes_per_second: rate,
            low: rate * 0.99,
            high: rate * 1.01,
            ..BenchRow::default()
        };
        BenchDocument {
            rows: rates.iter().map(row).collect(),
            noise_floor: Some(NoiseFloor { percent: floor, ..NoiseFloor::default() }),
            ..BenchDocument::default()
        }
    }

    #[test]
    fn differences_are_told_above_both_floors_and_where_intervals_are_apart() {
        let a = document(&[("r1", 100.0), ("r2", 100.0), ("r3", 100.0), ("only", 1.0)], 1.0);
        let b = document(&[("r3", 101.9), ("r2", 50.0), ("r1", 100.5)], 0.5);
        let found: Vec<(String, &str)> =
            compared(&a, &b).into_iter().map(|row| (row.test, row.verdict)).collect();
        let want = [("r1", "no difference seen"), ("r2", "slower"), ("r3", "unsure")];
        assert_eq!(found, want.map(|(test, verdict)| (test.to_owned(), verdict)));
        assert!(comparison(&a, &b, 80).contains("1 rows are in one of them only"));
        assert_eq!(compared(&a, &a)[0].verdict, "no difference seen");
        assert!(comparison(&a, &document(&[], 1.0), 80).contains("no test in common"));
    }
}
