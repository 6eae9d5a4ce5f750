//! LRU distances of a piece of a trace, which merge with those of its neighbours without a loss.
//!
//! A segment keeps its hits by depth, its pages by first access, and its LRU stack. The first accesses of the
//! later segment are all that can be hit in the earlier one: an access is as deep as the distinct pages since.
//! Invariant: segments are an ordered monoid. Any split of a trace and any tree of merges of neighbours
//! give the hits of one pass. A segment with a limit is exact at all sizes up to it.
//! Cost: O(pages of the later one * log of the earlier one) a merge; 16 bytes a page.
//! Source: Q. Niu and others, *PARDA: A Fast Parallel Reuse Distance Analysis Algorithm*, 2012.
//! Not for traces in which pages leave the caches (truncation, discard): holes do not merge.

use super::distance::{Distances, Stamp};
use super::stack::Marks;
use super::steps::Hits;

/// The limit of a segment that is exact at all sizes.
pub(crate) const NO_LIMIT: u32 = u32::MAX;

/// A piece of a trace, in the order of its accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Accesses.
    pub accesses: u64,
    /// Hits by depth: the smallest cache, in pages, that hits the access within the segment.
    pub hits: Hits,
    /// Distinct pages in the order of their first accesses; of these, the first `limit`.
    pub first: Vec<u64>,
    /// Distinct pages by their last access, the most recent first; of these, the first `limit`.
    pub last: Vec<u64>,
    /// The largest size that is exact; hits at greater depths count as misses.
    pub limit: u32,
}

impl Segment {
    /// The segment of no accesses: merged with any other, it gives the other.
    pub(crate) fn empty(limit: u32) -> Self {
        Self { accesses: 0, hits: Hits::default(), first: Vec::new(), last: Vec::new(), limit }
    }

    /// The segment that a meter has seen, from which nothing was removed. `keys` has the key of each page by its
    /// number; pages are numbered by their first accesses.
    pub(crate) fn of(distances: Distances, keys: Vec<u64>, limit: u32) -> Self {
        let stack = distances.oldest_first();
        let newest = stack.iter().rev().flatten().take(limit as usize);
        let last = newest.map(|&page| keys[page as usize]).collect();
        let misses = distances.finish();
        let mut first = keys;
        first.truncate(limit as usize);
        let mut hits = Hits::of(&misses);
        hits.truncate(limit.into());
        Self { accesses: misses.accesses, hits, first, last, limit }
    }

    /// The segment of both: `earlier`, then `later`.
    pub(crate) fn merge(earlier: &Self, later: &Self) -> Self {
        let limit = earlier.limit.min(later.limit);
        let most = limit as usize;
        let shared = shared(&earlier.last, &later.first);
        let mut hits = earlier.hits.clone();
        hits.add(&later.hits);
        hits.add(&Hits::from_depths(depths(&shared, earlier.last.len())));
        hits.truncate(limit.into());

        let mut first = earlier.first.clone();
        // A full list says nothing of further pages, and needs none.
        if first.len() < most {
            let mut is_old = vec![false; later.first.len()];
            for &(new, _) in &shared {
                is_old[new as usize] = true;
            }
            let new = later.first.iter().zip(is_old).filter(|&(_, is_old)| !is_old);
            first.extend(new.map(|(&page, _)| page));
        }
        first.truncate(most);
        let mut last = later.last.clone();
        if last.len() < most {
            let mut is_used = vec![false; earlier.last.len()];
            for &(_, old) in &shared {
                is_used[old as usize] = true;
            }
            let old = earlier.last.iter().zip(is_used).filter(|&(_, is_used)| !is_used);
            last.extend(old.map(|(&page, _)| page));
        }
        last.truncate(most);
        Self { accesses: earlier.accesses + later.accesses, hits, first, last, limit }
    }

    /// The segment of all of these in their order, by a tree of merges of neighbours.
    pub(crate) fn merge_all(mut segments: Vec<Self>, limit: u32) -> Self {
        while segments.len() > 1 {
            let mut halves = Vec::with_capacity(segments.len().div_ceil(2));
            let mut pairs = segments.into_iter();
            while let Some(earlier) = pairs.next() {
                halves.push(match pairs.next() {
                    Some(later) => Self::merge(&earlier, &later),
                    None => earlier,
                });
            }
            segments = halves;
        }
        segments.pop().unwrap_or_else(|| Self::empty(limit))
    }
}

/// Pages that are in both lists, by their places: first in the list of the later segment, ascending.
fn shared(stack: &[u64], first: &[u64]) -> Vec<(Stamp, Stamp)> {
    let sorted = |pages: &[u64]| {
        let mut places: Vec<(u64, Stamp)> = pages.iter().copied().zip(0..).collect();
        places.sort_unstable();
        places
    };
    let (old, new) = (sorted(stack), sorted(first));
    let (mut old, mut both) = (old.into_iter().peekable(), Vec::new());
    for (page, new_place) in new {
        while old.next_if(|&(other, _)| other < page).is_some() {}
        if let Some((_, old_place)) = old.next_if(|&(other, _)| other == page) {
            both.push((new_place, old_place));
        }
    }
    both.sort_unstable();
    both
}

