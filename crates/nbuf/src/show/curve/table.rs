//! The tables of `nbuf curve` for people.
//!
//! Invariant: no line is wider than asked for, from forty columns on. A table that is too wide
//! loses the columns that matter least; policies next to one another go on in a second block.

use std::fmt::Write as _;

use nbuf::experiment::result::{CurveDocument, CurvePoint, PolicyCurve};
use nbuf::units::{Bytes, whole};

use super::super::report::warnings;
use super::super::table::{Cell, Table, number, text};
use super::super::text::{flush, grouped, tail, wrap, wrap_each};
use super::answer::{sentences, target};
use super::facts;
use super::family::{
    Family, at, band, band_name, corners, families, is_floor_at_most, is_opt, policy_name,
    requests_differ,
};
use super::parts::{groups, windows};
use super::prefetches;
use super::words::{Unit, percent, three_digits};

/// Width from which a table with policies side by side shows a size in pages too.
const WIDE: usize = 60;

/// All that was found, in lines of at most `width` columns.
pub(crate) fn table(document: &CurveDocument, width: usize) -> String {
    let format = facts::format(&document.trace);
    let room = width.saturating_sub("Trace ".len() + format.len() + 3).max(8);
    let mut out = format!("Trace {} ({format})\n", tail(&facts::files(&document.trace), room));
    let families = families(document);
    let one = if let [family] = families.as_slice() { Some(family) } else { None };
    wrap_each(&mut out, facts::lines(document, one), width);
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
    if !document.warnings.is_empty() {
        out.push('\n');
        out.push_str(&warnings(&document.warnings, width));
    }
    out
}

