//! Exact LRU misses at every cache size, in one pass over the accesses.
//!
//! The stack distance of an access is the smallest LRU cache that hits it (R. Mattson and others,
//! *Evaluation Techniques for Storage Hierarchies*, 1970). Pages that are truncated or dropped
//! leave *holes*: an LRU cache with an empty frame fills that frame and evicts nothing. The next
//! access from below a hole, or from nowhere, consumes the topmost hole, and the place it came from
//! becomes a hole instead: every cache large enough to have had the page keeps one empty frame.
//!
//! Invariant: the pages among the topmost `n` marks are what an LRU cache of `n` pages holds, the
//! holes among them are its empty frames.
//!
//! Cost: about 25 ns an access over a million pages, O(1) on top of the stack; about 10 bytes a
//! page, none an access: when the stamps run out, the stack is packed. An access looks at three
//! places that are in no first cache: the stamp of its page, a line of marks, the count of its depth.
//! Before, marks took two lines, and requests had counts of their own: five places. Not for other
//! policies, and not for readahead: those are simulated size by size.

use std::collections::BinaryHeap;

pub(crate) use super::depth_counts::DepthCounts;
pub(crate) use super::depths::COLD;
pub use super::depths::{Depths, Misses};
use super::stack::Marks;
use crate::sys::prefetch::prefetch;

/// A moment on the line of time that is the stack.
pub(super) type Stamp = u32;

/// The stamp of a page that is not in the stack.
const NOWHERE: Stamp = Stamp::MAX;

/// Stamps to begin with.
const STAMPS_MIN: usize = 1 << 16;

/// Stamps a mark, after packing: a quarter is in use, so packing costs a third of an access.
const STAMPS_PER_MARK: usize = 4;

/// Accesses between asking for the stamp of a page and looking at it; and for its mark.
const STAMP_AHEAD: usize = 16;
const MARK_AHEAD: usize = 8;

/// Takes accesses and removals in time order; [`Distances::finish`] gives the misses.
#[derive(Clone, Debug)]
pub struct Distances {
    /// Where each page is in the stack, by its dense number.
    stamp_of: Vec<Stamp>,
    marks: Marks,
    /// Stamps of the holes. Only the topmost ever goes, so a heap will do.
    holes: BinaryHeap<Stamp>,
    depths: Depths,
    /// The most marks so far.
    peak: u32,
}

impl Default for Distances {
    fn default() -> Self {
        Self::new()
    }
}

impl Distances {
    /// An empty stack.
    pub fn new() -> Self {
        Self {
            stamp_of: Vec::new(),
            marks: Marks::packed(STAMPS_MIN, 0),
            holes: BinaryHeap::new(),
            depths: Depths::default(),
            peak: 0,
        }
    }

    /// A demand access; its depth is the smallest LRU cache that hits it, none where every size
    /// misses. Numbers are dense: memory goes with the largest of them.
    pub fn access(&mut self, page: u32) -> Option<u32> {
        let depth = self.touch(page);
        self.depths.add(depth);
        depth
    }

    /// The same for a batch, faster: what it looks at is asked for ahead. The depths come in order.
    pub fn access_all(&mut self, pages: &[u32], mut depth: impl FnMut(Option<u32>)) {
        for (at, &page) in pages.iter().enumerate() {
            self.ask_for(pages, at);
            depth(self.access(page));
        }
    }

    /// Brings a batch of pages to the top, and puts in the place of each the depth that it was at, or
    /// [`COLD`]. Counts nothing: that is left to the caller, and may happen on another thread.
    pub(crate) fn replace_by_depths(&mut self, pages: &mut [u32]) {
        for at in 0..pages.len() {
            self.ask_for(pages, at);
            pages[at] = self.touch(pages[at]).unwrap_or(COLD);
        }
    }

    /// Starts to load what the pages behind `at` will look at.
    #[inline]
    fn ask_for(&self, pages: &[u32], at: usize) {
        if let Some(&later) = pages.get(at + STAMP_AHEAD) {
            prefetch(&self.stamp_of, later as usize);
        }
        if let Some(&later) = pages.get(at + MARK_AHEAD) {
            let stamp = self.stamp_of.get(later as usize).copied().unwrap_or(NOWHERE);
            self.marks.prefetch(stamp);
        }
    }

    /// The page is gone from every cache: its next access misses at every size.
    pub fn remove(&mut self, page: u32) {
        let Some(stamp) = self.stamp_of.get_mut(page as usize) else {
            return;
        };
        let hole = std::mem::replace(stamp, NOWHERE);
        if hole != NOWHERE {
            self.holes.push(hole);
        }
    }

