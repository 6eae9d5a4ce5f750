//! The table in the form of the course: test, description, rate; beside it the two machines of the
//! course, and how many samples were clean.

use std::fmt::Write as _;

use comfy_table::Table;
use nbuf::experiment::bench::table::Test;
use nbuf::experiment::result::{BenchDocument, BenchRow, Trust};

use super::super::report::table::{fits, indent, plain, right};
use super::super::text::{clean, wrap};
use super::words::{rate, times};

/// Columns that go first where there is too little room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Room {
    Narrow,
    Middle,
    Wide,
}

/// The rows.
pub(super) fn rows(document: &BenchDocument, width: usize) -> String {
    if document.rows.is_empty() {
        return String::new();
    }
    let tables = [Room::Wide, Room::Middle, Room::Narrow].map(|room| drawn(document, room));
    let mut text = String::from("Bytes a second\n");
    match tables.iter().find(|table| fits(table, width)) {
        Some(table) => text.push_str(table),
        None => document.rows.iter().for_each(|row| wrap(&mut text, &line(row), width)),
    }
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

/// How far a row is to be trusted.
fn mark(row: &BenchRow) -> &'static str {
    match row.trust {
        Trust::Clean => "",
        Trust::Few => "?",
        Trust::Contended => "!",
    }
}

fn drawn(document: &BenchDocument, room: Room) -> String {
    let has_course = document.rows.iter().any(|row| row.imac_2011.is_some());
    let mut table: Table = plain();
    let mut header = vec!["test", "rate", "clean"];
    if has_course {
        header.extend(["iMac 2011", "x"]);
        if room > Room::Narrow {
            header.extend(["ThinkPad 2007", "x"]);
        }
    }
    if room == Room::Wide {
        header.insert(1, "description");
    }
    let last = header.len();
    table.set_header(header);
    for row in &document.rows {
        table.add_row(cells(row, room, has_course));
    }
    let first = if room == Room::Wide { 2 } else { 1 };
    right(&mut table, &(first..last).collect::<Vec<_>>());
    indent(&table.to_string())
}

fn cells(row: &BenchRow, room: Room, has_course: bool) -> Vec<String> {
    let mut cells = vec![clean(&row.test)];
    if room == Room::Wide {
        cells.push(clean(&row.about));
    }
    cells.push(rate(row.bytes_per_second) + mark(row));
    cells.push(format!("{}/{}", row.clean, row.samples));
    if has_course {
        let columns = [row.imac_2011, row.thinkpad_2007];
        let shown = if room > Room::Narrow { 2 } else { 1 };
        for reference in &columns[..shown] {
            cells.push(reference.map_or(String::new(), rate));
            cells.push(reference.map_or(String::new(), |r| times(row.bytes_per_second / r)));
        }
    }
    cells
}

/// The tests that there are.
pub(crate) fn list(tests: &[Test], width: usize) -> String {
    let mut table = plain();
    table.set_header(["test", "description"]);
    let about = |test: &Test| if test.is_course() { test.about.clone() } else { test.pattern() };
    for test in tests {
        table.add_row([test.name.clone(), about(test)]);
    }
    let drawn = indent(&table.to_string());
    // A pipe counts as so wide, and wants a line for each.
    if width >= 80 || fits(&drawn, width) {
        return drawn;
    }
    tests.iter().fold(String::new(), |mut text, test| {
        wrap(&mut text, &format!("{}: {}", test.name, about(test)), width);
        text
    })
}

#[cfg(test)]
mod tests {
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
            assert!(all.contains("3,900,000,000?") && all.contains("60/82"), "{width}: {text}");
        }
        assert!(rows(&document, 40).contains("1.5 x"));
        let tests = nbuf::experiment::bench::table::course();
        assert!(fits(&list(&tests, 40), 40) && list(&tests, 40).contains("r01-byte: block size 1"));
    }
}
