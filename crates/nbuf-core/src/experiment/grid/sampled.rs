//! The curve of a sample, and the three sizes of it, each with a band.
//!
//! The three sizes follow from the whole of a curve, and a sample judges only a part of it. Below that
//! part the curve may fall anywhere: at once or at the last page. The band holds what follows from
//! either, for nineteen of twenty samples that might have been drawn.

use super::LRU;
use super::curves::{corners, even_sizes};
use crate::experiment::result::{
    CornersBetween, CurveCorners, CurvePoint, PolicyCurve, SampleFacts,
};
use crate::meter::bins::edges;
use crate::meter::sampled::{Estimate, SizeMisses};
use crate::units::{SizeList, SizeListError, whole};

/// Samples that might have been drawn, and how many of them lie beyond either end of a band.
const REPLICAS: u64 = 200;
const BEYOND: usize = 5;

/// The sizes of a sampled curve.
pub fn sampled_sizes(
    estimate: &Estimate,
    list: Option<&SizeList>,
    page_bytes: u64,
) -> Result<Vec<u64>, SizeListError> {
    let distinct = whole(estimate.distinct());
    match list {
        Some(list) => list.pages(page_bytes, distinct),
        None => Ok(even_sizes(distinct)),
    }
}

/// The curve of a sample: the sizes that it can judge, with their bands.
pub fn sampled_curve(
    estimate: &Estimate,
    sizes: &[u64],
    page_bytes: u64,
    facts: SampleFacts,
) -> PolicyCurve {
    let accesses = estimate.accesses();
    let misses = |hit_ratio: f64| whole(accesses as f64 * (1.0 - hit_ratio)).min(accesses);
    let point = |&pages: &u64| {
        let band = estimate.at(pages)?;
        Some(CurvePoint {
            pages,
            accesses,
            misses: misses(band.best),
            misses_low: Some(misses(band.high)),
            misses_high: Some(misses(band.low)),
            ..CurvePoint::default()
        })
    };
    let judged_from = estimate.judged_from();
    let three = judged_from.and_then(|from| three_sizes(estimate, from));
    let knee = three.and_then(|(corners, _)| estimate.at(corners.knee_pages));
    PolicyCurve {
        policy: LRU.to_owned(),
        page_bytes,
        distinct_pages: whole(estimate.distinct()),
        sample: Some(SampleFacts { judged_from_pages: judged_from, ..facts }),
        points: sizes.iter().filter_map(point).collect(),
        corners: three.map(|(corners, _)| corners),
        knee_misses: knee.map(|band| misses(band.best)),
        corners_between: three.map(|(_, between)| between),
        ..PolicyCurve::default()
    }
}

/// The three sizes and their bands; none where some sample might have seen no gain.
fn three_sizes(estimate: &Estimate, judged_from: u64) -> Option<(CurveCorners, CornersBetween)> {
    let best = corners(estimate.curve().into_iter())?;
    let mut lows: [Vec<u64>; 3] = Default::default();
    let mut highs: [Vec<u64>; 3] = Default::default();
    for number in 0..REPLICAS {
        let drawn = estimate.replica(number);
        let [at_once, at_last] = ends(&drawn, judged_from);
        let [Some(a), Some(b)] = [corners(at_once.into_iter()), corners(at_last.into_iter())]
        else {
            continue;
        };
        for (at, (a, b)) in three(a).into_iter().zip(three(b)).enumerate() {
            lows[at].push(a.min(b));
            highs[at].push(a.max(b));
        }
    }
    let gains = lows[0].len();
    if gains + BEYOND < usize::try_from(REPLICAS).unwrap_or(0) {
        return None;
    }
    lows.iter_mut().chain(&mut highs).for_each(|sizes| sizes.sort_unstable());
    // Bins tell sizes to within one of them.
    let most = whole(estimate.distinct()).max(1);
    let all: Vec<u64> = edges(most).collect();
    let after = |size: u64| all.get(all.partition_point(|&edge| edge <= size)).copied();
    let before = |size: u64| all[..all.partition_point(|&edge| edge < size)].last().copied();
    let low = |at: usize| lows[at][BEYOND];
    let high = |at: usize| highs[at][gains - 1 - BEYOND];
    let from = |size: u64| before(size).map_or(1, |edge| edge + 1);
    let to = |size: u64| after(size).map_or(size, |edge| edge - 1);
    let best = three(best);
    let holds = |[low, high]: [u64; 2], size: u64| [low.min(size), high.max(size)];
    let between = CornersBetween {
        floor_pages: holds([low(0), to(high(0))], best[0]),
        knee_pages: holds([from(low(1)), to(high(1))], best[1]),
        ceiling_pages: holds([from(low(2)), high(2)], best[2]),
    };
    let [floor_pages, knee_pages, ceiling_pages] = best;
    Some((CurveCorners { floor_pages, knee_pages, ceiling_pages }, between))
}

