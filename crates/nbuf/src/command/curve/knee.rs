//! The three sizes of every curve in a line each, for `--knee`.

use nbuf::experiment::result::{CurveDocument, PolicyCurve};
use nbuf::units::Bytes;

use crate::show::curve::is_floor_at_most;

/// The three sizes of every curve, what is known of them, and what came of a target.
pub(super) fn knee(document: &CurveDocument) -> String {
    document.curves.iter().map(line).collect()
}

fn line(curve: &PolicyCurve) -> String {
    let name = &curve.policy;
    let target = curve.target.as_ref().map_or_else(String::new, |target| {
        let what = if target.met { "needs" } else { "is not met, nearest with" };
        let between = target
            .more_than_pages
            .map_or_else(String::new, |less| format!(" or less, more than {}", size(curve, less)));
        format!("; --target {} {what} {}{between}", target.target, size(curve, target.pages))
    });
    format!("{name}: {}{}{target}\n", sizes(curve), known_from(curve))
}

fn sizes(curve: &PolicyCurve) -> String {
    let Some(corners) = curve.corners else { return unknown(curve) };
    let between = curve.corners_between;
    let three = [
        ("floor", corners.floor_pages, between.map(|between| between.floor_pages)),
        ("knee", corners.knee_pages, between.map(|between| between.knee_pages)),
        ("ceiling", corners.ceiling_pages, between.map(|between| between.ceiling_pages)),
    ];
    let three = three.map(|(name, pages, between)| {
        let between = between.filter(|[low, high]| low < high).map_or(String::new(), |between| {
            let [low, high] = between.map(|pages| size(curve, pages));
            format!(" ({low} to {high})")
        });
        let less = if name == "floor" && is_floor_at_most(curve) { " or less" } else { "" };
        format!("{name} {}{less}{between}", size(curve, pages))
    });
    three.join(", ")
}

/// Why there are no three sizes, and what would give them.
fn unknown(curve: &PolicyCurve) -> String {
    if curve.sample.is_some() {
        return "no knee is known of it from this sample; leave --sample out".to_owned();
    }
    let all = curve.distinct_pages;
    match curve.points.last() {
        Some(last) if last.pages >= all && last.misses == last.accesses => {
            "no size saves anything".to_owned()
        }
        Some(last) if last.pages >= all => {
            "no knee is known of it at so few sizes; leave --size out".to_owned()
        }
        _ => {
            let all = size(curve, all);
            format!("no knee is known of it; add the size that holds everything: --size {all}")
        }
    }
}

/// Why the sizes are not exact, where they are not.
fn known_from(curve: &PolicyCurve) -> String {
    match (&curve.sample, curve.corners_between) {
        (Some(_), Some(_)) => "; of a sample, with 95 %".to_owned(),
        (None, Some(_)) => format!("; known at {} sizes", curve.points.len()),
        (_, None) => String::new(),
    }
}

fn size(curve: &PolicyCurve, pages: u64) -> String {
    match curve.page_bytes {
        0 => pages.to_string(),
        _ if curve.objects.is_some() => format!("{pages}B ({})", Bytes(pages)),
        bytes => format!("{pages}p ({})", Bytes(pages.saturating_mul(bytes))),
    }
}
