//! LIRS: pages are ranked by the distance between their last two uses; all but a hundredth of the
//! cache is for those with short distances.
//!
//! A stack in order of use holds the pages with low inter-reference recency (LIR), all of them in
//! the cache, and others that were used later than the oldest LIR page, in the cache or not. A queue
//! holds the HIR pages that are in the cache; from there pages go. Invariant: the bottom of the stack
//! is an LIR page. The stack has two caches of
//! pages at most, by default: of those that are gone, the ones that went first are forgotten, as in the authors'
//! program. Cost: as LRU, and what falls off the stack. S. Jiang
//! and X. Zhang, *LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy*, 2002. Not
//! where distances change often: an LIR page goes only by ageing.

use super::super::queue::Queues;
use super::super::table::Table;
use super::parameter::{Tuned, share_of};
use super::{Access, Cause, Parameter, Simple, at_least_one, holds};

const ORDER: u32 = 0;
/// The two queues next to the stack: HIR pages that are there, and those that are gone.
const HERE: u32 = 0;
const FORMER: u32 = 1;

const ABSENT: u8 = 0;
/// Low inter-reference recency: in the stack and in the cache.
const LOW: u8 = 1;
/// High, in the queue and in the cache; perhaps in the stack.
const HIGH: u8 = 2;
/// Gone, but still in the stack.
const GONE: u8 = 3;

/// LIRS: a stack of recent pages, and a queue of the resident pages with long reuse distances.
#[derive(Clone, Debug)]
pub(crate) struct Lirs {
    capacity: u32,
    low_limit: u32,
    stack_limit: u32,
    low_pages: u32,
    stack: Queues<1>,
    queues: Queues<2>,
    states: Table<u8>,
}

impl Lirs {
    /// On top of the stack, as a page that stays.
    fn promote(&mut self, page: u32) {
        *self.states.at(page) = LOW;
        self.stack.push_front(ORDER, page);
        self.low_pages += 1;
        while self.low_pages > self.low_limit {
            self.prune();
            let Some(bottom) = self.stack.last(ORDER) else { return };
            self.stack.unlink(ORDER, bottom);
            self.low_pages -= 1;
            *self.states.at(bottom) = HIGH;
            self.queues.push_front(HERE, bottom);
        }
        self.prune();
    }

    /// Takes from the bottom of the stack what is not LIR.
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.last(ORDER) {
            let state = self.states.get(bottom);
            if state == LOW {
                return;
            }
            if state == GONE {
                self.drop_ghost(bottom);
            } else {
                self.stack.unlink(ORDER, bottom);
            }
        }
    }

    /// A page that is gone is not remembered any more.
    fn drop_ghost(&mut self, page: u32) {
        self.stack.unlink(ORDER, page);
        self.queues.unlink(FORMER, page);
        *self.states.at(page) = ABSENT;
    }

    /// Keeps the stack short.
    fn bound(&mut self) {
        while self.stack.len(ORDER) > self.stack_limit
            && let Some(page) = self.queues.last(FORMER)
        {
            self.drop_ghost(page);
        }
        self.prune();
    }

    fn unstack(&mut self, page: u32) -> bool {
        let stacked = self.stack.contains(page);
        if stacked {
            self.stack.unlink(ORDER, page);
        }
        stacked
    }
}

impl Tuned for Lirs {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::share("high", "the share of the cache for pages with long distances", 10, 1),
        Parameter::share("stack", "pages that the stack remembers, in caches", 2000, 100),
    ];

    fn tuned(capacity: u32, _seed: u64, values: &[u32]) -> Self {
        let high = share_of(at_least_one(capacity), values[0]).max(1);
        Self {
            capacity,
            low_limit: capacity - high,
            stack_limit: share_of(capacity, values[1]),
            low_pages: 0,
            stack: Queues::default(),
            queues: Queues::default(),
            states: Table::default(),
        }
    }
}

