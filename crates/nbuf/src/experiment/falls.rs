//! Three sizes on a curve that only falls: floor, knee and ceiling.
//!
//! V. Jacobson (*A MAX-IV Disc Cache*, 1982) found the curve S-shaped: 256 sectors replaced each
//! other before they were wanted again, 512 did nearly all there was to do, 768 did no more. The
//! curves of programs are staircases of such S. The knee is looked for on the lower convex hull
//! of the curve, whose corners lie at the feet of cliffs and never inside a fall, and whose edges
//! save less and less a byte: it is the last corner that an edge worth its memory leads to.
//!
//! Invariant: floor <= knee <= ceiling; the knee leaves at most a quarter unsaved of what could be
//! saved. Cost: linear in the points.

use super::result::Curve;
use crate::units::Bytes;

/// What remains, as a share of the worst, where a cache saves almost nothing.
const ALMOST_ALL: f64 = 0.95;
/// What may be unsaved, as a share of all that can be saved, where nothing is to be gained.
const ALMOST_NONE: f64 = 0.01;
/// A byte is worth having that saves this share of what an average byte up to the ceiling saves.
const WORTH: f64 = 0.25;

/// Where a curve that only falls has its three sizes: places in its list of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corners {
    /// The largest size that saves almost nothing.
    pub(super) floor: usize,
    /// The last size whose memory is worth having.
    pub(super) knee: usize,
    /// The size beyond which nothing is to be gained.
    pub(super) ceiling: usize,
}

/// Sizes with what they leave to be filled, ascending; made to fall only: what a size promises,
/// no larger size may break.
pub(super) struct Falls(pub(super) Vec<(Bytes, u64)>);

impl Falls {
    /// The upper edge of the band at the sizes that were simulated.
    pub(super) fn of(curve: &Curve) -> Self {
        let simulated = curve.points.iter().filter(|p| !p.interpolated).count();
        let points = curve.points.iter();
        let points = points.filter(|point| simulated < 2 || !point.interpolated);
        Self::from_points(points.map(|point| (point.cache_bytes, point.fills_high())).collect())
    }

    /// Points in the order of their sizes.
    pub(super) fn from_points(mut points: Vec<(Bytes, u64)>) -> Self {
        let mut highest = 0;
        for (_, left) in points.iter_mut().rev() {
            highest = highest.max(*left);
            *left = highest;
        }
        Self(points)
    }

    fn most(&self) -> u64 {
        self.0.first().map_or(0, |&(_, fills)| fills)
    }

    pub(super) fn least(&self) -> u64 {
        self.0.last().map_or(0, |&(_, fills)| fills)
    }

    /// Whether any size saves more than almost nothing.
    pub(super) fn gains(&self) -> bool {
        (self.least() as f64) < ALMOST_ALL * self.most() as f64
    }

    /// The same, of the sizes from `room` on.
    pub(super) fn gains_from(&self, room: Bytes) -> bool {
        let within = self.0.iter().find(|&&(size, _)| size >= room);
        within.is_some_and(|&(_, fills)| (self.least() as f64) < ALMOST_ALL * fills as f64)
    }

    /// The three sizes of a curve that gains.
    pub(super) fn corners(&self) -> Corners {
        let nearly_least = self.least() as f64 + ALMOST_NONE * (self.most() - self.least()) as f64;
        let ceiling = self.0.partition_point(|&(_, fills)| fills as f64 > nearly_least);
        let nearly_most = ALMOST_ALL * self.most() as f64;
        let useless = self.0.partition_point(|&(_, fills)| fills as f64 >= nearly_most);
        Corners { floor: useless.saturating_sub(1), knee: self.knee(ceiling), ceiling }
    }

    /// Where the hull of the points up to `top` stops being worth its memory.
    fn knee(&self, top: usize) -> usize {
        let slope = |from: usize, to: usize| {
            let (size, fills) = self.0[from];
            let (larger, fewer) = self.0[to];
            (fills - fewer) as f64 / (larger.0 - size.0) as f64
        };
        let mut hull: Vec<usize> = vec![0];
        for point in 1..=top {
            while let [.., before, last] = hull[..]
                && slope(before, last) <= slope(last, point)
            {
                hull.pop();
            }
            hull.push(point);
        }
        let worth = WORTH * slope(0, top);
        let edges = hull.windows(2);
        let worthy = edges.take_while(|edge| slope(edge[0], edge[1]) >= worth);
        worthy.last().map_or(top, |edge| edge[1])
    }
}
