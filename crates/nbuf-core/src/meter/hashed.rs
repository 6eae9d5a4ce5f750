//! LRU of a trace that is too large for one machine, by the hash of its pages: all parts of them.
//!
//! A part has the accesses whose page falls into it. A depth `d` there stands for `P * d` in the whole, so the
//! sum of all parts is the exact curve of an LRU cache in `P` shards, and an estimate for one LRU cache. No
//! access is lost: this is not sampling. A true depth `D` appears as `P * Binomial(D, 1/P)`, with a standard
//! deviation of `sqrt(D (P - 1))`.
//! Invariant: parts add up in any order. Below [`FIRST_OF_PART`] pages a part the shards are too small to say
//! anything: those sizes come from a segment with a limit, which is exact.
//! Source: C. Waldspurger and others, *Efficient MRC Construction with SHARDS*, 2015, for the scaled axis.

use super::steps::Steps;

/// Pages of each part from which the parts are used.
const FIRST_OF_PART: u64 = 20;

/// Half the width of the band, in standard deviations of a depth. With two, one part in forty of a cliff would
/// be outside.
const BAND_DEVIATIONS: f64 = 3.0;

/// The part of a page: the finaliser of splitmix64, modulo the number of parts.
pub(crate) fn part_of(page: u64, parts: u32) -> u32 {
    let mut hash = page.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let part = (hash ^ (hash >> 31)) % u64::from(parts.max(1));
    u32::try_from(part).expect("less than a number of 32 bits")
}

/// The size from which the parts are used; below it, sizes are exact.
pub(crate) fn first_size(parts: u32) -> u64 {
    FIRST_OF_PART * u64::from(parts)
}

/// The sizes whose misses bound those at `pages`: `c - 3 sqrt(c P)` and `c + 3 sqrt(c P)`.
pub(crate) fn band(pages: u64, parts: u32) -> (u64, u64) {
    let half = crate::units::whole(BAND_DEVIATIONS * (pages as f64 * f64::from(parts)).sqrt());
    (pages.saturating_sub(half), pages.saturating_add(half))
}

/// The lowest and the highest misses of the band at a size, of the sum of all parts on the scaled axis.
pub(crate) fn misses_band(scaled: &Steps, pages: u64, parts: u32) -> (u64, u64) {
    let (smaller, larger) = band(pages, parts);
    (scaled.at(larger), scaled.at(smaller))
}

#[cfg(test)]
mod tests {
    use super::super::segment::tests::{one_pass, segment};
    use super::super::segment::{NO_LIMIT, Segment};
    use super::super::steps::Hits;
    use super::*;
    use crate::workload::synthetic::{Keys, Pattern};

    fn check(pages: &[u64], parts: u32) {
        let mut sum = Hits::default();
        for part in 0..parts {
            let own: Vec<u64> =
                pages.iter().copied().filter(|&page| part_of(page, parts) == part).collect();
            sum.add(&segment(&own, NO_LIMIT).hits);
        }
        let scaled = sum.steps(pages.len() as u64).scaled(parts.into());
        let first = first_size(parts);
        let limit = u32::try_from(first).unwrap();
        let blocks = pages.chunks(500).map(|block| segment(block, limit)).collect();
        let head = Segment::merge_all(blocks, limit);
        let curve = scaled.with_head(&head.hits.steps(head.accesses), first);
        let exact = one_pass(pages);
        assert_eq!(curve.at(u64::MAX), exact.cold);
        for size in (0..first).step_by(7) {
            assert_eq!(curve.at(size), exact.at(size), "{size} of {parts}");
        }
        let mut size = first;
        while size < exact.distinct * 2 {
            let (low, high) = misses_band(&scaled, size, parts);
            let want = exact.at(size);
            assert!((low..=high).contains(&want), "{size}: {want} in {low}..{high} of {parts}");
            size += size / 9 + 1;
        }
    }

    #[test]
    fn the_exact_curve_is_in_the_band() {
        for (seed, alpha) in [(1, 0.7), (2, 0.9), (3, 1.2)] {
            let zipf = |seed| Keys::new(Pattern::Zipf { alpha }, 6_000, seed).take(40_000);
            let pages: Vec<u64> = zipf(seed).collect();
            let cliffs: Vec<u64> = zipf(seed + 9)
                .zip(Keys::new(Pattern::Loop, 2_000, 0))
                .enumerate()
                .map(|(at, (zipf, lap))| if at / 10_000 % 2 == 0 { zipf } else { lap + 50_000 })
                .collect();
            for parts in [2, 16, 64] {
                check(&pages, parts);
                check(&cliffs, parts);
            }
        }
    }

    #[test]
    fn every_page_has_one_part_and_parts_are_alike() {
        let mut counts = [0_u32; 16];
        (0..16_000).for_each(|page| counts[part_of(page, 16) as usize] += 1);
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!((part_of(7, 1), part_of(7, 0)), (0, 0));
        // The numbers are written in plans: they never change.
        assert_eq!([0, 1, 2, 3].map(|page| part_of(page, 1000)), [535, 465, 110, 53]);
    }
}
