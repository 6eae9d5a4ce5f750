//! W-TinyLFU: new pages pass through a small LRU window; what leaves it gets into the main cache
//! only if it was used more often lately than the page that would go for it.
//!
//! The window has a hundredth of the cache, the rest is a segmented LRU, four fifths of it
//! protected; uses are estimated by a [`Sketch`]. With `climb` a [`Climber`] moves pages between the window and the
//! protected segment; the window keeps a page at least. Invariant: a page enters
//! the main cache only through the window. Cost: a use writes one cache line of the sketch, and moves
//! the page as in LRU. G. Einziger, R. Friedman, B. Manes, *`TinyLFU`: A Highly Efficient Cache
//! Admission Policy*, 2017. Not where recency is all: with so small a window, bursts of new pages
//! miss, or `climb`.

use super::super::queue::{Name, Queues};
use super::super::table::Table;
use super::climber::Climber;
use super::parameter::{Tuned, WHOLE, share_of};
use super::sketch::Sketch;
use super::{Access, Cause, Parameter, Simple, at_least_one, holds};

const WINDOW: Name = 0;
const PROBATION: Name = 1;
const PROTECTED: Name = 2;

/// Pages that one access moves across the boundary at the most, so that none takes long.
const MOVES_MAX: u32 = 1000;

/// W-TinyLFU: a window, a segmented LRU, and a frequency sketch that admits.
#[derive(Clone, Debug)]
pub(crate) struct WTinyLfu {
    capacity: u32,
    window_limit: u32,
    protected_limit: u32,
    queues: Queues<3>,
    /// The queue of a page, from 1; 0 is none.
    places: Table<u8>,
    sketch: Sketch,
    climber: Option<Climber>,
    /// Pages that the window is still to gain, and a part of one; negative: to lose.
    carry: f64,
}

impl WTinyLfu {
    fn place(&self, page: u32) -> Option<Name> {
        u32::from(self.places.get(page)).checked_sub(1)
    }

    fn enter(&mut self, page: u32, queue: Name) {
        *self.places.at(page) = u8::try_from(queue + 1).expect("one of three");
        self.queues.push_front(queue, page);
    }

    /// Moves the oldest page of a queue to the front of another.
    fn pass(&mut self, from: Name, to: Name) {
        if let Some(page) = self.queues.last(from) {
            self.leave(page);
            self.enter(page, to);
        }
    }

    fn demote(&mut self) {
        if self.queues.len(PROTECTED) > self.protected_limit {
            self.pass(PROTECTED, PROBATION);
        }
    }

    /// Moves the boundary of the window after a sample, a part of the way with each access.
    #[inline]
    fn climb(&mut self) {
        let Some(climber) = &mut self.climber else { return };
        if let Some(pages) = climber.take() {
            let least = -f64::from(self.window_limit.saturating_sub(1));
            self.carry += pages.clamp(least, f64::from(self.protected_limit));
        }
        for _ in 0..MOVES_MAX {
            if self.carry >= 1.0 && self.protected_limit > 0 {
                self.grow();
            } else if self.carry < 0.0 && self.window_limit > 1 {
                self.shrink();
            } else {
                return;
            }
        }
    }

    /// The window gains a page of the protected segment.
    fn grow(&mut self) {
        self.carry -= 1.0;
        self.window_limit += 1;
        self.protected_limit -= 1;
        self.demote();
        self.pass(PROBATION, WINDOW);
    }

    /// The window gives a page to the protected segment.
    fn shrink(&mut self) {
        self.carry += 1.0;
        self.window_limit -= 1;
        self.protected_limit += 1;
        if self.queues.len(WINDOW) > self.window_limit {
            self.pass(WINDOW, PROBATION);
        }
    }

    /// The page of the main cache that is to go next.
    fn oldest_of_main(&self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        self.queues.oldest_of([PROBATION, PROTECTED], is_evictable)
    }
}

