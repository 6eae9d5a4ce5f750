//! S3-FIFO: a small FIFO filters what enters the main one; a third remembers what the small one
//! threw out.
//!
//! By default a tenth of the cache is small; pages used twice there move on to the main queue, the others go
//! and are remembered for nine tenths of a cache. The main queue takes pages used since their last
//! turn back, up to three times. Invariant: a page leaves the small queue at its end only. Cost: a
//! hit writes one byte. J. Yang and others, *FIFO Queues are All You Need for Cache Eviction*, 2023.
//! The authors' later variant: a cold cache fills the main queue. Not where pages are wanted twice, both times within the small queue, and then no more.

use super::super::queue::Queues;
use super::super::table::Table;
use super::parameter::{Tuned, share_of};
use super::{Access, Cause, Outcome, Parameter, Policy, at_least_one, holds};

const SMALL: u32 = 0;
const MAIN: u32 = 1;
const GHOSTS: u32 = 2;

/// The queue of a page, from 1, in the low bits; its uses, up to three, in the high ones.
type State = u8;
const PLACE_MASK: State = 3;
const USE: State = 4;
const USES_MAX: State = 3 * USE;

/// S3-FIFO: a small and a main FIFO, and a FIFO of evicted names.
#[derive(Clone, Debug)]
pub(crate) struct S3Fifo {
    capacity: u32,
    small_limit: u32,
    ghosts_limit: u32,
    /// Uses in the small queue that lead to the main one, as in a state.
    promoted: State,
    /// Until then pages that the small queue has no room for fill the main one.
    has_evicted: bool,
    queues: Queues<3>,
    states: Table<State>,
}

impl S3Fifo {
    /// Whether a page is there or remembered.
    #[inline]
    pub(crate) fn knows(&self, page: u32) -> bool {
        self.states.get(page) != 0
    }

    /// The page that is forgotten next.
    #[inline]
    pub(crate) fn oldest_ghost(&self) -> Option<u32> {
        self.queues.last(GHOSTS)
    }

    /// The most pages of the small queue, and of names that are remembered.
    pub(in crate::cache) fn limits(&self) -> (u32, u32) {
        (self.small_limit, self.ghosts_limit)
    }

    /// A cache with these pages and their uses in its small and its main queue and among its ghosts,
    /// each from the oldest.
    pub(in crate::cache) fn resumed(
        capacity: u32,
        has_evicted: bool,
        queues: [Vec<(u32, u8)>; 3],
    ) -> Self {
        let mut resumed = Self { has_evicted, ..Self::usual(capacity, 0) };
        for (queue, pages) in [SMALL, MAIN, GHOSTS].into_iter().zip(queues) {
            for (page, uses) in pages {
                resumed.enter(page, queue, uses * USE);
            }
        }
        resumed
    }

    fn is_in(&self, page: u32, queue: u32) -> bool {
        u32::from(self.states.get(page) & PLACE_MASK) == queue + 1
    }

    fn leave(&mut self, page: u32) {
        let state = std::mem::take(self.states.at(page));
        self.queues.unlink(u32::from(state & PLACE_MASK) - 1, page);
    }

    fn enter(&mut self, page: u32, queue: u32, uses: State) {
        *self.states.at(page) = u8::try_from(queue + 1).expect("one of three") | uses;
        self.queues.push_front(queue, page);
    }

    fn remember(&mut self, page: u32) {
        if self.ghosts_limit == 0 {
            return;
        }
        if self.queues.len(GHOSTS) == self.ghosts_limit
            && let Some(oldest) = self.queues.last(GHOSTS)
        {
            self.leave(oldest);
        }
        self.enter(page, GHOSTS, 0);
    }

    /// Moves pages on until one has to go. If that may not, the oldest that may goes, used or not.
    fn evict(&mut self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        let mut turn = SMALL;
        if self.queues.len(SMALL) < self.small_limit || !self.promote() {
            turn = MAIN;
            self.rotate();
        }
        let victim = self.queues.oldest_of([turn, SMALL + MAIN - turn], is_evictable)?;
        let was_small = self.is_in(victim, SMALL);
        self.leave(victim);
        if was_small {
            self.remember(victim);
        }
        Some(victim)
    }

    /// Moves pages at the end of the small queue to the main one; whether there is one to go.
    fn promote(&mut self) -> bool {
        while let Some(page) = self.queues.last(SMALL) {
            if self.states.get(page) & !PLACE_MASK < self.promoted {
                return true;
            }
            self.leave(page);
            self.enter(page, MAIN, 0);
        }
        false
    }

    /// Brings a page that was not used to the end of the main queue.
    fn rotate(&mut self) {
        while let Some(page) = self.queues.last(MAIN) {
            if self.states.get(page) < USE {
                return;
            }
            *self.states.at(page) -= USE;
            self.queues.move_to_front(MAIN, page);
        }
    }
}

impl Tuned for S3Fifo {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::share("small", "the share of the cache that the small queue has", 100, 1),
        Parameter::share("ghosts", "evicted names that are remembered, in caches", 900, 100),
        Parameter::number(
            "promote",
            "the uses that lead from the small queue to the main one",
            2,
            3,
        ),
    ];

    fn tuned(capacity: u32, _seed: u64, values: &[u32]) -> Self {
        Self {
            capacity: at_least_one(capacity),
            small_limit: share_of(capacity, values[0]).max(1),
            ghosts_limit: share_of(capacity, values[1]),
            promoted: USE * u8::try_from(values[2]).expect("at most three"),
            has_evicted: false,
            queues: Queues::default(),
            states: Table::default(),
        }
    }
}

impl Policy for S3Fifo {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            let state = self.states.at(access.page);
            if *state & !PLACE_MASK < USES_MAX {
                *state += USE;
            }
        }
        there
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
        let remembered = self.is_in(access.page, GHOSTS);
        if remembered {
            self.leave(access.page);
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            self.has_evicted = true;
            evicted = self.evict(&mut is_evictable);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        let wanted_again = remembered && cause == Cause::Demand;
        let is_cold = !self.has_evicted && self.queues.len(SMALL) >= self.small_limit;
        self.enter(access.page, if wanted_again || is_cold { MAIN } else { SMALL }, 0);
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if self.states.get(page) != 0 {
            self.leave(page);
        }
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        matches!(self.states.get(page) & PLACE_MASK, 1 | 2)
    }

    fn len(&self) -> u32 {
        self.queues.len(SMALL) + self.queues.len(MAIN)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let ghosts = self.queues.len(GHOSTS);
        holds(ghosts <= self.ghosts_limit, || format!("{ghosts} pages are remembered"))?;
        self.queues.check_places(&self.states.map(|state| state & PLACE_MASK))
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, _page: u32) {
        for last in (SMALL..=GHOSTS).filter_map(|queue| self.queues.prefetch_back(queue)) {
            self.states.prefetch(last);
        }
    }
}
