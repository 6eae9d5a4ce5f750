//! Curves that are known already: split a budget over them, or merge them.
//!
//! A curve is the points that another experiment counted; between two points the misses are those of the smaller
//! one, so that a split never hopes for more than was counted.

use serde::{Deserialize, Serialize};

use super::answers;
use super::curve::Curve;
use super::reduce::Reduced;
use super::{Ask, Error};
use crate::experiment::result::{
    CurveDocument, CurvePoint, FleetDocument, PolicyCurve, TraceSummary,
};
use crate::meter::steps::Hits;

/// Curves of one page size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Bytes of a page; 0 where keys are counted.
    pub page_bytes: u64,
    /// What the curves are of: the name of a policy.
    pub policy: String,
    /// The curves.
    pub volumes: Vec<KnownVolume>,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownVolume {
    /// Its name.
    pub name: String,
    /// Accesses.
    pub accesses: u64,
    /// Distinct pages.
    pub distinct_pages: u64,
    /// Pages and misses.
    pub points: Vec<(u64, u64)>,
    /// Whether the points are of a sample.
    pub is_estimate: bool,
}

/// How curves are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// Each has a cache of the same size: hits are added size by size.
    Average,
    /// The memory of all is split as well as can be, by hulls.
    Partitioned,
}

impl KnownVolume {
    fn curve(&self) -> Curve {
        let mut points = self.points.clone();
        points.sort_unstable();
        let (mut left, mut hits) = (self.accesses, Vec::new());
        for (pages, misses) in points {
            // A policy may miss more with more memory: then a part of it is left unused.
            if misses < left && pages > 0 {
                hits.push((pages, left - misses));
                left = misses;
            }
        }
        let hits = Hits::from_pairs(hits).unwrap_or_default();
        let (name, distinct) = (self.name.clone(), self.distinct_pages);
        let mut curve = Curve::new(name, self.accesses, distinct, &hits, None);
        curve.is_estimate = self.is_estimate;
        curve
    }
}

/// Splits the budget of the question over the curves. An error where there are none.
pub fn allocate(known: &Known, ask: &Ask) -> Result<FleetDocument, Error> {
    let mut curves: Vec<Curve> = known.volumes.iter().map(KnownVolume::curve).collect();
    if curves.is_empty() {
        return Err(Error::NoCurves);
    }
    curves.sort_by(|a, b| a.name.cmp(&b.name));
    let mut reduced = Reduced { curves, ..Reduced::default() };
    reduced.sum();
    Ok(answers::answer(&[], known.page_bytes, reduced, ask))
}

/// Merges the curves into one. An error where there are none.
pub fn merge(known: &Known, how: Merge) -> Result<CurveDocument, Error> {
    let accesses: u64 = known.volumes.iter().map(|volume| volume.accesses).sum();
    let points: Vec<(u64, u64)> = match how {
        Merge::Average => {
            let mut hits = Hits::default();
            for volume in &known.volumes {
                let steps = volume.curve().steps();
                let falls = steps.pairs().windows(2).map(|pair| (pair[1].0, pair[0].1 - pair[1].1));
                hits.add(&Hits::from_pairs(falls.collect()).unwrap_or_default());
            }
            let steps = hits.steps(accesses);
            steps.pairs().iter().copied().filter(|point| point.0 > 0).collect()
        }
        Merge::Partitioned => {
            let whole = allocate(known, &Ask::default())?.whole;
            whole.points.iter().map(|point| (point.pages, point.misses)).collect()
        }
    };
    if known.volumes.is_empty() {
        return Err(Error::NoCurves);
    }
    let point = |(pages, misses)| CurvePoint { pages, accesses, misses, ..CurvePoint::default() };
    let curve = PolicyCurve {
        policy: known.policy.clone(),
        page_bytes: known.page_bytes,
        distinct_pages: known.volumes.iter().map(|volume| volume.distinct_pages).sum(),
        points: points.into_iter().map(point).collect(),
        ..PolicyCurve::default()
    };
    let files = known.volumes.iter().map(|volume| volume.name.clone()).collect();
    Ok(CurveDocument {
        schema: CurveDocument::SCHEMA.to_owned(),
        trace: TraceSummary { files, ..TraceSummary::default() },
        curves: vec![curve],
        ..CurveDocument::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let volume = |name: &str, points: &[(u64, u64)]| KnownVolume {
            name: name.to_owned(),
            accesses: 100,
            points: points.to_vec(),
            ..KnownVolume::default()
        };
        let volumes = vec![volume("a", &[(1, 90), (4, 20), (6, 30)]), volume("b", &[(4, 50)])];
        Known { page_bytes: 1, volumes, ..Known::default() }
    }

    #[test]
    fn hits_are_added_at_equal_sizes_and_more_memory_never_harms() {
        let curve = merge(&known(), Merge::Average).unwrap();
        let points = curve.curves[0].points.iter();
        let points: Vec<_> = points.map(|point| (point.pages, point.misses)).collect();
        assert_eq!(points, [(1, 190), (4, 70)]);
        let whole = merge(&known(), Merge::Partitioned).unwrap();
        assert_eq!(
            whole.curves[0].points.last().map(|point| (point.pages, point.misses)),
            Some((8, 70))
        );
        assert!(merge(&Known::default(), Merge::Average).is_err());
    }

    #[test]
    fn a_budget_goes_where_it_saves_most() {
        let ask = Ask { budget: Some(crate::units::Bytes(5)), ..Ask::default() };
        let document = allocate(&known(), &ask).unwrap();
        let pages: Vec<_> = document.volumes.iter().map(|v| v.share.unwrap().pages).collect();
        assert_eq!(pages, [4, 1], "{document:?}");
        let split = document.split.unwrap();
        assert_eq!(split.rules[0].misses, 120);
        assert!(split.bound_misses.unwrap() <= 120.0);
    }
}
