//! Runs the plain file of a policy, once for each size.
//!
//! Sizes take turns, because what all of them know of the pages does not fit into the caches of a
//! processor together. Accesses wait for a turn that pays. Within a turn, some sizes take each access
//! one after the other, so that one goes on where another waits for memory.

use super::{Accesses, Count, Engine};
use crate::cache::policy::{Access, Outcome, Policy};

/// Accesses between asking for what one will look at and looking.
const AHEAD: usize = 16;
/// The same for what follows from it: neighbours in a queue, and the pages that go next.
const LINKS_AHEAD: usize = 6;
/// Sizes that take an access one after the other.
const INTERLEAVED: usize = 2;
/// Accesses of a turn: the longer, the more often a page is found in the caches of the processor.
const TURN_ACCESSES: usize = if cfg!(test) { 100 } else { 1 << 16 };
/// Sizes from which on they take turns.
const TURN_SIZES: usize = 3;
/// What waits in an engine, at the most: pages and the ends of requests, four bytes each, of less than two turns.
pub(crate) const WAITING_BYTES: u64 = 2 * 4 * 2 * TURN_ACCESSES as u64;

/// A policy at one size. A cache of no pages has none: everything misses.
pub(super) struct Size<P> {
    policy: Option<P>,
    count: Count,
    /// Misses before the request that is under way.
    before: u64,
}

/// All sizes.
pub(super) struct Plain<P> {
    sizes: Vec<Size<P>>,
    waiting: Waiting,
}

/// Accesses that wait for a turn.
#[derive(Default)]
struct Waiting {
    pages: Vec<u32>,
    /// Where requests end, if any of them has several accesses.
    ends: Vec<u32>,
    has_ends: bool,
}

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
        Size::new(policy, Count { pages, ..Count::default() })
    });
    Box::new(Plain::new(sizes.collect()))
}

impl<P> Plain<P> {
    pub(super) fn new(sizes: Vec<Size<P>>) -> Self {
        Self { sizes, waiting: Waiting::default() }
    }
}

impl<P: Policy + Send> Plain<P> {
    /// Gives what waits to all sizes.
    fn take_turns(&mut self) {
        let accesses = self.waiting.accesses();
        take(&mut self.sizes, &accesses);
        self.waiting.clear();
    }
}

impl<P: Policy + Send> Engine for Plain<P> {
    fn access(&mut self, accesses: &Accesses) {
        // A batch as long as a turn is one: a copy of a request of millions would be memory that nothing counts.
        if self.sizes.len() < TURN_SIZES || accesses.pages.len() >= TURN_ACCESSES {
            self.take_turns();
            take(&mut self.sizes, accesses);
            return;
        }
        self.waiting.add(accesses);
        if self.waiting.pages.len() >= TURN_ACCESSES {
            self.take_turns();
        }
    }

    fn remove(&mut self, pages: &[u32]) {
        if pages.is_empty() {
            return;
        }
        self.take_turns();
        for policy in self.sizes.iter_mut().filter_map(|size| size.policy.as_mut()) {
            for &page in pages {
                policy.remove(page);
            }
        }
    }

    fn start_counting(&mut self) {
        self.take_turns();
        for Size { count, .. } in &mut self.sizes {
            *count = Count { pages: count.pages, ..Count::default() };
        }
    }

    fn finish(mut self: Box<Self>) -> Vec<Count> {
        self.take_turns();
        self.sizes.into_iter().map(|size| size.count).collect()
    }
}

/// Gives accesses to all sizes, some at a time.
fn take<P: Policy>(sizes: &mut [Size<P>], accesses: &Accesses) {
    for sizes in sizes.chunks_mut(INTERLEAVED) {
        match accesses.request_ends {
            Some(ends) => take_requests(sizes, accesses.pages, ends),
            None => take_single(sizes, accesses.pages),
        }
    }
}

fn take_single<P: Policy>(sizes: &mut [Size<P>], pages: &[u32]) {
    for size in &mut *sizes {
        size.before = size.count.misses;
    }
    for at in 0..pages.len() {
        for size in &mut *sizes {
            size.access(pages, at);
        }
    }
    let length = pages.len() as u64;
    for Size { count, before, .. } in sizes {
        count.accesses += length;
        count.requests += length;
        count.request_misses += count.misses - *before;
    }
}

