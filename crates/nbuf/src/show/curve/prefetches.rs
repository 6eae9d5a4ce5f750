//! What came of prefetching, for every face.

use nbuf::experiment::result::{CurveDocument, CurvePoint, PolicyCurve};

use super::super::table::{Column, number};
use super::super::text::{clean, grouped};
use super::family::Family;

/// The columns of a table: useful and useless prefetches, and all reads of the device.
pub(super) fn columns() -> [Column; 3] {
    [number("useful"), number("useless"), number("device reads").rank(2)]
}

/// The cells below them; empty where nothing was prefetched.
pub(super) fn cells(point: &CurvePoint) -> [String; 3] {
    let Some(all) = point.prefetch else { return <_>::default() };
    [all.useful, all.useless, all.device_reads].map(grouped)
}

/// What a caption of several policies adds.
pub(super) fn caption(family: &Family<'_>) -> &'static str {
    let has_prefetches = family.curves.iter().any(|curve| curve.prefetch.is_some());
    if has_prefetches {
        ", useful and useless prefetches, and pages read from the device"
    } else {
        ""
    }
}

/// What the caches fetch before it is asked for, if anything; without a full stop.
pub(super) fn fact(curve: &PolicyCurve) -> Option<String> {
    let how = clean(curve.prefetch.as_ref()?);
    Some(format!("the caches prefetch (--prefetch {how}), and every policy runs at each size"))
}

/// The names of the fields of values, behind a comma; nothing without prefetching.
pub(super) fn header(document: &CurveDocument) -> &'static str {
    if has(document) { ",prefetches,useful,useless,unused,device_reads" } else { "" }
}

/// The fields of a row of values.
pub(super) fn fields(document: &CurveDocument, point: &CurvePoint) -> String {
    match point.prefetch {
        Some(all) => {
            let fields = [all.prefetches, all.useful, all.useless, all.unused, all.device_reads];
            fields.map(|field| format!(",{field}")).concat()
        }
        None if has(document) => ",".repeat(5),
        None => String::new(),
    }
}

fn has(document: &CurveDocument) -> bool {
    document.curves.iter().any(|curve| curve.prefetch.is_some())
}
