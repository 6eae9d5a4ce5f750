//! An LRU stack of pages by their names, for a watch without end.
//!
//! Always: at most a quarter more pages than the given bound are known, whatever was accessed. A page that was pushed
//! out at the bottom comes back as one that was never accessed; its distance has a lower bound then, as before.
//! Cost: as `distance`, and a look-up by hash an access; about 70 bytes a page.

use std::collections::{HashMap, HashSet};

use super::distance::Distances;

/// A page: its file, and its place in the file.
pub(crate) type Key = (u64, u64);

/// No number.
const NONE: u32 = u32::MAX;

/// The stack.
#[derive(Clone, Debug)]
pub(crate) struct LongStack {
    distances: Distances,
    numbers: HashMap<Key, u32>,
    /// Numbers are not given twice, until the stack is trimmed.
    next: u32,
    pages_max: u32,
}

impl LongStack {
    /// An empty stack that keeps this number of pages when it is trimmed.
    pub(crate) fn new(pages_max: u32) -> Self {
        Self { distances: Distances::new(), numbers: HashMap::new(), next: 0, pages_max }
    }

    /// An access: the depth of the page, and the number of pages that were in the stack.
    pub(crate) fn access(&mut self, key: Key) -> (Option<u32>, u32) {
        if self.next >= self.pages_max.saturating_add(self.pages_max / 4).min(NONE - 1) {
            self.trim();
        }
        let before = self.distances.depth();
        let next = &mut self.next;
        let number = *self.numbers.entry(key).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        (self.distances.access(number), before)
    }

    /// The page is gone from every cache.
    pub(crate) fn remove(&mut self, key: Key) {
        if let Some(number) = self.numbers.remove(&key) {
            self.distances.remove(number);
        }
    }

    /// Pages in the stack, with the places of those that are gone.
    pub(crate) fn depth(&self) -> u32 {
        self.distances.depth()
    }

    /// Files that have pages in it.
    pub(crate) fn files(&self) -> HashSet<u64> {
        self.numbers.keys().map(|&(file, _)| file).collect()
    }

    /// Keeps the topmost, under new numbers.
    fn trim(&mut self) {
        let order = self.distances.oldest_first();
        let kept = &order[order.len().saturating_sub(self.pages_max as usize)..];
        let mut distances = Distances::new();
        let mut renamed = vec![NONE; self.next as usize];
        let mut holes = Vec::new();
        for (number, page) in (0..).zip(kept) {
            distances.access(number);
            match page {
                Some(old) => renamed[*old as usize] = number,
                None => holes.push(number),
            }
        }
        for hole in holes {
            distances.remove(hole);
        }
        distances.start_counting();
        self.numbers.retain(|_, number| {
            *number = renamed[*number as usize];
            *number != NONE
        });
        self.numbers.shrink_to(self.pages_max as usize);
        self.next = u32::try_from(kept.len()).unwrap_or(NONE);
        self.distances = distances;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Accesses and removals, in a stack that is trimmed to this size.
    fn depths(events: &[(u64, bool)], pages_max: u32) -> Vec<Option<u32>> {
        let mut stack = LongStack::new(pages_max);
        let mut depths = Vec::new();
        for &(page, is_removal) in events {
            if is_removal {
                stack.remove((1, page));
            } else {
                depths.push(stack.access((1, page)).0);
            }
            assert!(stack.numbers.len() <= pages_max as usize * 5 / 4, "{}", stack.numbers.len());
        }
        depths
    }

    proptest! {
        #[test]
        fn down_to_the_bound_it_is_the_whole_stack(
            events in prop::collection::vec((0..40_u64, prop::bool::weighted(0.1)), 0..600)
        ) {
            let whole = depths(&events, NONE);
            for (got, want) in depths(&events, 16).into_iter().zip(whole) {
                // What was pushed out was at least as deep as the bound.
                let is_out = got.is_none() && want.is_none_or(|depth| depth > 16);
                prop_assert!(got == want || is_out, "{got:?}, not {want:?}");
            }
        }
    }

    #[test]
    fn files_without_pages_are_not_listed() {
        let mut stack = LongStack::new(8);
        (0..100).for_each(|file| {
            stack.access((file, 0));
        });
        let files = stack.files();
        assert!(files.contains(&99) && files.len() <= 10, "{files:?}");
    }
}
