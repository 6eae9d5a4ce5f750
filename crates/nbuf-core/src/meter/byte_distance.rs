//! Exact LRU misses over objects with sizes, at every size of the cache, in one pass.
//!
//! The byte distance of an access is what its object and all objects used since its last access take
//! together. An LRU cache that evicts until the object that comes fits holds exactly the objects whose
//! bytes, with those of all objects used after them, fit into it: an object is evicted when that sum
//! grows beyond the cache, and the sum never falls before the object is used again. So an access hits in
//! all caches from its byte distance up. An object that grows adds to the sums of all others, so this holds for
//! sizes that grow, too: an access counts the bytes that its object took before.
//!
//! Invariant: this holds for caches from the largest object up, which take every object in, and while no
//! object becomes smaller or is removed. For all else caches are simulated size by size.
//!
//! Cost: a Fenwick tree (P. Fenwick, 1994) over the moments of last use: O(log n) an access, at most
//! 52 bytes an object. When the moments run out, they are given again without gaps.

use super::byte_depths::ByteDepths;
pub(crate) use super::byte_depths::ByteMisses;

/// The moment of an object that was not used.
const NEVER: u32 = u32::MAX;

/// Moments to begin with, and moments for each object after packing.
const MOMENTS_MIN: usize = 1 << 12;
const MOMENTS_PER_OBJECT: usize = 3;

/// Takes accesses in the order of time; [`ByteDistances::finish`] gives the misses.
#[derive(Clone, Debug)]
pub(crate) struct ByteDistances {
    /// When each object was used last, by its number.
    moment_of: Vec<u32>,
    /// What it takes.
    charge_of: Vec<u64>,
    /// Sums of what was used last at each moment, as a Fenwick tree from 1.
    sums: Vec<u64>,
    /// The next moment.
    next: usize,
    objects: usize,
    /// What all objects take.
    total: u64,
    depths: ByteDepths,
}

impl ByteDistances {
    /// Nothing was used. Misses are counted at these sizes, whatever the number of distances.
    pub(crate) fn new(sizes_bytes: &[u64]) -> Self {
        Self {
            moment_of: Vec::new(),
            charge_of: Vec::new(),
            sums: vec![0; MOMENTS_MIN + 1],
            next: 0,
            objects: 0,
            total: 0,
            depths: ByteDepths::new(sizes_bytes),
        }
    }

    /// An access to an object that takes `charge` bytes from now on, no fewer than before, of which it asks for
    /// `bytes`. Its byte distance; none for the first access to it.
    pub(crate) fn access(&mut self, number: u32, bytes: u64, charge: u64) -> Option<u64> {
        let index = number as usize;
        if index >= self.moment_of.len() {
            self.moment_of.resize(index + 1, NEVER);
            self.charge_of.resize(index + 1, 0);
        }
        let moment = self.moment_of[index];
        let distance = if moment == NEVER {
            self.objects += 1;
            None
        } else {
            let distance = self.total - self.before(moment as usize);
            let before = self.charge_of[index];
            self.take(moment as usize, before);
            self.total -= before;
            Some(distance)
        };
        self.charge_of[index] = charge;
        self.total += charge;
        self.depths.add(distance, bytes);
        self.moment_of[index] = NEVER;
        if self.next + 1 == self.sums.len() {
            self.pack();
        }
        self.moment_of[index] = to_moment(self.next);
        self.give(self.next, charge);
        self.next += 1;
        distance
    }

    /// Forgets the distances so far, and nothing of the order: what comes finds warm caches.
    pub(crate) fn start_counting(&mut self) {
        self.depths.start_counting();
    }

    /// The misses at every size.
    pub(crate) fn finish(self) -> ByteMisses {
        self.depths.finish()
    }

    /// What was used last before a moment.
    fn before(&self, moment: usize) -> u64 {
        let (mut at, mut sum) = (moment, 0);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }

