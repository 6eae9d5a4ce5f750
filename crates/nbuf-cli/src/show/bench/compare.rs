//! Two documents side by side, as text: the rates of tests that both have, and the verdicts.

use nbuf::experiment::bench::compare::compare;
use nbuf::experiment::result::BenchDocument;

use super::super::report::table::{fits, indent, plain, right};
use super::super::text::{clean, wrap};
use super::words::{rate, ratio};

/// The table, and what it does not say.
pub(crate) fn comparison(a: &BenchDocument, b: &BenchDocument, width: usize) -> String {
    let rows = compare(a, b);
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
    let mut notes = vec![
        "faster and slower are firm: the processes of both are of different ranks (Wilcoxon, Holm \
         over all rows, 5 %), and each median is outside of the other's range"
            .to_owned(),
    ];
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
    use nbuf::experiment::result::BenchRow;

    use super::*;

    #[test]
    fn verdicts_stand_beside_rates() {
        let row = |test: &str, rate: f64| BenchRow {
            test: test.to_owned(),
            bytes_per_second: rate,
            low: rate * 0.99,
            high: rate * 1.01,
            process_rates: (0..9).map(|n| rate * (1.0 + f64::from(n) / 1000.0)).collect(),
            ..BenchRow::default()
        };
        let document = |rows: Vec<BenchRow>| BenchDocument { rows, ..BenchDocument::default() };
        let a = document(vec![row("r1", 100.0), row("r2", 100.0), row("only", 1.0)]);
        let b = document(vec![row("r2", 50.0), row("r1", 100.0)]);
        for width in [44, 80] {
            let text = comparison(&a, &b, width);
            assert!(fits(&text, width), "{text}");
            let line = |test| text.lines().find(|line| line.trim().starts_with(test)).unwrap();
            assert!(line("r1").ends_with("no difference seen"), "{text}");
            assert!(line("r2").ends_with("slower"), "{text}");
            assert!(text.contains("1 rows are in one of them only"));
        }
        assert!(comparison(&a, &document(vec![]), 80).contains("no test in common"));
    }
}
