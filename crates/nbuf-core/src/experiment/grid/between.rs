//! Between which sizes the three sizes of a policy lie that was run at some sizes only.
//!
//! A policy is taken to miss no more with more pages. Then the floor and the ceiling lie between the
//! sizes of the grid at which it surely is before them and surely behind them; the knee is near a
//! corner of the curves that fall as early and as late as they can.

use super::curves::corners;
use crate::experiment::hull::{ALMOST_ALL, ALMOST_NONE};
use crate::experiment::result::{CornersBetween, CurveCorners};
use crate::meter::sampled::SizeMisses;

/// The three sizes of a curve that was counted at these sizes, the last of which holds everything.
pub(super) fn of_grid(
    counted: &[SizeMisses],
    accesses: u64,
    found: CurveCorners,
) -> CornersBetween {
    let mut falls = counted.to_vec();
    falls.sort_unstable();
    let mut highest = 0;
    for (_, left) in falls.iter_mut().rev() {
        highest = highest.max(*left);
        *left = highest;
    }
    let (first, last) = match (falls.first(), falls.last()) {
        (Some(&first), Some(&last)) => (first, last),
        _ => ((1, accesses), (1, accesses)),
    };
    // What a cache of one page misses is known when it was run.
    let most = if first.0 <= 1 { [first.1; 2] } else { [first.1, accesses] };
    let floor = most.map(|most| {
        let left = ALMOST_ALL * most as f64;
        falls.partition_point(|&(_, misses)| misses as f64 >= left)
    });
    let ceiling = most.map(|most| {
        let left = last.1 as f64 + ALMOST_NONE * (most - last.1) as f64;
        falls.partition_point(|&(_, misses)| misses as f64 > left)
    });
    let size = |at: usize| falls.get(at).map_or(last.0, |&(pages, _)| pages);
    let after = |at: usize| if at == 0 { 1 } else { size(at - 1) + 1 };
    let surely = if floor[1] == 0 { 1 } else { size(floor[1] - 1) };
    let knees = knees(&falls, accesses, found.knee_pages);
    let ceiling_pages = [after(ceiling[1]), size(ceiling[0])];
    CornersBetween {
        floor_pages: [surely, size(floor[0]).saturating_sub(1).max(surely)],
        knee_pages: [knees[0].min(found.knee_pages), knees[1].min(ceiling_pages[1])],
        ceiling_pages,
    }
}

/// The least and the most of what the knee may be.
fn knees(falls: &[SizeMisses], accesses: u64, found: u64) -> [u64; 2] {
    let one = falls.first().filter(|first| first.0 > 1).map(|_| (1, accesses));
    let all: Vec<SizeMisses> = one.into_iter().chain(falls.iter().copied()).collect();
    let with = |between: fn(&[SizeMisses]) -> SizeMisses| -> Vec<SizeMisses> {
        let pairs = all.windows(2).flat_map(|pair| {
            let is_apart = pair[0].0 + 1 < pair[1].0;
            std::iter::once(pair[0]).chain(is_apart.then(|| between(pair)))
        });
        pairs.chain(all.last().copied()).collect()
    };
    let early = with(|pair| (pair[0].0 + 1, pair[1].1));
    let late = with(|pair| (pair[1].0 - 1, pair[0].1));
    let knees =
        [all.clone(), early, late].into_iter().filter_map(|curve| corners(curve.into_iter()));
    let [mut low, mut high] = [found; 2];
    for knee in knees.map(|corners| corners.knee_pages) {
        (low, high) = (low.min(knee), high.max(knee));
    }
    let before = falls[..falls.partition_point(|&(pages, _)| pages < low)].last();
    let after = falls.get(falls.partition_point(|&(pages, _)| pages <= high));
    [before.map_or(1, |&(pages, _)| pages + 1), after.map_or(high, |&(pages, _)| pages - 1)]
}
