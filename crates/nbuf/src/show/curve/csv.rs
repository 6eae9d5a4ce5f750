//! Curves as comma-separated values (RFC 4180), a row for each size.
//!
//! Fields are empty where there is nothing to say. The rows of windows and groups follow those of
//! their policy; `part` says which they are and `name` which of them: a window has the time of its
//! first request in nanoseconds. Objects with sizes have three more fields: the bytes of their requests, of
//! the misses, and of misses that no policy is below. With `--cost`, all accesses
//! and the misses have their costs at the end. With `--prefetch`, five fields at the end count the prefetches: all, the
//! useful, the useless, those unused at the end, and all reads of the device. A name keeps to its line: what would act on a terminal is `?`.

use std::fmt::Write as _;

use nbuf::experiment::result::{CurveDocument, CurvePoint, PolicyCurve};

use super::super::text::field;
use super::prefetches;

const HEADER: &str = "policy,page_bytes,pages,cache_bytes,accesses,misses,requests,request_misses,\
                      misses_low,misses_high,part,name";

/// All rows, under one line of names.
pub(crate) fn csv(document: &CurveDocument) -> String {
    let has_objects = document.curves.iter().any(|curve| curve.objects.is_some());
    let has_costs = has_costs(document);
    let mut out =
        String::from(HEADER) + if has_objects { ",bytes,miss_bytes,miss_bytes_low" } else { "" };
    out.push_str(if has_costs { ",cost,miss_cost" } else { "" });
    out.push_str(prefetches::header(document));
    out.push('\n');
    for curve in &document.curves {
        for point in &curve.points {
            out += &row(curve, point, "", "");
            if has_costs {
                let cost = |cost: Option<f64>| cost.map_or(String::new(), |cost| cost.to_string());
                let _ = write!(out, ",{},{}", cost(point.cost), cost(point.miss_cost));
            }
            out += &(prefetches::fields(document, point) + "\n");
        }
        for window in &curve.windows {
            let from = window.from_ns.to_string();
            for point in &window.points {
                let requests = point.requests.or(Some(window.requests));
                out += &(row(curve, &CurvePoint { requests, ..*point }, "window", &from) + "\n");
            }
        }
        for group in &curve.groups {
            out.extend(group.points.iter().map(|p| row(curve, p, "group", &group.name) + "\n"));
        }
    }
    out
}

/// One row, without the costs and its end.
fn row(curve: &PolicyCurve, point: &CurvePoint, part: &str, name: &str) -> String {
    let absent = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    let CurvePoint { pages, accesses, misses, requests, request_misses, .. } = *point;
    let page_bytes = (curve.page_bytes > 0).then_some(curve.page_bytes);
    let cache_bytes = page_bytes.map(|bytes| pages.saturating_mul(bytes));
    let [pages, accesses, misses] = [pages, accesses, misses].map(Some);
    let (low, high) = (point.misses_low, point.misses_high);
    let sizes = [page_bytes, pages, cache_bytes];
    let numbers = [accesses, misses, requests, request_misses, low, high].map(absent).join(",");
    let sizes = sizes.map(absent).join(",");
    let objects = [point.bytes, point.miss_bytes, point.miss_bytes_low].map(absent).join(",");
    let objects = if curve.objects.is_some() { format!(",{objects}") } else { String::new() };
    format!("{},{sizes},{numbers},{part},{}{objects}", field(&curve.policy), field(name))
}

/// Whether the trace says what misses cost.
fn has_costs(document: &CurveDocument) -> bool {
    let mut points = document.curves.iter().flat_map(|curve| &curve.points);
    points.any(|point| point.cost.is_some())
}
