//! Accesses over time: when each part of each file was touched, and how.
//!
//! A place has the colour of the kind that touched most of it and a strength that grows with the
//! logarithm of the count.

use std::time::Duration;

use nbuf::experiment::result::{Cell, Detail, MapKind as Kind, Strip};
use nbuf::units::Pages;

use super::super::super::page::{Map, Part, Spot};
use super::super::super::scale::whole;
use super::super::super::table::{Cell as TableCell, Table, number, text};

/// Strengths that a reader can distinguish.
const STRENGTHS: u64 = 4;
const KINDS: [&str; Kind::ALL.len()] = ["read", "written", "touched through a mapping"];

pub(super) fn section(detail: &Detail<'_>) -> Vec<Part> {
    let map = &detail.files.map;
    let most = map.rows().flatten().map(Cell::total).max().unwrap_or(0);
    if most == 0 {
        return Vec::new();
    }
    let spot = |cell: &Cell| -> Spot {
        let kind = Kind::ALL.into_iter().position(|kind| cell.kind() == Some(kind))?;
        Some((kind, strength(cell.total(), most), cell.total()))
    };
    let end = Duration::from_nanos(map.end_ns()).as_secs_f64();
    let count = map.columns();
    let column = |at: usize| format!("from {}", seconds(end * at as f64 / count as f64));
    let row = |(strip, name): (&Strip, &String)| vec![name.clone(); strip.rows];
    let columns = [number("from the top"), text("file"), number("up to")];
    let strips = || map.strips().iter().zip(&detail.files.strips);
    let rows = strips().enumerate().map(|(at, (strip, name))| {
        let size = Pages(strip.pages).bytes().to_string();
        [(at + 1).to_string().into(), TableCell::class(name, "path"), size.into()]
    });
    vec![Part::Map(Map {
        title: "accesses by time and place".to_owned(),
        columns: (0..count).map(column).collect(),
        rows: strips().flat_map(row).collect(),
        spots: map.rows().flatten().map(spot).collect(),
        unit: "pages",
        kinds: KINDS.to_vec(),
        lines: map.strips().iter().skip(1).map(|strip| strip.row).collect(),
        ends: vec!["0 s".to_owned(), seconds(end / 2.0), seconds(end)],
        caption: "Time goes right, places in files go down. Each strip is a file, as high as it has \
                  pages that were touched (small ones are drawn higher). The stronger a spot, the more \
                  pages were touched there."
            .to_owned(),
        table: Table::new("The strips", columns).with(rows),
        ..Map::default()
    })]
}

fn seconds(seconds: f64) -> String {
    match seconds {
        short if short < 0.1 => format!("{:.2} ms", short * 1e3),
        some if some < 10.0 => format!("{some:.2} s"),
        long => format!("{long:.0} s"),
    }
}

/// From 1 to [`STRENGTHS`].
fn strength(pages: u64, most: u64) -> u64 {
    let share = (pages as f64).ln_1p() / (most as f64).ln_1p();
    whole((share * STRENGTHS as f64).ceil()).clamp(1, STRENGTHS)
}
