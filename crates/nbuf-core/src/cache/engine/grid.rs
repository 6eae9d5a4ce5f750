//! Sixteen sizes of a policy side by side: the state of a page at all of them is in one line of
//! memory, so that an access looks for it once.
//!
//! Only for policies whose hits change little, FIFO, CLOCK, SIEVE and S3-FIFO, and for those whose lists
//! have the order of the last uses: ARC. Each has a file of its own that says how a miss is served;
//! this one counts. When a page is removed, which leaves gaps that the
//! grid does not know, all goes on in the plain files of the policy, from where they are.
//!
//! Invariant: at every size and moment the same pages as in the plain file.

use super::plain::{Plain, Size};
use super::{Accesses, Count, Engine};
use crate::cache::policy::Policy;

/// Sizes side by side.
pub(super) const LANES: usize = 16;

/// Larger caches are left to the plain files, whose numbers are wider.
const PAGES_MAX: u64 = 1 << 30;

/// Accesses between asking for what is known of a page and looking at it.
const AHEAD: usize = 12;
/// The same for what follows from it.
const LINKS_AHEAD: usize = 6;

/// A policy at sixteen sizes.
pub(super) trait Lanes: Send {
    /// The plain file.
    type Policy: Policy + Send + 'static;

    /// Lanes that cost about as much as one. The work of a lane that misses is not shared, so that
    /// two processors gain where lanes have work of their own.
    const AT_ONCE: usize = LANES / 2;

    /// Sizes from which on it pays to run them side by side.
    const SIZES_MIN: usize = 4;

    /// Empty caches of these sizes; none at all where the size is 0.
    fn new(sizes: [u32; LANES]) -> Self;

    /// Makes room for pages with numbers below `pages`, and for `accesses` accesses.
    fn prepare(&mut self, pages: usize, accesses: usize);

    /// An access to one of them: a bit for each lane that missed. Lanes of size 0 never miss.
    fn access(&mut self, page: u32) -> u32;

    /// What each lane has missed, modulo 2^32; of lanes of size 0 anything. Only differences since
    /// the room was made last mean something.
    fn misses(&self) -> [u32; LANES];

    /// Starts to load what is known of a page.
    fn prefetch(&self, page: u32);

    /// Starts to load what is behind that, some accesses later.
    #[inline]
    fn prefetch_links(&self, _page: u32) {}

    /// The plain policy in the same state.
    fn policy(&self, lane: usize, capacity: u32) -> Self::Policy;
}

/// Sixteen sizes, and what they missed.
struct Block<L> {
    lanes: L,
    counts: [Count; LANES],
}

/// An engine out of lanes, until a page is removed.
enum Grid<L: Lanes> {
    Lanes { blocks: Vec<Block<L>>, sizes_pages: Vec<u64>, count: Count, pages: usize },
    Plain(Plain<L::Policy>),
}

/// An engine for these sizes, side by side if that pays.
pub(super) fn grid<L: Lanes + 'static>(sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
    let mut sizes: Vec<u64> = sizes_pages.iter().copied().filter(|&size| size > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() < L::SIZES_MIN || sizes.last().is_some_and(|&size| size > PAGES_MAX) {
        return super::plain::<L::Policy>(sizes_pages, seed);
    }
    let blocks = sizes.chunks(LANES).map(|sizes| {
        let pages: [u64; LANES] = std::array::from_fn(|lane| sizes.get(lane).copied().unwrap_or(0));
        let sizes = pages.map(|pages| u32::try_from(pages).expect("within the bound"));
        let counts = pages.map(|pages| Count { pages, ..Count::default() });
        Block { lanes: L::new(sizes), counts }
    });
    let blocks = blocks.collect();
    let (sizes_pages, count) = (sizes_pages.to_vec(), Count::default());
    Box::new(Grid::<L>::Lanes { blocks, sizes_pages, count, pages: 0 })
}