/// Depths of the first accesses to pages of the earlier stack: new pages before it, and old ones that are
/// above it in the stack and did not come before it.
fn depths(shared: &[(Stamp, Stamp)], stack: usize) -> Vec<u64> {
    let live = Stamp::try_from(stack).expect("fewer than 2^32 pages in the stack");
    let mut marks = Marks::packed(stack + 1, live);
    let depth = |&(new, old): &(Stamp, Stamp)| {
        let stamp = live - 1 - old;
        let above = marks.above(stamp);
        marks.clear(stamp);
        u64::from(new) + u64::from(above) + 1
    };
    shared.iter().map(depth).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::clock::Random;
    use crate::meter::distance::Misses;

    /// Pages as they were accessed, in dense numbers by their first accesses, and the key of each.
    fn dense(pages: &[u64]) -> (Vec<u32>, Vec<u64>) {
        let (mut numbers, mut keys) = (HashMap::new(), Vec::new());
        let number = |&page: &u64| {
            let next = u32::try_from(keys.len()).unwrap();
            *numbers.entry(page).or_insert_with(|| {
                keys.push(page);
                next
            })
        };
        let dense = pages.iter().map(number).collect();
        (dense, keys)
    }

    /// One pass over the pages.
    fn pass(pages: &[u64]) -> (Distances, Vec<u64>) {
        let (numbers, keys) = dense(pages);
        let mut distances = Distances::new();
        distances.access_all(&numbers, |_| {});
        (distances, keys)
    }

    pub(crate) fn segment(pages: &[u64], limit: u32) -> Segment {
        let (distances, keys) = pass(pages);
        Segment::of(distances, keys, limit)
    }

    pub(crate) fn one_pass(pages: &[u64]) -> Misses {
        pass(pages).0.finish()
    }

    /// Merges neighbours in an order of chance, until one is left.
    fn merge_by_chance(mut segments: Vec<Segment>, seed: u64, limit: u32) -> Segment {
        let mut random = Random::new(seed);
        while segments.len() > 1 {
            let below = random.below(segments.len() as u64 - 1);
            let at = usize::try_from(below).unwrap();
            let later = segments.remove(at + 1);
            segments[at] = Segment::merge(&segments[at], &later);
        }
        segments.pop().unwrap_or_else(|| Segment::empty(limit))
    }

    fn pieces(pages: &[u64], cuts: &[usize], limit: u32) -> Vec<Segment> {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (pages.len() + 1)).collect();
        ends.extend([0, pages.len()]);
        ends.sort_unstable();
        ends.windows(2).map(|ends| segment(&pages[ends[0]..ends[1]], limit)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_split_and_any_tree_give_the_one_pass(
            pages in prop::collection::vec(0..40_u64, 0..400),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            seed in any::<u64>(),
        ) {
            let merged = merge_by_chance(pieces(&pages, &cuts, NO_LIMIT), seed, NO_LIMIT);
            prop_assert_eq!(&merged, &segment(&pages, NO_LIMIT));
            let tree = Segment::merge_all(pieces(&pages, &cuts, NO_LIMIT), NO_LIMIT);
            prop_assert_eq!(&merged, &tree);
            let (steps, misses) = (merged.hits.steps(merged.accesses), one_pass(&pages));
            for size in 0..=41 {
                prop_assert_eq!(steps.at(size), misses.at(size), "{} pages", size);
            }
        }

        #[test]
        fn a_limit_is_exact_up_to_it(
            pages in prop::collection::vec(0..40_u64, 0..300),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            seed in any::<u64>(),
            limit in 1..30_u32,
        ) {
            let merged = merge_by_chance(pieces(&pages, &cuts, limit), seed, limit);
            prop_assert_eq!(&merged, &segment(&pages, limit));
            prop_assert!(merged.first.len() <= limit as usize);
            let (steps, misses) = (merged.hits.steps(merged.accesses), one_pass(&pages));
            for size in 0..=limit.into() {
                prop_assert_eq!(steps.at(size), misses.at(size), "{} pages", size);
            }
        }

        #[test]
        fn the_empty_segment_changes_nothing(pages in prop::collection::vec(0..9_u64, 0..40)) {
            let (one, none) = (segment(&pages, NO_LIMIT), Segment::empty(NO_LIMIT));
            prop_assert_eq!(&Segment::merge(&one, &none), &one);
            prop_assert_eq!(&Segment::merge(&none, &one), &one);
        }
    }

    #[test]
    fn the_order_of_segments_counts() {
        let (a, b) = (segment(&[1, 2], NO_LIMIT), segment(&[2, 3], NO_LIMIT));
        assert_ne!(Segment::merge(&a, &b), Segment::merge(&b, &a));
    }
}