fn take_requests<P: Policy>(sizes: &mut [Size<P>], pages: &[u32], ends: &[u32]) {
    let mut at = 0;
    for &end in ends {
        for size in &mut *sizes {
            size.before = size.count.misses;
        }
        while at < end as usize {
            for size in &mut *sizes {
                size.access(pages, at);
            }
            at += 1;
        }
        for Size { count, before, .. } in &mut *sizes {
            count.request_misses += u64::from(count.misses > *before);
        }
    }
    for size in sizes {
        size.count.accesses += pages.len() as u64;
        size.count.requests += ends.len() as u64;
    }
}

impl<P> Size<P> {
    /// A policy, and what it has counted.
    pub(super) fn new(policy: Option<P>, count: Count) -> Self {
        Self { policy, count, before: 0 }
    }
}

impl<P: Policy> Size<P> {
    #[inline]
    fn access(&mut self, pages: &[u32], at: usize) {
        let Some(policy) = &mut self.policy else {
            self.count.misses += 1;
            return;
        };
        if let Some(&later) = pages.get(at + AHEAD) {
            policy.prefetch(later);
        }
        if let Some(&later) = pages.get(at + LINKS_AHEAD) {
            policy.prefetch_links(later);
        }
        let is_miss = policy.access(Access::to(pages[at])) != Outcome::Hit;
        self.count.misses += u64::from(is_miss);
    }
}

impl Waiting {
    fn add(&mut self, accesses: &Accesses) {
        let before = place(self.pages.len());
        self.pages.extend_from_slice(accesses.pages);
        if accesses.request_ends.is_some() && !self.has_ends {
            // Up to here, each access is a request.
            self.has_ends = true;
            self.ends.extend(1..=before);
        }
        match accesses.request_ends {
            Some(ends) => self.ends.extend(ends.iter().map(|&end| before + end)),
            None if self.has_ends => self.ends.extend(before + 1..=place(self.pages.len())),
            None => {}
        }
    }

    fn accesses(&self) -> Accesses<'_> {
        let request_ends = self.has_ends.then_some(&self.ends[..]);
        Accesses { pages: &self.pages, request_ends }
    }

    fn clear(&mut self) {
        self.has_ends = false;
        self.pages.clear();
        self.ends.clear();
    }
}

/// Places among the accesses that wait are numbers of 32 bits, as the ends of requests are.
fn place(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 accesses wait")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cache::policy::POLICIES;

    /// What happens: accesses, as requests of some pages or of one each; then pages that leave, and
    /// perhaps the end of a warm-up.
    type Event = (Vec<Vec<u32>>, Vec<u32>, bool);

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let request = prop_oneof![
            6 => prop::collection::vec(0..50_u32, 1),
            1 => prop::collection::vec(0..50_u32, 1..5),
        ];
        let single = prop::collection::vec(0..50_u32, 1);
        let batch = prop_oneof![
            prop::collection::vec(single, 0..70),
            prop::collection::vec(request, 0..70),
        ];
        let gone = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(0..50_u32, 1..4)];
        prop::collection::vec((batch, gone, prop::bool::weighted(0.1)), 0..12)
    }

    fn run(mut engines: Vec<Box<dyn Engine>>, events: &[Event]) -> Vec<Count> {
        for (batch, gone, starts_counting) in events {
            let pages = batch.concat();
            let ends = batch.iter().scan(0_u32, |end, request| {
                *end += u32::try_from(request.len()).unwrap();
                Some(*end)
            });
            let ends: Vec<u32> = ends.collect();
            let request_ends = (pages.len() > batch.len()).then_some(&ends[..]);
            for engine in &mut engines {
                engine.access(&Accesses { pages: &pages, request_ends });
                engine.remove(gone);
                if *starts_counting {
                    engine.start_counting();
                }
            }
        }
        engines.into_iter().flat_map(Engine::finish).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// A single size waits for no turn, and no other size takes its accesses in between.
        #[test]
        fn sizes_that_take_turns_count_what_each_counts_alone(
            events in events(),
            seed in any::<u64>(),
        ) {
            let sizes = [7, 0, 1, 30, 12, 7];
            for row in POLICIES.iter().filter(|row| row.name != "opt") {
                let alone = sizes.iter().map(|&size| (row.engine)(&[size], seed)).collect();
                let together = vec![(row.engine)(&sizes, seed)];
                prop_assert_eq!(run(together, &events), run(alone, &events), "{}", row.name);
            }
        }
    }
}
