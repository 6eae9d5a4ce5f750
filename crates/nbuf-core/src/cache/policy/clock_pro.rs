//! CLOCK-Pro: LIRS on a clock with three hands, so that a hit only sets a mark.
//!
//! Pages are hot or cold. A cold page is on trial after its fill: used in that time, even when it is
//! gone by then, it becomes hot. The cold hand seeks what goes, the hot hand cools hot pages and ends
//! trials, the trial hand keeps the pages that are gone to one cache. How many cold pages there
//! should be grows with every success of a trial and falls with every failure. Invariant: each hand is
//! at the oldest page of its kind, and some page is cold when the cache is full. Cost: a hit writes
//! one byte. S. Jiang, F. Chen, X. Zhang, *CLOCK-Pro: An Effective Improvement of the CLOCK
//! Replacement*, 2005. What the paper leaves open is done as in the authors' program: the first pages
//! are hot, and a page becomes hot only if the hot hand finds another to cool before it comes to it.
//! Not where LIRS is not.

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
const KINDS: usize = 5;
const KIND_MASK: State = 7;
/// Used since a hand passed.
const USED: State = 8;

/// CLOCK-Pro: hot, cold and test pages on one ring, with a hand for each kind.
#[derive(Clone, Debug)]
pub(crate) struct ClockPro {
    capacity: u32,
    /// How many cold pages there should be, from 1 to all but one.
    cold_target: u32,
    /// Pages of each kind; of those that are absent, nothing that means anything.
    counts: [u32; KINDS],
    /// The newest page in front.
    ring: Queues<1>,
    states: Table<State>,
    /// The oldest hot page.
    hot_hand: Option<u32>,
    /// Not after the oldest page that is there and cold.
    cold_hand: Option<u32>,
    /// Not after the oldest page on trial.
    trial_hand: Option<u32>,
}

fn is_cold(kind: State) -> bool {
    matches!(kind, COLD | TRIAL)
}

fn is_on_trial(kind: State) -> bool {
    matches!(kind, TRIAL | GONE)
}

impl ClockPro {
    fn kind(&self, page: u32) -> State {
        self.states.get(page) & KIND_MASK
    }

    fn count(&self, kind: State) -> u32 {
        self.counts[usize::from(kind)]
    }

    fn cold(&self) -> u32 {
        self.count(COLD) + self.count(TRIAL)
    }

    /// Gives a page another kind where it is, and wipes its mark.
    fn change(&mut self, page: u32, kind: State) {
        let old = std::mem::replace(self.states.at(page), kind) & KIND_MASK;
        for (kind, change) in [(old, u32::MAX), (kind, 1)] {
            let count = &mut self.counts[usize::from(kind)];
            *count = count.wrapping_add(change);
        }
    }

    fn leave(&mut self, page: u32) {
        let newer = self.ring.newer(page);
        for hand in [&mut self.hot_hand, &mut self.cold_hand, &mut self.trial_hand] {
            if *hand == Some(page) {
                *hand = newer;
            }
        }
        self.ring.unlink(RING, page);
        self.change(page, ABSENT);
    }

    /// Puts a page in front, from wherever it was. The first of its kind has the hand.
    fn enter(&mut self, page: u32, kind: State) {
        if self.kind(page) != ABSENT {
            self.leave(page);
        }
        if is_cold(kind) && self.cold() == 0 {
            self.cold_hand = Some(page);
        }
        if is_on_trial(kind) && self.count(TRIAL) + self.count(GONE) == 0 {
            self.trial_hand = Some(page);
        }
        self.ring.push_front(RING, page);
        self.change(page, kind);
    }

    /// From a hand on, the oldest page of a kind.
    fn oldest(&self, hand: Option<u32>, is_of_kind: fn(State) -> bool) -> Option<u32> {
        let mut pages = std::iter::successors(hand, |&page| self.ring.newer(page));
        pages.find(|&page| is_of_kind(self.kind(page)))
    }

    /// A trial had success, or failed.
    fn learn(&mut self, is_success: bool) {
        let target = if is_success { self.cold_target + 1 } else { self.cold_target - 1 };
        self.cold_target = target.clamp(1, (self.capacity - 1).max(1));
    }

    /// The hot or the trial hand passes a page: if it was on trial, that is over.
    fn end_trial(&mut self, page: u32) {
        let was_used = self.states.get(page) & USED != 0;
        match self.kind(page) {
            GONE => self.leave(page),
            TRIAL => {
                self.change(page, COLD);
                *self.states.at(page) |= if was_used { USED } else { 0 };
            }
            _ => return,
        }
        self.learn(was_used);
    }

