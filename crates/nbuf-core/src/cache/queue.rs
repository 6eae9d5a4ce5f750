//! Doubly linked queues of pages, as indices in one array: a page is in one of them at most.
//!
//! Each queue is a ring through a node of its own, so that taking a page out has no special case
//! at the ends. Which queue a page is in the policy must know; whether it is in one, the links do.
//!
//! Cost: eight bytes a page that was ever in a queue, O(1) for everything but walks.

use super::table::Table;
use crate::sys::prefetch::prefetch;

/// The neighbours of a node in its ring. Towards the back is older, where pages enter in front.
#[derive(Clone, Copy, Debug)]
struct Links {
    newer: u32,
    older: u32,
}

/// The links of a page that is in no queue.
const LOOSE: Links = Links { newer: u32::MAX, older: u32::MAX };

/// The name of one of several queues: its position among them.
pub(super) type Name = u32;

/// `N` queues over the same pages.
#[derive(Clone, Debug)]
pub(super) struct Queues<const N: usize> {
    /// The heads of the queues first, then the pages.
    nodes: Vec<Links>,
    lengths: [u32; N],
}

impl<const N: usize> Default for Queues<N> {
    fn default() -> Self {
        let nodes = (0..Self::HEADS).map(|head| Links { newer: head, older: head });
        Self { nodes: nodes.collect(), lengths: [0; N] }
    }
}

impl<const N: usize> Queues<N> {
    /// Nodes before the node of page 0.
    #[expect(clippy::cast_possible_truncation, reason = "a handful of queues")]
    const HEADS: u32 = N as u32;

    /// Pages in a queue.
    #[inline]
    pub(super) fn len(&self, queue: Name) -> u32 {
        self.lengths[queue as usize]
    }

    /// Pages in all queues.
    pub(super) fn len_of_all(&self) -> u32 {
        self.lengths.iter().sum()
    }

    /// Whether a page is in any of the queues.
    #[inline]
    pub(super) fn contains(&self, page: u32) -> bool {
        let node = self.nodes.get(page as usize + N);
        node.is_some_and(|links| links.newer != LOOSE.newer)
    }

    /// Puts a page that is in no queue in front of all others.
    #[inline]
    pub(super) fn push_front(&mut self, queue: Name, page: u32) {
        let index = page as usize + N;
        if index >= self.nodes.len() {
            self.grow(index);
        }
        debug_assert!(!self.contains(page), "page {page} is in a queue already");
        self.lengths[queue as usize] += 1;
        let node = page + Self::HEADS;
        let older = std::mem::replace(&mut self.nodes[queue as usize].older, node);
        self.nodes[older as usize].newer = node;
        self.nodes[index] = Links { newer: queue, older };
    }

    /// Takes a page out of the queue that it is in.
    #[inline]
    pub(super) fn unlink(&mut self, queue: Name, page: u32) {
        self.lengths[queue as usize] -= 1;
        let links = std::mem::replace(&mut self.nodes[page as usize + N], LOOSE);
        self.nodes[links.newer as usize].older = links.older;
        self.nodes[links.older as usize].newer = links.newer;
    }

    /// Brings a page to the front of the queue that it is in.
    #[inline]
    pub(super) fn move_to_front(&mut self, queue: Name, page: u32) {
        self.unlink(queue, page);
        self.push_front(queue, page);
    }

    /// The page at the back.
    #[inline]
    pub(super) fn last(&self, queue: Name) -> Option<u32> {
        // The ring closes at the head.
        Self::page(self.nodes[queue as usize].newer)
    }

    /// The page next to a queued one, towards the front.
    #[inline]
    pub(super) fn newer(&self, page: u32) -> Option<u32> {
        Self::page(self.nodes[page as usize + N].newer)
    }