fn three(corners: CurveCorners) -> [u64; 3] {
    [corners.floor_pages, corners.knee_pages, corners.ceiling_pages]
}

/// A curve that falls as early as it can below the sizes that are judged, and one that falls as late.
fn ends(drawn: &[SizeMisses], judged_from: u64) -> [Vec<SizeMisses>; 2] {
    let judged = &drawn[drawn.partition_point(|&(size, _)| size < judged_from)..];
    let (Some(&one), Some(&(from, left))) = (drawn.first(), judged.first()) else {
        return [drawn.to_vec(), drawn.to_vec()];
    };
    let with = |between: SizeMisses| {
        let is_apart = between.0 > 1 && between.0 < from;
        let begin = (from > 1).then_some(one).into_iter();
        begin.chain(is_apart.then_some(between)).chain(judged.iter().copied()).collect()
    };
    [with((2, left)), with((from - 1, one.1))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::distance::Distances;
    use crate::meter::sampled::{Frequent, Sampled};

    /// Keys of which the first are asked for ever more often, and a loop over others.
    fn keys(accesses: u64) -> Vec<u64> {
        let mut state = 7_u64;
        let key = |at: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(at | 1);
            let share = (state >> 40) as f64 / f64::from(1 << 24);
            if at.is_multiple_of(4) { 100_000 + at / 4 % 9000 } else { whole(share.powi(4) * 4e4) }
        };
        (0..accesses).map(key).collect()
    }

    #[test]
    fn the_three_sizes_of_all_keys_lie_between_those_of_a_sample() {
        let keys = keys(300_000);
        let mut distances = Distances::new();
        for &key in &keys {
            distances.access(u32::try_from(key).unwrap());
        }
        let misses = distances.finish();
        let exact = (1..=misses.distinct).map(|size| (size, misses.at(size)));
        let exact = three(corners(exact).unwrap());
        let mut frequent = Frequent::new(500);
        frequent.access(&keys);
        let hot = frequent.finish();
        let (mut inside, mut narrow) = ([0; 3], 0);
        for seed in 0..60 {
            let mut sampled = Sampled::new(0.05, seed, &hot);
            sampled.access(&keys);
            let curve = sampled_curve(&sampled.finish(), &[1000], 0, SampleFacts::default());
            let judged_from = curve.sample.unwrap().judged_from_pages.unwrap();
            // What was said before: a floor of the first size that the sample judges.
            assert!(judged_from > 10 * exact[0], "{judged_from} {exact:?}");
            let between = curve.corners_between.unwrap();
            let bands = [between.floor_pages, between.knee_pages, between.ceiling_pages];
            for (at, [low, high]) in bands.into_iter().enumerate() {
                inside[at] += u32::from((low..=high).contains(&exact[at]));
            }
            narrow += u32::from(bands[2][1] < bands[2][0] * 5 / 4);
        }
        assert!(inside.iter().all(|&inside| inside >= 56), "{inside:?} of 60: {exact:?}");
        assert!(narrow > 50, "a band that holds everything says nothing: {narrow}");
    }

    #[test]
    fn what_no_size_saves_has_no_three_sizes() {
        let mut sampled = Sampled::new(0.1, 1, &[]);
        sampled.access(&(0..50_000).collect::<Vec<_>>());
        let curve = sampled_curve(&sampled.finish(), &[1000], 0, SampleFacts::default());
        assert_eq!((curve.corners, curve.corners_between), (None, None));
    }
}
