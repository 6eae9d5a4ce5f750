//! How many accesses were how deep in bytes, and what they asked for.
//!
//! Every access may have a distance of its own, so distances are kept in a sorted list that equal ones
//! share. When it grows beyond a bound, distances are rounded up to multiples of a power of two, the
//! *grain*. A cache whose size is a multiple of the grain hits the same accesses before and after, so the
//! counts stay exact there. At the sizes that were given beforehand they are exact at any grain.
//!
//! Cost: 24 bytes a distinct distance, twice while the list is sorted; at most 200 MiB.

/// Distinct distances that are kept.
const DEPTHS_MAX: usize = 1 << 21;
/// Distances noted before they are sorted in, at least.
const NOTED_MIN: usize = 1 << 12;

/// Accesses of one depth, or all up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depth {
    distance: u64,
    requests: u64,
    bytes: u64,
}

/// Counts accesses by byte distance.
#[derive(Clone, Debug)]
pub(super) struct ByteDepths {
    most: usize,
    grain_bits: u32,
    /// Sorted ones first, then those that were noted since.
    depths: Vec<Depth>,
    sorted: usize,
    /// The hits of each size that was given, up to the next one.
    given: Vec<Depth>,
    requests: u64,
    bytes: u64,
    cold: u64,
    cold_bytes: u64,
}

impl ByteDepths {
    /// Counts at these sizes apart, ascending, exactly at any grain.
    pub(super) fn new(sizes_bytes: &[u64]) -> Self {
        Self::within(sizes_bytes, DEPTHS_MAX)
    }

    fn within(sizes_bytes: &[u64], most: usize) -> Self {
        let given = |&distance: &u64| Depth { distance, ..Depth::default() };
        Self {
            most,
            grain_bits: 0,
            depths: Vec::new(),
            sorted: 0,
            given: sizes_bytes.iter().map(given).collect(),
            requests: 0,
            bytes: 0,
            cold: 0,
            cold_bytes: 0,
        }
    }

    /// Counts an access to this many bytes; one without a distance misses at every size.
    pub(super) fn add(&mut self, distance: Option<u64>, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
        let Some(distance) = distance else {
            (self.cold, self.cold_bytes) = (self.cold + 1, self.cold_bytes + bytes);
            return;
        };
        let first = self.given.partition_point(|size| size.distance < distance);
        if let Some(size) = self.given.get_mut(first) {
            (size.requests, size.bytes) = (size.requests + 1, size.bytes + bytes);
        }
        self.depths.push(Depth { distance, requests: 1, bytes });
        if self.depths.len() - self.sorted >= self.sorted.max(NOTED_MIN) {
            self.sort();
        }
    }

    /// Forgets all that was counted.
    pub(super) fn start_counting(&mut self) {
        let sizes: Vec<u64> = self.given.iter().map(|size| size.distance).collect();
        *self = Self::within(&sizes, self.most);
    }

    /// The misses at every size.
    pub(super) fn finish(mut self) -> ByteMisses {
        self.sort();
        sum(&mut self.depths);
        sum(&mut self.given);
        let Self { requests, bytes, cold, cold_bytes, depths, given, grain_bits, .. } = self;
        ByteMisses { requests, bytes, cold, cold_bytes, grain: 1 << grain_bits, depths, given }
    }

    /// Sorts what was noted, and makes the grain coarser while there are too many distances.
    fn sort(&mut self) {
        self.round();
        // The first part is in order, which a stable sort makes use of.
        self.depths.sort_by_key(|depth| depth.distance);
        self.merge();
        while self.depths.len() > self.most {
            self.grain_bits += 1;
            self.round();
            self.merge();
        }
        self.sorted = self.depths.len();
    }

    fn round(&mut self) {
        let below = (1_u64 << self.grain_bits) - 1;
        for depth in &mut self.depths {
            depth.distance = depth.distance.saturating_add(below) & !below;
        }
    }

    /// Makes one of equal distances that follow each other.
    fn merge(&mut self) {
        self.depths.dedup_by(|next, kept| {
            let is_same = next.distance == kept.distance;
            if is_same {
                (kept.requests, kept.bytes) =
                    (kept.requests + next.requests, kept.bytes + next.bytes);
            }
            is_same
        });
    }
}

/// Adds to each depth all that come before it.
fn sum(depths: &mut [Depth]) {
    let mut all = Depth::default();
    for depth in depths {
        (all.requests, all.bytes) = (all.requests + depth.requests, all.bytes + depth.bytes);
        (depth.requests, depth.bytes) = (all.requests, all.bytes);
    }
}

/// What LRU caches of every size would miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteMisses {
    /// Accesses.
    pub(crate) requests: u64,
    /// Bytes that were asked for.
    pub(crate) bytes: u64,
    /// Accesses that miss at every size: the first to each object.
    pub(crate) cold: u64,
    /// The bytes of these.
    pub(crate) cold_bytes: u64,
    /// The sizes at which the counts are exact are the multiples of this many bytes.
    pub(crate) grain: u64,
    depths: Vec<Depth>,
    given: Vec<Depth>,
}

impl ByteMisses {
    /// The accesses that miss in a cache of this size, and the bytes of these. A size that is no multiple
    /// of the grain and was not given has those of the next smaller multiple.
    pub(crate) fn at(&self, cache_bytes: u64) -> (u64, u64) {
        let given = self.given.binary_search_by_key(&cache_bytes, |size| size.distance);
        let last =
            || self.depths.partition_point(|depth| depth.distance <= cache_bytes).checked_sub(1);
        let hits =
            given.map_or_else(|_| last().map(|at| &self.depths[at]), |at| self.given.get(at));
        let hits = hits.copied().unwrap_or_default();
        (self.requests - hits.requests, self.bytes - hits.bytes)
    }

    /// The sizes at which the misses change, ascending, with the misses from there on.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (u64, u64)> + Clone + '_ {
        self.depths.iter().map(|depth| (depth.distance, self.requests - depth.requests))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_coarse_grain_changes_nothing_at_its_multiples_and_at_the_sizes_given(
            accesses in prop::collection::vec((prop::option::of(0..100_000_u64), 0..50_u64), 0..400),
            sizes in prop::collection::btree_set(0..100_000_u64, 0..5),
            most in 4..60_usize,
        ) {
            let sizes: Vec<u64> = sizes.into_iter().collect();
            let mut depths = ByteDepths::within(&sizes, most);
            for (at, &(distance, bytes)) in accesses.iter().enumerate() {
                depths.add(distance, bytes);
                if at % 37 == 0 {
                    depths.sort();
                }
            }
            let misses = depths.finish();
            prop_assert!(misses.changes().count() <= most);
            let grain = usize::try_from(misses.grain).unwrap();
            let multiples = (0..100_000 + misses.grain).step_by(grain.max(997).next_multiple_of(grain));
            for size in multiples.chain(sizes) {
                let missing = accesses.iter().filter(|access| access.0.is_none_or(|d| d > size));
                let bytes = missing.clone().map(|access| access.1).sum::<u64>();
                prop_assert_eq!(misses.at(size), (missing.count() as u64, bytes), "{}", size);
            }
        }
    }
}
