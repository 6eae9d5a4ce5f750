//! 2Q: pages enter a short queue; those that are wanted again after they left it, while their
//! number is still remembered, enter the main one.
//!
//! The full version, by default: `A1in`, a FIFO of a quarter of the cache; `A1out`, the numbers of half a cache
//! of pages that left it; `Am`, an LRU of the rest. Invariant: a page enters `Am` from `A1out` only.
//! Cost: a hit in `A1in` reads a byte, one in `Am` costs as LRU. T. Johnson and D. Shasha, *2Q: A Low
//! Overhead High Performance Buffer Management Replacement Algorithm*, 1994. Not where pages are
//! wanted again at distances of half a cache to a whole one: they come and go.

use super::super::queue::Queues;
use super::super::table::Table;
use super::parameter::{Tuned, share_of};
use super::{Access, Cause, Outcome, Parameter, Policy, at_least_one, holds};

const IN: u32 = 0;
const OUT: u32 = 1;
const MAIN: u32 = 2;

/// Where a page is: the queue, from 1; 0 is nowhere.
type Place = u8;
const IN_PLACE: Place = 1;
const OUT_PLACE: Place = 2;
const MAIN_PLACE: Place = 3;

/// 2Q: a FIFO for new pages, an LRU for pages seen again, and a queue of evicted names.
#[derive(Clone, Debug)]
pub(crate) struct TwoQueue {
    capacity: u32,
    in_limit: u32,
    out_limit: u32,
    queues: Queues<3>,
    places: Table<Place>,
}

impl TwoQueue {
    fn leave(&mut self, page: u32) {
        let place = std::mem::take(self.places.at(page));
        self.queues.unlink(u32::from(place) - 1, page);
    }

    fn enter(&mut self, page: u32, place: Place) {
        *self.places.at(page) = place;
        self.queues.push_front(u32::from(place) - 1, page);
    }

    /// Frees a frame, from `A1in` if that is too long, else from `Am`; from the other one if no
    /// page there may go.
    fn evict(&mut self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        let is_long = self.queues.len(IN) > self.in_limit || self.queues.len(MAIN) == 0;
        let order = if is_long { [IN, MAIN] } else { [MAIN, IN] };
        let victim = self.queues.oldest_of(order, is_evictable)?;
        let was_in = self.places.get(victim) == IN_PLACE;
        self.leave(victim);
        if was_in && self.out_limit > 0 {
            if self.queues.len(OUT) == self.out_limit
                && let Some(oldest) = self.queues.last(OUT)
            {
                self.leave(oldest);
            }
            self.enter(victim, OUT_PLACE);
        }
        Some(victim)
    }
}

impl Tuned for TwoQueue {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::share("in", "the share of the cache that the queue of new pages has", 250, 1),
        Parameter::share("out", "evicted names that are remembered, in caches", 500, 100),
    ];

    fn tuned(capacity: u32, _seed: u64, values: &[u32]) -> Self {
        Self {
            capacity: at_least_one(capacity),
            in_limit: share_of(capacity, values[0]).max(1),
            out_limit: share_of(capacity, values[1]),
            queues: Queues::default(),
            places: Table::default(),
        }
    }
}

impl Policy for TwoQueue {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        match self.places.get(access.page) {
            MAIN_PLACE => {
                self.queues.move_to_front(MAIN, access.page);
                true
            }
            place => place == IN_PLACE,
        }
    }

    #[inline]
    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        mut is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome {
        if self.contains(access.page) {
            return Outcome::Hit;
        }
        // Before room is made, lest it be forgotten for that.
        let remembered = self.places.get(access.page) == OUT_PLACE;
        if remembered {
            self.leave(access.page);
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.evict(&mut is_evictable);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        let wanted_again = remembered && cause == Cause::Demand;
        self.enter(access.page, if wanted_again { MAIN_PLACE } else { IN_PLACE });
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if self.places.get(page) != 0 {
            self.leave(page);
        }
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        matches!(self.places.get(page), IN_PLACE | MAIN_PLACE)
    }

    fn len(&self) -> u32 {
        self.queues.len(IN) + self.queues.len(MAIN)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let out = self.queues.len(OUT);
        holds(out <= self.out_limit, || format!("{out} pages are remembered"))?;
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
        for last in [IN, OUT, MAIN].into_iter().filter_map(|queue| self.queues.prefetch_back(queue))
        {
            self.places.prefetch(last);
        }
    }
}
