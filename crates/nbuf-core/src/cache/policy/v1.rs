//! The buffers of the First Edition of Unix: LRU, but a buffer that was just filled stays busy for
//! a while and cannot be chosen.
//!
//! The kernel of 1971 keeps one to six buffers in order of use and takes the last that is not
//! waiting for a disc. Here a buffer is busy for a number of accesses after its fill. Where all are
//! busy, the kernel waits: the buffer filled first becomes free first. Invariant: with 0 accesses it
//! is LRU. Cost: as LRU, and a walk past the busy buffers. K. Thompson, D. Ritchie, *Unix First
//! Edition*, `u8.s` (`bufaloc`). Not a model of anything larger.

use super::super::queue::Queues;
use super::super::table::Table;
use super::parameter::Tuned;
use super::{Access, Cause, Parameter, Simple, at_least_one};

const ORDER: u32 = 0;

/// The buffers of First Edition Unix: LRU among buffers that are not busy.
#[derive(Clone, Debug)]
pub(crate) struct V1 {
    capacity: u32,
    busy_accesses: u64,
    queues: Queues<1>,
    /// Accesses so far when a page was filled.
    filled_at: Table<u64>,
    time: u64,
}

impl Tuned for V1 {
    const PARAMETERS: &'static [Parameter] =
        &[Parameter::number("busy", "the accesses for which a filled buffer is busy", 1, u32::MAX)];

    /// Buffers that are busy for this many accesses after they were filled.
    fn tuned(buffers: u32, _seed: u64, values: &[u32]) -> Self {
        Self {
            capacity: at_least_one(buffers),
            busy_accesses: values[0].into(),
            queues: Queues::default(),
            filled_at: Table::default(),
            time: 0,
        }
    }
}

impl V1 {
    fn victim(&self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        // The access that looks for a buffer is one later than the one that filled the last.
        let is_free = |&page: &u32| self.time > self.filled_at.get(page) + self.busy_accesses;
        let free = self.queues.oldest_first(ORDER).filter(is_free).find(|&page| is_evictable(page));
        free.or_else(|| {
            let waiting = self.queues.oldest_first(ORDER).filter(|page| !is_free(page));
            waiting.filter(|&page| is_evictable(page)).min_by_key(|&page| self.filled_at.get(page))
        })
    }
}

impl Simple for V1 {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    fn touch(&mut self, access: Access) -> bool {
        self.time += 1;
        let there = self.queues.contains(access.page);
        if there {
            self.queues.move_to_front(ORDER, access.page);
        }
        there
    }

    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let victim = self.victim(&mut is_evictable)?;
        self.leave(victim);
        Some(victim)
    }

    fn insert(&mut self, access: Access, _cause: Cause) {
        self.queues.push_front(ORDER, access.page);
        *self.filled_at.at(access.page) = self.time;
    }

    fn leave(&mut self, page: u32) {
        self.queues.unlink(ORDER, page);
    }

    fn contains(&self, page: u32) -> bool {
        self.queues.contains(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(ORDER)
    }

    fn check(&self) -> Result<(), String> {
        self.queues.check(ORDER)
    }

    fn prefetch(&self, page: u32) {
        self.queues.prefetch(page);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::{Lru, Outcome, Policy};
    use super::*;

    proptest! {
        #[test]
        fn with_buffers_that_are_never_busy_it_is_lru(
            buffers in 1u32..8,
            pages in vec(0u32..12, 0..300),
        ) {
            let mut v1 = V1::tuned(buffers, 0, &[0]);
            let mut lru = <Lru as Policy>::new(buffers, 0);
            for page in pages {
                prop_assert_eq!(v1.access(Access::to(page)), lru.access(Access::to(page)));
            }
        }
    }

    #[test]
    fn a_busy_buffer_stays() {
        let evicted = |busy_accesses| {
            let mut v1 = V1::tuned(2, 0, &[busy_accesses]);
            // Page 2 is used again, so that 3, which was filled just now, is the oldest.
            [2, 3, 2, 4].map(|page| v1.access(Access::to(page)))[3]
        };
        assert_eq!(evicted(0), Outcome::Filled { evicted: Some(3) });
        assert_eq!(evicted(2), Outcome::Filled { evicted: Some(2) });
    }
}
