//! CLOCK-Pro: LIRS on one clock with three hands, so that a hit only sets a mark.
//!
//! Pages are hot or cold. A cold page is on trial after its fill: used in that time, even when it is
//! gone by then, it becomes hot. The cold hand seeks what goes, the hot hand cools hot pages and ends
//! trials, the trial hand keeps the pages that are gone to one cache. How many cold pages there
//! should be grows with every success of a trial and falls with every failure. The hot hand is the
//! back of the queue: passing a page is moving it to the front. Invariant: some page is cold when the
//! cache is full. Cost: a hit writes one byte. S. Jiang, F. Chen, X. Zhang, *CLOCK-Pro: An Effective
//! Improvement of the CLOCK Replacement*, 2005. Not where LIRS is not.

use super::super::queue::Queues;
use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

const RING: u32 = 0;

type State = u8;
const ABSENT: State = 0;
const HOT: State = 1;
const COLD: State = 2;
/// Cold and on trial.
const TRIAL: State = 3;
/// On trial, and gone.
const GONE: State = 4;
const KIND_MASK: State = 7;
/// Used since a hand passed.
const USED: State = 8;

/// See the module.
#[derive(Clone, Debug)]
pub struct ClockPro {
    capacity: u32,
    /// How many cold pages there should be, from 1 to all.
    cold_target: u32,
    hot: u32,
    cold: u32,
    gone: u32,
    ring: Queues<1>,
    states: Table<State>,
    /// The pages that two hands look at next; none where they start from the back.
    cold_hand: Option<u32>,
    trial_hand: Option<u32>,
}

impl ClockPro {
    fn kind(&self, page: u32) -> State {
        self.states.get(page) & KIND_MASK
    }

    /// Gives a page another kind, and wipes its mark.
    fn change(&mut self, page: u32, kind: State) {
        let old = std::mem::replace(self.states.at(page), kind) & KIND_MASK;
        for (kind, change) in [(old, u32::MAX), (kind, 1)] {
            let count = match kind {
                HOT => &mut self.hot,
                COLD | TRIAL => &mut self.cold,
                GONE => &mut self.gone,
                _ => continue,
            };
            *count = count.wrapping_add(change);
        }
    }

    fn pass_hands(&mut self, page: u32) {
        let newer = self.ring.newer(page);
        for hand in [&mut self.cold_hand, &mut self.trial_hand] {
            if *hand == Some(page) {
                *hand = newer;
            }
        }
    }

    fn leave(&mut self, page: u32) {
        self.pass_hands(page);
        self.ring.unlink(RING, page);
        self.change(page, ABSENT);
    }

    fn move_to_front(&mut self, page: u32) {
        self.pass_hands(page);
        self.ring.move_to_front(RING, page);
    }

    /// A trial ends without a use.
    fn end_trial(&mut self, page: u32) {
        self.cold_target = (self.cold_target - 1).max(1);
        if self.kind(page) == GONE {
            self.leave(page);
        } else {
            *self.states.at(page) ^= TRIAL ^ COLD;
        }
    }

    /// A page was used on trial: it is hot, and there should be more room for trials.
    fn heat(&mut self, page: u32) {
        self.cold_target = (self.cold_target + 1).min(self.capacity);
        self.change(page, HOT);
        while self.hot > self.capacity - self.cold_target {
            self.cool();
        }
    }

    /// Turns the hot hand until a page that was hot is cold.
    fn cool(&mut self) {
        while let Some(page) = self.ring.last(RING) {
            match self.states.get(page) {
                HOT => {
                    self.change(page, COLD);
                    self.move_to_front(page);
                    return;
                }
                state if state & KIND_MASK == HOT => *self.states.at(page) = HOT,
                state if state & KIND_MASK == COLD => {}
                _ => self.end_trial(page),
            }
            if self.ring.contains(page) {
                self.move_to_front(page);
            }
        }
    }

    /// Turns the trial hand until one page that is gone is forgotten.
    fn forget(&mut self) {
        let before = self.gone;
        while self.gone == before {
            let Some(page) = self.trial_hand.or_else(|| self.ring.last(RING)) else { return };
            self.trial_hand = self.ring.newer(page);
            if matches!(self.kind(page), TRIAL | GONE) {
                self.end_trial(page);
            }
        }
    }

    /// Lets a page go that is there; on trial, it is remembered.
    fn drop_resident(&mut self, page: u32) {
        if self.kind(page) == TRIAL {
            self.change(page, GONE);
            if self.gone > self.capacity {
                self.forget();
            }
        } else {
            self.leave(page);
        }
    }

    /// Turns the cold hand to a cold page that was not used. If that may not go, the oldest that
    /// may goes, cold or hot.
    fn evict(&mut self, may_go: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        loop {
            let page = self.cold_hand.or_else(|| self.ring.last(RING))?;
            match self.states.get(page) {
                COLD | TRIAL => {
                    let victim = if may_go(page) { page } else { self.other_victim(may_go)? };
                    self.drop_resident(victim);
                    return Some(victim);
                }
                _ => self.cold_hand = self.ring.newer(page),
            }
            let used = self.states.get(page);
            if used == TRIAL | USED {
                self.move_to_front(page);
                self.heat(page);
            } else if used == COLD | USED {
                self.move_to_front(page);
                *self.states.at(page) = TRIAL;
            }
        }
    }

    fn other_victim(&self, may_go: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        self.ring.oldest_first(RING).find(|&page| self.contains(page) && may_go(page))
    }
}

impl Policy for ClockPro {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self {
            capacity: at_least_one(capacity),
            cold_target: capacity,
            hot: 0,
            cold: 0,
            gone: 0,
            ring: Queues::default(),
            states: Table::default(),
            cold_hand: None,
            trial_hand: None,
        }
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            *self.states.at(access.page) |= USED;
        }
        there
    }

    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        mut may_go: impl FnMut(u32) -> bool,
    ) -> Outcome {
        let page = access.page;
        if self.contains(page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.evict(&mut may_go);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        // Making room may have ended its trial.
        let on_trial = self.kind(page) == GONE;
        if on_trial {
            self.leave(page);
        }
        self.ring.push_front(RING, page);
        self.change(page, TRIAL);
        if on_trial && cause == Cause::Demand {
            self.heat(page);
        }
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if self.kind(page) != ABSENT {
            self.leave(page);
        }
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        !matches!(self.kind(page), ABSENT | GONE)
    }

    fn len(&self) -> u32 {
        self.hot + self.cold
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        holds(self.gone <= self.capacity, || format!("{} pages that are gone", self.gone))?;
        let hot_limit = self.capacity - self.cold_target;
        holds(self.hot <= hot_limit, || format!("{} hot pages of {hot_limit}", self.hot))?;
        let placed = self.states.map(|state| u8::from(state & KIND_MASK != ABSENT));
        self.ring.check_places(&placed)
    }

    #[inline]
    fn bring_close(&self, page: u32) {
        self.states.bring_close(page);
    }
}
