//! From a curve to the three sizes of the 1982 paper, and to a number to paste.
//!
//! `falls` finds them on the curve; here room is added for what stands on the edge of a cliff.
//!
//! Invariant: floor <= cache <= ceiling; the limit covers every part. Cost: linear in the points.
//! Not for curves that are lower bounds (mapped files unseen): what is unseen cannot be recommended
//! for.

use super::hull::{Corners, MissCurve};
use super::reason;
use super::result::{Advice, Curve, Recommend};
use crate::trace::Memory;
use crate::units::Bytes;

/// Room above the foot of a cliff, in percent of the size.
const MARGIN_PERCENT: u64 = 2;
/// Cache that a command gets even if it can gain nothing from it.
const ROOM_MIN: Bytes = Bytes(4 << 20);
/// Smallest slack.
const SLACK_MIN: Bytes = Bytes(1 << 20);
/// The slack is the sum divided by this number.
const SLACK_PART: u64 = 50;

/// Why there is no recommendation: the curve is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecommendError {
    /// There were accesses, but no size was looked at.
    #[error("the curve of {accesses} accesses has no points: draw it first")]
    NoPoints {
        /// Accesses the curve is of.
        accesses: u64,
    },
    /// Sizes must ascend.
    #[error("the sizes of the curve do not ascend at {cache_bytes}")]
    NotAscending {
        /// The size that does not exceed the one before it.
        cache_bytes: Bytes,
    },
}

/// The three sizes and the limit. `readahead` is the window of the device: a command that gains
/// nothing from a cache still needs room for what is read ahead of it: as much as its own curve shows,
/// and at most three windows.
pub fn recommend(
    curve: &Curve,
    memory: &Memory,
    readahead: Bytes,
) -> Result<Recommend, RecommendError> {
    check(curve)?;
    let misses = MissCurve::of(curve);
    let room = (readahead + readahead + readahead).max(ROOM_MIN);
    let wanted = misses.up_to(most_wanted(&misses, curve, room));
    let sizes = if wanted.gains() {
        Sizes::of(&wanted, &misses, curve)
    } else {
        let room = misses.enough().clamp(ROOM_MIN, room);
        Sizes {
            kind: Advice::NothingToGain,
            floor: room,
            cache: room,
            ceiling: room,
            reason: reason::nothing(&misses, curve),
        }
    };
    let (limit, slack) = limit_at(sizes.cache, memory);
    Ok(Recommend {
        kind: sizes.kind,
        limit_bytes: limit,
        cache_bytes: sizes.cache,
        knee_bytes: sizes.cache,
        floor_bytes: sizes.floor,
        ceiling_bytes: sizes.ceiling,
        slack_bytes: slack,
        spread_bytes: Bytes(0),
        reason: sizes.reason,
    })
}

/// Returns the limit with room for this cache and this memory, and the slack in it.
pub(super) fn limit_at(cache: Bytes, memory: &Memory) -> (Bytes, Bytes) {
    let sum = cache + memory.other_bytes();
    let slack = Bytes(sum.0.div_ceil(SLACK_PART)).max(SLACK_MIN);
    (whole_mebibytes(sum + slack), slack)
}

/// A size with room above it, in case it is the foot of a cliff; no more than the largest: a size
/// that holds everything has no cliff above it to stay clear of.
pub(super) fn with_margin(size: Bytes, largest: Bytes) -> Bytes {
    let margin = Bytes(size.0.div_ceil(100).saturating_mul(MARGIN_PERCENT));
    (size + margin).pages_up().bytes().min(largest)
}

fn check(curve: &Curve) -> Result<(), RecommendError> {
    let accesses = curve.accesses;
    if curve.points.is_empty() && accesses > 0 {
        return Err(RecommendError::NoPoints { accesses });
    }
    let mut pairs = curve.points.windows(2);
    match pairs.find(|pair| pair[0].cache_bytes >= pair[1].cache_bytes) {
        Some(pair) => Err(RecommendError::NotAscending { cache_bytes: pair[1].cache_bytes }),
        None => Ok(()),
    }
}

