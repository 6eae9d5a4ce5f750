//! Depths in bins that grow with them: exact up to thirty-two, then thirty-two to a doubling.

/// Bins to a doubling, as a power of two.
const FINE_BITS: u32 = 5;
/// Bins of one doubling.
const FINE: u64 = 1 << FINE_BITS;
/// Bins for every depth up to 2^48.
pub(super) const BINS: usize = (48 - FINE_BITS as usize + 1) << FINE_BITS;

/// The bin of a depth, which is at least 1.
pub(super) fn bin(depth: f64) -> usize {
    let depth = crate::units::whole(depth).max(1);
    let index = if depth < FINE {
        depth
    } else {
        let shift = depth.ilog2() - FINE_BITS;
        (u64::from(shift) << FINE_BITS) + (depth >> shift)
    };
    usize::try_from(index).unwrap_or(BINS).min(BINS - 1)
}

/// The first depth of a bin; that of the next is one past its last.
pub(super) fn first(bin: usize) -> f64 {
    let bin = bin as u64;
    if bin < 2 * FINE {
        return bin as f64;
    }
    let shift = bin / FINE - 1;
    ((bin % FINE + FINE) << shift) as f64
}

/// How much lies at depths up to `size`, when `below[b]` lies in the bins before `b`; what is in
/// one bin is taken to be spread evenly.
pub(super) fn up_to(below: &[f64], size: f64) -> f64 {
    if size < 1.0 {
        return 0.0;
    }
    let at = bin(size.floor());
    let (from, to) = (first(at), first(at + 1));
    let part = ((size + 1.0 - from) / (to - from)).clamp(0.0, 1.0);
    below[at] + (below[at + 1] - below[at]) * part
}

/// Running sums: what lies in the bins before each, and in all of them.
pub(super) fn sums(counts: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let running = counts.map(|count| {
        sum += count;
        sum
    });
    std::iter::once(0.0).chain(running).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_is_in_the_bin_whose_edges_are_around_it() {
        let mut depths: Vec<u64> = (1..5000).collect();
        depths.extend((13..47).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]));
        for depth in depths {
            let at = bin(depth as f64);
            let depth = depth as f64;
            assert!(first(at) <= depth && depth < first(at + 1), "{depth} in {at}");
        }
        assert_eq!(bin(1e300), BINS - 1);
    }

    #[test]
    fn what_is_in_a_bin_is_spread_evenly() {
        let mut counts = vec![0.0; BINS];
        counts[bin(1.0)] = 5.0;
        counts[bin(1024.0)] = 32.0;
        let below = sums(counts.into_iter());
        let at = |size| up_to(&below, size);
        assert!((at(0.5) - 0.0).abs() < 1e-9);
        assert!((at(1.0) - 5.0).abs() < 1e-9);
        assert!((at(1023.0) - 5.0).abs() < 1e-9);
        assert!((at(1039.0) - 21.0).abs() < 1e-9);
        assert!((at(1e12) - 37.0).abs() < 1e-9);
    }
}