/// Everything about one page size.
fn section(out: &mut String, family: &Family<'_>, width: usize) {
    match family.curves.as_slice() {
        [curve] if curve.points.is_empty() => out.push_str(&(policy_name(curve) + "\n")),
        [curve] => {
            let _ =
                write!(out, "{}\n{}", policy_name(curve), alone(curve, family.unit).draw(width));
        }
        _ => out.push_str(&side_by_side(family, width)),
    }
    for curve in &family.curves {
        wrap_each(out, facts::sample(curve, family.unit), width);
    }
    out.push('\n');
    out.push_str(&corner_lines(family, width));
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

/// Every size of every curve; sizes are in pages too where they have room of `width` columns.
pub(super) fn sizes(family: &Family<'_>, width: usize) -> Table {
    match family.curves.as_slice() {
        [curve] => alone(curve, family.unit),
        _ => together(family, width),
    }
}

/// One policy, with all that is known of it.
fn alone(curve: &PolicyCurve, unit: Unit) -> Table {
    let has_requests = curve.points.iter().any(requests_differ);
    let has_band = curve.points.iter().any(|point| point.misses_low.is_some());
    let (has_bytes, is_objects) = (unit.has_bytes(), unit.is_objects);
    let has_prefetches = curve.prefetch.is_some();
    let prefetched = has_prefetches.then(prefetches::columns).into_iter().flatten();
    let cells = |point| has_prefetches.then(|| prefetches::cells(point)).into_iter().flatten();
    let pages = number(unit.plural());
    let pages = if has_bytes { pages.rank(2) } else { pages };
    Table::of(policy_name(curve), &curve.points)
        .column_if(!is_objects, pages, |point| grouped(point.pages))
        .column_if(has_bytes, number("size"), |point| unit.brief(point.pages))
        .column(number("hit %"), |point| percent(point.hit_ratio()))
        .column_if(is_objects, number("byte hit %"), byte_hits)
        .column_if(has_band, number(band_name(curve)), |point| band(point).unwrap_or_default())
        .column_if(has_requests, number("requests %").rank(1), |p| {
            p.request_hit_ratio().map(percent)
        })
        .column(number("misses").rank(3), |point| grouped(point.misses))
        .column_if(is_objects, number("missed").rank(2), missed)
        .column_if(has_costs(curve), number("cost"), cost)
        .columns(prefetched, cells)
        .done()
}

/// The hits of objects in percent of bytes.
pub(super) fn byte_hits(point: &CurvePoint) -> String {
    point.byte_hit_ratio().map_or(String::new(), percent)
}

/// The bytes of objects that miss.
pub(super) fn missed(point: &CurvePoint) -> String {
    point.miss_bytes.map_or(String::new(), |bytes| Bytes(bytes).to_string())
}

/// Whether it is known what the misses cost.
fn has_costs(curve: &PolicyCurve) -> bool {
    curve.points.iter().any(|point| point.miss_cost.is_some())
}

/// What the misses cost, in the unit of the trace.
fn cost(point: &CurvePoint) -> String {
    point.miss_cost.map_or(String::new(), |cost| match cost {
        huge if huge >= 1e15 => format!("{huge:.2e}"),
        many if many >= 1000.0 => grouped(whole(many)),
        tiny if tiny > 0.0 && tiny < 0.01 => format!("{tiny:.2e}"),
        few => three_digits(few),
    })
}

/// Several policies: a row for each size, a column for each policy.
fn together(family: &Family<'_>, width: usize) -> Table {
    let unit = family.unit;
    let mut table = Table::of(caption(family), family.sizes())
        .column_if(has_count(family, width), number(unit.plural()), |pages| pages)
        .column_if(unit.has_bytes(), number("size"), |pages| unit.brief(pages));
    for curve in &family.curves {
        let point = |pages: u64| at(&curve.points, pages);
        let hits = |pages: u64| {
            let point = point(pages)?;
            let hits = band(point).unwrap_or_else(|| percent(point.hit_ratio()));
            let is_best = !is_opt(curve) && family.best_at(pages).as_ref() == Some(&hits);
            Some(if is_best { Cell::class(hits + "*", "strong") } else { (hits + " ").into() })
        };
        let has_prefetches = curve.prefetch.is_some();
        let prefetched = has_prefetches.then(prefetches::columns).into_iter().flatten();
        let cells = |pages: u64| point(pages).map(prefetches::cells).unwrap_or_default();
        table = table
            .column(number(policy_name(curve) + " "), hits)
            .column_if(unit.is_objects, number("bytes"), |pages| point(pages).map(byte_hits))
            .column_if(has_costs(curve), number("cost"), |pages| point(pages).map(cost))
            .columns(prefetched, |pages| {
                has_prefetches.then(|| cells(pages)).into_iter().flatten()
            });
    }
    table.done()
}

/// Whether a table of policies has a column with numbers of pages or keys.
fn has_count(family: &Family<'_>, width: usize) -> bool {
    !family.unit.has_bytes() || family.unit.has_pages() && width >= WIDE
}

fn caption(family: &Family<'_>) -> String {
    let has_opt = family.curves.iter().any(|curve| is_opt(curve));
    let aside = match (has_opt, family.unit.is_objects) {
        (false, _) => "",
        (true, false) => ", opt aside",
        (true, true) => ", opt aside, between its bounds",
    };
    if family.unit.is_objects {
        let costs = family.curves.iter().any(|curve| has_costs(curve));
        let costs = if costs { ", and what the misses cost" } else { "" };
        return format!(
            "Hits in % of requests, and of their bytes{costs}; * the most of a row{aside}"
        );
    }
    let prefetches = prefetches::caption(family);
    format!("Hits in % of accesses{prefetches}; * the most of a row{aside}")
}

/// The same on a terminal, in as many blocks as it takes.
fn side_by_side(family: &Family<'_>, width: usize) -> String {
    let keys = usize::from(family.unit.has_bytes()) + usize::from(has_count(family, width));
    flush(&caption(family), width) + &together(family, width).blocks(keys, width)
}

/// The answer, and the three sizes behind it.
fn corner_lines(family: &Family<'_>, width: usize) -> String {
    let mut out = String::new();
    wrap_each(&mut out, sentences(family), width);
    let curve = family.main();
    let Some(sizes) = corners(curve) else { return out };
    let below = if is_floor_at_most(curve) {
        "or less: no size below the largest object was searched"
    } else {
        "below it a cache is useless"
    };
    let reasons = [below, "most of what can be saved is saved", "above it nothing more is gained"];
    let (unit, is_between) = (family.unit, curve.corners_between.is_some());
    let table = Table::of("", sizes.into_iter().zip(reasons))
        .column(text(""), |((name, ..), _)| name)
        .column(number(""), |((_, pages, _), _)| unit.size(pages))
        .column_if(unit.has_pages(), number("").rank(1), |((_, pages, _), _)| unit.count(pages))
        .column_if(is_between, text(""), |((.., range), _)| unit.range(range?))
        .column(text("").rank(2), |(_, reason)| reason);
    out += &table.done().draw(width);
    if let Some(line) = facts::three_sizes(curve) {
        wrap(&mut out, &line, width);
    }
    out
}
