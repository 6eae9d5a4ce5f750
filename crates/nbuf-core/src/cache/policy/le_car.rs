//! `LeCaR`: evicts by recency or by frequency, and learns which of the two it regrets less.
//!
//! A draw by two weights chooses between the page used longest ago and the page used least often. The names of
//! evicted pages are remembered, a cache of them for each of the two. A miss of a remembered page lowers the weight
//! of the rule that evicted it, the more the sooner it comes. As in the authors' program, a page that both rules
//! choose is not remembered, a page that comes back keeps its count of uses, and no weight is above 0.99. The rarest
//! page is, if several are, the one used longest ago; in the authors' program the one with the lowest number.
//! Invariant: both weights together are 1. Cost: O(log n) an access, as LFU. G. Vietri and others, *Driving Cache
//! Replacement with ML-based `LeCaR`*, 2018. Not for large caches: what an eviction cost is known only when the page
//! is wanted again.

use super::super::heap::Heap;
use super::super::queue::{Name, Queues};
use super::super::table::Table;
use super::parameter::{Tuned, as_share};
use super::{Access, Cause, Outcome, Parameter, Policy, at_least_one, holds};
use crate::clock;

/// Pages that are there, in order of use, and those that recency and frequency evicted.
const HERE: Name = 0;
const BY_RECENCY: Name = 1;
const BY_FREQUENCY: Name = 2;

/// Bits of a heap key for the time of the last use; the uses are above, as many as there is room for.
const TIME_BITS: u32 = 40;
const USES_MAX: u32 = (1 << (64 - TIME_BITS)) - 1;
/// The largest weight.
const WEIGHT_MAX: f64 = 0.99;

/// Two experts, their weights, and what each of them evicted.
#[derive(Clone, Debug)]
pub(crate) struct LeCar {
    capacity: u32,
    rate: f64,
    /// What is left of a regret after one access.
    discount: f64,
    queues: Queues<3>,
    /// The queue of a page, from 1; 0 is nowhere.
    places: Table<u8>,
    /// Pages that are there, by uses.
    by_uses: Heap,
    /// The uses of pages that are there or remembered.
    uses: Table<u32>,
    evicted_at: Table<u64>,
    /// The weight of recency; frequency has the rest.
    weight: f64,
    /// Accesses so far.
    time: u64,
    chance: clock::Random,
}

impl LeCar {
    fn place(&self, page: u32) -> Option<Name> {
        u32::from(self.places.get(page)).checked_sub(1)
    }

    fn leave(&mut self, page: u32) {
        let place = std::mem::take(self.places.at(page));
        self.queues.unlink(u32::from(place) - 1, page);
    }

    fn enter(&mut self, page: u32, queue: Name) {
        *self.places.at(page) = u8::try_from(queue + 1).expect("one of three");
        self.queues.push_front(queue, page);
    }

    /// Counts a use of a page that is there.
    fn set(&mut self, page: u32, uses: u32) {
        let uses = uses.min(USES_MAX);
        *self.uses.at(page) = uses;
        let time = self.time & ((1 << TIME_BITS) - 1);
        self.by_uses.set(page, u64::from(uses) << TIME_BITS | time);
    }

    /// A page is wanted that one of the two evicted.
    fn regret(&mut self, page: u32, queue: Name) {
        let accesses = self.time - self.evicted_at.get(page);
        let loss = (-self.rate * self.discount.powf(accesses as f64)).exp();
        let [recency, frequency] = if queue == BY_RECENCY { [loss, 1.0] } else { [1.0, loss] };
        let [recency, frequency] = [self.weight * recency, (1.0 - self.weight) * frequency];
        let weight = recency / (recency + frequency);
        self.weight = weight.clamp(1.0 - WEIGHT_MAX, WEIGHT_MAX);
    }

    fn oldest(&self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        self.queues.oldest_first(HERE).find(|&page| is_evictable(page))
    }

    /// Lets the page go that one of the two chooses.
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let by_recency = self.chance.unit() < self.weight;
        // The rule that chooses asks first.
        let early = if by_recency { self.oldest(&mut is_evictable) } else { None };
        let (rarest, key) = self.by_uses.take_first(&mut is_evictable)?;
        let oldest = early.or_else(|| self.oldest(&mut is_evictable))?;
        let victim = if by_recency { oldest } else { rarest };
        if victim != rarest {
            self.by_uses.set(rarest, key);
            self.by_uses.remove(victim);
        }
        self.leave(victim);
        if oldest == rarest {
            *self.uses.at(victim) = 0;
        } else {
            self.remember(victim, if by_recency { BY_RECENCY } else { BY_FREQUENCY });
        }
        Some(victim)
    }

    fn remember(&mut self, page: u32, queue: Name) {
        if self.queues.len(queue) == self.capacity
            && let Some(oldest) = self.queues.last(queue)
        {
            self.leave(oldest);
            *self.uses.at(oldest) = 0;
        }
        self.enter(page, queue);
        *self.evicted_at.at(page) = self.time;
    }
}

impl Tuned for LeCar {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::share("rate", "the learning rate", 450, 100),
        Parameter::share("discount", "what is left of a regret after a cache of accesses", 5, 1),
    ];

    fn tuned(capacity: u32, seed: u64, values: &[u32]) -> Self {
        let capacity = at_least_one(capacity);
        Self {
            capacity,
            rate: as_share(values[0]),
            discount: as_share(values[1]).powf(1.0 / f64::from(capacity)),
            queues: Queues::default(),
            places: Table::default(),
            by_uses: Heap::default(),
            uses: Table::default(),
            evicted_at: Table::default(),
            weight: 0.5,
            time: 0,
            chance: clock::Random::new(seed),
        }
    }
}

impl Policy for LeCar {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    fn touch(&mut self, access: Access) -> bool {
        self.time += 1;
        let there = self.contains(access.page);
        if there {
            self.queues.move_to_front(HERE, access.page);
            self.set(access.page, self.uses.get(access.page).saturating_add(1));
        }
        there
    }

    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome {
        let page = access.page;
        if self.contains(page) {
            return Outcome::Hit;
        }
        // Before room is made, lest it be forgotten for that.
        let uses = self.uses.get(page);
        if let Some(queue) = self.place(page) {
            if cause == Cause::Demand {
                self.regret(page, queue);
            }
            self.leave(page);
            *self.uses.at(page) = 0;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.evict(is_evictable);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        self.enter(page, HERE);
        self.set(page, uses.saturating_add(u32::from(cause == Cause::Demand)));
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let place = self.place(page);
        if place.is_some() {
            self.leave(page);
            self.by_uses.remove(page);
            *self.uses.at(page) = 0;
        }
        place == Some(HERE)
    }

    fn contains(&self, page: u32) -> bool {
        self.place(page) == Some(HERE)
    }

    fn len(&self) -> u32 {
        self.queues.len(HERE)
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        for queue in [BY_RECENCY, BY_FREQUENCY] {
            let names = self.queues.len(queue);
            holds(names <= self.capacity, || format!("{names} names are remembered"))?;
        }
        holds((0.009..=WEIGHT_MAX).contains(&self.weight), || format!("weight {}", self.weight))?;
        holds(self.by_uses.len() == self.len(), || "the heap has other pages".to_owned())?;
        let mut used = self.uses.iter().map(|(page, _)| page);
        holds(used.all(|page| self.place(page).is_some()), || "uses of no page".to_owned())?;
        self.by_uses.check()?;
        self.queues.check_places(&self.places)
    }

    fn prefetch(&self, page: u32) {
        self.places.prefetch(page);
        self.queues.prefetch(page);
        self.by_uses.prefetch(page);
    }
}
