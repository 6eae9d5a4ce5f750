//! The active and inactive lists of the Linux page cache, a page at a time: inactive for pages read
//! once, active for pages read twice; a page that comes back soon enough after it left starts active.
//!
//! The same rules as [`kernel`](crate::cache::kernel) has, without readahead, mappings and folios,
//! and without reclaim in batches of 32 pages: each fill evicts one page. Invariant: only inactive
//! pages go, unless none of them may. Cost: as LRU. J. Weiner, *Thrash detection-based file cache
//! sizing*, 2014; Linux 6.18 `mm/vmscan.c`, `mm/workingset.c`, by behaviour. Not to predict what a
//! kernel fills: `nbuf size` has the model for that.

use super::super::queue::{Name, Queues};
use super::super::table::Table;
use super::{Access, Cause, Simple, at_least_one};

const INACTIVE: Name = 0;
const ACTIVE: Name = 1;

/// The list of a page, from 1; 0 is none.
type State = u8;
const PLACE_MASK: State = 3;
/// Read once since it came or moved.
const REFERENCED: State = 4;

/// Pages in a gibibyte, as a power of two: from there on the lists are not balanced 1:1.
const GIBIBYTE_SHIFT: u32 = 18;

/// The active and inactive lists of Linux, for pages without mappings or readahead.
#[derive(Clone, Debug)]
pub(crate) struct ActiveInactive {
    capacity: u32,
    queues: Queues<2>,
    states: Table<State>,
    /// Evictions and activations so far: the clock refaults are measured with.
    age: u32,
    /// Its time when a page left, from 1; 0 where it never did.
    left_at: Table<u32>,
}

impl ActiveInactive {
    fn place(&self, page: u32) -> Option<Name> {
        u32::from(self.states.get(page) & PLACE_MASK).checked_sub(1)
    }

    fn enter(&mut self, page: u32, queue: Name, flags: State) {
        *self.states.at(page) = u8::try_from(queue + 1).expect("one of two") | flags;
        self.queues.push_front(queue, page);
    }

    fn activate(&mut self, page: u32) {
        self.enter(page, ACTIVE, 0);
        self.age = self.age.wrapping_add(1);
    }

    /// Lets the active list feed the inactive one while that is too short.
    fn balance(&mut self) {
        loop {
            let (inactive, active) = (self.queues.len(INACTIVE), self.queues.len(ACTIVE));
            let gibibytes = (u64::from(inactive) + u64::from(active)) >> GIBIBYTE_SHIFT;
            let ratio = if gibibytes > 0 { (10 * gibibytes).isqrt() } else { 1 };
            if u64::from(inactive) * ratio >= u64::from(active) {
                return;
            }
            let Some(page) = self.queues.last(ACTIVE) else { return };
            let referenced = self.states.get(page) & REFERENCED;
            self.leave(page);
            self.enter(page, INACTIVE, referenced);
        }
    }
}

impl Simple for ActiveInactive {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self {
            capacity: at_least_one(capacity),
            queues: Queues::default(),
            states: Table::default(),
            age: 1,
            left_at: Table::default(),
        }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let page = access.page;
        let Some(place) = self.place(page) else { return false };
        if self.states.get(page) & REFERENCED == 0 {
            *self.states.at(page) |= REFERENCED;
        } else if place == INACTIVE {
            self.leave(page);
            self.activate(page);
        }
        true
    }

    fn evict(&mut self, is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        self.balance();
        let victim = self.queues.oldest_of([INACTIVE, ACTIVE], is_evictable)?;
        self.leave(victim);
        *self.left_at.at(victim) = self.age;
        self.age = self.age.wrapping_add(1).max(1);
        Some(victim)
    }

    fn insert(&mut self, access: Access, cause: Cause) {
        let page = access.page;
        let left_at = std::mem::take(self.left_at.at(page));
        let distance = self.age.wrapping_sub(left_at);
        if left_at != 0 && distance <= self.queues.len(ACTIVE) {
            self.activate(page);
        } else {
            self.enter(page, INACTIVE, 0);
        }
        // The read that brought it is its first.
        if cause == Cause::Demand {
            *self.states.at(page) |= REFERENCED;
        }
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        let state = std::mem::take(self.states.at(page));
        self.queues.unlink(u32::from(state & PLACE_MASK) - 1, page);
    }

    fn forget(&mut self, page: u32) {
        *self.left_at.at(page) = 0;
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.states.get(page) != 0
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(INACTIVE) + self.queues.len(ACTIVE)
    }

    fn check(&self) -> Result<(), String> {
        self.queues.check_places(&self.states.map(|state| state & PLACE_MASK))
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
    }
}
