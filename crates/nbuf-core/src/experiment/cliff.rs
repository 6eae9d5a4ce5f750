//! The cliffs of a curve: a little less cache, and a loop no longer fits.
//!
//! On a cliff a prediction can be right about the size and wrong by the height of the cliff. So a
//! report names the cliff of a limit. A cliff is a change of fills, up or down, by more than a tenth
//! within 3 % of size; cliffs that overlap are one. Between points the curve is taken as straight.
//! So a cliff that was never simulated closely is as wide as its gap, and may be no cliff. Cost:
//! quadratic in the points of one cliff, linear in the rest.

use super::result::Curve;
use crate::units::{Bytes, whole};

/// How far a cliff reaches, as a factor of size.
const REACH: f64 = 1.03;
/// How well a size is known, as a factor.
const KNOWN: f64 = 1.01;
/// How much fills must change within that reach.
const CHANGE: f64 = 1.10;
/// What may be missing at the end of a fall for it to count as over.
const END: f64 = 0.01;

/// One cliff.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cliff {
    /// Its upper side: the smallest cache that is past it.
    pub cache_bytes: Bytes,
    /// Fills of a cache just too small.
    pub fills_below: u64,
    /// Fills from `cache_bytes` on.
    pub fills_above: u64,
}

/// The cliffs of the upper edge of the band, ascending.
pub fn cliffs(curve: &Curve) -> Vec<Cliff> {
    let line = Line::of(curve);
    let mut found: Vec<(f64, f64)> = Vec::new();
    for (low, high) in line.steep_windows() {
        match found.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => found.push((low, high)),
        }
    }
    found.iter().map(|&(low, high)| line.cliff(low, high)).collect()
}

/// The cliff that `cache` is within 3 % of, the nearest if there are several.
pub(super) fn near_cliff(cliffs: &[Cliff], cache: Bytes) -> Option<&Cliff> {
    nearest(cliffs, cache, REACH)
}

/// The cliff that `cache` may be on either side of: a size is known to a percent.
pub(super) fn at_cliff(cliffs: &[Cliff], cache: Bytes) -> Option<&Cliff> {
    nearest(cliffs, cache, KNOWN)
}

/// The sizes to either side of the cliff that `cache` may be on either side of: so far from it that
/// each is known to be on its own.
pub(super) fn sides(cliffs: &[Cliff], cache: Bytes) -> Option<[Bytes; 2]> {
    let edge = at_cliff(cliffs, cache)?.cache_bytes.0 as f64;
    Some([edge / REACH, edge * REACH].map(|side| Bytes(whole(side))))
}

