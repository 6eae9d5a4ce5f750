//! Runs the plain file of a policy, once for each size.

use super::{Accesses, Count, Engine};
use crate::cache::policy::{Access, Outcome, Policy};

/// Accesses between asking for what one will look at and looking.
const AHEAD: usize = 16;

/// A policy at one size. A cache of no pages has none: everything misses.
pub(super) struct Size<P> {
    pub(super) policy: Option<P>,
    pub(super) count: Count,
}

/// All sizes.
pub(super) struct Plain<P>(pub(super) Vec<Size<P>>);

/// An engine out of any policy.
pub(in crate::cache) fn plain<P: Policy + Send + 'static>(
    sizes_pages: &[u64],
    seed: u64,
) -> Box<dyn Engine> {
    plain_of(sizes_pages, |capacity| P::new(capacity, seed))
}

/// An engine out of what `build` makes for each size.
pub(in crate::cache) fn plain_of<P: Policy + Send + 'static>(
    sizes_pages: &[u64],
    build: impl Fn(u32) -> P,
) -> Box<dyn Engine> {
    let sizes = sizes_pages.iter().map(|&pages| {
        // No trace has more pages than numbers.
        let capacity = u32::try_from(pages).unwrap_or(u32::MAX);
        let policy = (capacity > 0).then(|| build(capacity));
        Size { policy, count: Count { pages, ..Count::default() } }
    });
    Box::new(Plain(sizes.collect()))
}

impl<P: Policy + Send> Engine for Plain<P> {
    fn access(&mut self, accesses: &Accesses) {
        for size in &mut self.0 {
            size.access(accesses);
        }
    }

    fn remove(&mut self, pages: &[u32]) {
        for policy in self.0.iter_mut().filter_map(|size| size.policy.as_mut()) {
            for &page in pages {
                policy.remove(page);
            }
        }
    }

    fn start_counting(&mut self) {
        for Size { count, .. } in &mut self.0 {
            *count = Count { pages: count.pages, ..Count::default() };
        }
    }

    fn finish(self: Box<Self>) -> Vec<Count> {
        self.0.into_iter().map(|size| size.count).collect()
    }
}

impl<P: Policy> Size<P> {
    fn access(&mut self, accesses: &Accesses) {
        let pages = accesses.pages;
        let length = u64::try_from(pages.len()).expect("64 bits hold a length");
        self.count.accesses += length;
        let Some(policy) = &mut self.policy else {
            self.count.misses += length;
            let requests = accesses.request_ends.map_or(pages.len(), <[u32]>::len);
            let requests = u64::try_from(requests).expect("64 bits hold a length");
            self.count.requests += requests;
            self.count.request_misses += requests;
            return;
        };
        let mut is_miss = |at: usize| {
            if let Some(&later) = pages.get(at + AHEAD) {
                policy.prefetch(later);
            }
            policy.access(Access::to(pages[at])) != Outcome::Hit
        };
        let count = &mut self.count;
        let Some(ends) = accesses.request_ends else {
            let misses: u64 = (0..pages.len()).map(|at| u64::from(is_miss(at))).sum();
            count.misses += misses;
            count.requests += length;
            count.request_misses += misses;
            return;
        };
        let mut at = 0;
        for &end in ends {
            let mut misses = 0;
            while at < end as usize {
                misses += u64::from(is_miss(at));
                at += 1;
            }
            count.misses += misses;
            count.requests += 1;
            count.request_misses += u64::from(misses > 0);
        }
    }
}