/// Returns the most fills that count as saved by keeping pages. It is the larger of two numbers:
/// the fills with room for the windows of readahead, and the misses with room for next to nothing.
/// A cache smaller than the windows fills more, because it loses pages unused. A few MiB save all
/// of that; compared with this saving, no other size would seem worth its memory.
fn most_wanted(misses: &MissCurve, curve: &Curve, room: Bytes) -> u64 {
    let roomy = misses.0.iter().find(|&&(size, _)| size >= room);
    let filled = roomy.map_or(misses.least(), |&(_, fills)| fills);
    filled.max(curve.points.first().map_or(0, |point| point.lru_misses))
}

fn whole_mebibytes(amount: Bytes) -> Bytes {
    Bytes(amount.0.div_ceil(1 << 20).saturating_mul(1 << 20))
}

struct Sizes {
    kind: Advice,
    floor: Bytes,
    cache: Bytes,
    ceiling: Bytes,
    reason: String,
}

impl Sizes {
    /// The three sizes of a curve that gains by what is `wanted` again.
    fn of(wanted: &MissCurve, misses: &MissCurve, curve: &Curve) -> Self {
        let Corners { floor, knee, ceiling: top } = wanted.corners();
        let size = |at: usize| misses.0[at].0;
        let cache = with_margin(size(knee), size(misses.0.len() - 1));
        let ceiling = size(top).max(cache);
        Self {
            kind: Advice::Knee,
            floor: size(floor).min(cache),
            cache,
            ceiling,
            reason: reason::knee(misses, curve, knee, cache, (knee < top).then_some(ceiling)),
        }
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "as expect-test writes them")]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::experiment::result::Point;
    use crate::units::whole;

    const MIB: u64 = 1 << 20;

    /// A curve with this many fills at each size in pages, of a command that reuses what it reads.
    fn curve(touched: u64, points: &[(u64, u64)]) -> Curve {
        let point = |&(pages, fills): &(u64, u64)| Point {
            cache_bytes: Bytes(pages * 4096),
            lru_misses: fills,
            lru_fills: fills * 99 / 100,
            active_inactive_fills: fills,
            interpolated: false,
        };
        Curve {
            points: points.iter().map(point).collect(),
            footprint_bytes: Bytes(touched * 4096),
            accesses: points.first().map_or(0, |point| point.1),
        }
    }

    /// 32 sizes up to `pages` in equal ratios, and those around the `cliffs`.
    fn sampled(pages: u64, cliffs: &[u64], fills: impl Fn(f64) -> f64) -> Curve {
        let ratio = |n: f64| (pages as f64).powf(n / 31.0);
        let mut sizes: Vec<_> = (0..31).map(|n| whole(ratio(f64::from(n)))).collect();
        sizes.push(pages);
        for cliff in cliffs {
            sizes.extend([cliff - cliff / 50, cliff - cliff / 100, cliff - 1, *cliff]);
        }
        sizes.sort_unstable();
        sizes.dedup();
        let points: Vec<_> = sizes.iter().map(|&size| (size, whole(fills(size as f64)))).collect();
        curve(pages, &points)
    }

    const MEMORY: Memory = Memory {
        anonymous_bytes: Bytes(10 * MIB),
        shmem_bytes: Bytes(0),
        kernel_bytes: Bytes(2 * MIB),
        page_cache_bytes: Bytes(0),
        shared_text_bytes: Bytes(MIB / 2),
    };

    fn check(curve: &Curve, want: &Expect) {
        let advice = recommend(curve, &MEMORY, Bytes(128 << 10)).unwrap();
        let Recommend {
            kind,
            limit_bytes: limit,
            cache_bytes: cache,
            knee_bytes: _,
            floor_bytes: floor,
            ceiling_bytes: ceiling,
            slack_bytes: slack,
            spread_bytes: _,
            reason,
        } = advice;
        want.assert_eq(&format!(
            "{kind:?}: {floor} .. {cache} .. {ceiling}, slack {slack}, limit {limit}\n{reason}\n"
        ));
    }

    #[test]
    fn one_loop_has_its_knee_just_past_the_cliff() {
        // 16,896 pages are 66 MiB, read twenty times.
        let fills = |size| {
            if size < 16_896.0 { 20.0 * 16_896.0 } else { 16_896.0 }
        };
        check(
            &sampled(16_896, &[16_896], fills),
            &expect![[r#"
                Knee: 66.0 MiB .. 66.0 MiB .. 66.0 MiB, slack 1.57 MiB, limit 81.0 MiB
                from 66.0 MiB on, every page is read once; at 48.2 MiB it is read 20.0 times
            "#]],
        );
        // The same with as much again that is read once.
        let fills = |size| {
            if size < 16_896.0 { 21.0 * 16_896.0 } else { 2.0 * 16_896.0 }
        };
        check(
            &sampled(2 * 16_896, &[16_896], fills),
            &expect![[r#"
                Knee: 66.0 MiB .. 67.3 MiB .. 67.3 MiB, slack 1.60 MiB, limit 82.0 MiB
                from 67.3 MiB on, every page is read once; at 48.1 MiB it is read 10.5 times
            "#]],
        );
    }

    #[test]
    fn what_readahead_loses_in_a_small_cache_is_not_saved_by_a_larger_one() {
        // 100 MiB read twice; below 3 MiB pages are lost before they are read.
        let fills = |size: f64| match size {
            lost if lost < 768.0 => 150_000.0,
            small if small < 25_600.0 => 51_200.0,
            _ => 25_600.0,
        };
        let mut twice = sampled(25_600, &[768, 25_600], fills);
        for point in &mut twice.points {
            point.lru_misses = point.lru_misses.min(51_200);
        }
        check(
            &twice,
            &expect![[r#"
                Knee: 100 MiB .. 100 MiB .. 100 MiB, slack 2.25 MiB, limit 115 MiB
                from 100 MiB on, every page is read once; at 72.1 MiB it is read 2.0 times
            "#]],
        );
    }

    #[test]
    fn a_cliff_with_a_slope_is_followed_to_its_foot() {
        // The active and inactive lists lose the loop little by little, from 60 to 66 MiB.
        let fills = |size: f64| 16_896.0 * (1.0 + ((16_896.0 - size) / 1536.0).clamp(0.0, 1.0));
        let cliffs: Vec<_> = (0..=8).map(|n| 15_360 + n * 192).collect();
        check(
            &sampled(20_000, &cliffs, fills),
            &expect![[r#"
                Knee: 60.3 MiB .. 67.3 MiB .. 67.3 MiB, slack 1.60 MiB, limit 82.0 MiB
                from 67.3 MiB on, no more is read than with unlimited memory; at 60.3 MiB 1.95 times as much
            "#]],
        );
    }

    #[test]
    fn a_staircase_is_climbed_as_far_as_it_pays() {
        let stairs = |first: f64, second: f64| {
            move |size: f64| {
                let first = if size < 4_000.0 { first } else { 0.0 };
                let second = if size < 40_000.0 { second } else { 0.0 };
                40_000.0 + first + second
            }
        };
        // Both cliffs pay; the second does not; the first alone does not.
        check(
            &sampled(40_000, &[4_000, 40_000], stairs(4e5, 4e5)),
            &expect![[r#"
                Knee: 15.6 MiB .. 156 MiB .. 156 MiB, slack 3.38 MiB, limit 173 MiB
                from 156 MiB on, every page is read once; at 111 MiB it is read 11.0 times
            "#]],
        );
        check(
            &sampled(40_000, &[4_000, 40_000], stairs(8e5, 8e4)),
            &expect![[r#"
                Knee: 15.6 MiB .. 15.9 MiB .. 156 MiB, slack 1.00 MiB, limit 30.0 MiB
                at 15.9 MiB every page is read 3.0 times on average; at 14.3 MiB 23.0 times, and only from 156 MiB on once
            "#]],
        );
        check(
            &sampled(40_000, &[4_000, 40_000], stairs(2e4, 9e5)),
            &expect![[r#"
                Knee: 156 MiB .. 156 MiB .. 156 MiB, slack 3.38 MiB, limit 173 MiB
                from 156 MiB on, every page is read once; at 111 MiB it is read 23.5 times
            "#]],
        );
    }

    #[test]
    fn a_smooth_curve_is_left_where_it_flattens() {
        // Zipf with exponent 1 over 100,000 pages and two million accesses.
        let fills = |size: f64| 1e5 + 1.9e6 * (1.0 - size.ln() / 1e5_f64.ln());
        check(
            &sampled(100_000, &[], fills),
            &expect![[r#"
                Knee: 4.00 KiB .. 131 MiB .. 391 MiB, slack 2.87 MiB, limit 147 MiB
                at 131 MiB every page is read 2.8 times on average; at 88.4 MiB 3.5 times, and only from 391 MiB on once
            "#]],
        );
    }

    #[test]
    fn the_s_curve_of_1982() {
        // Hits measured then: 256 sectors 30 %, 512 65 to 75 %, 768 no better. One page a sector.
        let points = [(64, 990), (128, 960), (256, 700), (512, 300), (768, 300)];
        check(
            &curve(300, &points),
            &expect![[r#"
            Knee: 512 KiB .. 2.04 MiB .. 2.04 MiB, slack 1.00 MiB, limit 16.0 MiB
            from 2.04 MiB on, every page is read once; at 1.00 MiB it is read 2.3 times
        "#]],
        );
        let logistic = |size: f64| 300.0 + 700.0 / (1.0 + ((size - 290.0) / 35.0).exp());
        check(
            &sampled(768, &[400, 500, 600], logistic),
            &expect![[r#"
                Knee: 684 KiB .. 1.61 MiB .. 1.91 MiB, slack 1.00 MiB, limit 16.0 MiB
                at 1.61 MiB 1.09 times as much is read as with unlimited memory; at 1.27 MiB 1.61 times, and only from 1.91 MiB on no more
            "#]],
        );
    }

    #[test]
    fn where_there_is_nothing_to_gain() {
        let once = |_| 10_000.0;
        check(
            &sampled(10_000, &[], once),
            &expect![[r#"
                NothingToGain: 4.00 MiB .. 4.00 MiB .. 4.00 MiB, slack 1.00 MiB, limit 18.0 MiB
                cache buys nothing: every page is read once, with 4.00 KiB of it as with 39.1 MiB
            "#]],
        );
        check(
            &curve(0, &[]),
            &expect![[r#"
                NothingToGain: 4.00 MiB .. 4.00 MiB .. 4.00 MiB, slack 1.00 MiB, limit 18.0 MiB
                cache buys nothing: no file was read
            "#]],
        );
        check(
            &curve(1, &[(1, 1)]),
            &expect![[r#"
                NothingToGain: 4.00 MiB .. 4.00 MiB .. 4.00 MiB, slack 1.00 MiB, limit 18.0 MiB
                cache buys nothing: every page is read once
            "#]],
        );
        check(
            &curve(5, &[(1, 0), (5, 0)]),
            &expect![[r#"
                NothingToGain: 4.00 MiB .. 4.00 MiB .. 4.00 MiB, slack 1.00 MiB, limit 18.0 MiB
                cache buys nothing: no page had to be read
            "#]],
        );
        // Read once, and a cache too small for the window loses what was read ahead.
        let mut lost = sampled(10_000, &[], |size| if size < 64.0 { 90_000.0 } else { 10_000.0 });
        for point in &mut lost.points {
            point.lru_misses = 10_000;
        }
        check(
            &lost,
            &expect![[r#"
                NothingToGain: 4.00 MiB .. 4.00 MiB .. 4.00 MiB, slack 1.00 MiB, limit 18.0 MiB
                cache buys nothing: every page is wanted once, and a small cache only loses what is read ahead
            "#]],
        );
        // Truncated and written again: more is read than there ever is.
        check(
            &curve(100, &[(50, 5000), (100, 5000)]),
            &expect![[r#"
                NothingToGain: 4.00 MiB .. 4.00 MiB .. 4.00 MiB, slack 1.00 MiB, limit 18.0 MiB
                cache buys nothing: 5,000 pages are read with 200 KiB of it, 5,000 with 400 KiB
            "#]],
        );
    }

    #[test]
    fn a_curve_that_rises_again_promises_only_what_no_larger_size_breaks() {
        let points = [(100, 9000), (200, 1000), (300, 4000), (400, 1000), (500, 1000)];
        check(
            &curve(1000, &points),
            &expect![[r#"
                Knee: 400 KiB .. 1.59 MiB .. 1.59 MiB, slack 1.00 MiB, limit 16.0 MiB
                from 1.59 MiB on, every page is read once; at 1.17 MiB it is read 4.0 times
            "#]],
        );
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        let mut wrong = curve(5, &[(1, 9), (5, 5)]);
        wrong.points.swap(0, 1);
        let refused = recommend(&wrong, &MEMORY, Bytes(0)).unwrap_err();
        assert_eq!(refused.to_string(), "the sizes of the curve do not ascend at 4.00 KiB");
        wrong.points.clear();
        let refused = recommend(&wrong, &MEMORY, Bytes(0)).unwrap_err();
        assert_eq!(refused.to_string(), "the curve of 9 accesses has no points: draw it first");
    }

    fn any_curve() -> impl Strategy<Value = Curve> {
        let number = prop_oneof![0..100_u64, 0..1_000_000_u64, any::<u64>()];
        let point = (number.clone(), number.clone(), number, any::<bool>());
        prop::collection::vec(point, 1..40).prop_map(|mut points| {
            points.sort_unstable_by_key(|point| point.0);
            points.dedup_by_key(|point| point.0);
            let point = |&(size, lru, lists, interpolated): &(u64, u64, u64, bool)| Point {
                cache_bytes: Bytes(size),
                lru_misses: lru,
                lru_fills: lru,
                active_inactive_fills: lists,
                interpolated,
            };
            let mut curve = curve(100, &[(1, 1)]);
            curve.points = points.iter().map(point).collect();
            curve
        })
    }

    proptest! {
        #[test]
        fn sizes_are_in_order_and_the_limit_covers_the_parts(
            curve in any_curve(), anonymous in 0..1_u64 << 40, shmem in 0..1_u64 << 30,
            more in 0..1_u64 << 30, readahead in 0..1_u64 << 26,
        ) {
            let memory = Memory {
                anonymous_bytes: Bytes(anonymous),
                shmem_bytes: Bytes(shmem),
                ..MEMORY
            };
            let advice = recommend(&curve, &memory, Bytes(readahead)).unwrap();
            prop_assert!(advice.floor_bytes <= advice.cache_bytes);
            prop_assert!(advice.cache_bytes <= advice.ceiling_bytes);
            let parts = advice.cache_bytes
                + memory.anonymous_bytes
                + memory.shmem_bytes
                + memory.kernel_bytes
                + advice.slack_bytes;
            prop_assert!(advice.limit_bytes >= parts || advice.limit_bytes.0 > u64::MAX - MIB);
            prop_assert!(advice.slack_bytes >= Bytes(MIB));
            prop_assert!(!advice.reason.is_empty());

            let larger = Memory { anonymous_bytes: Bytes(anonymous + more), ..memory };
            let again = recommend(&curve, &larger, Bytes(readahead)).unwrap();
            prop_assert!(again.limit_bytes >= advice.limit_bytes);
            prop_assert_eq!(again.cache_bytes, advice.cache_bytes);
        }
    }
}
