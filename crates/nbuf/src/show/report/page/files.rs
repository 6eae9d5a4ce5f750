//! The files: their accesses, the kernel's fills at the recommendation, and which files would gain
//! from more or lose by less.

use nbuf::experiment::result::{Detail, FileShare, SizeReport};
use nbuf::units::Pages;

use super::super::super::page::Part;
use super::super::super::table::{Cell, Table, number, text};
use super::super::super::text::{count, grouped};

pub(super) fn section(report: &SizeReport, detail: &Detail<'_>) -> Vec<Part> {
    let (top, others) = (&detail.files.top, &detail.files.others);
    if top.is_empty() {
        return Vec::new();
    }
    let is_recommended = report.recommend.is_some();
    let fills = if is_recommended { "fills" } else { "fills, unlimited" };
    let mut columns = vec![text("file")];
    columns.extend(["pages", "size touched", "accesses", fills].map(number));
    if is_recommended {
        columns.extend(["would gain", "would lose"].map(number));
    }
    let all = (top.iter().map(|file| file.fills).sum::<u64>() + others.fills).max(1);
    let mut table = Table::new("Files by fills", columns);
    for file in top {
        table.row(row(file, &file.name, all, is_recommended));
    }
    if others.files > 0 {
        let sum = FileShare {
            name: String::new(),
            pages: others.pages,
            accesses: others.accesses,
            fills: others.fills,
            fills_at_floor: others.fills_at_floor,
            fills_unlimited: others.fills_unlimited,
        };
        table.row(row(
            &sum,
            &count(others.files, "other file", "other files"),
            all,
            is_recommended,
        ));
    }
    let note = report.recommend.as_ref().map(|recommend| {
        Part::Note(format!(
            "Fills are those predicted at the recommended {} of cache. Would gain: fills that \
             unlimited memory would save. Would lose: fills more at the floor, {}. Both by the model of \
             the kernel's active and inactive lists.",
            recommend.cache_bytes, recommend.floor_bytes
        ))
    });
    [Part::Table(table)].into_iter().chain(note).collect()
}

fn row(file: &FileShare, name: &str, all: u64, is_recommended: bool) -> Vec<Cell> {
    let mut cells = vec![
        Cell::class(name, "path"),
        grouped(file.pages).into(),
        Pages(file.pages).bytes().to_string().into(),
        grouped(file.accesses).into(),
        Cell::bar(grouped(file.fills), file.fills as f64 / all as f64),
    ];
    if is_recommended {
        let difference = |more: u64, less: u64| match more.saturating_sub(less) {
            0 => Cell::class("–", "faint"),
            some => grouped(some).into(),
        };
        cells.push(difference(file.fills, file.fills_unlimited));
        cells.push(difference(file.fills_at_floor, file.fills));
    }
    cells
}
