//! S3-FIFO at sixteen sizes: three rings of pages for each, and the states of a page at all of them
//! side by side, a byte apiece.
//!
//! A hit adds a use to the bytes of the lanes that have the page, eight bytes at a time. A page that
//! is remembered and comes back leaves a *dead* entry in the ring of ghosts. Its state counts its dead
//! entries; they are older than a live one, and are skipped when they come to the end.
//!
//! Invariant: a ring has as many live entries as the queue of the plain file, in its order. Cost: a
//! quarter of a line of memory for a hit, at all sizes; sixteen bytes a page, and four to five an entry.

use std::collections::{HashMap, VecDeque};

use super::grid::{LANES, Lanes};
use super::states::{DEAD, DEAD_ONE, GHOST, MAIN, PLACE, SMALL, States, USE, USES};
use crate::cache::policy::{Policy, S3Fifo};

/// Entries between asking for the state of the page in one and the end of a ring.
const AHEAD: usize = 4;
/// Uses in the small queue that lead to the main one.
const PROMOTED: u8 = 2 * USE;
/// Dead entries that a ring of ghosts may have, besides a quarter of its live ones.
const DEAD_SPARE: usize = 64;

/// The queues of a size; the oldest page of each is in front.
#[derive(Debug)]
struct Queues {
    size: usize,
    small_limit: usize,
    ghosts_limit: usize,
    has_evicted: bool,
    small: VecDeque<u32>,
    main: VecDeque<u32>,
    ghosts: VecDeque<u32>,
    /// Entries of `ghosts` that count no more.
    dead: usize,
    /// Pages that were filled, modulo 2^32.
    fills: u32,
}

pub(super) struct S3FifoLanes {
    states: States,
    queues: [Queues; LANES],
    /// A bit for each lane that is in use.
    lanes: u32,
}

impl Lanes for S3FifoLanes {
    type Policy = S3Fifo;

    // With fewer, sixteen bytes a page are more than the plain files take.
    const SIZES_MIN: usize = 6;
    // So that no part of sizes that processors share has fewer.
    const AT_ONCE: usize = 2 * Self::SIZES_MIN - 1;

    fn new(sizes: [u32; LANES]) -> Self {
        let lanes = (0..LANES).map(|lane| u32::from(sizes[lane] > 0) << lane).sum();
        Self { states: States::default(), queues: sizes.map(Queues::new), lanes }
    }

    fn prepare(&mut self, pages: usize, _accesses: usize) {
        self.states.prepare(pages);
    }

    #[inline]
    fn access(&mut self, page: u32) -> u32 {
        let missed = self.states.touch(page) & self.lanes;
        let mut left = missed;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            self.queues[lane].fill(&mut self.states, lane, page);
            left &= left - 1;
        }
        missed
    }

    fn misses(&self) -> [u32; LANES] {
        std::array::from_fn(|lane| self.queues[lane].fills)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
    }

    fn policy(&self, lane: usize, capacity: u32) -> S3Fifo {
        let queues = &self.queues[lane];
        let state = |page: u32| self.states.get(page, lane);
        let used = |&page: &u32| (page, (state(page) & USES) / USE);
        // The dead entries of a page are the oldest of it.
        let mut dead = HashMap::new();
        let ghosts = queues.ghosts.iter().filter(|&&page| {
            let left = dead.entry(page).or_insert_with(|| (state(page) & DEAD) / DEAD_ONE);
            let is_live = *left == 0;
            *left = left.saturating_sub(1);
            is_live
        });
        let ghosts = ghosts.map(|&page| (page, 0)).collect();
        let (small, main) = (queues.small.iter().map(used), queues.main.iter().map(used));
        S3Fifo::resumed(capacity, queues.has_evicted, [small.collect(), main.collect(), ghosts])
    }
}

impl Queues {
    fn new(size: u32) -> Self {
        let (small_limit, ghosts_limit) = S3Fifo::new(size.max(1), 0).limits();
        Self {
            size: size as usize,
            small_limit: small_limit as usize,
            ghosts_limit: ghosts_limit as usize,
            has_evicted: false,
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghosts: VecDeque::new(),
            dead: 0,
            fills: 0,
        }
    }

