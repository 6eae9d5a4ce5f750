//! Hits by depth that add up, and the misses at every size that follow from them.
//!
//! Both are lists of what is there: a depth without a hit takes no room. Invariant: depths ascend, and the
//! misses only fall. Cost: 16 bytes a depth; a size is found by bisection.

use super::distance::Misses;

/// Hits by depth, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits(Vec<(u64, u64)>);

impl Hits {
    /// Those of one pass.
    pub(crate) fn of(misses: &Misses) -> Self {
        let mut before = misses.accesses;
        let hits = misses.changes().map(|(depth, left)| {
            let hits = before - left;
            before = left;
            (depth, hits)
        });
        Self(hits.collect())
    }

    /// One hit at each of these depths.
    pub(crate) fn from_depths(mut depths: Vec<u64>) -> Self {
        depths.sort_unstable();
        let runs = depths.chunk_by(|a, b| a == b);
        Self(runs.map(|run| (run[0], run.len() as u64)).collect())
    }

    /// Hits as they were kept; nothing where the depths do not ascend.
    pub(crate) fn from_pairs(pairs: Vec<(u64, u64)>) -> Option<Self> {
        pairs.is_sorted_by(|a, b| a.0 < b.0).then_some(Self(pairs))
    }

    /// Depths with their hits, ascending.
    pub(crate) fn pairs(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Adds others, depth by depth. In any order the sum is the same.
    pub(crate) fn add(&mut self, others: &Self) {
        if others.0.is_empty() {
            return;
        }
        let mut all = Vec::with_capacity(self.0.len() + others.0.len());
        let mut own = self.0.iter().copied().peekable();
        for &(depth, hits) in &others.0 {
            while let Some(pair) = own.next_if(|pair| pair.0 < depth) {
                all.push(pair);
            }
            let same = own.next_if(|pair| pair.0 == depth).map_or(0, |pair| pair.1);
            all.push((depth, hits + same));
        }
        all.extend(own);
        self.0 = all;
    }

    /// What is left without some of them, depth by depth.
    pub(crate) fn without(&self, some: &Self) -> Self {
        let mut some = some.0.iter().copied().peekable();
        let left = self.0.iter().filter_map(|&(depth, hits)| {
            while some.next_if(|pair| pair.0 < depth).is_some() {}
            let gone = some.next_if(|pair| pair.0 == depth).map_or(0, |pair| pair.1);
            (hits > gone).then_some((depth, hits - gone))
        });
        Self(left.collect())
    }

    /// Forgets hits below this depth.
    pub(crate) fn truncate(&mut self, deepest: u64) {
        self.0.truncate(self.0.partition_point(|pair| pair.0 <= deepest));
    }

    /// The misses of this many accesses.
    pub(crate) fn steps(&self, accesses: u64) -> Steps {
        let mut left = accesses;
        let falls = self.0.iter().map(|&(depth, hits)| {
            left = left.saturating_sub(hits);
            (depth, left)
        });
        Steps(std::iter::once((0, accesses)).chain(falls).collect())
    }
}

/// Misses by size: where they fall, the first at 0 pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Steps(Vec<(u64, u64)>);

impl Steps {
    /// Misses of a cache of this size.
    pub(crate) fn at(&self, pages: u64) -> u64 {
        let after = self.0.partition_point(|step| step.0 <= pages);
        after.checked_sub(1).map_or(0, |at| self.0[at].1)
    }

    /// Sizes in pages with the misses from there on.
    pub(crate) fn pairs(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Misses at every size: those of no cache, and those that no cache avoids.
    pub(crate) fn ends(&self) -> (u64, u64) {
        (self.at(0), self.0.last().map_or(0, |step| step.1))
    }

    /// The size from which nothing falls any more.
    pub(crate) fn largest(&self) -> u64 {
        self.0.last().map_or(0, |step| step.0)
    }

    /// The smallest size with at most this many misses.
    pub(crate) fn size_for(&self, misses: u64) -> Option<u64> {
        self.0.get(self.0.partition_point(|step| step.1 > misses)).map(|step| step.0)
    }

    /// The same with sizes below `end` taken from another.
    pub(crate) fn with_head(&self, head: &Self, end: u64) -> Self {
        let small = head.0.iter().copied().filter(|step| step.0 < end);
        let mut steps: Vec<(u64, u64)> = small.collect();
        let mut left = steps.last().map_or(u64::MAX, |step| step.1);
        let at_end = std::iter::once((end, self.at(end)));
        for (size, misses) in at_end.chain(self.0.iter().copied().filter(|step| step.0 > end)) {
            // Two estimates meet here; misses never rise.
            if misses < left {
                left = misses;
                steps.push((size, misses));
            }
        }
        Self(steps)
    }

    /// The same at sizes this many times as large.
    pub(crate) fn scaled(&self, times: u64) -> Self {
        Self(self.0.iter().map(|&(size, misses)| (size.saturating_mul(times), misses)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_add_by_depth_and_become_misses_by_size() {
        let mut hits = Hits::from_depths(vec![3, 1, 3]);
        hits.add(&Hits::from_depths(vec![2, 9]));
        assert_eq!(hits.pairs(), [(1, 1), (2, 1), (3, 2), (9, 1)]);
        let steps = hits.steps(7);
        assert_eq!([0, 1, 2, 3, 8, 9, 99].map(|size| steps.at(size)), [7, 6, 5, 3, 3, 2, 2]);
        assert_eq!((steps.ends(), steps.largest()), ((7, 2), 9));
        let sizes = [7, 6, 4, 2, 1].map(|misses| steps.size_for(misses));
        assert_eq!(sizes, [Some(0), Some(1), Some(3), Some(9), None]);
        hits.truncate(2);
        assert_eq!(hits.pairs(), [(1, 1), (2, 1)]);
        assert_eq!(Hits::from_pairs(vec![(2, 1), (2, 1)]), None);
    }

    #[test]
    fn a_head_replaces_small_sizes_and_misses_never_rise() {
        let coarse = Hits::from_depths(vec![4, 8]).steps(5);
        let head = Hits::from_depths(vec![1, 2]).steps(5);
        let both = coarse.with_head(&head, 4);
        assert_eq!(both.pairs(), [(0, 5), (1, 4), (2, 3)]);
        assert_eq!(
            Hits::from_depths(vec![4, 5, 8]).steps(5).with_head(&head, 4).pairs()[3..],
            [(8, 2)]
        );
    }
}