    /// Forgets the depths so far, and nothing of the stack: what comes finds warm caches.
    pub fn start_counting(&mut self) {
        self.depths = Depths::default();
    }

    /// The most pages that were there at one time, so far.
    pub fn peak(&self) -> u32 {
        self.peak
    }

    /// Pages and holes in the stack now.
    pub(crate) fn depth(&self) -> u32 {
        self.marks.live()
    }

    /// The stack from its bottom to its top: pages by their numbers, and holes.
    pub(crate) fn oldest_first(&self) -> Vec<Option<u32>> {
        let stamps = (0..).zip(&self.stamp_of).filter(|&(_, &stamp)| stamp != NOWHERE);
        let pages = stamps.map(|(page, &stamp)| (stamp, Some(page)));
        let mut all: Vec<_> = pages.chain(self.holes.iter().map(|&hole| (hole, None))).collect();
        all.sort_unstable_by_key(|&(stamp, _)| stamp);
        all.into_iter().map(|(_, page)| page).collect()
    }

    /// The misses so far at every size.
    pub(crate) fn so_far(&self) -> Misses {
        self.depths.clone().finish(self.peak.into())
    }

    /// The misses at every size.
    pub fn finish(self) -> Misses {
        self.depths.finish(self.peak.into())
    }

    /// Brings a page to the top; the depth that it was at.
    #[inline]
    fn touch(&mut self, page: u32) -> Option<u32> {
        let index = page as usize;
        if index >= self.stamp_of.len() {
            self.stamp_of.resize(index + 1, NOWHERE);
        }
        let stamp = self.stamp_of[index];
        let depth = if stamp == NOWHERE {
            if let Some(hole) = self.holes.pop() {
                self.marks.clear(hole);
            }
            None
        } else if stamp as usize + 1 == self.marks.next() {
            return Some(1);
        } else {
            let depth = self.marks.above(stamp) + 1;
            self.leave(stamp);
            Some(depth)
        };
        self.enter(page);
        depth
    }

    /// Frees the place of the page at `stamp`, which goes to the top: clears its mark, or the mark
    /// of a hole above it.
    fn leave(&mut self, stamp: Stamp) {
        match self.holes.peek_mut() {
            Some(mut top) if *top > stamp => {
                self.marks.clear(*top);
                *top = stamp;
            }
            _ => self.marks.clear(stamp),
        }
    }

    /// Puts a page that is not in the stack on top of it.
    fn enter(&mut self, page: u32) {
        if self.marks.full() {
            self.pack();
        }
        let next = self.marks.next();
        self.stamp_of[page as usize] = to_stamp(next);
        self.marks.push();
        // The stack only deepens when no hole was there to fill: its depth is the peak of pages.
        self.peak = self.peak.max(self.marks.live());
    }

    /// Gives the marks new stamps without gaps, in the same order: as many as are older.
    fn pack(&mut self) {
        let live = self.marks.live();
        // The page on its way to the top has left its mark; whatever it gets here is replaced.
        let older = |stamp: Stamp| live.saturating_sub(1 + self.marks.above(stamp));
        for stamp in self.stamp_of.iter_mut().filter(|stamp| **stamp != NOWHERE) {
            *stamp = older(*stamp);
        }
        self.holes = std::mem::take(&mut self.holes).into_iter().map(older).collect();
        let stamps = (live as usize * STAMPS_PER_MARK).max(STAMPS_MIN);
        self.marks = Marks::packed(stamps, live);
    }
}