impl Tuned for WTinyLfu {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::share("window", "the share of the cache that the window has", 10, 1),
        Parameter::share("protected", "the share of the main cache that is protected", 800, 1),
        Parameter::switch("climb", "whether the window adapts"),
    ];

    fn tuned(capacity: u32, _seed: u64, values: &[u32]) -> Self {
        // Rounded up.
        let main = share_of(at_least_one(capacity), WHOLE - values[0]).min(capacity - 1);
        Self {
            capacity,
            window_limit: capacity - main,
            protected_limit: share_of(main, values[1]),
            queues: Queues::default(),
            places: Table::default(),
            sketch: Sketch::new(capacity),
            climber: (values[2] > 0).then(|| Climber::new(capacity)),
            carry: 0.0,
        }
    }
}

impl Simple for WTinyLfu {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    #[inline]
    fn touch(&mut self, access: Access) -> bool {
        let page = access.page;
        self.sketch.add(page);
        let place = self.place(page);
        if self.climber.is_some() && self.pages() == self.capacity {
            self.climber.iter_mut().for_each(|climber| climber.count(place.is_some()));
        }
        match place {
            None => return false,
            Some(PROBATION) => {
                self.leave(page);
                self.enter(page, PROTECTED);
                self.demote();
            }
            Some(queue) => self.queues.move_to_front(queue, page),
        }
        self.climb();
        true
    }

    /// Makes a candidate of the oldest page of the window, and lets it or a page of the main cache
    /// go.
    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        let candidate = self.queues.last(WINDOW);
        let candidate = candidate.filter(|_| self.queues.len(WINDOW) >= self.window_limit);
        let victim = self.oldest_of_main(&mut is_evictable);
        let Some(candidate) = candidate else {
            let victim = victim
                .or_else(|| self.queues.oldest_first(WINDOW).find(|&page| is_evictable(page)))?;
            self.leave(victim);
            return Some(victim);
        };
        let is_better = |victim: &u32| {
            self.sketch.estimate(candidate) > self.sketch.estimate(*victim)
                || !is_evictable(candidate)
        };
        if let Some(victim) = victim.filter(is_better) {
            self.leave(victim);
            self.leave(candidate);
            self.enter(candidate, PROBATION);
            return Some(victim);
        }
        let victim = self.queues.oldest_first(WINDOW).find(|&page| is_evictable(page))?;
        self.leave(victim);
        Some(victim)
    }

    fn insert(&mut self, access: Access, _cause: Cause) {
        if self.queues.len(WINDOW) >= self.window_limit {
            self.pass(WINDOW, PROBATION);
        }
        self.enter(access.page, WINDOW);
        self.climb();
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        let place = std::mem::take(self.places.at(page));
        self.queues.unlink(u32::from(place) - 1, page);
    }

    #[inline]
    fn contains(&self, page: u32) -> bool {
        self.places.get(page) != 0
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.queues.len(WINDOW) + self.queues.len(PROBATION) + self.queues.len(PROTECTED)
    }

    fn check(&self) -> Result<(), String> {
        let protected = self.queues.len(PROTECTED);
        holds(protected <= self.protected_limit, || format!("{protected} are protected"))?;
        let window = self.queues.len(WINDOW);
        holds(window <= self.window_limit, || format!("{window} in the window"))?;
        self.queues.check_places(&self.places)
    }

    #[inline]
    fn prefetch(&self, page: u32) {
        self.places.prefetch(page);
        self.queues.prefetch(page);
        self.sketch.prefetch(page);
    }

    #[inline]
    fn prefetch_links(&self, page: u32) {
        self.queues.prefetch_neighbours(page);
        let queues = [WINDOW, PROBATION, PROTECTED].into_iter();
        for last in queues.filter_map(|queue| self.queues.prefetch_back(queue)) {
            self.places.prefetch(last);
            self.sketch.prefetch(last);
        }
    }
}
