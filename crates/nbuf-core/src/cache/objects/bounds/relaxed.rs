//! Hits that no cache can exceed: kept bytes are bounded over all time together, not at each moment.
//!
//! The bytes that a cache can keep at a moment are its size, or those of all intervals there, if these are fewer. The sum
//! over all moments is what intervals may take in all. Those that take least for a hit come first, and the last one counts
//! for the part that fits: so no choice of whole intervals has more. Invariant: intervals larger than the cache count
//! nothing.

use std::cmp::Ordering;

use super::Interval;

/// The most requests that hit; the intervals with the smallest volume come first.
pub(super) fn requests(intervals: &[Interval], cache_bytes: u64, moments: u64) -> u64 {
    let mut left = room(intervals, cache_bytes, moments);
    let fitting = intervals.iter().filter(|interval| interval.charge <= cache_bytes);
    // A part of a request is none: the bound is a whole number too.
    let taken = fitting.take_while(|interval| {
        let volume = interval.volume();
        let fits = volume <= left;
        left = left.saturating_sub(volume);
        fits
    });
    taken.count() as u64
}

/// The most bytes that hit; the intervals come in the order of [`by_density`].
pub(super) fn bytes(intervals: &[Interval], cache_bytes: u64, moments: u64) -> u64 {
    let mut left = room(intervals, cache_bytes, moments);
    let mut hits = 0;
    for interval in intervals.iter().filter(|interval| interval.charge <= cache_bytes) {
        let volume = interval.volume();
        if volume > left {
            let part = (u128::from(interval.bytes) * left).div_ceil(volume);
            return hits + u64::try_from(part).unwrap_or(interval.bytes);
        }
        left -= volume;
        hits += interval.bytes;
    }
    hits
}

/// Those without a volume first, then the most bytes for a volume.
pub(super) fn by_density(a: &Interval, b: &Interval) -> Ordering {
    let (of_a, of_b) = (a.volume(), b.volume());
    if of_a == 0 || of_b == 0 {
        return of_a.min(1).cmp(&of_b.min(1));
    }
    (u128::from(b.bytes) * of_a).cmp(&(u128::from(a.bytes) * of_b))
}

/// What all intervals may take together, in bytes times moments.
fn room(intervals: &[Interval], cache_bytes: u64, moments: u64) -> u128 {
    let mut changes = vec![0_i64; usize::try_from(moments).map_or(0, |moments| moments + 1)];
    let place = |moment: u64| usize::try_from(moment).unwrap_or(usize::MAX);
    for interval in intervals.iter().filter(|interval| interval.charge <= cache_bytes) {
        let charge = i64::try_from(interval.charge).unwrap_or(i64::MAX);
        changes[place(interval.start)] += charge;
        changes[place(interval.end)] -= charge;
    }
    let mut live = 0_i64;
    let kept = changes.iter().map(|change| {
        live += change;
        u128::from(live.unsigned_abs().min(cache_bytes))
    });
    kept.sum()
}
