//! LRU at every size at once, by stack distances.

use super::{Accesses, Count, Engine};
use crate::cache::policy::Lru;
use crate::meter::distance::{Depths, Distances};

/// Sizes up to which it is faster to run the plain file.
const PLAIN_SIZES: usize = 2;

#[derive(Default)]
struct Stack {
    distances: Distances,
    requests: Depths,
    sizes_pages: Vec<u64>,
}

/// An engine for these sizes.
pub(in crate::cache) fn stack(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    if sizes_pages.len() <= PLAIN_SIZES {
        return super::plain::<Lru>(sizes_pages, seed);
    }
    Box::new(Stack { sizes_pages: sizes_pages.to_vec(), ..Stack::default() })
}

impl Engine for Stack {
    fn access(&mut self, accesses: &Accesses) {
        let (pages, requests) = (accesses.pages, &mut self.requests);
        if let Some(ends) = accesses.request_ends {
            self.distances.access_requests(pages, ends, |depth| requests.add(depth));
        } else {
            self.distances.access_all(pages, |depth| requests.add(depth));
        }
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
        self.distances.start_counting();
        self.requests = Depths::default();
    }

    fn finish(self: Box<Self>) -> Vec<Count> {
        let Self { distances, requests, sizes_pages } = *self;
        let requests = requests.finish(distances.peak().into());
        let misses = distances.finish();
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