    fn give(&mut self, moment: usize, charge: u64) {
        let mut at = moment + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            *sum += charge;
            at += at & at.wrapping_neg();
        }
    }

    fn take(&mut self, moment: usize, charge: u64) {
        let mut at = moment + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            *sum -= charge;
            at += at & at.wrapping_neg();
        }
    }

    /// Gives the objects new moments without gaps, in the same order.
    fn pack(&mut self) {
        let mut order = vec![NEVER; self.next];
        for (number, &moment) in (0_u32..).zip(&self.moment_of) {
            if moment != NEVER {
                order[moment as usize] = number;
            }
        }
        let moments = (self.objects * MOMENTS_PER_OBJECT).max(MOMENTS_MIN);
        self.sums.clear();
        self.sums.resize(moments + 1, 0);
        self.next = 0;
        for number in order.into_iter().filter(|&number| number != NEVER) {
            self.moment_of[number as usize] = to_moment(self.next);
            self.sums[self.next + 1] = self.charge_of[number as usize];
            self.next += 1;
        }
        for at in 1..self.sums.len() {
            let above = at + (at & at.wrapping_neg());
            if above < self.sums.len() {
                self.sums[above] += self.sums[at];
            }
        }
    }
}

/// Moments fit while there are fewer than a billion objects.
fn to_moment(moment: usize) -> u32 {
    u32::try_from(moment).expect("fewer than 2^30 objects")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// The oracle: one real cache, newest first, that evicts until the object fits.
    fn lru(accesses: &[(u32, u64)], cache_bytes: u64) -> (u64, u64) {
        let mut cache: Vec<(u32, u64)> = Vec::new();
        let (mut misses, mut miss_bytes) = (0, 0);
        for &(object, bytes) in accesses {
            if let Some(at) = cache.iter().position(|cached| cached.0 == object) {
                cache.remove(at);
            } else {
                (misses, miss_bytes) = (misses + 1, miss_bytes + bytes);
            }
            while cache.iter().map(|cached| cached.1).sum::<u64>() + bytes > cache_bytes {
                cache.pop();
            }
            cache.insert(0, (object, bytes));
        }
        (misses, miss_bytes)
    }

    /// Accesses of objects whose sizes do not change.
    fn constant(objects: impl IntoIterator<Item = u32>, sizes: &[u64]) -> Vec<(u32, u64)> {
        objects.into_iter().map(|object| (object, sizes[object as usize])).collect()
    }

    fn check(accesses: &[(u32, u64)]) {
        let mut distances = ByteDistances::new(&[]);
        let mut most = HashMap::new();
        for &(object, bytes) in accesses {
            distances.access(object, bytes, bytes);
            most.insert(object, bytes);
        }
        let misses = distances.finish();
        let largest = most.values().copied().max().unwrap_or(0);
        let all: u64 = most.values().sum();
        for cache_bytes in largest..=all + 1 {
            let want = lru(accesses, cache_bytes);
            assert_eq!(misses.at(cache_bytes), want, "{cache_bytes} bytes: {accesses:?}");
        }
        assert_eq!(misses.at(u64::MAX), (misses.cold, misses.cold_bytes));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn equals_a_real_cache_at_every_size_from_the_largest_object_up(
            sizes in prop::collection::vec(prop_oneof![0..4_u64, 0..40_u64], 16),
            objects in prop::collection::vec(0..16_u32, 0..200),
        ) {
            check(&constant(objects, &sizes));
        }

        #[test]
        fn equals_a_real_cache_while_objects_grow(
            mut sizes in prop::collection::vec(0..9_u64, 12),
            grown in prop::collection::vec((0..12_u32, prop_oneof![3 => Just(0), 1 => 0..9_u64]), 0..150),
        ) {
            let access = |(object, more): (u32, u64)| {
                sizes[object as usize] += more;
                (object, sizes[object as usize])
            };
            let accesses: Vec<(u32, u64)> = grown.into_iter().map(access).collect();
            check(&accesses);
        }
    }

    #[test]
    fn stays_exact_when_the_moments_are_packed() {
        let sizes = [3, 9, 0, 1, 7];
        let number = |at: usize| u32::try_from((at * at / 7 + at % 3) % 5).unwrap();
        let mut accesses = constant((0..3 * MOMENTS_MIN).map(number), &sizes);
        check(&accesses);
        // Each object grows once, at different moments.
        for (at, (object, bytes)) in (0_u64..).zip(&mut accesses) {
            *bytes += u64::from(at > 2500 * u64::from(*object));
        }
        check(&accesses);
    }
}
