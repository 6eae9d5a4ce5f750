//! Segmented LRU: pages enter on probation; a use promotes to the next segment, and a segment that
//! is too long gives its oldest page back to the one below.
//!
//! Two rows of the table: `slru` has a probationary and a protected segment, the latter four fifths
//! of the cache by default; `s4lru` has four equal ones. Invariant: only pages of the lowest segment that has
//! any go. Cost: as LRU, and a move for each promotion. R. Karedla, J. Love, B. Wherry, on
//! caching strategies in *Computer* 27(3), 1994; Q. Huang and others, *An Analysis of
//! Facebook Photo Caching*, 2013 (S4LRU). Not where popularity moves quickly.

use super::super::queue::Queues;
use super::super::table::Table;
use super::parameter::{Tuned, share_of};
use super::{Access, Cause, Parameter, Simple, at_least_one, holds};

const PROTECTED: Parameter =
    Parameter::share("protected", "the share of the cache that is protected", 800, 1);

/// Two segments.
pub(crate) type Slru = Segmented<2>;
/// Four segments.
pub(crate) type S4lru = Segmented<4>;

/// A segmented LRU of `N` segments: a hit promotes a page by one segment.
#[derive(Clone, Debug)]
pub(crate) struct Segmented<const N: usize> {
    capacity: u32,
    queues: Queues<N>,
    /// Pages each segment may have; those of the lowest are not counted.
    limits: [u32; N],
    /// Segment of a page, from 1; 0 is absent.
    segment_of: Table<u8>,
}

impl<const N: usize> Segmented<N> {
    #[expect(clippy::cast_possible_truncation, reason = "a handful of segments")]
    const SEGMENTS: u8 = N as u8;

    /// Segments of at most `limit` pages above the lowest.
    fn with_limit(capacity: u32, limit: u32) -> Self {
        Self {
            capacity: at_least_one(capacity),
            queues: Queues::default(),
            limits: [limit; N],
            segment_of: Table::default(),
        }
    }

    fn enter(&mut self, page: u32, segment: u8) {
        *self.segment_of.at(page) = segment;
        self.queues.push_front(u32::from(segment) - 1, page);
    }

    /// Gives back what is too much, segment by segment, beginning with this one.
    fn settle(&mut self, from: u8) {
        for segment in (2..=from).rev() {
            let queue = u32::from(segment) - 1;
            if self.queues.len(queue) <= self.limits[queue as usize] {
                return;
            }
            if let Some(page) = self.queues.last(queue) {
                self.leave(page);
                self.enter(page, segment - 1);
            }
        }
    }
}

impl Tuned for Slru {
    const PARAMETERS: &'static [Parameter] = &[PROTECTED];

    fn tuned(capacity: u32, _seed: u64, values: &[u32]) -> Self {
        Self::with_limit(capacity, share_of(capacity, values[0]))
    }
}

impl<const N: usize> Simple for Segmented<N> {
    fn new(capacity: u32, _seed: u64) -> Self {
        let equal = capacity / u32::from(Self::SEGMENTS);
        let protected = share_of(capacity, PROTECTED.default);
        Self::with_limit(capacity, if N == 2 { protected } else { equal })
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let page = access.page;
        let segment = self.segment_of.get(page);
        if segment == 0 {
            return false;
        }
        if segment == Self::SEGMENTS {
            self.queues.move_to_front(u32::from(segment) - 1, page);
        } else {
            self.leave(page);
            self.enter(page, segment + 1);
            self.settle(segment + 1);
        }
        true
    }

    #[inline]
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let victim = (0..u32::from(Self::SEGMENTS))
            .find_map(|queue| self.queues.oldest_first(queue).find(|&page| is_evictable(page)))?;
        self.leave(victim);
        Some(victim)
    }

    #[inline]
    fn insert(&mut self, access: Access, _cause: Cause) {
        self.enter(access.page, 1);
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        let segment = std::mem::take(self.segment_of.at(page));
        self.queues.unlink(u32::from(segment) - 1, page);
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.segment_of.get(page) != 0
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        (0..u32::from(Self::SEGMENTS)).map(|queue| self.queues.len(queue)).sum()
    }

    fn check(&self) -> Result<(), String> {
        for segment in 1..=Self::SEGMENTS {
            let queue = u32::from(segment) - 1;
            let length = self.queues.len(queue);
            let fits = queue == 0 || length <= self.limits[queue as usize];
            holds(fits, || format!("segment {segment} has {length} pages"))?;
        }
        self.queues.check_places(&self.segment_of)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.segment_of.prefetch(page);
        self.queues.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        self.queues.prefetch_neighbours(page);
    }
}
