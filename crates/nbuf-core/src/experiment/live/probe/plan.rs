//! The limits of a probe: from the largest size of the curve to the recommended one.

use super::super::super::result::{LiveDocument, LivePoint};
use crate::units::{Bytes, PAGE_BYTES};

/// Limits at most.
const STEPS_MAX: usize = 4;

/// A limit to try, and what the curve has at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) limit: Bytes,
    pub(super) point: LivePoint,
}

/// The steps below the limit of now, in falling order: the ceiling first, and the recommendation last.
pub(super) fn steps(live: &LiveDocument, now: Option<Bytes>) -> Vec<Step> {
    let (Some(answer), Some(ceiling)) = (&live.answer, live.points.last()) else {
        return Vec::new();
    };
    let (low, high) = (answer.cache_bytes.0, ceiling.cache_bytes.0);
    let between = STEPS_MAX as u64 - 1;
    let mut chosen: Vec<LivePoint> = Vec::new();
    for at in (0..=between).rev() {
        let wanted = low + high.saturating_sub(low) / between * at;
        let found = match at {
            0 => Some(answer),
            _ if at == between => Some(ceiling),
            _ => live.points.iter().find(|point| point.cache_bytes.0 >= wanted),
        };
        if let Some(&point) = found
            && chosen.last().is_none_or(|last| last.cache_bytes > point.cache_bytes)
        {
            chosen.push(point);
        }
    }
    let steps = chosen.into_iter().map(|point| Step { limit: limit(&point), point });
    let mut steps: Vec<Step> =
        steps.filter(|step| now.is_none_or(|now| step.limit < now)).collect();
    // Points of one MiB have one limit: the last, which is the answer's, stays.
    steps.reverse();
    steps.dedup_by_key(|step| step.limit);
    steps.reverse();
    steps
}

/// The limit of a point in whole MiB, as the report has it.
fn limit(point: &LivePoint) -> Bytes {
    Bytes(point.limit_bytes.0.div_ceil(1 << 20).max(1) << 20)
}

/// The least limit that leaves room for memory that cannot be taken: a tenth more, and 256 pages.
pub(super) fn floor(other: Bytes) -> Bytes {
    Bytes(other.0 + other.0 / 10 + 256 * PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn document(sizes: &[u64], answer: usize) -> LiveDocument {
        let point = |&mib: &u64| LivePoint {
            cache_bytes: Bytes(mib << 20),
            limit_bytes: Bytes((mib << 20) + (5 << 20) + 1),
            ..LivePoint::default()
        };
        let points: Vec<LivePoint> = sizes.iter().map(point).collect();
        LiveDocument { answer: points.get(answer).copied(), points, ..LiveDocument::default() }
    }

    fn mib(steps: &[Step]) -> Vec<u64> {
        steps.iter().map(|step| step.limit.0 >> 20).collect()
    }

    #[test]
    fn the_ceiling_comes_first_and_the_recommendation_last() {
        let live = document(&[1, 2, 4, 8, 16, 32, 64], 2);
        assert_eq!(mib(&steps(&live, None)), [70, 38, 10]);
        assert_eq!(mib(&steps(&live, Some(Bytes(38 << 20)))), [10]);
        assert_eq!(mib(&steps(&document(&[1, 2], 1), None)), [8]);
        assert!(steps(&document(&[1, 2], 2), None).is_empty());
        let mut close = document(&[1, 2, 3], 0);
        for (at, point) in close.points.iter_mut().enumerate() {
            point.limit_bytes = Bytes((7 << 20) - 4096 * at as u64);
        }
        close.answer = Some(close.points[0]);
        let got = steps(&close, None);
        assert_eq!((mib(&got), got[0].point.cache_bytes), (vec![7], Bytes(1 << 20)));
        assert!(steps(&LiveDocument::default(), None).is_empty());
    }

    proptest! {
        #[test]
        fn steps_fall_and_end_at_the_answer(
            sizes in proptest::collection::btree_set(1u64..5000, 1..30),
            answer in 0usize..30,
            now in proptest::option::of(1u64..6000),
        ) {
            let sizes: Vec<u64> = sizes.into_iter().collect();
            let live = document(&sizes, answer.min(sizes.len() - 1));
            let now = now.map(|mib| Bytes(mib << 20));
            let got = steps(&live, now);
            prop_assert!(got.len() <= STEPS_MAX);
            prop_assert!(got.windows(2).all(|pair| pair[0].limit > pair[1].limit));
            prop_assert!(got.iter().all(|step| now.is_none_or(|now| step.limit < now)));
            prop_assert!(got.iter().all(|step| step.limit >= step.point.limit_bytes));
            let answer = limit(&live.answer.unwrap());
            let wanted = now.is_none_or(|now| answer < now).then_some(answer);
            prop_assert_eq!(got.last().map(|step| step.limit), wanted);
        }
    }
}
