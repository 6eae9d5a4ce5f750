//! The table in the form of the course: test, description, rate; beside it the two machines of the
//! course, and how many samples were clean.

use comfy_table::Table;
use nbuf::experiment::bench::table::Test;
use nbuf::experiment::result::{BenchDocument, BenchRow, Trust};

use super::super::report::table::{fits, indent, plain, right};
use super::super::text::clean;
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
    let fitting = tables.iter().find(|table| fits(table, width)).unwrap_or(&tables[2]);
    let mut text = String::from("Bytes a second\n") + fitting;
    if document.rows.iter().any(|row| row.trust != Trust::Clean) {
        text.push_str("  ? few clean samples; ! hardly any clean: the median of all samples\n");
    }
    text
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
    let mark = match row.trust {
        Trust::Clean => "",
        Trust::Few => "?",
        Trust::Contended => "!",
    };
    cells.push(rate(row.bytes_per_second) + mark);
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
pub(crate) fn list(tests: &[Test]) -> String {
    let mut table = plain();
    table.set_header(["test", "description"]);
    for test in tests {
        let about = if test.is_course() { test.about.clone() } else { test.pattern() };
        table.add_row([test.name.clone(), about]);
    }
    indent(&table.to_string())
}
