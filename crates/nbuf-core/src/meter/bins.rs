//! Depths in bins that grow with them: exact up to sixty-four, then thirty-two to a doubling.
//!
//! A count by depth for each file or hour of a trace must be small. Invariant: exact at the
//! [`edges`]; between two of them a bin is taken to be spread evenly. Cost: 11 KiB a histogram.

/// Accesses by the depth at which an LRU stack had their page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    accesses: u64,
    /// The largest depth so far: from that size on the answer is exact too.
    deepest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS], accesses: 0, deepest: 0 }
    }
}

impl Histogram {
    /// An access whose page was at this depth, counted from 1; nowhere when it was cold.
    pub(crate) fn add(&mut self, depth: Option<u32>) {
        self.accesses += 1;
        if let Some(depth) = depth {
            let depth = u64::from(depth);
            self.counts[index(depth.saturating_sub(1))] += 1;
            self.deepest = self.deepest.max(depth);
        }
    }

    /// What was added.
    pub(crate) fn accesses(&self) -> u64 {
        self.accesses
    }

    /// What LRU caches of these sizes miss of it.
    pub(crate) fn misses_at(&self, sizes_pages: &[u64]) -> Vec<u64> {
        let below = sums(self.counts.iter().map(|&count| count as f64));
        let hits = |&size: &u64| {
            let size = if size >= self.deepest { u64::MAX } else { size };
            crate::units::whole(up_to(&below, size as f64))
        };
        sizes_pages.iter().map(|size| self.accesses - hits(size).min(self.accesses)).collect()
    }
}

/// Sizes at which a histogram is exact, up to the first that holds `most`.
pub(crate) fn edges(most: u64) -> impl Iterator<Item = u64> {
    let mut done = false;
    (1..BINS).map(edge).take_while(move |&size| !std::mem::replace(&mut done, size >= most))
}

/// Bins to a doubling, as a power of two.
const FINE_BITS: u32 = 5;
/// Bins of one doubling.
const FINE: u64 = 1 << FINE_BITS;
/// Bins for every depth up to 2^48.
pub(crate) const BINS: usize = (48 - FINE_BITS as usize + 1) << FINE_BITS;

/// The bin of a depth, which is at least 1. The pages above it are what is put in bins: so a bin
/// ends at a round size.
pub(crate) fn bin(depth: f64) -> usize {
    index(crate::units::whole(depth).saturating_sub(1))
}

fn index(above: u64) -> usize {
    let index = if above < FINE {
        above
    } else {
        let shift = above.ilog2() - FINE_BITS;
        (u64::from(shift) << FINE_BITS) + (above >> shift)
    };
    usize::try_from(index).unwrap_or(BINS).min(BINS - 1)
}

/// Returns the largest size at which no entry of a bin hits. The edge of the next bin is the
/// smallest size at which all of them hit.
pub(crate) fn edge(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < 2 * FINE {
        return bin;
    }
    let shift = bin / FINE - 1;
    (bin % FINE + FINE) << shift
}

/// Returns how much a cache of `size` hits, when `below[b]` is the sum of the bins before `b`. The
/// entries of a bin are taken to be spread evenly.
pub(crate) fn up_to(below: &[f64], size: f64) -> f64 {
    if size < 1.0 {
        return 0.0;
    }
    let at = index(crate::units::whole(size.floor()));
    let (from, to) = (edge(at) as f64, edge(at + 1) as f64);
    let part = ((size - from) / (to - from)).clamp(0.0, 1.0);
    below[at] + (below[at + 1] - below[at]) * part
}

/// Returns the running sums: the sum of the bins before each bin, and at the end the sum of all.
pub(crate) fn sums(counts: impl Iterator<Item = f64>) -> Vec<f64> {
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
            assert!(edge(at) < depth && depth <= edge(at + 1), "{depth} in {at}");
        }
        assert_eq!(bin(1e300), BINS - 1);
    }

    #[test]
    fn a_histogram_is_exact_at_the_edges() {
        let mut histogram = Histogram::default();
        (1..=5000).for_each(|depth| histogram.add(Some(depth)));
        histogram.add(None);
        let edges: Vec<u64> = edges(3000).collect();
        assert_eq!((edges[0], edges[40]), (1, 41));
        assert!(edges[edges.len() - 2] < 3000 && *edges.last().unwrap() >= 3000);
        let want: Vec<u64> = edges.iter().map(|size| 5001 - size).collect();
        assert_eq!(histogram.misses_at(&edges), want);
        assert_eq!(histogram.misses_at(&[4999, 5000, 5001])[1..], [1, 1]);
    }

    #[test]
    fn what_is_in_a_bin_is_spread_evenly() {
        let mut counts = vec![0.0; BINS];
        counts[bin(1.0)] = 5.0;
        counts[bin(1024.0)] = 32.0;
        assert_eq!(bin(1024.0), bin(1009.0));
        let below = sums(counts.into_iter());
        let at = |size| up_to(&below, size);
        assert!((at(0.5) - 0.0).abs() < 1e-9);
        assert!((at(1.0) - 5.0).abs() < 1e-9);
        assert!((at(1008.0) - 5.0).abs() < 1e-9);
        assert!((at(1012.0) - 13.0).abs() < 1e-9);
        assert!((at(1024.0) - 37.0).abs() < 1e-9);
        assert!((at(1e12) - 37.0).abs() < 1e-9);
    }
}