    #[inline]
    fn fill(&mut self, states: &mut States, lane: usize, page: u32) {
        self.fills = self.fills.wrapping_add(1);
        // Before room is made, lest it be forgotten for that.
        let remembered = states.get(page, lane) & PLACE == GHOST;
        if remembered {
            self.recall(states, lane, page);
        }
        if self.small.len() + self.main.len() == self.size {
            self.has_evicted = true;
            self.evict(states, lane);
        }
        let is_cold = !self.has_evicted && self.small.len() >= self.small_limit;
        if remembered || is_cold {
            states.put(page, lane, MAIN);
            push(&mut self.main, page);
        } else {
            states.put(page, lane, SMALL);
            push(&mut self.small, page);
        }
    }

    /// Moves pages on until one has to go, and takes it out.
    fn evict(&mut self, states: &mut States, lane: usize) {
        if self.small.len() < self.small_limit || !self.promote(states, lane) {
            self.rotate(states, lane);
            if let Some(victim) = self.main.pop_front() {
                states.put(victim, lane, 0);
                return;
            }
        }
        if let Some(victim) = self.small.pop_front() {
            states.put(victim, lane, 0);
            self.remember(states, lane, victim);
        }
    }

    /// Moves pages at the end of the small queue to the main one; whether there is one to go.
    fn promote(&mut self, states: &mut States, lane: usize) -> bool {
        while let Some(&page) = self.small.front() {
            ask_for_end(states, &self.small);
            if states.get(page, lane) & USES < PROMOTED {
                return true;
            }
            self.small.pop_front();
            states.put(page, lane, MAIN);
            push(&mut self.main, page);
        }
        false
    }

    /// Brings a page that was not used to the end of the main queue.
    fn rotate(&mut self, states: &mut States, lane: usize) {
        while let Some(&page) = self.main.front() {
            ask_for_end(states, &self.main);
            let state = states.at(page, lane);
            if *state & USES == 0 {
                return;
            }
            *state -= USE;
            self.main.pop_front();
            push(&mut self.main, page);
        }
    }

    /// Puts a page that was evicted among the ghosts.
    fn remember(&mut self, states: &mut States, lane: usize, page: u32) {
        if self.ghosts_limit == 0 {
            return;
        }
        if self.ghosts.len() - self.dead == self.ghosts_limit {
            self.forget_oldest(states, lane);
        }
        states.put(page, lane, GHOST);
        push(&mut self.ghosts, page);
    }

    fn forget_oldest(&mut self, states: &mut States, lane: usize) {
        while let Some(page) = self.ghosts.pop_front() {
            ask_for_end(states, &self.ghosts);
            let state = states.at(page, lane);
            if *state & DEAD == 0 {
                *state = 0;
                return;
            }
            *state -= DEAD_ONE;
            self.dead -= 1;
        }
    }

    /// Takes a page from the ghosts, but leaves its entry there.
    fn recall(&mut self, states: &mut States, lane: usize, page: u32) {
        let live = self.ghosts.len() - self.dead;
        let is_full = states.get(page, lane) & DEAD == DEAD;
        if is_full || self.dead > live / 4 + DEAD_SPARE {
            self.sweep(states, lane);
        }
        let state = states.at(page, lane);
        *state = (*state & DEAD) + DEAD_ONE;
        self.dead += 1;
    }

    /// Drops the dead entries.
    #[cold]
    fn sweep(&mut self, states: &mut States, lane: usize) {
        self.ghosts.retain(|&page| {
            let state = states.at(page, lane);
            let is_dead = *state & DEAD > 0;
            if is_dead {
                *state -= DEAD_ONE;
            }
            !is_dead
        });
        self.dead = 0;
    }
}

/// Starts to load the states of the page that will soon be at the end of a ring.
#[inline]
fn ask_for_end(states: &States, ring: &VecDeque<u32>) {
    if let Some(&soon) = ring.get(AHEAD) {
        states.prefetch(soon);
    }
}

/// Puts a page at the young end. A ring grows by a quarter: its pages go all around it, so that what is
/// spare is memory, too.
#[inline]
fn push(ring: &mut VecDeque<u32>, page: u32) {
    if ring.len() == ring.capacity() {
        ring.reserve_exact(ring.len() / 4 + 16);
    }
    ring.push_back(page);
}
