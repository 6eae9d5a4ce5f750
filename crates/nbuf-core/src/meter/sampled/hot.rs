//! Which keys are asked for most: lossy counting (G. Manku and R. Motwani, *Approximate Frequency
//! Counts over Data Streams*, 2002) with a bound on what is remembered.

use std::collections::HashMap;

/// Keys remembered at most for each that is wanted.
const REMEMBERED_PER_WANTED: usize = 16;

/// Takes keys; [`Frequent::finish`] names the most frequent.
#[derive(Clone, Debug)]
pub struct Frequent {
    wanted: usize,
    counts: HashMap<u64, u64>,
    /// What a key that was forgotten can have had at most.
    floor: u64,
}

impl Frequent {
    /// Looks for this many keys.
    pub fn new(wanted: usize) -> Self {
        Self { wanted: wanted.max(1), counts: HashMap::new(), floor: 0 }
    }

    /// Accesses, in any order.
    pub fn access(&mut self, keys: &[u64]) {
        for &key in keys {
            *self.counts.entry(key).or_insert(self.floor) += 1;
            while self.counts.len() > self.wanted * REMEMBERED_PER_WANTED {
                self.floor += 1;
                let floor = self.floor;
                self.counts.retain(|_, count| *count > floor);
            }
        }
    }

    /// The most frequent keys, and none that was seen only once since it was last forgotten. The same accesses give the same keys in the same order.
    pub fn finish(self) -> Vec<u64> {
        let mut keys: Vec<(u64, u64)> = self.counts.into_iter().collect();
        keys.sort_unstable_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
        keys.truncate(self.wanted);
        let once = self.floor + 1;
        keys.into_iter().filter(|&(_, count)| count > once).map(|(key, _)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frequent_are_found_among_many_that_come_once() {
        let mut frequent = Frequent::new(3);
        let keys = (0..30_000u64).map(|at| if at % 10 < 3 { at % 10 } else { 1000 + at });
        frequent.access(&keys.collect::<Vec<_>>());
        let mut found = frequent.finish();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2]);
    }

    #[test]
    fn nobody_is_frequent_who_comes_once() {
        let mut frequent = Frequent::new(3);
        frequent.access(&(0..1000).collect::<Vec<_>>());
        assert!(frequent.finish().is_empty());
    }
}
