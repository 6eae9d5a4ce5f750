//! ARC: one list for pages used once lately, one for those used at least twice, and the numbers of
//! the pages that left each; which of those come back moves the boundary.
//!
//! Invariant: both lists and their ghosts together remember two caches of pages at most, the first
//! list and its ghosts one. The boundary is a real number, as in the paper. Cost: as LRU. N. Megiddo and D. Modha, *ARC: A Self-Tuning, Low
//! Overhead Replacement Cache*, 2003 (patented by IBM until 2024). Not for loops a little larger
//! than the cache.

use super::super::queue::{Name, Queues};
use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

/// Used once, used again, and the ghosts of both: T1, T2, B1, B2 of the paper.
const ONCE: Name = 0;
const AGAIN: Name = 1;
const ONCE_GONE: Name = 2;
const AGAIN_GONE: Name = 3;

/// How many pages each list has.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cache) struct ArcLengths {
    pub(in crate::cache) once: u32,
    pub(in crate::cache) again: u32,
    pub(in crate::cache) once_gone: u32,
    pub(in crate::cache) again_gone: u32,
}

impl ArcLengths {
    /// Pages that are there or remembered.
    pub(in crate::cache) fn all(&self) -> u64 {
        [self.once, self.again, self.once_gone, self.again_gone].map(u64::from).iter().sum()
    }

    /// Where the boundary belongs, now that a page comes back from the ghosts of pages used again, or once.
    pub(in crate::cache) fn adapted(&self, target: f64, capacity: u32, were_again: bool) -> f64 {
        let [once, again] = [self.once_gone, self.again_gone].map(f64::from);
        if were_again {
            (target - (once / again).max(1.0)).max(0.0)
        } else {
            (target + (again / once).max(1.0)).min(f64::from(capacity))
        }
    }

    /// Whether the first list gives a page up. It must be longer than its target, or as long if a page
    /// comes back from the ghosts of the other.
    pub(in crate::cache) fn takes_from_once(&self, target: f64, from_again: bool) -> bool {
        let once = f64::from(self.once);
        once > 0.0 && (once > target || (from_again && once >= target))
    }
}

/// ARC: two LRU lists, two ghost lists, and an adaptive target between them.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    capacity: u32,
    /// Pages that the first list should have: p of the paper.
    once_target: f64,
    queues: Queues<4>,
    /// The queue of a page, from 1; 0 is nowhere.
    places: Table<u8>,
}

impl Arc {
    /// A cache with these pages in its lists and their ghosts, each from the oldest.
    pub(in crate::cache) fn resumed(
        capacity: u32,
        once_target: f64,
        queues: [Vec<u32>; 4],
    ) -> Self {
        let mut resumed = Self { once_target, ..Self::new(capacity, 0) };
        for (queue, pages) in (ONCE..).zip(queues) {
            for page in pages {
                resumed.enter(page, queue);
            }
        }
        resumed
    }

    fn place(&self, page: u32) -> Option<Name> {
        u32::from(self.places.get(page)).checked_sub(1)
    }

    fn leave(&mut self, page: u32) {
        let place = std::mem::take(self.places.at(page));
        self.queues.unlink(u32::from(place) - 1, page);
    }

    fn enter(&mut self, page: u32, queue: Name) {
        *self.places.at(page) = u8::try_from(queue + 1).expect("one of four");
        self.queues.push_front(queue, page);
    }

    fn forget_oldest(&mut self, queue: Name) {
        if let Some(page) = self.queues.last(queue) {
            self.leave(page);
        }
    }

    fn lengths(&self) -> ArcLengths {
        let [once, again, once_gone, again_gone] =
            [ONCE, AGAIN, ONCE_GONE, AGAIN_GONE].map(|queue| self.queues.len(queue));
        ArcLengths { once, again, once_gone, again_gone }
    }

    /// Moves a page to the ghosts of its list.
    fn evict(
        &mut self,
        target: f64,
        from_again: bool,
        is_evictable: &mut impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let is_long = self.lengths().takes_from_once(target, from_again);
        let order = if is_long { [ONCE, AGAIN] } else { [AGAIN, ONCE] };
        let victim = self.queues.oldest_of(order, is_evictable)?;
        let ghosts = if self.place(victim) == Some(ONCE) { ONCE_GONE } else { AGAIN_GONE };
        self.leave(victim);
        self.enter(victim, ghosts);
        Some(victim)
    }

    /// Keeps what is remembered within its bounds, with one page more to come into the first list.
    fn forget(&mut self) {
        if self.queues.len(ONCE) + self.queues.len(ONCE_GONE) >= self.capacity {
            self.forget_oldest(ONCE_GONE);
        }
        if self.lengths().all() >= 2 * u64::from(self.capacity) {
            self.forget_oldest(AGAIN_GONE);
        }
    }
}

impl Policy for Arc {
    fn new(capacity: u32, _seed: u64) -> Self {
        let (queues, places) = (Queues::default(), Table::default());
        Self { capacity: at_least_one(capacity), once_target: 0.0, queues, places }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        match self.place(access.page) {
            Some(AGAIN) => self.queues.move_to_front(AGAIN, access.page),
            Some(ONCE) => {
                self.leave(access.page);
                self.enter(access.page, AGAIN);
            }
            _ => return false,
        }
        true
    }

    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        mut is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome {
        let place = self.place(access.page);
        if matches!(place, Some(ONCE | AGAIN)) {
            return Outcome::Hit;
        }
        let ghosts = place.filter(|_| cause == Cause::Demand);
        let target = ghosts.map_or(self.once_target, |ghosts| {
            self.lengths().adapted(self.once_target, self.capacity, ghosts == AGAIN_GONE)
        });
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.evict(target, ghosts == Some(AGAIN_GONE), &mut is_evictable);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        self.once_target = target;
        if place.is_some() {
            self.leave(access.page);
        }
        if ghosts.is_some() {
            self.enter(access.page, AGAIN);
        } else {
            self.forget();
            self.enter(access.page, ONCE);
        }
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if self.place(page).is_some() {
            self.leave(page);
        }
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        matches!(self.place(page), Some(ONCE | AGAIN))
    }

    fn len(&self) -> u32 {
        self.queues.len(ONCE) + self.queues.len(AGAIN)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let once = self.queues.len(ONCE) + self.queues.len(ONCE_GONE);
        holds(once <= self.capacity, || format!("{once} pages used once are remembered"))?;
        let again = self.queues.len(AGAIN) + self.queues.len(AGAIN_GONE);
        let bound = 2 * u64::from(self.capacity);
        holds(u64::from(once + again) <= bound, || format!("{} remembered", once + again))?;
        let target = self.once_target;
        holds((0.0..=f64::from(self.capacity)).contains(&target), || format!("target {target}"))?;
        self.queues.check_places(&self.places)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.places.prefetch(page);
        self.queues.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        self.queues.prefetch_neighbours(page);
        for last in (ONCE..=AGAIN_GONE).filter_map(|queue| self.queues.prefetch_back(queue)) {
            self.places.prefetch(last);
        }
    }
}
