//! Exact misses of the optimal policy at several sizes, in one pass and without the future.
//!
//! Between two uses of a page is an interval in which a cache keeps the page or does not. The page
//! that is used at a moment takes a frame, so a cache of `n + 1` pages can keep the pages of `n`
//! intervals at once. How many of all intervals fit on `n` tracks is known: take them by their ends,
//! put each on the free track that ended last, drop it where none is free (M. Carlisle and E. Lloyd,
//! *On the k-coloring of Intervals*, 1995). So an interval is decided when it ends. The hits are
//! those of L. Belady's MIN (1966), access by access.
//!
//! A cache that may bypass a page needs no frame for it at that moment: it has `n` tracks for `n`
//! pages, and an interval takes one from just after its use, too.
//!
//! The tracks of a cache are those of the next smaller one and some more. An interval goes to the
//! first group of tracks with a free one; what ended there last moves to the next group that has a
//! later one still free, and so on. Invariant: the groups up to a size hold the ends of its tracks.
//! Cost: about 10 ns an access and size; 7 bytes a page, and one for each size.

use super::moments::Moments;
use super::{Accesses, Count, Engine};
use crate::sys::prefetch::prefetch;

/// A moment: as many accesses were before.
type Moment = u32;

/// When a page begins that was never used, or is no more.
const NEVER: Moment = Moment::MAX;

/// Moments to begin with.
const MOMENTS_MIN: usize = 1 << 16;
/// Moments for each that is needed, after packing.
const MOMENTS_PER_NEED: usize = 3;

/// Accesses between asking for what is known of a page and looking at it.
const AHEAD: usize = 16;

/// The tracks that a size has more than the next smaller one.
struct Group {
    /// When they ended.
    ends: Moments,
    /// Those that never carried anything.
    unused: u64,
}

pub(super) struct Optimum {
    /// The moment after the last use of a page, or with bypass of that use: an interval that began
    /// with that use.
    since: Vec<Moment>,
    bypasses: bool,
    /// The present moment, and those for which there is room.
    now: Moment,
    room: usize,
    /// By size, ascending, without repetition.
    sizes: Vec<u64>,
    groups: Vec<Group>,
    /// Accesses, and requests, by the first size that hits them; the last miss everywhere.
    accesses: Vec<u64>,
    requests: Vec<u64>,
    /// The sizes as asked for.
    sizes_pages: Vec<u64>,
}

/// An engine for these sizes.
pub(in crate::cache) fn optimum(sizes_pages: &[u64], _seed: u64) -> Box<dyn Engine> {
    optimum_of(sizes_pages, false)
}

