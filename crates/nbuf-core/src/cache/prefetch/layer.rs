//! Caches of several sizes that prefetch, fed by one pass over the accesses.
//!
//! Each size has its own numbers for its pages, because each size prefetches other pages. So the counts of a size do
//! not depend on the sizes next to it. Prefetches of the warm-up are neither useful nor useless. Invariant: prefetches =
//! useful + useless + unused. Cost: as the policy behind a pointer, a hash of each access at each size, and the
//! prefetcher; memory in [`number_bytes`].

use super::{How, Prefetcher, Prefetching, Seen};
use crate::cache::engine::{Accesses, Count, Engine, Prefetches};
use crate::cache::interner::Interner;
use crate::cache::policy::{Access, AnyPolicy, Cause, Choice, Outcome, Row};
use crate::cache::table::Table;

/// A page with its number, its key and its mark.
const NUMBERED_BYTES: u64 = 20 + 8 + 1;
/// What the least policy keeps of a page; rows that count all sizes at once leave it out.
const POLICY_BYTES: u64 = 8;

/// What is known of a page that was prefetched; nothing of others.
const UNUSED: u8 = 1;
/// Prefetched in the warm-up: whether it is used does not count.
const UNUSED_OF_WARMUP: u8 = 2;

/// Caches of these sizes; any order, repetitions and zero allowed.
pub(crate) fn engine(
    choice: &Choice,
    sizes_pages: &[u64],
    seed: u64,
    prefetching: Prefetching,
) -> Box<dyn Engine> {
    let size = |&pages: &u64| {
        let capacity = u32::try_from(pages).unwrap_or(u32::MAX);
        let cache =
            (capacity > 0).then(|| Cache::new(choice.build(capacity, seed), prefetching.build()));
        let count = Count { pages, ..Count::default() };
        Size { cache, count, prefetches: Prefetches::default() }
    };
    let sizes = sizes_pages.iter().map(size).collect();
    let number_bytes = number_bytes(choice.row(), prefetching);
    Box::new(Layer { sizes, prefetching, number_bytes })
}

/// Memory that a page takes at each size, whether it was accessed or only prefetched.
pub(crate) fn number_bytes(row: &Row, prefetching: Prefetching) -> u64 {
    NUMBERED_BYTES + row.page_bytes.max(POLICY_BYTES) + prefetching.page_bytes()
}

/// All sizes.
struct Layer {
    sizes: Vec<Size>,
    prefetching: Prefetching,
    number_bytes: u64,
}

/// One size. A cache of no pages is absent: everything misses.
struct Size {
    cache: Option<Cache>,
    count: Count,
    prefetches: Prefetches,
}

/// A policy behind a prefetcher.
struct Cache {
    policy: Box<dyn AnyPolicy>,
    prefetcher: Box<dyn Prefetcher>,
    numbers: Interner,
    /// The keys of the pages, by their numbers.
    keys: Vec<u64>,
    marks: Table<u8>,
    /// What the prefetcher asked for: room that is used again.
    wanted: Vec<u64>,
}

impl Engine for Layer {
    /// Without keys, the numbers of the pages are their keys.
    fn access(&mut self, accesses: &Accesses) {
        let keys: Vec<u64> = accesses.pages.iter().copied().map(u64::from).collect();
        self.access_keys(accesses, &keys);
    }

    fn access_keys(&mut self, accesses: &Accesses, keys: &[u64]) {
        for Size { cache, count, prefetches } in &mut self.sizes {
            let mut at = 0;
            for end in accesses.ends() {
                let mut misses = 0;
                for &key in &keys[at..end] {
                    let is_miss = cache.as_mut().is_none_or(|it| it.access(key, prefetches));
                    misses += u64::from(is_miss);
                    count.accesses += 1;
                }
                at = end;
                count.misses += misses;
                count.requests += 1;
                count.request_misses += u64::from(misses > 0);
            }
        }
    }

    fn remove(&mut self, pages: &[u32]) {
        for &page in pages {
            self.remove_keys(page.into(), page.into());
        }
    }

    fn remove_keys(&mut self, first: u64, last: u64) {
        for Size { cache, prefetches, .. } in &mut self.sizes {
            if let Some(cache) = cache {
                cache.remove(first, last, prefetches);
            }
        }
    }

