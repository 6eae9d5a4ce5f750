//! The curves that can be compared: those of one page size.

use nbuf::experiment::result::{CurveDocument, CurvePoint, PolicyCurve};

use super::super::text::clean;
use super::words::{Unit, percent};

/// The policy that has a curve at every size, and is the yardstick.
const LRU: &str = "lru";
/// The optimum, which no system can use, because it needs the future.
const OPT: &str = "opt";

/// Curves of one page size, the optimum last.
pub(super) struct Family<'a> {
    pub(super) unit: Unit,
    pub(super) curves: Vec<&'a PolicyCurve>,
}

/// A family for each page size, in the order of the document.
pub(super) fn families(document: &CurveDocument) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for curve in &document.curves {
        let is_objects = curve.objects.is_some();
        let unit = Unit { page_bytes: curve.page_bytes, is_objects };
        match families.iter_mut().find(|family| family.unit == unit) {
            Some(family) => family.curves.push(curve),
            None => families.push(Family { unit, curves: vec![curve] }),
        }
    }
    for family in &mut families {
        family.curves.sort_by_key(|curve| is_opt(curve));
    }
    families
}

/// Whether this is the bound that no policy can reach.
pub(super) fn is_opt(curve: &PolicyCurve) -> bool {
    let name = curve.policy.split_once(':').map_or(&*curve.policy, |(name, _)| name);
    name.eq_ignore_ascii_case(OPT)
}

/// Whether the floor is only the end of what was looked at: LRU over objects is counted at all sizes from the
/// largest object up, and the true floor may be below.
pub(crate) fn is_floor_at_most(curve: &PolicyCurve) -> bool {
    let from = curve.objects.as_ref().and_then(|objects| objects.exact_from_bytes);
    curve.corners.zip(from).is_some_and(|(corners, from)| corners.floor_pages < from)
}

/// The name of a policy as it is asked for.
pub(super) fn policy_name(curve: &PolicyCurve) -> String {
    clean(&curve.policy)
}

/// The same in a sentence: `LRU` is an abbreviation, the others are words.
pub(super) fn spoken_name(curve: &PolicyCurve) -> String {
    if curve.policy == LRU { "LRU".into() } else { policy_name(curve) }
}

impl<'a> Family<'a> {
    /// The curve that the others are compared with: LRU, or else the first.
    pub(super) fn main(&self) -> &'a PolicyCurve {
        let lru = self.curves.iter().find(|curve| curve.policy == LRU);
        lru.unwrap_or(&self.curves[0])
    }

    /// Every size of any curve, ascending.
    pub(super) fn sizes(&self) -> Vec<u64> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let mut sizes: Vec<u64> = points.map(|point| point.pages).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The curves that a system can have, which leaves out the optimum.
    pub(super) fn real(&self) -> impl Iterator<Item = &'a PolicyCurve> + '_ {
        self.curves.iter().copied().filter(|curve| !is_opt(curve))
    }

    /// The size at which policies are compared: the knee of the main curve, or where all hit the same
    /// there, the next smaller at which they do not. Nothing where there is no knee.
    pub(super) fn contest(&self) -> Option<u64> {
        let main = self.main();
        main.corners?;
        let knee = knee_size(main)?;
        let smaller = main.points.iter().rev().map(|point| point.pages);
        let mut smaller = smaller.filter(|&pages| pages <= knee);
        Some(smaller.find(|&pages| self.best_at(pages).is_some()).unwrap_or(knee))
    }

    /// The curves to look at where there is room for `most`: the main one, the optimum, and the best
    /// of the others, on the whole of what all have in common.
    pub(super) fn choice(&self, most: usize) -> Vec<&'a PolicyCurve> {
        if self.curves.len() <= most {
            return self.curves.clone();
        }
        let kept = self.curves.iter().filter(|curve| self.is_kept(curve)).count();
        let mut others = self.ranked();
        others.truncate(most.saturating_sub(kept));
        self.among(&others)
    }

    /// The same for a picture of the choice: the best and the worst where a system can have more
    /// than `most`.
    pub(super) fn loud(&self, most: usize) -> Vec<&'a PolicyCurve> {
        let others = self.ranked();
        match others.as_slice() {
            [best, .., worst] if self.real().count() > most => self.among(&[*best, *worst]),
            _ => self.curves.clone(),
        }
    }

    /// Whether a curve is in every picture.
    fn is_kept(&self, curve: &PolicyCurve) -> bool {
        std::ptr::eq(curve, self.main()) || is_opt(curve)
    }

    /// The other curves, the best first.
    fn ranked(&self) -> Vec<&'a PolicyCurve> {
        let everywhere = |pages: &u64| self.curves.iter().all(|c| at(&c.points, *pages).is_some());
        let sizes: Vec<u64> = self.sizes().into_iter().filter(everywhere).collect();
        let hits = |curve: &PolicyCurve| -> f64 {
            let points = sizes.iter().filter_map(|&pages| at(&curve.points, pages));
            points.map(CurvePoint::hit_ratio).sum()
        };
        let curves = self.curves.iter().copied();
        let mut others: Vec<_> = curves.filter(|curve| !self.is_kept(curve)).collect();
        others.sort_by(|a, b| hits(b).total_cmp(&hits(a)));
        others
    }

    /// These and those of every picture, in their order.
    fn among(&self, others: &[&PolicyCurve]) -> Vec<&'a PolicyCurve> {
        let is_one = |curve: &PolicyCurve| others.iter().any(|other| std::ptr::eq(*other, curve));
        let curves = self.curves.iter().copied();
        curves.filter(|curve| self.is_kept(curve) || is_one(curve)).collect()
    }

    /// What to mark at a size, as it is written: the most hits, if not all have the same.
    pub(super) fn best_at(&self, pages: u64) -> Option<String> {
        let at_size = self.real().filter_map(|curve| at(&curve.points, pages));
        let mut hits: Vec<f64> = at_size.map(CurvePoint::hit_ratio).collect();
        hits.sort_by(f64::total_cmp);
        let (worst, best) = (percent(*hits.first()?), percent(*hits.last()?));
        (worst != best).then_some(best)
    }
}

