//! The tables of `nbuf curve` for people.
//!
//! Invariant: no line is wider than asked for, from forty columns on. A table that is too wide loses
//! the columns that tell least; policies beside one another go on in a second block.

use std::fmt::Write as _;

use console::measure_text_width as width_of;
use nbuf::experiment::result::{CurveDocument, PolicyCurve};

use super::super::report::cautions;
use super::super::report::table::{fits, indent, plain, right};
use super::super::text::{grouped, tail, wrap};
use super::answer::{sentences, target};
use super::facts;
use super::family::{Family, at, band, families, is_opt, policy_name, requests_differ};
use super::parts::{groups, windows};
use super::words::{Unit, percent};

/// Width from which a size is told in pages too where policies stand side by side.
const WIDE: usize = 60;

/// All that was found, in lines of at most `width` columns.
pub(crate) fn table(document: &CurveDocument, width: usize) -> String {
    let format = facts::format(&document.trace);
    let room = width.saturating_sub("Trace ".len() + format.len() + 3).max(8);
    let mut out = format!("Trace {} ({format})\n", tail(&facts::files(&document.trace), room));
    let families = families(document);
    let one = if let [family] = families.as_slice() { Some(family) } else { None };
    for line in facts::lines(document, one) {
        wrap(&mut out, &line, width);
    }
    for family in &families {
        out.push('\n');
        if one.is_none() {
            let title = family.unit.title();
            let _ = writeln!(out, "{}{}", title[..1].to_uppercase(), &title[1..]);
            wrap(&mut out, &facts::accesses(family), width);
            out.push('\n');
        }
        section(&mut out, family, width);
    }
    if families.is_empty() {
        out.push('\n');
        wrap(&mut out, "There is no curve.", width);
    }
    if !document.cautions.is_empty() {
        out.push('\n');
        out.push_str(&cautions(&document.cautions, width));
    }
    out
}

/// Everything about one page size.
fn section(out: &mut String, family: &Family<'_>, width: usize) {
    match family.curves.as_slice() {
        [curve] => out.push_str(&alone(curve, family.unit, width)),
        _ => out.push_str(&side_by_side(family, width)),
    }
    for curve in &family.curves {
        for line in facts::sample(curve, family.unit) {
            wrap(out, &line, width);
        }
    }
    out.push('\n');
    out.push_str(&corners(family, width));
    let targets = family.curves.iter().filter_map(|curve| Some((curve, curve.target.as_ref()?)));
    for (curve, wanted) in targets {
        wrap(out, &target(curve, wanted, family.unit), width);
    }
    for curve in &family.curves {
        for part in [windows(curve, family.unit, width), groups(curve, family.unit, width)] {
            if !part.is_empty() {
                out.push('\n');
                out.push_str(&part);
            }
        }
    }
}

/// What is wanted of a column of the table of one policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Pages,
    Size,
    Hits,
    Band,
    Requests,
    Misses,
}

/// One policy, with all that is known of it.
fn alone(curve: &PolicyCurve, unit: Unit, width: usize) -> String {
    if curve.points.is_empty() {
        return format!("{}\n", policy_name(curve));
    }
    let has_requests = curve.points.iter().any(requests_differ);
    let has_band = curve.points.iter().any(|point| point.misses_low.is_some());
    let columns = |left_out: &[Column]| -> Vec<Column> {
        let wanted = |column: &Column| match column {
            Column::Size => unit.has_bytes(),
            Column::Band => has_band,
            Column::Requests => has_requests,
            _ => true,
        };
        let all = [
            Column::Pages,
            Column::Size,
            Column::Hits,
            Column::Band,
            Column::Requests,
            Column::Misses,
        ];
        all.into_iter().filter(|c| wanted(c) && !left_out.contains(c)).collect()
    };
    let size = if unit.has_bytes() { Column::Pages } else { Column::Requests };
    let choices = [
        vec![],
        vec![Column::Misses],
        vec![Column::Misses, size],
        vec![Column::Misses, size, Column::Requests],
    ];
    let tables = choices.iter().map(|left_out| rows(curve, unit, &columns(left_out)));
    format!("{}\n{}", policy_name(curve), first_fitting(tables, width))
}

fn rows(curve: &PolicyCurve, unit: Unit, columns: &[Column]) -> String {
    let header = |column: &Column| match column {
        Column::Pages => unit.plural(),
        Column::Size => "size",
        Column::Hits => "hit %",
        Column::Band => "95 % band",
        Column::Requests => "requests %",
        Column::Misses => "misses",
    };
    let mut table = plain();
    table.set_header(columns.iter().map(header));
    for point in &curve.points {
        let cell = |column: &Column| match column {
            Column::Pages => grouped(point.pages),
            Column::Size => unit.brief(point.pages),
            Column::Hits => percent(point.hit_ratio()),
            Column::Band => band(point).unwrap_or_default(),
            Column::Requests => point.request_hit_ratio().map_or(String::new(), percent),
            Column::Misses => grouped(point.misses),
        };
        table.add_row(columns.iter().map(cell));
    }
    right(&mut table, &[0, 1, 2, 3, 4, 5]);
    indent(&table.to_string())
}