impl<L: Lanes> Engine for Grid<L> {
    fn access(&mut self, accesses: &Accesses) {
        match self {
            Self::Plain(plain) => plain.access(accesses),
            Self::Lanes { blocks, count, pages, .. } => {
                let highest = accesses.pages.iter().copied().max();
                *pages = (*pages).max(highest.map_or(0, |page| page as usize + 1));
                let length = |items: usize| u64::try_from(items).expect("64 bits hold a length");
                count.accesses += length(accesses.pages.len());
                count.requests +=
                    length(accesses.request_ends.map_or(accesses.pages.len(), <[u32]>::len));
                for block in blocks {
                    block.lanes.prepare(*pages, accesses.pages.len());
                    block.access(accesses);
                }
            }
        }
    }

    fn sizes_at_once(&self) -> usize {
        match self {
            Self::Plain(_) => 1,
            Self::Lanes { .. } => L::AT_ONCE,
        }
    }

    fn remove(&mut self, removed: &[u32]) {
        if removed.is_empty() {
            return;
        }
        let counts = self.counts();
        if let Self::Lanes { blocks, .. } = &*self {
            let sizes = counts.into_iter().map(|count| {
                let found = blocks.iter().find_map(|block| {
                    let lane = block.counts.iter().position(|lane| lane.pages == count.pages)?;
                    let capacity = u32::try_from(count.pages).ok().filter(|&pages| pages > 0)?;
                    Some(block.lanes.policy(lane, capacity))
                });
                Size::new(found, count)
            });
            *self = Self::Plain(Plain::new(sizes.collect()));
        }
        if let Self::Plain(plain) = self {
            plain.remove(removed);
        }
    }

    fn start_counting(&mut self) {
        match self {
            Self::Plain(plain) => plain.start_counting(),
            Self::Lanes { blocks, count, .. } => {
                *count = Count::default();
                for lane in blocks.iter_mut().flat_map(|block| &mut block.counts) {
                    *lane = Count { pages: lane.pages, ..Count::default() };
                }
            }
        }
    }

    fn finish(self: Box<Self>) -> Vec<Count> {
        match *self {
            Self::Plain(plain) => Box::new(plain).finish(),
            lanes @ Self::Lanes { .. } => lanes.counts(),
        }
    }
}

impl<L: Lanes> Grid<L> {
    /// What was counted so far, for each size that was asked for.
    fn counts(&self) -> Vec<Count> {
        let Self::Lanes { blocks, sizes_pages, count: all, .. } = self else { return Vec::new() };
        let lanes = || blocks.iter().flat_map(|block| &block.counts);
        let count = |&pages: &u64| {
            let lane = lanes().find(|lane| pages > 0 && lane.pages == pages);
            // A cache of no pages misses everything.
            let (misses, request_misses) = lane
                .map_or((all.accesses, all.requests), |lane| (lane.misses, lane.request_misses));
            Count { pages, misses, request_misses, ..*all }
        };
        sizes_pages.iter().map(count).collect()
    }
}

impl<L: Lanes> Block<L> {
    fn access(&mut self, accesses: &Accesses) {
        // The lanes count by themselves: a sum for each bit of each access would cost as much again.
        let before = self.lanes.misses();
        match accesses.request_ends {
            None => self.access_single(accesses.pages),
            Some(ends) => self.access_requests(accesses.pages, ends),
        }
        let after = self.lanes.misses();
        for ((count, before), after) in self.counts.iter_mut().zip(before).zip(after) {
            let misses = u64::from(after.wrapping_sub(before));
            count.misses += misses;
            if accesses.request_ends.is_none() {
                count.request_misses += misses;
            }
        }
    }

    #[inline]
    fn prefetch(&self, pages: &[u32], at: usize) {
        if let Some(&later) = pages.get(at + AHEAD) {
            self.lanes.prefetch(later);
        }
        if let Some(&later) = pages.get(at + LINKS_AHEAD) {
            self.lanes.prefetch_links(later);
        }
    }

    fn access_single(&mut self, pages: &[u32]) {
        for (at, &page) in pages.iter().enumerate() {
            self.prefetch(pages, at);
            self.lanes.access(page);
        }
    }