/// The point at exactly this size.
pub(super) fn at(points: &[CurvePoint], pages: u64) -> Option<&CurvePoint> {
    points.binary_search_by_key(&pages, |point| point.pages).ok().map(|at| &points[at])
}

/// The point whose size is nearest to this one, as a ratio.
pub(super) fn nearest(points: &[CurvePoint], pages: u64) -> Option<&CurvePoint> {
    let far = |point: &&CurvePoint| (point.pages.max(1) as f64 / pages.max(1) as f64).ln().abs();
    points.iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

/// The name of a corner, its size, and the sizes that it is between.
pub(super) type Corner = (&'static str, u64, Option<[u64; 2]>);

/// The floor, the knee and the ceiling of a curve.
pub(super) fn corners(curve: &PolicyCurve) -> Option<[Corner; 3]> {
    let (corners, between) = (curve.corners?, curve.corners_between);
    Some([
        ("floor", corners.floor_pages, between.map(|between| between.floor_pages)),
        ("knee", corners.knee_pages, between.map(|between| between.knee_pages)),
        ("ceiling", corners.ceiling_pages, between.map(|between| between.ceiling_pages)),
    ])
}

/// Three sizes of a curve worth showing: those nearest to its corners, or from all over it.
pub(super) fn three_sizes(curve: &PolicyCurve) -> Vec<u64> {
    let points = &curve.points;
    let shown: Vec<&CurvePoint> = match corners(curve) {
        Some(all) => all.iter().filter_map(|&(_, pages, _)| nearest(points, pages)).collect(),
        None => [0, points.len() / 2, points.len().saturating_sub(1)]
            .iter()
            .filter_map(|&at| points.get(at))
            .collect(),
    };
    let mut sizes: Vec<u64> = shown.iter().map(|point| point.pages).collect();
    sizes.dedup();
    sizes
}

/// The size of the knee that is shown in a table: the nearest that was counted.
pub(super) fn knee_size(curve: &PolicyCurve) -> Option<u64> {
    let middle = || curve.points.get(curve.points.len() / 2).map(|point| point.pages);
    let knee = curve.corners.and_then(|corners| nearest(&curve.points, corners.knee_pages));
    knee.map(|point| point.pages).or_else(middle)
}

/// The share of hits at either edge of the band, or the share itself where it is exact.
pub(super) fn edges(point: &CurvePoint) -> (f64, f64) {
    let hits = |misses: Option<u64>| {
        CurvePoint { misses: misses.unwrap_or(point.misses), ..*point }.hit_ratio()
    };
    (hits(point.misses_high), hits(point.misses_low))
}

/// What the edges are of: a sample, or the optimum over objects, which is not known exactly.
pub(super) fn band_name(curve: &PolicyCurve) -> &'static str {
    if curve.sample.is_some() { "95 % band" } else { "bounds" }
}

/// `44.9..46.2`: the edges in percent, of a point that has some.
pub(super) fn band(point: &CurvePoint) -> Option<String> {
    let (low, high) = edges(point);
    point.misses_low.or(point.misses_high)?;
    Some(format!("{}..{}", percent(low), percent(high)))
}

/// Whether the hits of requests are worth a column next to the hits of pages.
pub(super) fn requests_differ(point: &CurvePoint) -> bool {
    let requests = point.request_hit_ratio();
    requests.is_some_and(|requests| percent(requests) != percent(point.hit_ratio()))
}
