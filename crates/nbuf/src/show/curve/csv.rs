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
            row(&mut out, curve, point, "", "");
            if has_costs {
                let cost = |cost: Option<f64>| cost.map_or(String::new(), |cost| cost.to_string());
                let _ = write!(out, ",{},{}", cost(point.cost), cost(point.miss_cost));
            }
            out.push_str(&prefetches::fields(document, point));
            out.push('\n');
        }
        for window in &curve.windows {
            let from = window.from_ns.to_string();
            for point in &window.points {
                let requests = point.requests.or(Some(window.requests));
                row(&mut out, curve, &CurvePoint { requests, ..*point }, "window", &from);
                out.push('\n');
            }
        }
        for group in &curve.groups {
            for point in &group.points {
                row(&mut out, curve, point, "group", &group.name);
                out.push('\n');
            }
        }
    }
    out
}

/// One row, without the costs and its end.
fn row(out: &mut String, curve: &PolicyCurve, point: &CurvePoint, part: &str, name: &str) {
    let absent = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    let page_bytes = (curve.page_bytes > 0).then_some(curve.page_bytes);
    let cache_bytes = page_bytes.map(|bytes| point.pages.saturating_mul(bytes));
    let _ = write!(
        out,
        "{},{},{},{},{},{},{},{},{},{},{part},{}",
        field(&curve.policy),
        absent(page_bytes),
        point.pages,
        absent(cache_bytes),
        point.accesses,
        point.misses,
        absent(point.requests),
        absent(point.request_misses),
        absent(point.misses_low),
        absent(point.misses_high),
        field(name)
    );
    if curve.objects.is_some() {
        let _ = write!(
            out,
            ",{},{},{}",
            absent(point.bytes),
            absent(point.miss_bytes),
            absent(point.miss_bytes_low)
        );
    }
}

/// Whether the trace says what misses cost.
fn has_costs(document: &CurveDocument) -> bool {
    let mut points = document.curves.iter().flat_map(|curve| &curve.points);
    points.any(|point| point.cost.is_some())
}
