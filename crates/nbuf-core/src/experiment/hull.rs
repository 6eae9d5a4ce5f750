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
pub(super) const ALMOST_ALL: f64 = 0.95;
/// What may be unsaved, as a share of all that can be saved, where nothing is to be gained.
pub(super) const ALMOST_NONE: f64 = 0.01;
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

/// A size, and what it leaves to be filled.
type Point = (Bytes, u64);

/// Sizes with what they leave to be filled, ascending; made to fall only: what a size promises,
/// no larger size may break.
pub(super) struct MissCurve(pub(super) Vec<Point>);

impl MissCurve {
    /// The upper edge of the band at the sizes that were simulated.
    pub(super) fn of(curve: &Curve) -> Self {
        let simulated = curve.points.iter().filter(|p| !p.interpolated).count();
        let points = curve.points.iter();
        let points = points.filter(|point| simulated < 2 || !point.interpolated);
        Self::from_points(points.map(|point| (point.cache_bytes, point.fills_high())).collect())
    }

    /// Points in the order of their sizes.
    pub(super) fn from_points(mut points: Vec<Point>) -> Self {
        let mut highest = 0;
        for (_, left) in points.iter_mut().rev() {
            highest = highest.max(*left);
            *left = highest;
        }
        Self(points)
    }

    /// A curve by the sizes at which it falls, the first of them where it begins: of these, only the
    /// points that the three sizes follow from. A curve may fall at every page, and a list of all
    /// points would take more memory than it took to count them.
    pub(super) fn from_steps(steps: impl Iterator<Item = Point> + Clone) -> Self {
        let Some(first) = steps.clone().next() else { return Self(Vec::new()) };
        let last = steps.clone().last().unwrap_or(first);
        let ends = Self(vec![first, last]);
        let (nearly_most, nearly_least) = (ends.nearly_most(), ends.nearly_least());
        let (mut before, mut floor) = (first, last);
        let (mut points, mut is_at_ceiling) = (Vec::new(), false);
        for step in steps {
            if before.1 as f64 >= nearly_most && (step.1 as f64) < nearly_most {
                floor = (Bytes(step.0.0 - 1), before.1);
            }
            if !is_at_ceiling {
                extend(&mut points, step);
                is_at_ceiling = step.1 as f64 <= nearly_least;
            }
            before = step;
        }
        points.extend([floor, last]);
        points.sort_unstable();
        points.dedup();
        Self(points)
    }

    fn most(&self) -> u64 {
        self.0.first().map_or(0, |&(_, fills)| fills)
    }

    pub(super) fn least(&self) -> u64 {
        self.0.last().map_or(0, |&(_, fills)| fills)
    }

    /// The smallest size that leaves hardly more than the largest; no bytes if there are no points.
    pub(super) fn enough(&self) -> Bytes {
        let hardly_more = self.least() as f64 * (1.0 + ALMOST_NONE);
        let at = self.0.partition_point(|&(_, fills)| fills as f64 > hardly_more);
        self.0.get(at).map_or(Bytes(0), |&(size, _)| size)
    }

    /// Whether any size saves more than almost nothing.
    pub(super) fn gains(&self) -> bool {
        (self.least() as f64) < ALMOST_ALL * self.most() as f64
    }

    /// The same with never more than `most` left.
    pub(super) fn up_to(&self, most: u64) -> Self {
        Self(self.0.iter().map(|&(size, fills)| (size, fills.min(most))).collect())
    }

    /// The three sizes of a curve that gains.
    pub(super) fn corners(&self) -> Corners {
        let nearly_least = self.nearly_least();
        let ceiling = self.0.partition_point(|&(_, fills)| fills as f64 > nearly_least);
        let nearly_most = self.nearly_most();
        let useless = self.0.partition_point(|&(_, fills)| fills as f64 >= nearly_most);
        Corners { floor: useless.saturating_sub(1), knee: self.knee(ceiling), ceiling }
    }

    /// What is left where nothing more is to be gained.
    fn nearly_least(&self) -> f64 {
        self.least() as f64 + ALMOST_NONE * (self.most() - self.least()) as f64
    }

    /// What is left where almost nothing is saved.
    fn nearly_most(&self) -> f64 {
        ALMOST_ALL * self.most() as f64
    }

    /// Where the hull of the points up to `top` stops being worth its memory.
    fn knee(&self, top: usize) -> usize {
        let mut hull = Vec::new();
        self.0[..=top].iter().for_each(|&point| extend(&mut hull, point));
        let worth = WORTH * slope(self.0[0], self.0[top]);
        let edges = hull.windows(2);
        let worthy = edges.take_while(|edge| slope(edge[0], edge[1]) >= worth);
        worthy.last().map_or(top, |edge| self.0.partition_point(|point| point.0 < edge[1].0))
    }
}

/// The lower hull of points by size, of which the later ones leave no more.
#[cfg(feature = "capture")]
pub(super) fn lower_hull(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut hull = Vec::new();
    points.for_each(|point| extend(&mut hull, point));
    hull
}

/// What a byte saves between two sizes.
fn slope((size, fills): Point, (larger, fewer): Point) -> f64 {
    (fills - fewer) as f64 / (larger.0 - size.0) as f64
}

/// Takes the next point into a lower hull.
fn extend(hull: &mut Vec<Point>, point: Point) {
    while let [.., before, last] = hull[..]
        && slope(before, last) <= slope(last, point)
    {
        hull.pop();
    }
    hull.push(point);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_steps_have_the_three_sizes_of_all_points(
            falls in prop::collection::vec((1..40_u64, 0..5000_u64), 1..60),
        ) {
            let (mut size, mut left) = (1, falls.iter().map(|fall| fall.1).sum::<u64>() + 9);
            let mut steps = vec![(Bytes(size), left)];
            for (further, fall) in falls {
                (size, left) = (size + further, left - fall);
                steps.push((Bytes(size), left));
            }
            let at = |size: u64| steps[steps.partition_point(|step| step.0.0 <= size) - 1].1;
            let all = MissCurve::from_points((1..=size).map(|size| (Bytes(size), at(size))).collect());
            let few = MissCurve::from_steps(steps.iter().copied());
            prop_assert_eq!(all.gains(), few.gains());
            if all.gains() {
                let sizes = |misses: &MissCurve| {
                    let Corners { floor, knee, ceiling } = misses.corners();
                    [floor, knee, ceiling].map(|at| misses.0[at].0)
                };
                prop_assert_eq!(sizes(&all), sizes(&few));
            }
        }
    }
}
