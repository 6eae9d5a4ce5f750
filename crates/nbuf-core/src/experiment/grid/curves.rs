//! From counts to curves: which sizes are shown, where a curve bends, and what its parts are.

use super::between::of_grid;
use super::part::Part;
use super::stack::{By, Group, OPS, Stacked};
use super::target::target;
use super::{Grid, LRU};
use crate::cache::engine::{Count, Prefetches};
use crate::experiment::hull::MissCurve;
use crate::experiment::result::{
    CurveCorners, CurveGroup, CurvePoint, CurveWindow, PointPrefetches, PolicyCurve,
};
use crate::experiment::target::Target;
use crate::meter::bins::edges;
use crate::units::{Bytes, SizeListError, even};

/// Sizes of a curve where none are asked for: as many rows as people read.
const SIZES: u32 = 16;
/// Sizes at which a policy must have been run for a bend of its curve to be reported.
const CORNER_SIZES: usize = 8;
/// The smallest size shown where none are asked for, as a part of the distinct pages.
const SPAN: u64 = 1024;
/// Powers of two that sizes go up to where nothing is known of a trace.
const BLIND_BITS: std::ops::RangeInclusive<u32> = 6..=24;

/// What things are called that a curve is split by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Names of objects, by their numbers.
    pub objects: &'a [String],
    /// What was asked for, if anything.
    pub target: Option<Target>,
}

/// Sizes in equal ratios up to the one that holds everything, on edges of histograms.
pub(in crate::experiment) fn even_sizes(distinct: u64) -> Vec<u64> {
    let most = distinct.max(1);
    let least = (most / SPAN).max(1);
    let on_edge: Vec<u64> = edges(most).collect();
    let mut sizes: Vec<u64> = even(least, most, SIZES)
        .map(|size| on_edge[on_edge.partition_point(|&edge| edge < size).min(on_edge.len() - 1)])
        .map(|size| size.min(most))
        .collect();
    sizes.dedup();
    sizes
}

/// The smallest size from this one on at which parts are counted exactly.
pub(super) fn edge_from(size: u64, distinct: u64) -> u64 {
    edges(distinct.max(1)).find(|&edge| edge >= size).unwrap_or(size).min(distinct.max(size))
}

/// Sizes for a trace of which nothing is known beforehand.
pub(super) fn blind_sizes() -> Vec<u64> {
    BLIND_BITS.map(|bits| 1 << bits).collect()
}

impl Grid {
    /// The curves, in the order of the policies.
    pub fn finish(mut self, names: &Names<'_>) -> Result<Vec<PolicyCurve>, SizeListError> {
        self.count();
        let distinct = self.distinct_pages();
        let span = self.counted_span_ns();
        let sizes = self.sizes()?;
        let stacked = self.stacked.take();
        let mut curves = Vec::new();
        for cell in &self.counter.settled().cells {
            let mut curve = match &stacked {
                Some(stacked) if cell.choice.row().name == LRU => {
                    lru_curve(stacked, &sizes, self.plan.by, names)
                }
                _ => counted(&cell.counts, distinct, self.plan.sizes.is_none()),
            };
            if let Some(prefetching) = cell.prefetching {
                curve.prefetch = Some(prefetching.to_string());
                curve.points.iter_mut().zip(&cell.prefetches).for_each(add_prefetches);
            }
            curve.policy = cell.choice.to_string();
            curve.page_bytes = self.plan.page_bytes;
            curve.distinct_pages = distinct;
            let exact = stacked.as_ref().filter(|_| cell.choice.row().name == LRU);
            curve.target = names.target.map(|wanted| {
                let at = |pages| exact.map(|stacked| stacked.misses.at(pages));
                target(wanted, &curve, span, &at)
            });
            curves.push(curve);
        }
        Ok(curves)
    }
}

/// What came of prefetching at a size.
fn add_prefetches((point, prefetches): (&mut CurvePoint, &Prefetches)) {
    let Prefetches { fetched, useful, useless, unused } = *prefetches;
    let device_reads = point.misses + fetched;
    point.prefetch =
        Some(PointPrefetches { prefetches: fetched, useful, useless, unused, device_reads });
}

