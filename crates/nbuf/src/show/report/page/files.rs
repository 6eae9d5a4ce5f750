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
    let sum = FileShare {
        name: count(others.files, "other file", "other files"),
        pages: others.pages,
        accesses: others.accesses,
        fills: others.fills,
        fills_at_floor: others.fills_at_floor,
        fills_unlimited: others.fills_unlimited,
    };
    let is_recommended = report.recommend.is_some();
    let fills = if is_recommended { "fills" } else { "fills, unlimited" };
    let all = (top.iter().map(|file| file.fills).sum::<u64>() + others.fills).max(1) as f64;
    let difference = |more: u64, less: u64| match more.saturating_sub(less) {
        0 => Cell::class("–", "faint"),
        some => grouped(some).into(),
    };
    let rows = top.iter().chain((others.files > 0).then_some(&sum));
    let table = Table::of("Files by fills", rows)
        .column(text("file"), |file| Cell::class(&file.name, "path"))
        .column(number("pages"), |file| grouped(file.pages))
        .column(number("size touched"), |file| Pages(file.pages).bytes().to_string())
        .column(number("accesses"), |file| grouped(file.accesses))
        .column(number(fills), |file| Cell::bar(grouped(file.fills), file.fills as f64 / all))
        .column_if(is_recommended, number("would gain"), |file| {
            difference(file.fills, file.fills_unlimited)
        })
        .column_if(is_recommended, number("would lose"), |file| {
            difference(file.fills_at_floor, file.fills)
        });
    let note = report.recommend.as_ref().map(|recommend| {
        Part::Note(format!(
            "Fills are those predicted at the recommended {} of cache. Would gain: fills that \
             unlimited memory would save. Would lose: fills more at the floor, {}. Both by the model of \
             the kernel's active and inactive lists.",
            recommend.cache_bytes, recommend.floor_bytes
        ))
    });
    [Part::Table(table.done())].into_iter().chain(note).collect()
}
