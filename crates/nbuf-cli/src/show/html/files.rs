//! The files: what each was asked for, what the kernel fills at the recommendation, and who would
//! gain from more or lose by less.

use std::fmt::Write as _;

use nbuf::experiment::result::{Detail, FileShare, SizeReport};
use nbuf::units::Pages;

use super::super::markup::escape;
use super::super::text::{count, grouped};
use super::table;

pub(super) fn section(report: &SizeReport, detail: &Detail<'_>) -> String {
    let (top, others) = (&detail.files.top, &detail.files.others);
    if top.is_empty() {
        return String::new();
    }
    let recommended = report.recommend.is_some();
    let mut header = vec!["file", "pages", "size touched", "accesses"];
    header.push(if recommended { "fills" } else { "fills, unlimited" });
    if recommended {
        header.extend(["would gain", "would lose"]);
    }
    let all = (top.iter().map(|file| file.fills).sum::<u64>() + others.fills).max(1);
    let mut rows: Vec<Vec<String>> =
        top.iter().map(|file| row(file, &escape(&file.name), all, recommended)).collect();
    if others.files > 0 {
        let name = count(others.files, "other file", "other files");
        let sum = FileShare {
            name: String::new(),
            pages: others.pages,
            accesses: others.accesses,
            fills: others.fills,
            fills_at_floor: others.fills_at_floor,
            fills_unlimited: others.fills_unlimited,
        };
        rows.push(row(&sum, &format!("<i>{name}</i>"), all, recommended));
    }
    let mut out = table("files", &header, &[0], &rows);
    if let Some(recommend) = &report.recommend {
        let _ = writeln!(
            out,
            "<p class=\"note\">Fills are those predicted at the recommended {} of cache. <b>Would \
             gain</b>: fills that unlimited memory would save. <b>Would lose</b>: fills more at the \
             floor, {}. Both by the model of the kernel&#39;s two lists.</p>",
            recommend.cache_bytes, recommend.floor_bytes
        );
    }
    out
}

fn row(file: &FileShare, name: &str, all: u64, recommended: bool) -> Vec<String> {
    let width = 100 * file.fills / all;
    let mut cells = vec![
        format!("<span class=\"path\">{name}</span>"),
        grouped(file.pages),
        Pages(file.pages).bytes().to_string(),
        grouped(file.accesses),
        format!("<span class=\"bar\" style=\"--part:{width}%\">{}</span>", grouped(file.fills)),
    ];
    if recommended {
        let difference = |more: u64, less: u64| match more.saturating_sub(less) {
            0 => "<span class=\"faint\">–</span>".to_owned(),
            some => grouped(some),
        };
        cells.push(difference(file.fills, file.fills_unlimited));
        cells.push(difference(file.fills_at_floor, file.fills));
    }
    cells
}
