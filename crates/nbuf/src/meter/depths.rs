//! How many accesses were how deep: from that follow the misses at every size.
//!
//! Depths are first noted in a short list: adding one to a random place of a large table makes a
//! processor wait, adding many one after the other does not.

/// Depths noted before they are counted.
const NOTED: usize = 1 << 9;

/// The depth in the list of an access that misses at every size.
const COLD: u32 = u32::MAX;

/// Counts accesses by depth: the smallest cache that hits them.
#[derive(Clone, Debug, Default)]
pub struct Depths {
    noted: Vec<u32>,
    /// `hits[d]`: accesses that found their page at depth `d`, counted from 1.
    hits: Vec<u64>,
    accesses: u64,
    cold: u64,
}

impl Depths {
    /// Counts an access; one without depth misses at every size.
    #[inline]
    pub fn add(&mut self, depth: Option<u32>) {
        if self.noted.len() == NOTED {
            self.count();
        }
        self.noted.push(depth.unwrap_or(COLD));
    }

    /// The misses at every size. `distinct` is the most pages that were there at one time.
    pub fn finish(mut self, distinct: u64) -> Misses {
        self.count();
        let mut misses = self.accesses;
        let mut steps = Vec::new();
        for (depth, &hits) in (0..).zip(&self.hits) {
            if hits > 0 {
                misses -= hits;
                steps.push((depth, misses));
            }
        }
        Misses { accesses: self.accesses, cold: self.cold, distinct, steps }
    }

    #[cold]
    fn count(&mut self) {
        let warm = self.noted.iter().copied().filter(|&depth| depth != COLD);
        let deepest = warm.max().unwrap_or(0) as usize;
        if deepest >= self.hits.len() {
            self.hits.resize(deepest + 1, 0);
        }
        for depth in self.noted.drain(..) {
            self.accesses += 1;
            match self.hits.get_mut(depth as usize) {
                Some(hits) => *hits += 1,
                None => self.cold += 1,
            }
        }
    }
}

/// What caches of every size would miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Demand accesses.
    pub accesses: u64,
    /// Accesses that miss at every size: the first of a page, and the first after its removal.
    pub cold: u64,
    /// The most pages that were there at one time: no cache needs to be larger.
    pub distinct: u64,
    /// Sizes at which the count changes, ascending, each with the misses from there on.
    steps: Vec<(u64, u64)>,
}

impl Misses {
    /// Misses of a cache of this size.
    pub fn at(&self, cache_pages: u64) -> u64 {
        match self.steps.partition_point(|&(size, _)| size <= cache_pages) {
            0 => self.accesses,
            after => self.steps[after - 1].1,
        }
    }

    /// The sizes in pages at which the count changes, ascending, with the misses from there on.
    pub fn changes(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.steps.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_fall_by_the_hits_of_each_depth() {
        let mut depths = Depths::default();
        for n in 0..3 * u32::try_from(NOTED).unwrap() {
            depths.add([None, Some(1), Some(7)][n as usize % 3]);
        }
        let each = u64::try_from(NOTED).unwrap();
        let misses = depths.finish(9);
        assert_eq!((misses.accesses, misses.cold, misses.distinct), (3 * each, each, 9));
        assert_eq!([0, 1, 6, 7, 99].map(|size| misses.at(size) / each), [3, 2, 2, 1, 1]);
        assert!(misses.changes().eq([(1, 2 * each), (7, each)]));
    }
}