/// The curve of a policy that ran at these sizes.
pub(in crate::experiment) fn counted(counts: &[Count], distinct: u64, blind: bool) -> PolicyCurve {
    let mut points: Vec<CurvePoint> = counts
        .iter()
        .map(|count| CurvePoint {
            pages: count.pages,
            accesses: count.accesses,
            misses: count.misses,
            requests: Some(count.requests),
            request_misses: Some(count.request_misses),
            ..CurvePoint::default()
        })
        .collect();
    if blind {
        // The first size that holds everything says what all larger ones would.
        let enough = points.partition_point(|point| point.pages < distinct);
        points.truncate(enough + 1);
    }
    // A few sizes are no curve, and one that ends early says nothing of where it would bend.
    let is_whole =
        points.len() >= CORNER_SIZES && points.last().is_some_and(|last| last.pages >= distinct);
    let counted: Vec<_> = points.iter().map(|point| (point.pages, point.misses)).collect();
    let corners = if is_whole { corners(counted.iter().copied()) } else { None };
    let accesses = points.first().map_or(0, |point| point.accesses);
    let between = corners.map(|corners| of_grid(&counted, accesses, corners));
    let knee = corners.and_then(|corners| counted.iter().find(|at| at.0 == corners.knee_pages));
    let knee_misses = knee.map(|&(_, misses)| misses);
    PolicyCurve { points, corners, knee_misses, corners_between: between, ..PolicyCurve::default() }
}

/// Where the exact LRU curve bends.
pub(super) fn lru_corners(stacked: &Stacked) -> Option<CurveCorners> {
    let misses = &stacked.misses;
    let changes = misses.changes().filter(|&(pages, _)| pages > 1);
    corners_of_steps(std::iter::once((1, misses.at(1))).chain(changes))
}

/// Where a curve bends that falls at these sizes, the first of them where it begins.
pub(in crate::experiment) fn corners_of_steps(
    steps: impl Iterator<Item = (u64, u64)> + Clone,
) -> Option<CurveCorners> {
    corners_of(&MissCurve::from_steps(steps.map(|(size, left)| (Bytes(size), left))))
}

fn lru_curve(stacked: &Stacked, sizes: &[u64], by: Option<By>, names: &Names<'_>) -> PolicyCurve {
    let all = &stacked.misses;
    let point = |&pages: &u64| {
        let misses = all.at(pages);
        let requests = stacked.requests.as_ref();
        CurvePoint {
            pages,
            accesses: all.accesses,
            misses,
            requests: Some(requests.map_or(all.accesses, |requests| requests.accesses)),
            request_misses: Some(requests.map_or(misses, |requests| requests.at(pages))),
            ..CurvePoint::default()
        }
    };
    let window = |window: &super::stack::Window| CurveWindow {
        from_ns: window.from_ns,
        requests: window.requests,
        points: part(&window.part, sizes, &stacked.sizes),
        corners: part_corners(&window.part, all.distinct),
    };
    let group = |group: &Group| CurveGroup {
        name: name(group.which, by, names),
        points: part(&group.part, sizes, &stacked.sizes),
        corners: part_corners(&group.part, all.distinct),
    };
    let mut groups: Vec<CurveGroup> = stacked.groups.iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.points.first().map(|point| point.accesses)));
    let corners = lru_corners(stacked);
    PolicyCurve {
        cold_misses: Some(all.cold),
        points: sizes.iter().map(point).collect(),
        knee_misses: corners.map(|corners| all.at(corners.knee_pages)),
        corners,
        windows: stacked.windows.iter().map(window).collect(),
        groups,
        ..PolicyCurve::default()
    }
}

fn name(which: Option<u32>, by: Option<By>, names: &Names<'_>) -> String {
    let Some(which) = which else { return "all others".to_owned() };
    match by {
        Some(By::Op) => OPS.get(which as usize).map_or("?", |&(_, name)| name).to_owned(),
        Some(By::File) => match names.objects.get(which as usize) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("object {which}"),
        },
        _ => which.to_string(),
    }
}

fn part(part: &Part, sizes: &[u64], known: &[u64]) -> Vec<CurvePoint> {
    let misses = part.misses_known(sizes, known);
    let point = |(&pages, misses): (&u64, u64)| CurvePoint {
        pages,
        accesses: part.accesses(),
        misses,
        ..CurvePoint::default()
    };
    sizes.iter().zip(misses).map(point).collect()
}

fn part_corners(part: &Part, distinct: u64) -> Option<CurveCorners> {
    let sizes: Vec<u64> = edges(distinct.max(1)).collect();
    corners(sizes.iter().copied().zip(part.misses_at(&sizes)))
}

/// Where a curve bends, if any size saves something.
pub(super) fn corners(points: impl Iterator<Item = (u64, u64)>) -> Option<CurveCorners> {
    corners_of(&MissCurve::from_points(points.map(|(pages, left)| (Bytes(pages), left)).collect()))
}

fn corners_of(misses: &MissCurve) -> Option<CurveCorners> {
    misses.gains().then(|| {
        let corners = misses.corners();
        let size = |at: usize| misses.0[at].0.0;
        let (knee, ceiling) = (size(corners.knee), size(corners.ceiling));
        CurveCorners {
            floor_pages: size(corners.floor).min(knee),
            knee_pages: knee,
            ceiling_pages: ceiling.max(knee),
        }
    })
}
