//! The table in the form of the course: test, description, rate; next to it the two machines of the
//! course, and how many samples were clean.

use std::fmt::Write as _;

use nbuf::experiment::bench::Test;
use nbuf::experiment::result::{BenchDocument, BenchRow, Trust};

use super::super::table::{Cell, Table, number, text as words};
use super::super::text::{clean, wrap};
use super::words::{mark, range, rate, times};

/// The rows.
pub(super) fn rows(document: &BenchDocument, width: usize) -> String {
    if document.rows.is_empty() {
        return String::new();
    }
    let rows: Vec<&BenchRow> = document.rows.iter().collect();
    let table = table(&rows, false).else_lines(rows.iter().map(|row| line(row)));
    let mut text = String::from("Rates\n") + &table.draw(width);
    if document.rows.iter().any(|row| row.trust != Trust::Clean) {
        wrap(
            &mut text,
            "? few clean samples; ! hardly any clean: the median of all samples",
            width,
        );
    }
    text
}

/// A row where no table fits.
fn line(row: &BenchRow) -> String {
    let mut line = format!("{}: {}", clean(&row.test), rate(row.bytes_per_second));
    line.push_str(mark(row));
    let _ = write!(line, ", {}/{} clean", row.clean, row.samples);
    for (name, reference) in [("iMac", row.imac_2011), ("ThinkPad", row.thinkpad_2007)] {
        if let Some(reference) = reference {
            let _ = write!(line, ", {} x {name}", times(row.bytes_per_second / reference));
        }
    }
    line
}

/// Columns that tell least go first where there is too little room. On a page each rate has a colour as strong as it
/// is high, in equal ratios, and there is a range too.
pub(super) fn table(rows: &[&BenchRow], is_page: bool) -> Table {
    let has_course = rows.iter().any(|row| row.imac_2011.is_some());
    let measured = rows.iter().filter(|row| row.path != "null").flat_map(|row| {
        [Some(row.bytes_per_second), row.imac_2011, row.thinkpad_2007].into_iter().flatten()
    });
    let low = measured.clone().fold(f64::INFINITY, f64::min).max(1.0);
    let span = (measured.fold(low, f64::max) / low).ln().max(f64::MIN_POSITIVE);
    let heat = |number: f64, mark: &str| {
        Cell::heat(rate(number) + mark, ((number / low).ln() / span).clamp(0.0, 1.0))
    };
    let other = |other: Option<f64>| other.map_or_else(Cell::default, |other| heat(other, ""));
    let over = |row: &BenchRow, other: Option<f64>| {
        other.map_or_else(String::new, |other| times(row.bytes_per_second / other))
    };
    let [over_imac, over_thinkpad] =
        ["times the iMac", "times the ThinkPad"].map(|label| number("x").label(label));
    Table::of("Rates", rows.iter().copied())
        .column(words("test"), |row| row.test.as_str())
        .column(words("description").rank(2), |row| row.about.as_str())
        .column(number("rate"), |row| heat(row.bytes_per_second, mark(row)))
        .column(number("clean"), |row| format!("{}/{}", row.clean, row.samples))
        .column_if(is_page, number("range"), |row| range(row.low, row.high))
        .column_if(has_course, number("iMac 2011"), |row| other(row.imac_2011))
        .column_if(has_course, over_imac, |row| over(row, row.imac_2011))
        .column_if(has_course, number("ThinkPad 2007").rank(1), |row| other(row.thinkpad_2007))
        .column_if(has_course, over_thinkpad.rank(1), |row| over(row, row.thinkpad_2007))
        .done()
}

/// The tests that there are.
pub(crate) fn list(tests: &[Test], width: usize) -> String {
    let about = |test: &Test| if test.is_course() { test.about.clone() } else { test.pattern() };
    let columns = [words("test"), words("description")];
    let rows = tests.iter().map(|test| [test.name.clone(), about(test)]);
    let lines = tests.iter().map(|test| format!("{}: {}", test.name, about(test)));
    // A pipe is wide enough, and gets one line per test.
    let width = if width < 80 { width } else { usize::MAX };
    Table::new("Tests", columns).with(rows).else_lines(lines).draw(width)
}

#[cfg(test)]
mod tests {
    use super::super::super::table::fits;
    use super::*;

    #[test]
    fn where_no_table_fits_there_is_a_list() {
        let row = BenchRow {
            test: "r09-stridestdioblock4096".to_owned(),
            bytes_per_second: 3.9e9,
            samples: 82,
            clean: 60,
            imac_2011: Some(2.6e9),
            thinkpad_2007: Some(8e8),
            trust: Trust::Few,
            ..BenchRow::default()
        };
        let document = BenchDocument { rows: vec![row], ..BenchDocument::default() };
        for width in [40, 60, 80, 120] {
            let text = rows(&document, width);
            assert!(fits(&text, width), "{width}: {text}");
            let all = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(all.contains("3.9 GB/s?") && all.contains("60/82"), "{width}: {text}");
        }
        assert!(rows(&document, 40).contains("1.5 x"));
        let tests = nbuf::experiment::bench::course();
        assert!(fits(&list(&tests, 40), 40) && list(&tests, 40).contains("r01-byte: block size 1"));
    }
}
