//! The table in `docs/formats.md` is the table of the program.

use std::fmt::Write;
use std::path::Path;

use nbuf::trace::request::Unit;
use nbuf::workload::format::{FORMATS, find};

fn table() -> String {
    let mut table = String::new();
    for format in FORMATS {
        let unit = if format.unit == Unit::Bytes { "bytes" } else { "keys" };
        let suffixes = format.suffixes.join(" ");
        let (name, summary, source) = (format.name, format.summary, format.source);
        writeln!(table, "| `{name}` | {unit} | {summary} | {suffixes} | {source} |").unwrap();
    }
    table
}

#[test]
fn the_document_has_the_table_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    let found: Vec<&str> = rows.collect();
    let want = table();
    assert!(found == want.lines().collect::<Vec<_>>(), "docs/formats.md needs this table:\n{want}");
}

#[test]
fn names_are_found_whatever_their_capitals_and_only_once() {
    for format in FORMATS {
        let found = find(&format.name.to_uppercase()).unwrap();
        assert_eq!(found.name, format.name);
    }
    assert!(find("").is_none() && find("orac").is_none());
}
