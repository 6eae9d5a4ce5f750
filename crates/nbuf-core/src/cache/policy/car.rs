//! CAR: ARC with clocks in place of its two lists, so that a hit only sets a mark.
//!
//! Invariant: both clocks and their ghosts together remember two caches of pages at most. The
//! boundary moves by whole pages. Cost: a hit writes one byte. S. Bansal and D. Modha, *CAR: Clock
//! with Adaptive Replacement*, 2004. Not for loops a little larger than the cache; and a page used
//! twice at once counts as popular (the authors' CART mends that).

use super::super::queue::{Name, Queues};
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one, holds};

/// T1, T2, B1, B2 of the paper.
const ONCE: Name = 0;
const AGAIN: Name = 1;
const ONCE_GONE: Name = 2;
const AGAIN_GONE: Name = 3;

/// CAR: two clocks and two ghost lists, with the target of ARC.
#[derive(Clone, Debug)]
pub(crate) struct Car {
    capacity: u32,
    once_target: u32,
    queues: Queues<4>,
    /// The queue of a page, from 1; 0 is nowhere.
    places: Table<u8>,
    /// Whether it was used since its hand last passed.
    used: Table<bool>,
}

impl Car {
    fn place(&self, page: u32) -> Option<Name> {
        u32::from(self.places.get(page)).checked_sub(1)
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

    /// Keeps what is remembered within its bounds, with one page more to come.
    fn forget_surplus(&mut self) {
        let all: u32 = (ONCE..=AGAIN_GONE).map(|queue| self.queues.len(queue)).sum();
        if self.queues.len(ONCE) + self.queues.len(ONCE_GONE) >= self.capacity {
            self.forget_oldest(ONCE_GONE);
        } else if u64::from(all) >= 2 * u64::from(self.capacity) {
            self.forget_oldest(AGAIN_GONE);
        }
    }

    /// Moves the boundary, because a page comes back from these ghosts.
    fn adapt(&mut self, ghosts: Name) {
        let (once, again) = (self.queues.len(ONCE_GONE), self.queues.len(AGAIN_GONE));
        self.once_target = if ghosts == ONCE_GONE {
            (self.once_target + (again / once).max(1)).min(self.capacity)
        } else {
            self.once_target.saturating_sub((once / again).max(1))
        };
    }
}

impl Simple for Car {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self {
            capacity: at_least_one(capacity),
            once_target: 0,
            queues: Queues::default(),
            places: Table::default(),
            used: Table::default(),
        }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            *self.used.at(access.page) = true;
        }
        there
    }

    /// Turns the hands to a page that was not used. If that may not go, the oldest that may goes, used
    /// or not.
    fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let turn = loop {
            let once = self.queues.len(ONCE);
            let is_long = once >= self.once_target.max(1);
            let clock = if is_long || self.queues.len(AGAIN) == 0 { ONCE } else { AGAIN };
            let page = self.queues.last(clock)?;
            if !self.used.get(page) {
                break clock;
            }
            self.leave(page);
            self.enter(page, AGAIN);
        };
        let victim = self.queues.oldest_of([turn, ONCE + AGAIN - turn], is_evictable)?;
        let ghosts = if self.place(victim) == Some(ONCE) { ONCE_GONE } else { AGAIN_GONE };
        self.leave(victim);
        self.enter(victim, ghosts);
        Some(victim)
    }

    fn insert(&mut self, access: Access, cause: Cause) {
        let ghosts = self.place(access.page);
        if cause == Cause::Demand
            && let Some(ghosts) = ghosts
        {
            self.adapt(ghosts);
            self.leave(access.page);
            self.enter(access.page, AGAIN);
            return;
        }
        if ghosts.is_some() {
            self.leave(access.page);
        }
        self.forget_surplus();
        self.enter(access.page, ONCE);
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        let place = std::mem::take(self.places.at(page));
        self.queues.unlink(u32::from(place) - 1, page);
        *self.used.at(page) = false;
    }

    fn forget(&mut self, page: u32) {
        if self.place(page).is_some() {
            self.leave(page);
        }
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        matches!(self.place(page), Some(ONCE | AGAIN))
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(ONCE) + self.queues.len(AGAIN)
    }

    fn check(&self) -> Result<(), String> {
        let all: u32 = (ONCE..=AGAIN_GONE).map(|queue| self.queues.len(queue)).sum();
        let bound = 2 * u64::from(self.capacity);
        holds(u64::from(all) <= bound, || format!("{all} pages are remembered"))?;
        holds(self.once_target <= self.capacity, || format!("target {}", self.once_target))?;
        let mut used = self.used.iter().map(|(page, _)| page);
        holds(used.all(|page| self.contains(page)), || "a mark on an absent page".to_owned())?;
        self.queues.check_places(&self.places)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.places.prefetch(page);
        self.used.prefetch(page);
    }
}