    fn access_requests(&mut self, pages: &[u32], ends: &[u32]) {
        let mut at = 0;
        for &end in ends {
            let mut request = 0;
            while at < end as usize {
                self.prefetch(pages, at);
                request |= self.lanes.access(pages[at]);
                at += 1;
            }
            if request == 0 {
                continue;
            }
            for (lane, count) in self.counts.iter_mut().enumerate() {
                count.request_misses += u64::from(request >> lane & 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::engine::arc::ArcLanes;
    use crate::cache::engine::clock::ClockLanes;
    use crate::cache::engine::fifo::FifoLanes;
    use crate::cache::engine::s3_fifo::S3FifoLanes;
    use crate::cache::engine::sieve::SieveLanes;
    use crate::cache::policy::{Access, Outcome};

    /// Counts of batches against those of the plain file, of requests and of single accesses. Counting
    /// begins again halfway.
    fn check_counts<L: Lanes + 'static>() {
        let sizes = [1, 2, 3, 5, 8, 13, 40, 90, 200, 0, 3];
        for seed in 1..9_u32 {
            let mut state = seed;
            let mut below = |bound: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 12) % bound
            };
            let mut lanes = grid::<L>(&sizes, 1);
            let mut plain = super::super::plain::<L::Policy>(&sizes, 1);
            for batch in 0..40 {
                let pages: Vec<u32> = (0..below(300)).map(|_| below(300).min(below(300))).collect();
                let all = u32::try_from(pages.len()).unwrap();
                let mut ends: Vec<u32> = (0..all).filter(|_| below(3) > 0).collect();
                ends.retain(|&end| end > 0);
                ends.push(all);
                let has_ends = below(2) == 0 && all > 0;
                let request_ends = has_ends.then_some(&ends[..]);
                let accesses = Accesses { pages: &pages, request_ends };
                lanes.access(&accesses);
                plain.access(&accesses);
                if batch == 20 {
                    lanes.start_counting();
                    plain.start_counting();
                }
            }
            assert_eq!(lanes.finish(), plain.finish(), "{seed}");
        }
    }

    #[test]
    fn counts_of_lanes_are_those_of_the_plain_file() {
        check_counts::<FifoLanes>();
        check_counts::<ClockLanes>();
        check_counts::<SieveLanes>();
        check_counts::<S3FifoLanes>();
        check_counts::<ArcLanes>();
    }

    /// Lane by lane and access by access against the plain file; and what a plain file that takes
    /// over does from there.
    fn check<L: Lanes>(pages: u32) {
        let sizes: [u32; LANES] = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 600, 0, 0];
        let mut lanes = L::new(sizes);
        let plain = |size: u32| (size > 0).then(|| L::Policy::new(size, 1));
        let mut plain: Vec<_> = sizes.map(plain).into_iter().collect();
        let mut state = 1_u32;
        for n in 0..60_000_u32 {
            if n % 1000 == 0 {
                lanes.prepare(1000, 1000);
            }
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let page = (state >> 16) % pages;
            let page = page.min((state >> 4) % pages);
            let missed = lanes.access(page);
            for (lane, policy) in plain.iter_mut().enumerate() {
                let Some(policy) = policy else { continue };
                let is_miss = policy.access(Access::to(page)) != Outcome::Hit;
                assert_eq!(missed >> lane & 1 == 1, is_miss, "lane {lane}, access {n}");
                if n == 30_000 {
                    *policy = lanes.policy(lane, sizes[lane]);
                }
            }
            assert_eq!(missed >> 14, 0, "lanes that are not in use");
        }
    }

    #[test]
    fn lanes_of_fifo_equal_the_plain_file() {
        check::<FifoLanes>(1000);
    }

    #[test]
    fn lanes_of_clock_equal_the_plain_file() {
        check::<ClockLanes>(1000);
    }

    #[test]
    fn lanes_of_sieve_equal_the_plain_file() {
        check::<SieveLanes>(1000);
    }

    #[test]
    fn lanes_of_s3_fifo_equal_the_plain_file() {
        // With few pages, some are forgotten and come back so often that their states are full.
        for pages in [9, 14, 40, 300, 1000] {
            check::<S3FifoLanes>(pages);
        }
    }

    #[test]
    fn lanes_of_arc_equal_the_plain_file() {
        // With few pages, some caches hold them all.
        for pages in [2, 9, 40, 300, 1000] {
            check::<ArcLanes>(pages);
        }
    }
}