/// Stamps fit while fewer than a billion pages are in the stack: 4 TiB of cache.
fn to_stamp(position: usize) -> Stamp {
    Stamp::try_from(position).expect("fewer than 2^30 pages in the stack")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use proptest::prelude::*;

    use super::*;
    use crate::clock::Random;

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Access(u32),
        Remove(u32),
    }
    use Event::{Access, Remove};

    /// The oracle: one real LRU cache.
    fn lru_misses(events: &[Event], frames: usize) -> u64 {
        let mut cache = VecDeque::new();
        let mut misses = 0;
        for &event in events {
            let (Access(page) | Remove(page)) = event;
            let found = cache.iter().position(|&cached| cached == page);
            if let Some(at) = found {
                cache.remove(at);
            }
            if let Access(page) = event {
                misses += u64::from(found.is_none());
                cache.push_front(page);
                cache.truncate(frames);
            }
        }
        misses
    }

    fn peak(events: &[Event]) -> u64 {
        let mut live = BTreeSet::new();
        let peak = events.iter().map(|&event| {
            match event {
                Access(page) => live.insert(page),
                Remove(page) => live.remove(&page),
            };
            live.len()
        });
        u64::try_from(peak.max().unwrap_or(0)).unwrap()
    }

    fn misses(events: &[Event]) -> Misses {
        let mut distances = Distances::new();
        for &event in events {
            match event {
                Access(page) => {
                    distances.access(page);
                }
                Remove(page) => distances.remove(page),
            }
        }
        distances.finish()
    }

    fn check(events: &[Event], sizes: impl Iterator<Item = usize>) {
        let misses = misses(events);
        for frames in sizes {
            let size = u64::try_from(frames).unwrap();
            assert_eq!(misses.at(size), lru_misses(events, frames), "{frames} pages");
        }
        assert_eq!(misses.distinct, peak(events), "peak");
        assert_eq!(misses.at(misses.distinct), misses.cold);
        assert_eq!(misses.at(u64::MAX), misses.cold);
        assert_eq!(misses.at(0), misses.accesses);
    }

    fn events(pages: u32, longest: usize) -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            4 => (0..pages).prop_map(Access),
            1 => (0..pages).prop_map(Remove),
        ];
        prop::collection::vec(event, 0..longest)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn equals_a_real_lru_cache_at_every_size(events in events(24, 300)) {
            check(&events, 0..=25);
        }

        #[test]
        fn equals_a_real_lru_cache_where_most_pages_are_removed_again(
            seed in prop::collection::vec((0..12_u32, 0..3_u8), 0..200)
        ) {
            let event = |(page, kind)| if kind == 0 { Access(page) } else { Remove(page) };
            let half: Vec<_> = seed.iter().copied().map(event).collect();
            let all: Vec<_> = (0..12).map(Access).chain(half).chain((0..12).map(Access)).collect();
            check(&all, 0..=13);
        }
    }

    #[test]
    fn depths_in_the_place_of_pages_are_those_of_single_accesses() {
        let mut random = Random::new(2);
        let mut below = |bound: u32| u32::try_from(random.below(bound.into())).unwrap();
        let (mut one, mut other) = (Distances::new(), Distances::new());
        for _ in 0..200 {
            // Up to a thousand at once, so that the stamps are packed within a batch.
            let mut pages: Vec<u32> =
                (0..below(1000)).map(|_| below(900).min(below(900))).collect();
            let want: Vec<u32> =
                pages.iter().map(|&page| one.access(page).unwrap_or(COLD)).collect();
            other.replace_by_depths(&mut pages);
            assert_eq!(pages, want);
            let gone = below(900);
            one.remove(gone);
            other.remove(gone);
        }
        assert_eq!((one.peak(), one.depth()), (other.peak(), other.depth()));
        assert!(one.so_far().accesses > STAMPS_MIN as u64, "stamps were packed");
    }

    #[test]
    fn stays_exact_when_the_stamps_are_packed() {
        let mut random = Random::new(1);
        let mut below = |bound: u32| u32::try_from(random.below(bound.into())).unwrap();
        let mut events = Vec::new();
        for _ in 0..4 * STAMPS_MIN {
            // The lower numbers are wanted more often.
            let page = below(600).min(below(700));
            events.push(if below(17) == 0 { Remove(page) } else { Access(page) });
        }
        check(&events, [1, 2, 3, 50, 299, 400, 550, 599, 600].into_iter());
    }

    #[test]
    fn a_stack_larger_than_the_first_stamps() {
        let pages = to_stamp(5 * STAMPS_MIN + 5);
        let twice: Vec<_> = (0..pages).chain(0..pages).map(Access).collect();
        let misses = misses(&twice);
        let changes: Vec<_> = misses.changes().collect();
        assert_eq!(changes, [(u64::from(pages), u64::from(pages))]);
        assert_eq!(misses.distinct, u64::from(pages));
    }

    fn check_changes(events: &[Event], want: &[(u64, u64)]) {
        let changes: Vec<_> = misses(events).changes().collect();
        assert_eq!(changes, want, "{events:?}");
    }

    #[test]
    fn a_loop_has_one_cliff_and_a_hole_takes_the_place_of_a_victim() {
        check_changes(&[], &[]);
        check_changes(&[Access(7)], &[]);
        check_changes(&[Access(7), Access(7), Remove(7), Access(7)], &[(1, 2)]);
        check_changes(&[0, 1, 2, 0, 1].map(Access), &[(3, 3)]);
        // Page 2 goes into the frame that 1 left: two frames hold 0 and 2.
        let refilled = [Access(0), Access(1), Remove(1), Access(2), Access(0)];
        check_changes(&refilled, &[(2, 3)]);
    }
}
