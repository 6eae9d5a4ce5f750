//! Accesses over time: when each part of each file was touched, and how.
//!
//! A cell has the colour of the kind that touched most of it and a strength that grows with the
//! logarithm of the count. Cells of one look make one path of short strokes, which keeps the page
//! small.

use std::fmt::Write as _;
use std::time::Duration;

use nbuf::experiment::result::Detail;
use nbuf::meter::map::{AccessMap, Cell, Kind};
use nbuf::units::Pages;

use super::super::axis::whole;
use super::super::markup::escape;

/// Strengths that can be told apart.
const STRENGTHS: u64 = 4;

pub(super) fn section(detail: &Detail<'_>) -> String {
    let map = &detail.files.map;
    let rows = map.rows().len();
    let most = map.rows().flatten().map(Cell::total).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let columns = map.columns();
    let mut out = format!(
        "<figure class=\"map\">\n<div class=\"plot\"><div class=\"strips\">{}</div>\n\
         <svg viewBox=\"0 0 {columns} {rows}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"accesses by time and place\">\n",
        numbers(map, rows)
    );
    let mut seen = [false; Kind::ALL.len()];
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        for strength in 1..=STRENGTHS {
            let path = strokes(map, |cell| {
                cell.kind() == Some(kind) && self::strength(cell.total(), most) == strength
            });
            if !path.is_empty() {
                seen[number] = true;
                let class = class(kind);
                let _ = writeln!(out, "<path class=\"{class} s{strength}\" d=\"{path}\"/>");
            }
        }
    }
    for strip in map.strips().iter().skip(1) {
        let _ = writeln!(out, "<path class=\"between\" d=\"M0 {}H{columns}\"/>", strip.row);
    }
    let end = Duration::from_nanos(map.end_ns()).as_secs_f64();
    let _ = write!(
        out,
        "</svg></div>\n<p class=\"times faint\"><span>0 s</span><span>{}</span><span>{}</span></p>\n\
         {}{}<figcaption>Time goes right, places in files go down. Each strip is a file, as high as it \
         has pages that were touched (small ones are drawn higher). The stronger a spot, the more \
         pages were touched there.</figcaption></figure>\n",
        seconds(end / 2.0),
        seconds(end),
        keys(seen),
        names(detail)
    );
    out
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Fault => "fault",
    }
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

/// A stroke for each run of cells in a row that are alike.
fn strokes(map: &AccessMap, alike: impl Fn(&Cell) -> bool) -> String {
    let mut path = String::new();
    for (y, row) in map.rows().enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|a, b| alike(a) == alike(b)) {
            if alike(&run[0]) {
                let _ = write!(path, "M{x} {y}.5h{}", run.len());
            }
            x += run.len();
        }
    }
    path
}

/// The numbers of the strips, at their heights.
fn numbers(map: &AccessMap, rows: usize) -> String {
    let number = |(at, strip): (usize, &nbuf::meter::map::Strip)| {
        let middle = (strip.row as f64 + strip.rows as f64 / 2.0) / rows as f64 * 100.0;
        format!("<span style=\"top:{middle:.1}%\">{}</span>", at + 1)
    };
    map.strips().iter().enumerate().map(number).collect()
}

fn names(detail: &Detail<'_>) -> String {
    let strips = detail.files.map.strips().iter().zip(&detail.files.strips);
    let name = |(strip, name): (&nbuf::meter::map::Strip, &String)| {
        let size = Pages(strip.pages).bytes();
        let name = escape(name);
        format!(
            "<li><span class=\"path\">{name}</span> <span class=\"faint\">up to {size}</span></li>"
        )
    };
    format!("<ol class=\"names\">{}</ol>\n", strips.map(name).collect::<String>())
}

fn keys(seen: [bool; Kind::ALL.len()]) -> String {
    let key = |(kind, _): (Kind, bool)| {
        let class = class(kind);
        let text = match kind {
            Kind::Read => "read",
            Kind::Write => "written",
            Kind::Fault => "touched through a mapping",
        };
        format!(
            "<li><svg class=\"key\" viewBox=\"0 0 22 12\"><path class=\"{class} s4\" \
             stroke-width=\"10\" d=\"M0 6h22\"/></svg>{text}</li>"
        )
    };
    let keys = Kind::ALL.into_iter().zip(seen).filter(|(_, seen)| *seen).map(key);
    format!("<ul class=\"legend\">{}</ul>\n", keys.collect::<String>())
}