/// The first that is not too wide, or else the last.
pub(super) fn first_fitting(tables: impl Iterator<Item = String>, width: usize) -> String {
    let mut last = String::new();
    for table in tables {
        last = table;
        if fits(&last, width) {
            break;
        }
    }
    last
}

/// Several policies: a row for each size, a column for each policy, in as many blocks as it takes.
fn side_by_side(family: &Family<'_>, width: usize) -> String {
    let sizes = family.sizes();
    let mut ahead: Vec<(&str, Vec<String>)> = Vec::new();
    if !family.unit.has_bytes() || width >= WIDE {
        let pages = sizes.iter().map(|&pages| grouped(pages)).collect();
        ahead.push((family.unit.plural(), pages));
    }
    if family.unit.has_bytes() {
        ahead.push(("size", sizes.iter().map(|&pages| family.unit.brief(pages)).collect()));
    }
    let best: Vec<Option<String>> = sizes.iter().map(|&pages| family.best_at(pages)).collect();
    let columns: Vec<(String, Vec<String>)> = family
        .curves
        .iter()
        .map(|curve| {
            let is_real = !is_opt(curve);
            let cell = |(&pages, best): (&u64, &Option<String>)| {
                let Some(point) = at(&curve.points, pages) else { return String::new() };
                let hits = percent(point.hit_ratio());
                let is_best = is_real && best.as_ref() == Some(&hits);
                hits + if is_best { "*" } else { " " }
            };
            (policy_name(curve) + " ", sizes.iter().zip(&best).map(cell).collect())
        })
        .collect();
    let wide = |name: &str, cells: &[String]| {
        cells.iter().map(|cell| width_of(cell)).fold(width_of(name), usize::max) + 2
    };
    let taken = 1 + ahead.iter().map(|(name, cells)| wide(name, cells)).sum::<usize>();
    let mut text = String::from("Hits in % of accesses; * the most of a row");
    if family.curves.iter().any(|curve| is_opt(curve)) {
        text.push_str(", opt aside");
    }
    let mut out = String::new();
    wrap(&mut out, &text, width);
    let mut out = out.trim_start().to_owned();
    let mut left = columns.as_slice();
    while !left.is_empty() {
        let mut room = width.saturating_sub(taken);
        let fitting = left.iter().take_while(|(name, cells)| {
            let wide = wide(name, cells);
            let fits = wide <= room;
            room = room.saturating_sub(wide);
            fits
        });
        let (block, others) = left.split_at(fitting.count().clamp(1, left.len()));
        out.push_str(&block_of(&ahead, block, sizes.len()));
        left = others;
        if !left.is_empty() {
            out.push('\n');
        }
    }
    out
}

/// Some policies beside the sizes.
fn block_of(ahead: &[(&str, Vec<String>)], block: &[(String, Vec<String>)], rows: usize) -> String {
    let mut table = plain();
    let names = ahead.iter().map(|(name, _)| *name);
    table.set_header(names.chain(block.iter().map(|(name, _)| name.as_str())));
    for row in 0..rows {
        let sizes = ahead.iter().map(|(_, cells)| &cells[row]);
        table.add_row(sizes.chain(block.iter().map(|(_, cells)| &cells[row])));
    }
    let all: Vec<usize> = (0..ahead.len() + block.len()).collect();
    right(&mut table, &all);
    indent(&table.to_string())
}

/// The answer, and the three sizes behind it.
fn corners(family: &Family<'_>, width: usize) -> String {
    let mut out = String::new();
    for sentence in sentences(family) {
        wrap(&mut out, &sentence, width);
    }
    let curve = family.main();
    let Some(corners) = curve.corners else { return out };
    let between = curve.corners_between;
    let floor = between.map(|between| between.floor_pages);
    let knee = between.map(|between| between.knee_pages);
    let ceiling = between.map(|between| between.ceiling_pages);
    let sizes = [
        ("floor", corners.floor_pages, floor, "below it a cache is useless"),
        ("knee", corners.knee_pages, knee, "most of what can be saved is saved"),
        ("ceiling", corners.ceiling_pages, ceiling, "above it nothing more is gained"),
    ];
    let rows = |with_pages: bool, with_reason: bool| {
        let mut table = plain();
        for (name, pages, between, reason) in sizes {
            let mut row = vec![name.to_owned(), family.unit.size(pages)];
            if with_pages && family.unit.has_bytes() {
                row.push(family.unit.count(pages));
            }
            if curve.corners_between.is_some() {
                row.push(between.and_then(|pages| family.unit.range(pages)).unwrap_or_default());
            }
            if with_reason {
                row.push(reason.to_owned());
            }
            table.add_row(row);
        }
        right(&mut table, &[1]);
        if with_pages && family.unit.has_bytes() {
            right(&mut table, &[2]);
        }
        indent(&table.to_string())
    };
    let choices = [(true, true), (true, false), (false, false)];
    let mut out = out + &first_fitting(choices.map(|(a, b)| rows(a, b)).into_iter(), width);
    if let Some(line) = facts::three_sizes(curve) {
        wrap(&mut out, &line, width);
    }
    out
}
