//! A heap of pages by a key that changes: the page with the smallest key comes first.
//!
//! Four children a node: half as deep as a binary heap, and siblings lie together. Invariant: no
//! page has a smaller key than its parent; equal keys are in order of page numbers, so that results
//! do not depend on history. Cost: O(log n) a change, 16 bytes a page and 4 a page ever seen.

use super::table::Table;
use crate::sys::prefetch::prefetch;

const CHILDREN: usize = 4;

/// Pages with their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap<K = u64> {
    nodes: Vec<(K, u32)>,
    /// Where a page is among the nodes, from 1; 0 is nowhere.
    places: Table<u32>,
}

impl<K: Copy + Ord> Heap<K> {
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("no more pages than numbers")
    }

    #[inline]
    pub(super) fn contains(&self, page: u32) -> bool {
        self.places.get(page) != 0
    }

    /// Gives a page a key, whether it had one or not.
    pub(super) fn set(&mut self, page: u32, key: K) {
        let place = self.places.get(page) as usize;
        if place == 0 {
            self.nodes.push((key, page));
            self.rise(self.nodes.len() - 1);
        } else {
            self.nodes[place - 1].0 = key;
            let place = self.rise(place - 1);
            self.sink(place);
        }
    }

    /// Takes a page out; whether it was there.
    pub(super) fn remove(&mut self, page: u32) -> bool {
        let place = self.places.get(page) as usize;
        if place == 0 {
            return false;
        }
        *self.places.at(page) = 0;
        let last = self.nodes.pop().expect("the page at least");
        if place <= self.nodes.len() {
            self.nodes[place - 1] = last;
            let place = self.rise(place - 1);
            self.sink(place);
        }
        true
    }

    /// The page with the smallest key, and the key.
    pub(super) fn first(&self) -> Option<(u32, K)> {
        self.nodes.first().map(|&(key, page)| (page, key))
    }

    /// Takes out the first page in the order of keys that pleases; its key comes with it.
    pub(super) fn take_first(&mut self, mut pleases: impl FnMut(u32) -> bool) -> Option<(u32, K)> {
        let mut refused = Vec::new();
        let mut found = None;
        while let Some(&(key, page)) = self.nodes.first() {
            self.remove(page);
            if pleases(page) {
                found = Some((page, key));
                break;
            }
            refused.push((key, page));
        }
        for (key, page) in refused {
            self.set(page, key);
        }
        found
    }

    /// Starts to load the place of a page.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        self.places.prefetch(page);
    }

    /// Starts to load the node of a page, whose place is there by now.
    #[inline]
    pub(super) fn prefetch_node(&self, page: u32) {
        // No page has a node before the first.
        prefetch(&self.nodes, (self.places.get(page) as usize).wrapping_sub(1));
    }

    /// What the structure promises.
    pub(super) fn check(&self) -> Result<(), String> {
        for (at, &(key, page)) in self.nodes.iter().enumerate() {
            if self.places.get(page) as usize != at + 1 {
                return Err(format!("page {page} is not where its place says"));
            }
            if at > 0 && self.nodes[(at - 1) / CHILDREN] > (key, page) {
                return Err(format!("page {page} belongs above its parent"));
            }
        }
        let places = self.places.iter().count();
        if places == self.nodes.len() {
            Ok(())
        } else {
            Err(format!("{places} places, {} pages", self.nodes.len()))
        }
    }

    /// Moves a node towards the root while it is smaller than its parent; where it ends.
    fn rise(&mut self, mut at: usize) -> usize {
        let node = self.nodes[at];
        while at > 0 && node < self.nodes[(at - 1) / CHILDREN] {
            self.put(at, self.nodes[(at - 1) / CHILDREN]);
            at = (at - 1) / CHILDREN;
        }
        self.put(at, node);
        at
    }

    /// Moves a node away from the root while a child is smaller.
    fn sink(&mut self, mut at: usize) {
        let node = self.nodes[at];
        loop {
            let first = at * CHILDREN + 1;
            let last = (first + CHILDREN).min(self.nodes.len());
            prefetch(&self.nodes, first * CHILDREN + 1);
            let Some(smallest) = (first..last).min_by_key(|&child| self.nodes[child]) else {
                break;
            };
            if node <= self.nodes[smallest] {
                break;
            }
            self.put(at, self.nodes[smallest]);
            at = smallest;
        }
        self.put(at, node);
    }

    fn put(&mut self, at: usize, node: (K, u32)) {
        self.nodes[at] = node;
        *self.places.at(node.1) = u32::try_from(at + 1).expect("no more pages than numbers");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_a_sorted_map(steps in prop::collection::vec((0..4_u8, 0..20_u32, 0..9_u64), 0..300)) {
            let mut heap = Heap::<u64>::default();
            let mut model = BTreeMap::new();
            for (kind, page, key) in steps {
                match kind {
                    0 | 1 => {
                        heap.set(page, key);
                        model.insert(page, key);
                    }
                    2 => prop_assert_eq!(heap.remove(page), model.remove(&page).is_some()),
                    _ => {
                        let odd = |page: &u32| page % 2 == 1;
                        let want = model.iter().filter(|(page, _)| odd(page));
                        let want = want.map(|(&page, &key)| (key, page)).min().map(|(key, page)| (page, key));
                        prop_assert_eq!(heap.take_first(|page| odd(&page)), want);
                        want.map(|(page, _)| model.remove(&page));
                    }
                }
                heap.check().unwrap();
                prop_assert_eq!(heap.len() as usize, model.len());
                prop_assert_eq!(heap.contains(page), model.contains_key(&page));
            }
        }
    }
}
