//! How many accesses were how deep: from that follow the misses at every size.
//!
//! Depths are first noted in a short list: adding one to a random place of a large table makes a
//! processor wait, adding many one after the other does not.

/// Depths noted before they are counted.
const NOTED: usize = 1 << 9;

/// The depth in a list of an access that misses at every size: deeper than any.
pub(crate) const COLD: u32 = u32::MAX;

/// Depths between sums that are kept, so that the misses at a size need no walk from the first.
const BLOCK: usize = 1 << 10;

/// Counts accesses by depth: the smallest cache that hits them.
#[derive(Clone, Debug, Default)]
pub struct Depths {
    noted: Vec<u32>,
    hits: Hits,
    accesses: u64,
    cold: u64,
}

/// `low[d]`: accesses that found their page at depth `d`, counted from 1. In 32 bits, because there
/// are as many depths as pages and few of them are found four billion times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hits {
    low: Vec<u32>,
    /// A depth once for every 2^32 accesses to it.
    carried: Vec<u32>,
}

impl Depths {
    /// Counts an access; one without depth misses at every size.
    #[inline]
    pub fn add(&mut self, depth: Option<u32>) {
        self.add_one(depth.unwrap_or(COLD));
    }

    /// The same of a depth or [`COLD`].
    #[inline]
    pub(crate) fn add_one(&mut self, depth: u32) {
        if self.noted.len() == NOTED {
            self.count();
        }
        self.noted.push(depth);
    }

    /// The misses at every size. `distinct` is the most pages that were there at one time.
    pub fn finish(mut self, distinct: u64) -> Misses {
        self.count();
        let Self { mut hits, accesses, cold, .. } = self;
        hits.carried.sort_unstable();
        let mut sum = 0;
        let below = hits.low.chunks(BLOCK).map(|block| {
            let before = sum;
            sum += total(block);
            before
        });
        let below = below.collect();
        Misses { accesses, cold, distinct, hits, below }
    }

    #[cold]
    fn count(&mut self) {
        let mut noted = std::mem::take(&mut self.noted);
        self.add_all(&noted);
        noted.clear();
        self.noted = noted;
    }

    /// Counts accesses by a list of their depths, each a depth or [`COLD`].
    pub(crate) fn add_all(&mut self, depths: &[u32]) {
        let warm = depths.iter().copied().filter(|&depth| depth != COLD);
        let deepest = warm.max().unwrap_or(0) as usize;
        if deepest >= self.hits.low.len() {
            self.hits.low.resize(deepest + 1, 0);
        }
        self.accesses += depths.len() as u64;
        for &depth in depths {
            match self.hits.low.get_mut(depth as usize) {
                Some(hits) => {
                    *hits = hits.wrapping_add(1);
                    if *hits == 0 {
                        self.hits.carried.push(depth);
                    }
                }
                None => self.cold += 1,
            }
        }
    }
}

impl Hits {
    /// The depths at which anything was hit, ascending, each with its hits.
    fn iter(&self) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
        let mut carried = &self.carried[..];
        (0..).zip(&self.low).filter_map(move |(depth, &low)| {
            let mut hits = u64::from(low);
            while let [first, rest @ ..] = carried
                && *first == depth
            {
                hits += 1 << 32;
                carried = rest;
            }
            (hits > 0).then_some((depth, hits))
        })
    }
}

fn total(hits: &[u32]) -> u64 {
    hits.iter().copied().map(u64::from).sum()
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
    hits: Hits,
    /// Hits before each block of depths, without what was carried.
    below: Vec<u64>,
}

impl Misses {
    /// Misses of a cache of this size.
    pub fn at(&self, cache_pages: u64) -> u64 {
        let Hits { low, carried } = &self.hits;
        let Some(deepest) = low.len().checked_sub(1) else { return self.accesses };
        let last = usize::try_from(cache_pages).unwrap_or(deepest).min(deepest);
        let block = last / BLOCK;
        let hits = self.below[block] + total(&low[block * BLOCK..=last]);
        let carries = carried.partition_point(|&depth| depth as usize <= last) as u64;
        self.accesses - hits - (carries << 32)
    }

    /// The sizes in pages at which the count changes, ascending, with the misses from there on.
    pub fn changes(&self) -> impl Iterator<Item = (u64, u64)> + Clone + '_ {
        let mut misses = self.accesses;
        self.hits.iter().map(move |(depth, hits)| {
            misses -= hits;
            (depth.into(), misses)
        })
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
    #[test]
    fn more_hits_than_32_bits_hold_are_carried() {
        let mut depths = Depths::default();
        for depth in [Some(2), Some(5), None] {
            depths.add(depth);
        }
        depths.count();
        depths.hits.low[2] = u32::MAX;
        depths.accesses += u64::from(u32::MAX) - 1;
        for depth in [Some(5), Some(2), Some(2)] {
            depths.add(depth);
        }
        let misses = depths.finish(9);
        let all = (1 << 32) + 4;
        assert_eq!(misses.accesses, all);
        assert_eq!([1, 2, 4, 5, 99].map(|size| misses.at(size)), [all, 3, 3, 1, 1]);
        assert!(misses.changes().eq([(2, 3), (5, 1)]));
    }

    #[test]
    fn sums_of_blocks_are_those_of_the_walk() {
        let mut depths = Depths::default();
        let deepest = u32::try_from(3 * BLOCK + 7).unwrap();
        (1..=deepest).filter(|depth| depth % 3 > 0).for_each(|depth| depths.add(Some(depth)));
        let misses = depths.finish(deepest.into());
        for (size, left) in misses.changes() {
            assert_eq!(misses.at(size), left, "{size}");
        }
        assert_eq!(misses.at(0), misses.accesses);
        assert_eq!(misses.at(u64::MAX), 0);
    }
}
