//! W-TinyLFU: new pages pass through a small LRU window; what leaves it gets into the main cache
//! only if it was used more often lately than the page that would go for it.
//!
//! The window has a hundredth of the cache, the rest is a segmented LRU, four fifths of it
//! protected; uses are estimated by a [`Sketch`]. The window does not adapt. Invariant: a page enters
//! the main cache only through the window. Cost: a use writes one cache line of the sketch, and moves
//! the page as in LRU. G. Einziger, R. Friedman, B. Manes, *`TinyLFU`: A Highly Efficient Cache
//! Admission Policy*, 2017. Not where recency is all: with so small a window, bursts of new pages
//! miss.

use super::super::queue::{Name, Queues};
use super::super::table::Table;
use super::sketch::Sketch;
use super::{Access, Cause, Simple, at_least_one, holds};

const WINDOW: Name = 0;
const PROBATION: Name = 1;
const PROTECTED: Name = 2;

/// W-TinyLFU: a window, a segmented LRU, and a frequency sketch that admits.
#[derive(Clone, Debug)]
pub(crate) struct WTinyLfu {
    capacity: u32,
    window_limit: u32,
    protected_limit: u32,
    queues: Queues<3>,
    /// The queue of a page, from 1; 0 is none.
    places: Table<u8>,
    sketch: Sketch,
}

impl WTinyLfu {
    fn place(&self, page: u32) -> Option<Name> {
        u32::from(self.places.get(page)).checked_sub(1)
    }

    fn enter(&mut self, page: u32, queue: Name) {
        *self.places.at(page) = u8::try_from(queue + 1).expect("one of three");
        self.queues.push_front(queue, page);
    }

    /// The page of the main cache that is to go next.
    fn oldest_of_main(&self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        self.queues.oldest_of([PROBATION, PROTECTED], is_evictable)
    }
}

impl Simple for WTinyLfu {
    fn new(capacity: u32, _seed: u64) -> Self {
        let window_limit = at_least_one(capacity).div_ceil(100);
        let main = u64::from(capacity - window_limit);
        Self {
            capacity,
            window_limit,
            protected_limit: u32::try_from(main * 4 / 5).expect("less than the whole"),
            queues: Queues::default(),
            places: Table::default(),
            sketch: Sketch::new(capacity),
        }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let page = access.page;
        self.sketch.add(page);
        match self.place(page) {
            None => return false,
            Some(PROBATION) => {
                self.leave(page);
                self.enter(page, PROTECTED);
                if self.queues.len(PROTECTED) > self.protected_limit
                    && let Some(oldest) = self.queues.last(PROTECTED)
                {
                    self.leave(oldest);
                    self.enter(oldest, PROBATION);
                }
            }
            Some(queue) => self.queues.move_to_front(queue, page),
        }
        true
    }

    /// Makes a candidate of the oldest page of the window, and lets it or a page of the main cache
    /// go.
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let candidate = self.queues.last(WINDOW);
        let candidate = candidate.filter(|_| self.queues.len(WINDOW) >= self.window_limit);
        let victim = self.oldest_of_main(&mut is_evictable);
        let Some(candidate) = candidate else {
            let victim = victim
                .or_else(|| self.queues.oldest_first(WINDOW).find(|&page| is_evictable(page)))?;
            self.leave(victim);
            return Some(victim);
        };
        let is_better = |victim: &u32| {
            self.sketch.estimate(candidate) > self.sketch.estimate(*victim)
                || !is_evictable(candidate)
        };
        if let Some(victim) = victim.filter(is_better) {
            self.leave(victim);
            self.leave(candidate);
            self.enter(candidate, PROBATION);
            return Some(victim);
        }
        let victim = self.queues.oldest_first(WINDOW).find(|&page| is_evictable(page))?;
        self.leave(victim);
        Some(victim)
    }

    fn insert(&mut self, access: Access, _cause: Cause) {
        if self.queues.len(WINDOW) >= self.window_limit
            && let Some(oldest) = self.queues.last(WINDOW)
        {
            self.leave(oldest);
            self.enter(oldest, PROBATION);
        }
        self.enter(access.page, WINDOW);
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        let place = std::mem::take(self.places.at(page));
        self.queues.unlink(u32::from(place) - 1, page);
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.places.get(page) != 0
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(WINDOW) + self.queues.len(PROBATION) + self.queues.len(PROTECTED)
    }

    fn check(&self) -> Result<(), String> {
        let protected = self.queues.len(PROTECTED);
        holds(protected <= self.protected_limit, || format!("{protected} are protected"))?;
        let window = self.queues.len(WINDOW);
        holds(window <= self.window_limit, || format!("{window} in the window"))?;
        self.queues.check_places(&self.places)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.places.prefetch(page);
        self.queues.prefetch(page);
        self.sketch.prefetch(page);
    }
}