fn nearest(cliffs: &[Cliff], cache: Bytes, reach: f64) -> Option<&Cliff> {
    let distance = |cliff: &&Cliff| {
        let (a, b) = (cliff.cache_bytes.0 as f64, cache.0 as f64);
        a.max(b) / a.min(b)
    };
    let near = cliffs.iter().filter(|cliff| distance(cliff) <= reach);
    near.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The curve as a line through its points: size, fills.
struct Line(Vec<(f64, f64)>);

impl Line {
    fn of(curve: &Curve) -> Self {
        let point = |p: &super::result::Point| (p.cache_bytes.0 as f64, p.fills_high() as f64);
        Self(curve.points.iter().map(point).collect())
    }

    /// Fills at a size; level beyond the ends.
    fn at(&self, size: f64) -> f64 {
        let after = self.0.partition_point(|&(s, _)| s < size);
        match (after.checked_sub(1).map(|before| self.0[before]), self.0.get(after)) {
            (Some((s0, f0)), Some(&(s1, f1))) => f0 + (f1 - f0) * (size - s0) / (s1 - s0),
            (Some((_, fills)), None) | (None, Some(&(_, fills))) => fills,
            (None, None) => 0.0,
        }
    }

    /// Windows of the reach over which fills change enough, ascending by their lower side. On a
    /// line the largest change has a point at one side of its window.
    fn steep_windows(&self) -> Vec<(f64, f64)> {
        let windows = self.0.iter().flat_map(|&(s, _)| [(s / REACH, s), (s, s * REACH)]);
        let mut steep: Vec<_> = windows
            .filter(|&(low, high)| {
                let (below, above) = (self.at(low), self.at(high));
                below.max(above) > CHANGE * below.min(above)
            })
            .collect();
        steep.sort_by(|a, b| a.0.total_cmp(&b.0));
        steep
    }

    /// The cliff inside a window: it ends where the last hundredth of the change remains.
    fn cliff(&self, low: f64, high: f64) -> Cliff {
        let (below, above) = (self.at(low), self.at(high));
        let over = |fills: f64| (fills - above).abs() <= END * (below - above).abs();
        let inside = self.0.iter().filter(|(s, _)| (low..=high).contains(s));
        let end = inside.rev().take_while(|&&(_, fills)| over(fills)).last();
        let &(size, fills) = end.unwrap_or(&(high, above));
        Cliff {
            cache_bytes: Bytes(whole(size)),
            fills_below: whole(below),
            fills_above: whole(fills),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::Point;

    fn curve(points: &[(u64, u64)]) -> Curve {
        let point = |&(size, fills): &(u64, u64)| Point {
            cache_bytes: Bytes(size),
            lru_misses: fills,
            lru_fills: fills / 2,
            active_inactive_fills: fills,
            interpolated: false,
        };
        Curve { points: points.iter().map(point).collect(), ..Curve::default() }
    }

    fn check(points: &[(u64, u64)], want: &[(u64, u64, u64)]) {
        let found: Vec<_> = cliffs(&curve(points))
            .iter()
            .map(|cliff| (cliff.cache_bytes.0, cliff.fills_below, cliff.fills_above))
            .collect();
        assert_eq!(found, want, "{points:?}");
    }

    #[test]
    fn cliffs_are_falls_within_three_percent() {
        check(&[], &[]);
        check(&[(1000, 500)], &[]);
        check(&[(1000, 500), (9000, 500)], &[]);
        // One cliff, between sizes that were simulated next to each other.
        check(&[(100, 900), (990, 900), (1000, 300), (4000, 300)], &[(1000, 900, 300)]);
        // The same in small falls, none of which is a cliff by itself.
        let falls: Vec<_> = (0..=20).map(|n| (1000 + 3 * n, 900 - 10 * n)).collect();
        check(&falls, &[(1060, 900, 700)]);
        // Two cliffs, and a gentle slope between them.
        check(
            &[(1, 900), (998, 900), (1000, 600), (2000, 500), (2990, 500), (3000, 100)],
            &[(1000, 900, 600), (3000, 500, 100)],
        );
        // Down to nothing, and up again.
        check(&[(100, 50), (101, 0), (500, 0), (501, 50)], &[(101, 50, 0), (501, 0, 50)]);
        // Too small to matter.
        check(&[(100, 1000), (101, 920)], &[]);
    }

    #[test]
    fn a_size_is_near_a_cliff_on_either_side() {
        let cliffs = cliffs(&curve(&[(998, 900), (1000, 600), (2990, 500), (3000, 100)]));
        let near = |size| near_cliff(&cliffs, Bytes(size)).map(|cliff| cliff.cache_bytes.0);
        let want = [
            (0, None),
            (960, None),
            (980, Some(1000)),
            (1025, Some(1000)),
            (1040, None),
            (2950, Some(3000)),
        ];
        for (size, cliff) in want {
            assert_eq!(near(size), cliff, "{size}");
        }
        let beside = |size| sides(&cliffs, Bytes(size)).map(|sides| sides.map(|side| side.0));
        for (size, want) in
            [(989, None), (991, Some([971, 1030])), (1010, Some([971, 1030])), (1011, None)]
        {
            assert_eq!(beside(size), want, "{size}");
        }
    }
}