/// The same for caches that may bypass a page.
pub(in crate::cache) fn optimum_of(sizes_pages: &[u64], bypasses: bool) -> Box<dyn Engine> {
    let mut sizes: Vec<u64> = sizes_pages.iter().copied().filter(|&size| size > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let smaller = std::iter::once(u64::from(!bypasses)).chain(sizes.iter().copied());
    let groups = smaller
        .zip(&sizes)
        .map(|(smaller, &size)| Group { ends: Moments::new(MOMENTS_MIN), unused: size - smaller });
    let counts = vec![0; sizes.len() + 1];
    Box::new(Optimum {
        since: Vec::new(),
        bypasses,
        now: 0,
        room: MOMENTS_MIN,
        groups: groups.collect(),
        accesses: counts.clone(),
        requests: counts,
        sizes,
        sizes_pages: sizes_pages.to_vec(),
    })
}

impl Engine for Optimum {
    fn access(&mut self, accesses: &Accesses) {
        let pages = accesses.pages;
        let mut first = 0;
        let mut at = 0;
        for end in accesses.ends() {
            while at < end {
                if let Some(&later) = pages.get(at + AHEAD) {
                    prefetch(&self.since, later as usize);
                }
                let level = self.touch(pages[at]);
                self.accesses[level] += 1;
                first = first.max(level);
                at += 1;
            }
            self.requests[first] += 1;
            first = 0;
        }
    }

    fn remove(&mut self, pages: &[u32]) {
        for &page in pages {
            if let Some(since) = self.since.get_mut(page as usize) {
                *since = NEVER;
            }
        }
    }

    fn start_counting(&mut self) {
        self.accesses.fill(0);
        self.requests.fill(0);
    }

    fn finish(self: Box<Self>) -> Vec<Count> {
        let sum = |counts: &[u64]| counts.iter().sum();
        let count = |&pages: &u64| {
            // Those whose first size is a larger one.
            let missed = self.sizes.partition_point(|&size| size <= pages);
            Count {
                pages,
                accesses: sum(&self.accesses),
                misses: sum(&self.accesses[missed..]),
                requests: sum(&self.requests),
                request_misses: sum(&self.requests[missed..]),
            }
        };
        self.sizes_pages.iter().map(count).collect()
    }
}

impl Optimum {
    /// An access; the first of the sizes that hits it.
    #[inline]
    fn touch(&mut self, page: u32) -> usize {
        if self.now as usize + 1 >= self.room {
            self.pack();
        }
        let index = page as usize;
        if index >= self.since.len() {
            self.since.resize(index + 1, NEVER);
        }
        let end = self.now;
        self.now += 1;
        let begin = if self.bypasses { end } else { self.now };
        let since = std::mem::replace(&mut self.since[index], begin);
        if since == NEVER {
            self.groups.len()
        } else if since == end {
            // Nothing happened in between: any cache that takes every page in still has it.
            0
        } else {
            self.keep(since, end)
        }
    }

    /// Puts an interval on the tracks; the first group that had a free one.
    #[inline]
    fn keep(&mut self, since: Moment, end: Moment) -> usize {
        let mut groups = self.groups.iter_mut().enumerate();
        let (first, mut displaced) = loop {
            let Some((level, group)) = groups.next() else { return self.groups.len() };
            if let Some(free) = group.ends.last_until(since) {
                group.ends.remove(free);
                group.ends.insert(end);
                break (level, Some(free));
            } else if group.unused > 0 {
                group.unused -= 1;
                group.ends.insert(end);
                break (level, None);
            }
        };
        for (_, group) in groups {
            let Some(free) = group.ends.last_until(since) else { continue };
            if displaced.is_none_or(|displaced| displaced < free) {
                group.ends.remove(free);
                match displaced {
                    Some(displaced) => group.ends.insert(displaced),
                    None => group.unused += 1,
                }
                displaced = Some(free);
            }
        }
        first
    }

    /// Numbers the needed moments again, without gaps, in the same order.
    #[cold]
    fn pack(&mut self) {
        let mut needed = Moments::new(self.room);
        let since = self.since.iter().filter(|&&since| since != NEVER);
        since.for_each(|&since| needed.insert(since));
        for group in &self.groups {
            group.ends.iter().for_each(|end| needed.insert(end));
        }
        let ranks = needed.ranks();
        for since in self.since.iter_mut().filter(|since| **since != NEVER) {
            *since = ranks.of(*since);
        }
        // The page used just before is the only one that may have been used until now.
        self.now = ranks.of(self.now);
        self.room = (self.now as usize * MOMENTS_PER_NEED).max(MOMENTS_MIN);
        for group in &mut self.groups {
            let mut ends = Moments::new(self.room);
            group.ends.iter().for_each(|end| ends.insert(ranks.of(end)));
            group.ends = ends;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::policy::{Access, NEVER, Opt, Outcome, Policy};

    /// When each access is to be repeated.
    fn next_uses(pages: &[u32]) -> Vec<u64> {
        let mut last = std::collections::HashMap::new();
        let mut next = vec![NEVER; pages.len()];
        for (at, &page) in pages.iter().enumerate().rev() {
            let at_u64 = u64::try_from(at).unwrap();
            next[at] = last.insert(page, at_u64).unwrap_or(NEVER);
        }
        next
    }

    /// Returns the misses of the plain file, which receives the future.
    fn plain(pages: &[u32], capacity: u32, bypasses: bool) -> u64 {
        let mut policy = Opt::with_bypass(capacity, bypasses);
        let accesses = pages.iter().zip(next_uses(pages));
        let missed = accesses.filter(|&(&page, next_use)| {
            let outcome = policy.access(Access { page, next_use });
            policy.check().unwrap();
            outcome != Outcome::Hit
        });
        missed.count().try_into().unwrap()
    }

    #[test]
    fn a_cache_that_may_bypass_misses_what_its_plain_file_misses_and_never_more() {
        let sizes = [1, 2, 3, 5, 8, 13, 40, 90, 200];
        let mut fewer = 0;
        for seed in 1..25_u32 {
            let mut state = seed;
            let mut page = |at: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let any = (state >> 16) % (4 * seed);
                if at.is_multiple_of(seed) { 200 + at % 7 } else { any }
            };
            let pages: Vec<u32> = (0..3000).map(&mut page).collect();
            let count = |bypasses| {
                let mut engine = optimum_of(&sizes, bypasses);
                for pages in pages.chunks(97) {
                    engine.access(&Accesses { pages, request_ends: None });
                }
                engine.finish()
            };
            for (bypass, takes) in count(true).into_iter().zip(count(false)) {
                let size = u32::try_from(bypass.pages).unwrap();
                assert_eq!(bypass.misses, plain(&pages, size, true), "{seed}, {size} pages");
                assert_eq!(takes.misses, plain(&pages, size, false), "{seed}, {size} pages");
                assert!(bypass.misses <= takes.misses, "{seed}, {size} pages");
                fewer += takes.misses - bypass.misses;
            }
        }
        assert!(fewer > 1000, "{fewer}");
    }

    #[test]
    fn moments_are_packed_with_bypass_too() {
        let pages: Vec<u32> =
            (0..200_000_u32).map(|at| at.wrapping_mul(at) % 1009 % (1 + at % 300)).collect();
        let mut engine = optimum_of(&[10, 100], true);
        pages.chunks(4096).for_each(|pages| engine.access(&Accesses { pages, request_ends: None }));
        let misses: Vec<u64> = engine.finish().into_iter().map(|count| count.misses).collect();
        assert_eq!(misses, [plain(&pages, 10, true), plain(&pages, 100, true)]);
    }
}
