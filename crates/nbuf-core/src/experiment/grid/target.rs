//! The smallest cache that meets what is wanted of it.

use crate::experiment::result::{CurvePoint, CurveTarget, PolicyCurve};
use crate::experiment::target::Target;

/// A month of 730 hours, as in the other targets.
const MONTH_NS: f64 = 730.0 * 3600.0 * 1e9;

/// The size for a target, on the points of a curve; where the misses at every size are known
/// (`exact`), between its points too.
pub(in crate::experiment) fn target(
    wanted: Target,
    curve: &PolicyCurve,
    span_ns: u64,
    exact: &dyn Fn(u64) -> Option<u64>,
) -> CurveTarget {
    let answer =
        |pages, met| CurveTarget { target: wanted.to_string(), pages, met, more_than_pages: None };
    let points = &curve.points;
    let best = || points.iter().min_by_key(|point| (point.misses, point.pages));
    let nearest = || best().map_or(0, |point| point.pages);
    match wanted {
        Target::Hit(share) => {
            let hits = |misses: u64, of: u64| of.saturating_sub(misses) as f64 >= share * of as f64;
            let meets = |point: &&CurvePoint| hits(point.misses, point.accesses);
            let accesses = points.first().map_or(0, |point| point.accesses);
            if exact(1).is_some() {
                let meets = |pages| exact(pages).is_some_and(|misses| hits(misses, accesses));
                let most = curve.distinct_pages.max(1);
                return if meets(most) {
                    answer(least(most, &meets), true)
                } else {
                    answer(most, false)
                };
            }
            let Some(at) = points.iter().position(|point| meets(&point)) else {
                return answer(nearest(), false);
            };
            let pages = points[at].pages;
            let below = at.checked_sub(1).map_or(0, |before| points[before].pages);
            let more_than_pages = (pages - below > 1).then_some(below);
            CurveTarget { more_than_pages, ..answer(pages, true) }
        }
        Target::Price { memory, fills } if span_ns > 0 => {
            let months = span_ns as f64 / MONTH_NS;
            let bill = |point: &CurvePoint| {
                let gibibytes = (point.pages * curve.page_bytes) as f64 / f64::from(1 << 30);
                gibibytes * memory + point.misses as f64 / months / 1e6 * fills
            };
            let cheapest = points.iter().min_by(|a, b| bill(a).total_cmp(&bill(b)));
            cheapest.map_or_else(|| answer(0, false), |point| answer(point.pages, true))
        }
        // No trace says how long a miss takes; the program refuses it beforehand.
        Target::Price { .. } | Target::Slowdown(_) | Target::Stall(_) | Target::Fills(_) => {
            answer(nearest(), false)
        }
    }
}

/// The smallest size up to `most`, which meets it, that does; larger ones do too.
fn least(most: u64, meets: &dyn Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if meets(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
