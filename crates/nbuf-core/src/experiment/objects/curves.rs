//! From counts over objects to curves: their points by requests and by bytes, and where they bend.

use super::{Cell, Costs, Objects};
use crate::cache::engine::Count;
use crate::cache::objects::{ObjectCount, Oversized};
use crate::experiment::grid::{corners_of_steps, counted, even_sizes, target};
use crate::experiment::result::{CurveCorners, CurvePoint, ObjectFacts, PolicyCurve};
use crate::experiment::target::Target;
use crate::meter::byte_distance::ByteMisses;
use crate::units::SizeListError;

/// Powers of two that sizes go up to where nothing is known of a trace: 64 KiB to 1 TiB.
const BLIND_BITS: std::ops::RangeInclusive<u32> = 16..=40;

/// Sizes in equal ratios up to the one that holds everything.
pub(super) fn sizes(distinct_bytes: u64) -> Vec<u64> {
    even_sizes(distinct_bytes)
}

/// Sizes for a trace of which nothing is known beforehand.
pub(super) fn blind_sizes() -> Vec<u64> {
    BLIND_BITS.map(|bits| 1 << bits).collect()
}

impl Objects {
    /// The curves, in the order of the policies.
    pub(in crate::experiment) fn finish(
        mut self,
        wanted: Option<Target>,
    ) -> Result<Vec<PolicyCurve>, SizeListError> {
        self.finish_engines();
        let sizes = self.sizes()?;
        self.cells.iter().map(|cell| Ok(self.curve(cell, &sizes, wanted))).collect()
    }

    fn curve(&self, cell: &Cell, sizes: &[u64], wanted: Option<Target>) -> PolicyCurve {
        let misses = self.misses.as_ref().filter(|_| cell.is_lru());
        let mut curve = match misses {
            Some(misses) => self.exact(misses, &cell.counts, sizes),
            None => at_sizes(&cell.counts, self.known.distinct_bytes, self.plan.sizes.is_none()),
        };
        if self.plan.costs == Costs::OfTrace {
            for (point, count) in curve.points.iter_mut().zip(&cell.counts) {
                // The optimum counts requests and bytes alone.
                let is_known = count.least.is_none();
                point.cost = is_known.then_some(count.cost);
                point.miss_cost = is_known.then_some(count.miss_cost);
            }
        }
        curve.policy = cell.choice.to_string();
        curve.page_bytes = 1;
        curve.distinct_pages = self.known.distinct_bytes;
        curve.objects = Some(ObjectFacts {
            distinct: self.distinct(),
            largest_bytes: self.known.largest_bytes,
            overhead_bytes: self.plan.overhead_bytes,
            allocator: self.plan.allocator.to_string(),
            size_changes: self.known.size_changes,
            removals: self.known.removals,
            ttl: self.plan.ttl.map(|ttl| ttl.to_string()),
            admissions: self.plan.admissions.iter().map(ToString::to_string).collect(),
            expired: self.plan.ttl.map(|_| self.plan.expired.to_string()),
            oversized: (self.plan.oversized != Oversized::Bypass)
                .then(|| self.plan.oversized.to_string()),
            exact_from_bytes: misses.map(|_| self.known.largest_bytes),
        });
        curve.target = wanted.map(|wanted| {
            let largest = self.known.largest_bytes;
            let at = |size| misses.map(|misses| missed(misses, largest, size));
            let span = self.counted_span.map_or(0, |(from, to)| to.abs_diff(from));
            target(wanted, &curve, span, &at)
        });
        curve
    }

    /// LRU by its distances, and below the largest object as it ran.
    fn exact(&self, misses: &ByteMisses, below: &[ObjectCount], sizes: &[u64]) -> PolicyCurve {
        let points = sizes.iter().filter_map(|&size| {
            if size < self.known.largest_bytes {
                return below.iter().find(|count| count.cache_bytes == size).map(point);
            }
            let (left, left_bytes) = misses.at(size);
            let count = ObjectCount {
                cache_bytes: size,
                requests: misses.requests,
                misses: left,
                bytes: misses.bytes,
                miss_bytes: left_bytes,
                ..ObjectCount::default()
            };
            Some(point(&count))
        });
        let corners = self.lru_corners();
        PolicyCurve {
            points: points.collect(),
            cold_misses: Some(misses.cold),
            knee_misses: corners
                .map(|corners| missed(misses, self.known.largest_bytes, corners.knee_pages)),
            corners,
            ..PolicyCurve::default()
        }
    }

    /// Where the exact LRU curve bends, from the largest object up. Below it, a cache is taken to save
    /// nothing at one byte, and the corners lie on the hull between.
    pub(super) fn lru_corners(&self) -> Option<CurveCorners> {
        let misses = self.misses.as_ref()?;
        let largest = self.known.largest_bytes.max(1);
        let first = (largest > 1).then_some((1, misses.requests)).into_iter();
        let changes = misses.changes().filter(|&(size, _)| size > largest);
        corners_of_steps(first.chain([(largest, misses.at(largest).0)]).chain(changes))
    }
}

/// The misses of LRU; below the largest object, the most that there may be.
fn missed(misses: &ByteMisses, largest: u64, size: u64) -> u64 {
    if size < largest { misses.requests } else { misses.at(size).0 }
}

/// The curve of a policy that ran at these sizes.
fn at_sizes(counts: &[ObjectCount], distinct_bytes: u64, blind: bool) -> PolicyCurve {
    let count = |count: &ObjectCount| Count {
        pages: count.cache_bytes,
        accesses: count.requests,
        misses: count.misses,
        requests: count.requests,
        request_misses: count.misses,
    };
    let plain: Vec<Count> = counts.iter().map(count).collect();
    let mut curve = counted(&plain, distinct_bytes, blind);
    for (shown, count) in curve.points.iter_mut().zip(counts) {
        *shown = point(count);
    }
    curve
}

fn point(count: &ObjectCount) -> CurvePoint {
    CurvePoint {
        pages: count.cache_bytes,
        accesses: count.requests,
        misses: count.misses,
        requests: Some(count.requests),
        request_misses: Some(count.misses),
        bytes: Some(count.bytes),
        miss_bytes: Some(count.miss_bytes),
        misses_low: count.least.map(|least| least.misses),
        misses_high: count.least.map(|_| count.misses),
        miss_bytes_low: count.least.map(|least| least.miss_bytes),
        ..CurvePoint::default()
    }
}
