//! Curves as comma-separated values (RFC 4180), a row for each size.
//!
//! Fields are empty where there is nothing to say. The rows of windows and groups follow those of
//! their policy; `part` says which they are and `name` which of them: a window has the time of its
//! first request in nanoseconds. Objects with sizes have three more fields: the bytes of their requests, of
//! the misses, and of misses that no policy is below. With `--cost`, all accesses
//! and the misses have their costs at the end. With `--prefetch`, five fields at the end count the prefetches: all, the
//! useful, the useless, those unused at the end, and all reads of the device. A name keeps to its line: what would act on a terminal is `?`.

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
    let row = |curve: &PolicyCurve, point: &CurvePoint, part: &str, name: &str| {
        let mut row = fields(curve, point, part, name);
        if has_objects {
            let bytes = [point.bytes, point.miss_bytes, point.miss_bytes_low];
            row = row + "," + &bytes.map(absent).join(",");
        }
        if has_costs {
            row = row + "," + &[point.cost, point.miss_cost].map(absent).join(",");
        }
        row + &prefetches::fields(document, point) + "\n"
    };
    for curve in &document.curves {
        out.extend(curve.points.iter().map(|point| row(curve, point, "", "")));
        for window in &curve.windows {
            let from = window.from_ns.to_string();
            for point in &window.points {
                let requests = point.requests.or(Some(window.requests));
                out += &row(curve, &CurvePoint { requests, ..*point }, "window", &from);
            }
        }
        for group in &curve.groups {
            out.extend(group.points.iter().map(|p| row(curve, p, "group", &group.name)));
        }
    }
    out
}

/// The fields that each row of each document has.
fn fields(curve: &PolicyCurve, point: &CurvePoint, part: &str, name: &str) -> String {
    let CurvePoint { pages, accesses, misses, requests, request_misses, .. } = *point;
    let page_bytes = (curve.page_bytes > 0).then_some(curve.page_bytes);
    let cache_bytes = page_bytes.map(|bytes| pages.saturating_mul(bytes));
    let [pages, accesses, misses] = [pages, accesses, misses].map(Some);
    let (low, high) = (point.misses_low, point.misses_high);
    let sizes = [page_bytes, pages, cache_bytes];
    let numbers = [accesses, misses, requests, request_misses, low, high].map(absent).join(",");
    let sizes = sizes.map(absent).join(",");
    format!("{},{sizes},{numbers},{part},{}", field(&curve.policy), field(name))
}

/// A number, or nothing.
fn absent<T: ToString>(number: Option<T>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

/// Whether the trace says what misses cost.
fn has_costs(document: &CurveDocument) -> bool {
    let mut points = document.curves.iter().flat_map(|curve| &curve.points);
    points.any(|point| point.cost.is_some())
}