    /// From the back to the front.
    pub(super) fn oldest_first(&self, queue: Name) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.last(queue), |&page| self.newer(page))
    }

    /// The oldest page that may go, of one queue or, failing that, of another.
    #[inline]
    pub(super) fn oldest_of(
        &self,
        [first, second]: [Name; 2],
        mut is_evictable: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let in_first = self.oldest_first(first).find(|&page| is_evictable(page));
        in_first.or_else(|| self.oldest_first(second).find(|&page| is_evictable(page)))
    }

    /// From the front to the back.
    pub(super) fn newest_first(&self, queue: Name) -> impl Iterator<Item = u32> + '_ {
        let mut node = queue;
        std::iter::from_fn(move || {
            node = self.nodes[node as usize].older;
            Self::page(node)
        })
    }

    /// Starts to load the links of a page.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.nodes, page as usize + N);
    }

    /// Starts to load the links of the neighbours of a page, whose own links are there by now.
    #[inline]
    pub(super) fn prefetch_neighbours(&self, page: u32) {
        if let Some(links) = self.nodes.get(page as usize + N) {
            prefetch(&self.nodes, links.newer as usize);
            prefetch(&self.nodes, links.older as usize);
        }
    }

    /// Starts to load the links of the page that is next at the back; the one that is there now.
    #[inline]
    pub(super) fn prefetch_back(&self, queue: Name) -> Option<u32> {
        let last = self.last(queue)?;
        prefetch(&self.nodes, self.nodes[last as usize + N].newer as usize);
        Some(last)
    }

    /// What the structure promises of one queue: links that agree, and as many as were counted.
    pub(super) fn check(&self, queue: Name) -> Result<(), String> {
        let mut before = queue;
        let mut count = 0;
        loop {
            let node = self.nodes[before as usize].older;
            if self.nodes[node as usize].newer != before {
                return Err(format!("queue {queue}: the links at node {node} do not agree"));
            }
            if node == queue {
                break;
            }
            before = node;
            count += 1;
        }
        if count == self.len(queue) {
            Ok(())
        } else {
            Err(format!("queue {queue} has {count} pages, {} were counted", self.len(queue)))
        }
    }

    /// The same of all queues, and that `places` names for each page the queue that it is in,
    /// counted from 1.
    pub(super) fn check_places(&self, places: &Table<u8>) -> Result<(), String> {
        for queue in 0..Self::HEADS {
            self.check(queue)?;
            for page in self.oldest_first(queue) {
                if u32::from(places.get(page)) != queue + 1 {
                    return Err(format!("page {page} is in queue {queue}, unknown to its place"));
                }
            }
        }
        let queued = self.lengths.iter().sum::<u32>() as usize;
        let known = places.iter().count();
        if known == queued {
            Ok(())
        } else {
            Err(format!("{known} pages have a place, {queued} are in a queue"))
        }
    }

    #[inline]
    fn page(node: u32) -> Option<u32> {
        node.checked_sub(Self::HEADS)
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.nodes.resize(index + 1, LOOSE);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Front(u32),
        ToFront,
        Unlink,
    }

    fn steps() -> impl Strategy<Value = Vec<(Step, u32)>> {
        let step =
            prop_oneof![(0..2_u32).prop_map(Step::Front), Just(Step::ToFront), Just(Step::Unlink),];
        prop::collection::vec((step, 0..12_u32), 0..200)
    }

    proptest! {
        #[test]
        fn two_queues_equal_two_deques(steps in steps()) {
            let mut queues: Queues<2> = Queues::default();
            let mut models = [VecDeque::new(), VecDeque::new()];
            for (step, page) in steps {
                let name = models.iter().position(|model| model.contains(&page));
                prop_assert_eq!(queues.contains(page), name.is_some());
                match (step, name) {
                    (Step::Front(queue), None) => {
                        queues.push_front(queue, page);
                        models[queue as usize].push_front(page);
                    }
                    (Step::ToFront, Some(at)) => {
                        queues.move_to_front(u32::try_from(at).unwrap(), page);
                        models[at].retain(|&other| other != page);
                        models[at].push_front(page);
                    }
                    (Step::Unlink, Some(at)) => {
                        queues.unlink(u32::try_from(at).unwrap(), page);
                        models[at].retain(|&other| other != page);
                    }
                    _ => {}
                }
                for (queue, model) in (0..).zip(&models) {
                    queues.check(queue).unwrap();
                    prop_assert!(queues.oldest_first(queue).eq(model.iter().rev().copied()));
                    prop_assert!(queues.newest_first(queue).eq(model.iter().copied()));
                    prop_assert_eq!(queues.last(queue), model.back().copied());
                }
            }
        }
    }

    #[test]
    fn a_broken_ring_and_a_wrong_count_are_found() {
        let mut queues: Queues<1> = Queues::default();
        queues.push_front(0, 0);
        queues.push_front(0, 1);
        let mut miscounted = queues.clone();
        miscounted.lengths[0] = 3;
        assert!(miscounted.check(0).is_err());
        queues.nodes[2].newer = 1;
        assert!(queues.check(0).is_err());
    }
}
