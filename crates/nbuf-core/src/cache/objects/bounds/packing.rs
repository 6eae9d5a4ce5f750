//! Hits that a cache with knowledge of the future reaches: two choices of intervals that fit at each moment.
//!
//! [`swept`] follows time, and where too much is kept, it gives up the interval that ends last. With one size for all
//! objects that is the optimum with bypassing. [`packed`] takes the interval with the smallest volume first, wherever it
//! still fits: that suits objects of very different sizes. Invariant: no moment keeps more than the cache has. Cost:
//! O(n log n).

use std::collections::BTreeMap;

use super::{Hits, Interval};

/// Intervals in the order of their beginnings.
pub(super) fn swept(intervals: &[Interval], cache_bytes: u64) -> Hits {
    // By their ends: no access ends two intervals.
    let mut kept = BTreeMap::<u64, &Interval>::new();
    let (mut hits, mut used) = (Hits::default(), 0);
    for interval in intervals.iter().filter(|interval| interval.charge <= cache_bytes) {
        while let Some(first) = kept.first_entry().filter(|first| *first.key() <= interval.start) {
            let ended = first.remove();
            used -= ended.charge;
            hits.add(ended);
        }
        kept.insert(interval.end, interval);
        used += interval.charge;
        while used > cache_bytes
            && let Some((_, last)) = kept.pop_last()
        {
            used -= last.charge;
        }
    }
    for interval in kept.values() {
        hits.add(interval);
    }
    hits
}

/// Intervals in the order in which they are tried.
pub(super) fn packed(intervals: &[Interval], cache_bytes: u64, moments: u64) -> Hits {
    let mut kept = Kept::new(moments);
    let mut hits = Hits::default();
    for interval in intervals.iter().filter(|interval| interval.charge <= cache_bytes) {
        let range = (interval.start, interval.end);
        if kept.most(1, kept.all(), range) + interval.charge <= cache_bytes {
            kept.add(1, kept.all(), range, interval.charge);
            hits.add(interval);
        }
    }
    hits
}

/// The first moment of a range, and the first behind it.
type Range = (u64, u64);

/// Bytes that are kept at each moment: a tree whose nodes have the most below them.
struct Kept {
    moments: u64,
    /// For each node the most of its moments, and what all of its moments have in addition to what is below.
    nodes: Vec<(u64, u64)>,
}

impl Kept {
    fn new(moments: u64) -> Self {
        let moments = (moments + 1).next_power_of_two();
        Self { moments, nodes: vec![(0, 0); usize::try_from(2 * moments).unwrap_or(0)] }
    }

    fn all(&self) -> Range {
        (0, self.moments)
    }

    /// The most at a moment of `range`, below a node of these `moments`.
    fn most(&self, node: usize, moments: Range, range: Range) -> u64 {
        if range.1 <= moments.0 || moments.1 <= range.0 {
            return 0;
        }
        let (most, every) = self.nodes[node];
        if range.0 <= moments.0 && moments.1 <= range.1 {
            return most;
        }
        let middle = u64::midpoint(moments.0, moments.1);
        let left = self.most(2 * node, (moments.0, middle), range);
        every + left.max(self.most(2 * node + 1, (middle, moments.1), range))
    }

    /// Keeps more at each moment of `range`.
    fn add(&mut self, node: usize, moments: Range, range: Range, more: u64) {
        if range.1 <= moments.0 || moments.1 <= range.0 {
            return;
        }
        if range.0 <= moments.0 && moments.1 <= range.1 {
            self.nodes[node].0 += more;
            self.nodes[node].1 += more;
            return;
        }
        let middle = u64::midpoint(moments.0, moments.1);
        self.add(2 * node, (moments.0, middle), range, more);
        self.add(2 * node + 1, (middle, moments.1), range, more);
        let below = self.nodes[2 * node].0.max(self.nodes[2 * node + 1].0);
        self.nodes[node].0 = below + self.nodes[node].1;
    }
}
