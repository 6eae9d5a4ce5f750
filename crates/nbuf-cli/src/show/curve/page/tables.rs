//! The tables of the page: policies, points, windows, groups.

use nbuf::experiment::result::{CurvePoint, PolicyCurve};

use super::super::super::html::table;
use super::super::super::markup::escape;
use super::super::super::text::grouped;
use super::super::family::{
    Family, at, band, is_opt, knee_size, policy_name, requests_differ, three_sizes,
};
use super::super::parts::{Starts, accesses, hits, knee, share};
use super::super::words::{Unit, percent};

/// Policies that fit beside one another on a page.
const POLICIES: usize = 8;

/// What each policy does where they are compared, and where its own corners are; the best first.
pub(super) fn policies(family: &Family<'_>) -> String {
    let Some(pages) = family.contest().filter(|_| family.curves.len() > 1) else {
        return String::new();
    };
    let mut at_size: Vec<(&PolicyCurve, &CurvePoint)> = family
        .curves
        .iter()
        .filter_map(|&curve| Some((curve, at(&curve.points, pages)?)))
        .collect();
    at_size.sort_by_key(|(curve, point)| (is_opt(curve), point.misses));
    let has_requests = at_size.iter().any(|(_, point)| requests_differ(point));
    let mut header = vec!["policy", "hits, %"];
    header.extend(has_requests.then_some("requests, %"));
    header.extend(["misses", "floor", "knee", "ceiling"]);
    let rows: Vec<Vec<String>> = at_size
        .into_iter()
        .map(|(curve, point)| {
            let bound = if is_opt(curve) { ", the bound" } else { "" };
            let name = escape(&policy_name(curve)) + bound;
            let mut row = vec![name, percent(point.hit_ratio())];
            if has_requests {
                row.push(point.request_hit_ratio().map_or(String::new(), percent));
            }
            row.push(grouped(point.misses));
            row.extend(three(curve, family.unit));
            row
        })
        .collect();
    table("policies", &header, &[0], &rows)
}

/// The three sizes of a curve, with those that they lie between.
fn three(curve: &PolicyCurve, unit: Unit) -> [String; 3] {
    let Some(corners) = curve.corners else { return ["none"; 3].map(str::to_owned) };
    let between = curve.corners_between;
    [
        (corners.floor_pages, between.map(|between| between.floor_pages)),
        (corners.knee_pages, between.map(|between| between.knee_pages)),
        (corners.ceiling_pages, between.map(|between| between.ceiling_pages)),
    ]
    .map(|(pages, between)| {
        let range = between.and_then(|between| unit.range(between));
        let range = range.map_or(String::new(), |range| format!(" <small>({range})</small>"));
        unit.brief(pages) + &range
    })
}

/// Every size.
pub(super) fn points(family: &Family<'_>) -> String {
    match family.curves.as_slice() {
        [curve] => alone(family, curve),
        _ => side_by_side(family),
    }
}

fn alone(family: &Family<'_>, curve: &PolicyCurve) -> String {
    let has_requests = curve.points.iter().any(requests_differ);
    let has_band = curve.points.iter().any(|point| point.misses_low.is_some());
    let mut header = vec![family.unit.plural()];
    header.extend(family.unit.has_bytes().then_some("size"));
    header.push("hits, %");
    header.extend(has_band.then_some("95 % band"));
    header.extend(has_requests.then_some("requests, %"));
    header.push("misses");
    let row = |point: &CurvePoint| {
        let mut row = vec![grouped(point.pages)];
        row.extend(family.unit.bytes(point.pages).map(|bytes| bytes.to_string()));
        row.push(percent(point.hit_ratio()));
        row.extend(has_band.then(|| band(point).unwrap_or_default()));
        row.extend(has_requests.then(|| point.request_hit_ratio().map_or(String::new(), percent)));
        row.push(grouped(point.misses));
        row
    };
    let rows: Vec<Vec<String>> = curve.points.iter().map(row).collect();
    if rows.is_empty() { String::new() } else { table("points", &header, &[], &rows) }
}

fn side_by_side(family: &Family<'_>) -> String {
    let tables = family.curves.chunks(POLICIES).map(|curves| block(family, curves));
    let note = "<p class=\"note\">Hits in % of accesses; the most of a row that can be had is \
                bold.</p>\n";
    tables.collect::<String>() + note
}

fn block(family: &Family<'_>, curves: &[&PolicyCurve]) -> String {
    let names: Vec<String> = curves.iter().map(|curve| escape(&policy_name(curve))).collect();
    let mut header = vec![family.unit.plural()];
    header.extend(family.unit.has_bytes().then_some("size"));
    header.extend(names.iter().map(String::as_str));
    let row = |pages: u64| {
        let mut row = vec![grouped(pages)];
        row.extend(family.unit.bytes(pages).map(|bytes| bytes.to_string()));
        let best = family.best_at(pages);
        row.extend(curves.iter().map(|curve| {
            let hits = hits(&curve.points, pages);
            let is_best = !is_opt(curve) && best.as_ref() == Some(&hits);
            if is_best { format!("<b>{hits}</b>") } else { hits }
        }));
        row
    };
    let rows: Vec<Vec<String>> = family.sizes().into_iter().map(row).collect();
    table("points", &header, &[], &rows)
}

/// Every window.
pub(super) fn windows(family: &Family<'_>, curve: &PolicyCurve) -> String {
    if curve.windows.is_empty() {
        return String::new();
    }
    let sizes = three_sizes(curve);
    let starts = Starts::of(curve);
    let mut header = vec![starts.title(), "requests".into()];
    header.extend(sizes.iter().map(|&pages| format!("hits, % at {}", family.unit.size(pages))));
    header.push("knee".into());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = curve
        .windows
        .iter()
        .enumerate()
        .map(|(number, window)| {
            let mut row = vec![starts.cell(number), grouped(window.requests)];
            row.extend(sizes.iter().map(|&pages| hits(&window.points, pages)));
            row.push(knee(window.corners, family.unit));
            row
        })
        .collect();
    table("windows", &header, &[], &rows)
}

/// Every group.
pub(super) fn groups(family: &Family<'_>, curve: &PolicyCurve) -> String {
    let Some(pages) = knee_size(curve).filter(|_| !curve.groups.is_empty()) else {
        return String::new();
    };
    let all = curve.points.first().map_or(0, |point| point.accesses);
    let at_knee = format!("hits, % at {}", family.unit.size(pages));
    let header = ["part", "accesses", "share, %", &at_knee, "own knee"];
    let rows: Vec<Vec<String>> = curve
        .groups
        .iter()
        .map(|group| {
            let width = 100 * accesses(group) / all.max(1);
            vec![
                format!("<span class=\"path\">{}</span>", escape(&group.name)),
                grouped(accesses(group)),
                format!(
                    "<span class=\"bar\" style=\"--part:{width}%\">{}</span>",
                    share(group, all)
                ),
                hits(&group.points, pages),
                knee(group.corners, family.unit),
            ]
        })
        .collect();
    table("parts", &header, &[0], &rows)
}
