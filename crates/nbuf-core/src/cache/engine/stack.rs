//! LRU at every size at once, by stack distances.

use super::{Accesses, Count, Engine};
use crate::cache::policy::Lru;
use crate::meter::distance::{DepthCounts, Distances};

/// Sizes up to which it is faster to run the plain file.
const PLAIN_SIZES: usize = 2;

struct Stack {
    distances: Distances,
    /// The pages of a batch, then their depths.
    depths: Vec<u32>,
    counts: DepthCounts,
    sizes_pages: Vec<u64>,
}

/// An engine for these sizes.
pub(in crate::cache) fn stack(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    if sizes_pages.len() <= PLAIN_SIZES {
        return super::plain::<Lru>(sizes_pages, seed);
    }
    Box::new(Stack {
        distances: Distances::new(),
        depths: Vec::new(),
        counts: DepthCounts::new(true),
        sizes_pages: sizes_pages.to_vec(),
    })
}

impl Engine for Stack {
    fn access(&mut self, accesses: &Accesses) {
        self.depths.clear();
        self.depths.extend_from_slice(accesses.pages);
        self.distances.replace_by_depths(&mut self.depths);
        self.counts.add(&self.depths, accesses.request_ends);
    }

    fn sizes_at_once(&self) -> usize {
        usize::MAX
    }

    fn remove(&mut self, pages: &[u32]) {
        for &page in pages {
            self.distances.remove(page);
        }
    }

    fn start_counting(&mut self) {
        self.counts.start_counting();
    }

    fn finish(self: Box<Self>) -> Vec<Count> {
        let Self { distances, counts, sizes_pages, .. } = *self;
        let (misses, requests) = counts.finish(distances.peak().into());
        let requests = requests.expect("they are counted");
        let count = |&pages: &u64| Count {
            pages,
            accesses: misses.accesses,
            misses: misses.at(pages),
            requests: requests.accesses,
            request_misses: requests.at(pages),
        };
        sizes_pages.iter().map(count).collect()
    }
}