    fn start_counting(&mut self) {
        for Size { cache, count, prefetches } in &mut self.sizes {
            *count = Count { pages: count.pages, ..Count::default() };
            *prefetches = Prefetches::default();
            if let Some(cache) = cache {
                let warm = |mark| if mark == UNUSED { UNUSED_OF_WARMUP } else { mark };
                cache.marks = cache.marks.map(warm);
            }
        }
    }

    fn bytes_beyond(&self, distinct: u64, accesses: u64, requests: u64) -> u64 {
        let more = self.prefetching.pages_beyond(accesses, requests);
        let caches = self.sizes.iter().filter_map(|size| size.cache.as_ref());
        let beyond = caches.map(|cache| {
            u64::from(cache.numbers.pages()).saturating_add(more).saturating_sub(distinct)
        });
        beyond.fold(0, u64::saturating_add).saturating_mul(self.number_bytes)
    }

    fn prefetches(&self) -> Vec<Prefetches> {
        let each = self.sizes.iter().map(|size| {
            let marks = size.cache.iter().flat_map(|cache| cache.marks.iter());
            let unused = marks.filter(|&(_, mark)| mark == UNUSED).count();
            Prefetches { unused: u64::try_from(unused).unwrap_or(u64::MAX), ..size.prefetches }
        });
        each.collect()
    }

    fn finish(self: Box<Self>) -> Vec<Count> {
        self.sizes.into_iter().map(|size| size.count).collect()
    }
}

impl Cache {
    fn new(policy: Box<dyn AnyPolicy>, prefetcher: Box<dyn Prefetcher>) -> Self {
        let (numbers, keys) = (Interner::new(), Vec::new());
        Self { policy, prefetcher, numbers, keys, marks: Table::default(), wanted: Vec::new() }
    }

    /// Whether an access misses. It fetches its page, and then what the prefetcher wants.
    fn access(&mut self, key: u64, count: &mut Prefetches) -> bool {
        let page = self.number(key);
        let mark = std::mem::take(self.marks.at(page));
        let is_there = self.policy.touch(Access::to(page));
        let how = match (is_there, mark > 0) {
            (false, _) => How::Miss,
            (true, true) => How::FirstUse,
            (true, false) => How::Hit,
        };
        count.useful += u64::from(how == How::FirstUse && mark == UNUSED);
        if how == How::Miss {
            let outcome = self.policy.fill(Access::to(page), Cause::Demand, &mut |_| true);
            self.makes_room(outcome, count);
        }
        let mut wanted = std::mem::take(&mut self.wanted);
        let is_cached = |key| self.numbers.find(key).is_some_and(|page| self.policy.contains(page));
        self.prefetcher.access(&Seen { page: key, how, is_cached: &is_cached }, &mut wanted);
        wanted.drain(..).for_each(|key| self.fetch(key, count));
        self.wanted = wanted;
        how == How::Miss
    }

    /// Fetches a page, unless it is there.
    fn fetch(&mut self, key: u64, count: &mut Prefetches) {
        let page = self.number(key);
        if self.policy.contains(page) {
            return;
        }
        count.fetched += 1;
        *self.marks.at(page) = UNUSED;
        let outcome = self.policy.fill(Access::to(page), Cause::Readahead, &mut |_| true);
        if outcome == Outcome::Bypassed {
            self.gone(page, count);
        }
        self.makes_room(outcome, count);
    }

    /// The page that left for another one, if one did.
    fn makes_room(&mut self, outcome: Outcome, count: &mut Prefetches) {
        if let Outcome::Filled { evicted: Some(page) } = outcome {
            self.gone(page, count);
        }
    }

    /// A page is no more in the cache.
    fn gone(&mut self, page: u32, count: &mut Prefetches) {
        let mark = std::mem::take(self.marks.at(page));
        count.useless += u64::from(mark == UNUSED);
        self.prefetcher.left(self.keys[page as usize], mark > 0);
    }

    fn remove(&mut self, first: u64, last: u64, count: &mut Prefetches) {
        for page in self.numbers.known(first, last) {
            if self.policy.remove(page) {
                self.gone(page, count);
            }
        }
    }

    fn number(&mut self, key: u64) -> u32 {
        let page = self.numbers.one(key);
        if page as usize == self.keys.len() {
            self.keys.push(key);
        }
        page
    }
}