impl Simple for Lirs {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let page = access.page;
        match self.states.get(page) {
            LOW => {
                self.stack.move_to_front(ORDER, page);
                self.prune();
            }
            HIGH if self.unstack(page) => {
                self.queues.unlink(HERE, page);
                self.promote(page);
            }
            HIGH => {
                self.queues.move_to_front(HERE, page);
                self.stack.push_front(ORDER, page);
                self.bound();
            }
            _ => return false,
        }
        true
    }

    /// The oldest of the queue; where none of it may go, the LIR page used longest ago that may.
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let queued = self.queues.oldest_first(HERE).find(|&page| is_evictable(page));
        if let Some(victim) = queued {
            self.queues.unlink(HERE, victim);
            let stacked = self.stack.contains(victim);
            *self.states.at(victim) = if stacked { GONE } else { ABSENT };
            if stacked {
                self.queues.push_front(FORMER, victim);
            }
            return queued;
        }
        let is_low = |&page: &u32| self.states.get(page) == LOW;
        let low = self.stack.oldest_first(ORDER).filter(is_low).find(|&page| is_evictable(page));
        self.leave(low?);
        low
    }

    fn insert(&mut self, access: Access, cause: Cause) {
        let page = access.page;
        let known = self.states.get(page) == GONE;
        if known {
            self.drop_ghost(page);
        }
        let known = known && cause == Cause::Demand;
        if known || self.low_pages < self.low_limit {
            self.promote(page);
        } else {
            *self.states.at(page) = HIGH;
            self.queues.push_front(HERE, page);
            // Readahead is no use: its page starts outside the stack.
            if cause == Cause::Demand {
                self.stack.push_front(ORDER, page);
            }
        }
        self.bound();
    }

    fn leave(&mut self, page: u32) {
        self.unstack(page);
        if self.states.get(page) == LOW {
            self.low_pages -= 1;
        } else {
            self.queues.unlink(HERE, page);
        }
        *self.states.at(page) = ABSENT;
        self.prune();
    }

    fn forget(&mut self, page: u32) {
        if self.states.get(page) == GONE {
            self.drop_ghost(page);
            self.prune();
        }
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        matches!(self.states.get(page), LOW | HIGH)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.low_pages + self.queues.len(HERE)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.low_pages <= self.low_limit, || format!("{} LIR pages", self.low_pages))?;
        let bottom = self.stack.last(ORDER);
        let stands = bottom.is_none_or(|page| self.states.get(page) == LOW);
        holds(stands, || "the stack has no LIR page at its bottom".to_owned())?;
        let mut low = 0;
        for (page, state) in self.states.iter() {
            let (stacked, queued) = (self.stack.contains(page), self.queues.contains(page));
            low += u32::from(state == LOW);
            let right = match state {
                LOW => stacked && !queued,
                _ => queued && (state == HIGH || stacked),
            };
            holds(right, || format!("page {page} is {state}, stacked {stacked}, queued {queued}"))?;
        }
        holds(low == self.low_pages, || format!("{low} LIR pages, {} counted", self.low_pages))?;
        let depth = self.stack.len(ORDER);
        // Pages that are there stay in it, however short it is to be.
        let bound = self.stack_limit.max(self.capacity);
        holds(depth <= bound, || format!("{depth} pages are stacked"))?;
        self.stack.check(ORDER)?;
        self.queues.check(FORMER)?;
        self.queues.check(HERE)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
        self.stack.prefetch(page);
        self.queues.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        self.stack.prefetch_neighbours(page);
        self.queues.prefetch_neighbours(page);
        if let Some(bottom) = self.stack.prefetch_back(ORDER) {
            self.states.prefetch(bottom);
        }
        for last in [HERE, FORMER].into_iter().filter_map(|queue| self.queues.prefetch_back(queue))
        {
            self.states.prefetch(last);
            self.stack.prefetch(last);
        }
    }
}
