//! What is counted of a part of the accesses.

use crate::meter::bins::Histogram;

/// What is counted of a part of the accesses: by depth in bins, and exactly at the sizes that were
/// known when it began.
#[derive(Clone, Debug)]
pub(super) struct Part {
    depths: Histogram,
    /// Hits by the first of those sizes that has them.
    hits: Vec<u64>,
}

impl Part {
    pub(super) fn new(sizes: &[u64]) -> Self {
        Self { depths: Histogram::default(), hits: vec![0; sizes.len()] }
    }

    /// An access at this depth, which the `first` of the sizes hits, if any does.
    pub(super) fn add(&mut self, depth: Option<u32>, first: Option<usize>) {
        self.depths.add(depth);
        if let Some(hits) = first.and_then(|first| self.hits.get_mut(first)) {
            *hits += 1;
        }
    }

    pub(super) fn accesses(&self) -> u64 {
        self.depths.accesses()
    }

    /// What LRU caches miss of it, by its bins.
    pub(super) fn misses_at(&self, sizes_pages: &[u64]) -> Vec<u64> {
        self.depths.misses_at(sizes_pages)
    }

    /// The same, exactly at the sizes that were `known`.
    pub(super) fn misses_known(&self, sizes_pages: &[u64], known: &[u64]) -> Vec<u64> {
        let mut misses = self.misses_at(sizes_pages);
        for (misses, size) in misses.iter_mut().zip(sizes_pages) {
            if let Ok(at) = known.binary_search(size) {
                *misses = self.accesses() - self.hits[..=at].iter().sum::<u64>();
            }
        }
        misses
    }
}

/// Which of the sizes is the first that hits at this depth.
pub(super) fn first_size(sizes: &[u64], depth: u32) -> usize {
    sizes.partition_point(|&size| size < depth.into())
}