    /// A page was used on trial. Whether it becomes hot.
    fn succeed(&mut self, page: u32) -> bool {
        self.learn(true);
        *self.states.at(page) &= !USED;
        while self.count(HOT) >= self.capacity - self.cold_target {
            if !is_on_trial(self.kind(page)) || !self.cool(page) {
                return false;
            }
        }
        true
    }

    /// Turns the hot hand until a page that was hot is cold, or to the page that this is done for.
    /// Whether one was cooled.
    fn cool(&mut self, for_page: u32) -> bool {
        let mut cooled = false;
        while let Some(page) = self.hot_hand.filter(|&page| !cooled && page != for_page) {
            match self.states.get(page) {
                HOT => {
                    self.enter(page, COLD);
                    cooled = true;
                }
                state if state & KIND_MASK == HOT => self.enter(page, HOT),
                _ => self.pass_hot_hand(page),
            }
        }
        self.settle_hot_hand();
        cooled
    }

    fn pass_hot_hand(&mut self, page: u32) {
        self.hot_hand = self.ring.newer(page);
        self.end_trial(page);
    }

    /// Turns the hot hand to a hot page, from the oldest page of all where it was nowhere.
    fn settle_hot_hand(&mut self) {
        let from = self.hot_hand.or_else(|| self.ring.last(RING));
        self.hot_hand = from.filter(|_| self.count(HOT) > 0);
        while let Some(page) = self.hot_hand.filter(|&page| self.kind(page) != HOT) {
            self.pass_hot_hand(page);
        }
    }

    /// Lets a page go that is there. On trial it is remembered, and others are forgotten for it.
    fn drop_resident(&mut self, page: u32) {
        if self.kind(page) != TRIAL {
            self.leave(page);
            return self.settle_hot_hand();
        }
        self.change(page, GONE);
        while self.count(GONE) > self.capacity
            && let Some(page) = self.oldest(self.trial_hand, is_on_trial)
        {
            self.trial_hand = Some(page);
            self.end_trial(page);
        }
    }

    /// Turns the cold hand to a cold page that was not used. If that may not go, the oldest that
    /// may goes, cold or hot.
    fn evict(&mut self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        while let Some(page) = self.oldest(self.cold_hand, is_cold) {
            self.cold_hand = Some(page);
            let state = self.states.get(page);
            if state & USED == 0 {
                let all = self.ring.oldest_first(RING).filter(|&page| self.contains(page));
                let victim = std::iter::once(page).chain(all).find(|&page| is_evictable(page))?;
                self.drop_resident(victim);
                return Some(victim);
            }
            let heats = state == TRIAL | USED && self.succeed(page);
            self.enter(page, if heats { HOT } else { TRIAL });
            self.settle_hot_hand();
        }
        None
    }
}

impl Policy for ClockPro {
    fn new(capacity: u32, _seed: u64) -> Self {
        Self {
            capacity: at_least_one(capacity),
            cold_target: 1,
            counts: [0; KINDS],
            ring: Queues::default(),
            states: Table::default(),
            hot_hand: None,
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
        mut is_evictable: impl FnMut(u32) -> bool,
    ) -> Outcome {
        let page = access.page;
        if self.contains(page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            evicted = self.evict(&mut is_evictable);
            if evicted.is_none() {
                return Outcome::Bypassed;
            }
        }
        let has_room = evicted.is_none() && self.count(HOT) < self.capacity - self.cold_target;
        // Making room may have ended its trial.
        let heats =
            cause == Cause::Demand && (has_room || self.kind(page) == GONE && self.succeed(page));
        self.enter(page, if heats { HOT } else { TRIAL });
        self.settle_hot_hand();
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.contains(page);
        if self.kind(page) != ABSENT {
            self.leave(page);
            self.settle_hot_hand();
        }
        there
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        !matches!(self.kind(page), ABSENT | GONE)
    }

    fn len(&self) -> u32 {
        self.count(HOT) + self.cold()
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let gone = self.count(GONE);
        holds(gone <= self.capacity, || format!("{gone} pages that are gone"))?;
        let hot = self.count(HOT);
        holds(hot < self.capacity, || format!("{hot} hot pages, none cold"))?;
        let oldest = |is_of_kind| self.oldest(self.ring.last(RING), is_of_kind);
        let hot_hand = oldest(|kind| kind == HOT);
        let cold_hand = self.oldest(self.cold_hand, is_cold);
        let trial_hand = self.oldest(self.trial_hand, is_on_trial);
        holds(self.hot_hand == hot_hand, || format!("a hot page {hot_hand:?} is older"))?;
        holds(cold_hand == oldest(is_cold), || format!("cold pages before {cold_hand:?}"))?;
        holds(trial_hand == oldest(is_on_trial), || format!("trials before {trial_hand:?}"))?;
        let placed = self.states.map(|state| u8::from(state & KIND_MASK != ABSENT));
        self.ring.check_places(&placed)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.states.prefetch(page);
    }
}
