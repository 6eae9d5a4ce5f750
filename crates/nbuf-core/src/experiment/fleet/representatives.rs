//! Which volumes stand for the others, so that a few traces do for a test or a trial of another cache.
//!
//! Two volumes are alike if their miss ratios are, at each share of their own distinct pages. Representatives come by
//! farthest-first traversal: the volume with the most accesses, and then always the volume that is farthest from all
//! chosen ones. With *k* of them the largest distance is at most twice the smallest possible one (T. Gonzalez,
//! *Clustering to Minimize the Maximum Intercluster Distance*, 1985). Cost: volumes times representatives.

use crate::experiment::result::{FleetRepresentative, FleetRepresentatives, FleetVolume};
use crate::meter::steps::Steps;

/// Sizes at which curves are compared: all distinct pages of the volume, a half, a quarter and so on.
const SIZES: usize = 17;
/// How far a volume may be from its representative, as a share of its accesses.
const WITHIN: f64 = 0.05;
/// More representatives than these would save no work.
const MOST: usize = 50;
/// Fewer volumes need none.
const VOLUMES_MIN: usize = 3;

/// Miss ratios of a volume at shares of its distinct pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape([f64; SIZES]);

impl Shape {
    /// The shape of a curve over this number of distinct pages.
    pub(super) fn of(distinct: u64, steps: &Steps) -> Self {
        let accesses = steps.ends().0.max(1) as f64;
        let mut pages = distinct;
        Self([(); SIZES].map(|()| {
            let misses = steps.at(pages);
            pages /= 2;
            misses as f64 / accesses
        }))
    }

    /// The largest difference of two miss ratios.
    fn distance(&self, other: &Self) -> f64 {
        self.0.iter().zip(other.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }
}

/// Chooses representatives, and names its own in each volume. Nothing where every volume would be one.
pub(super) fn representatives(
    volumes: &mut [FleetVolume],
    shapes: &[Shape],
) -> Option<FleetRepresentatives> {
    if volumes.len() < VOLUMES_MIN {
        return None;
    }
    let busiest = (0..volumes.len()).rev().max_by_key(|&at| volumes[at].accesses)?;
    let (chosen, nearest) = farthest_first(shapes, busiest);
    if chosen.len() == volumes.len() {
        return None;
    }
    let names: Vec<String> = chosen.iter().map(|&at| volumes[at].name.clone()).collect();
    let all: u64 = volumes.iter().map(|volume| volume.accesses).sum();
    let mut found: Vec<FleetRepresentative> = names
        .iter()
        .map(|name| FleetRepresentative { volume: name.clone(), ..FleetRepresentative::default() })
        .collect();
    for (at, (volume, &(distance, number))) in volumes.iter_mut().zip(&nearest).enumerate() {
        let representative = &mut found[number];
        representative.volumes += 1;
        representative.accesses_share += volume.accesses as f64 / all.max(1) as f64;
        representative.farthest = representative.farthest.max(distance);
        volume.represented_by = (chosen[number] != at).then(|| names[number].clone());
    }
    found.sort_by_key(|representative| std::cmp::Reverse(representative.volumes));
    let farthest = nearest.iter().map(|near| near.0).fold(0.0, f64::max);
    Some(FleetRepresentatives { within: WITHIN, farthest, volumes: found })
}

/// The chosen ones, and for each volume how far it is from the nearest of them, and which that is.
fn farthest_first(shapes: &[Shape], first: usize) -> (Vec<usize>, Vec<(f64, usize)>) {
    let mut nearest = vec![(f64::INFINITY, 0); shapes.len()];
    let (mut chosen, mut next) = (Vec::new(), first);
    loop {
        for (near, shape) in nearest.iter_mut().zip(shapes) {
            let distance = shape.distance(&shapes[next]);
            if distance < near.0 {
                *near = (distance, chosen.len());
            }
        }
        chosen.push(next);
        let farthest =
            (0..shapes.len()).rev().max_by(|&a, &b| nearest[a].0.total_cmp(&nearest[b].0));
        match farthest.filter(|&at| nearest[at].0 > WITHIN && chosen.len() < MOST) {
            Some(at) => next = at,
            None => return (chosen, nearest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;
    use crate::meter::steps::Hits;

    fn shapes(random: &mut Random, many: usize) -> Vec<Shape> {
        let mut ratio = || random.below(1000) as f64 / 1000.0;
        (0..many).map(|_| Shape([(); SIZES].map(|()| ratio()))).collect()
    }

    /// The largest distance to the nearest of these.
    fn radius(shapes: &[Shape], chosen: &[usize]) -> f64 {
        let nearest = |shape: &Shape| {
            chosen.iter().map(|&at| shape.distance(&shapes[at])).fold(f64::INFINITY, f64::min)
        };
        shapes.iter().map(nearest).fold(0.0, f64::max)
    }

    #[test]
    fn the_farthest_volume_is_at_most_twice_as_far_as_with_the_best_choice() {
        let mut random = Random::new(7);
        for many in [1, 2, 5, 8, 8, 8] {
            let shapes = shapes(&mut random, many);
            let (chosen, nearest) = farthest_first(&shapes, 0);
            let found = nearest.iter().map(|near| near.0).fold(0.0, f64::max);
            assert!((found - radius(&shapes, &chosen)).abs() < 1e-12);
            assert!(found <= WITHIN, "{found}");
            for many in 1..=chosen.len() {
                let subsets =
                    (0_u32..1 << shapes.len()).filter(|set| set.count_ones() as usize == many);
                let best = subsets
                    .map(|set| {
                        let of = |&at: &usize| set & 1 << at != 0;
                        let chosen: Vec<usize> = (0..shapes.len()).filter(of).collect();
                        radius(&shapes, &chosen)
                    })
                    .fold(f64::INFINITY, f64::min);
                assert!(radius(&shapes, &chosen[..many]) <= 2.0 * best, "{many}");
            }
        }
    }

    #[test]
    fn volumes_that_are_alike_share_a_representative() {
        // Three loops of other lengths have one shape; a volume without hits has another.
        let curve = |name: &str, accesses: u64, hits: &[(u64, u64)], distinct: u64| {
            let steps = Hits::from_pairs(hits.to_vec()).unwrap().steps(accesses);
            let volume = FleetVolume { name: name.to_owned(), accesses, ..FleetVolume::default() };
            (volume, Shape::of(distinct, &steps))
        };
        let (mut volumes, shapes): (Vec<_>, Vec<_>) = [
            curve("a", 100, &[(10, 90)], 10),
            curve("b", 1000, &[(64, 900)], 64),
            curve("c", 400, &[], 400),
            curve("d", 200, &[(20, 178)], 20),
        ]
        .into_iter()
        .unzip();
        let found = representatives(&mut volumes, &shapes).unwrap();
        let of = |of: &FleetRepresentative| (of.volume.clone(), of.volumes);
        let by: Vec<_> = found.volumes.iter().map(of).collect();
        assert_eq!(by, [("b".to_owned(), 3), ("c".to_owned(), 1)]);
        let by: Vec<_> = volumes.iter().map(|volume| volume.represented_by.as_deref()).collect();
        assert_eq!(by, [Some("b"), None, None, Some("b")]);
        assert!((found.farthest - 0.01).abs() < 1e-9, "{found:?}");
        assert!((found.volumes[0].accesses_share - 1300.0 / 1700.0).abs() < 1e-9, "{found:?}");
        assert!(representatives(&mut volumes[1..3], &shapes[1..3]).is_none());
    }
}
