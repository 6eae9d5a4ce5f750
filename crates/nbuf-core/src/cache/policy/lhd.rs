//! LHD: of some random pages, the one with the lowest hit density goes: expected hits for each byte and moment that it
//! would still stay.
//!
//! The density of a page follows from its age, the accesses since its last use. Hits and evictions are counted by age,
//! in classes of pages by the ages at which they hit before. After each period of accesses the counts give new densities, and
//! are made smaller so that old behaviour fades. A small part of the cache goes to *explorers*, which stay whatever their
//! density, so that it is seen what longer stays would give. The pages that came last with a low density are candidates in
//! any case, as no page is bypassed.
//!
//! Invariant: explorers never take more than their budget and one page. Cost: an eviction reads as many places in memory
//! as there are candidates; 12 bytes an age and class at each size, 4 MB in all. N. Beckmann, H. Chen, A. Cidon, *LHD:
//! Improving Cache Hit Rate by Maximizing Hit Density*, 2018; constants and details as in the authors' simulator. Not
//! for traces that are shorter than some periods of learning.

use super::super::frames::Frames;
use super::super::table::Table;
use super::lhd_classes::{Classes, Event};
use super::parameter::Tuned;
use super::{Access, Cause, Parameter, Settable, Simple, at_least_one};
use crate::clock;

/// Candidates while little was learned.
const SAMPLES_FIRST: u32 = 8;
/// Periods after which an eviction looks at all candidates, and no more explorers are chosen.
const PERIODS_OF_SEARCH: u32 = 50;
/// Weight of the past in the density of victims.
const VICTIM_DECAY: f32 = 0.9;

/// What can be set.
#[derive(Clone, Copy, Debug)]
struct Settings {
    samples: u32,
    recent: u32,
    explore: u32,
    budget_percent: u32,
    every: u32,
    classes: u32,
    ages: u32,
    decay_percent: u32,
}

/// What is known of a page that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tag {
    used_at: u64,
    bytes: u64,
    /// The age at its last hit, and at the one before.
    hit_age: u32,
    hit_age_before: u32,
    is_explorer: bool,
}

/// Pages by hit density.
#[derive(Clone, Debug)]
pub(crate) struct Lhd {
    capacity: u32,
    settings: Settings,
    frames: Frames,
    tags: Table<Tag>,
    classes: Classes,
    /// Bytes of the page that comes next; 0 where pages have one size.
    weighed: u64,
    /// Bytes that explorers may still take.
    budget: i64,
    /// Accesses so far, and in this period still to come.
    time: u64,
    left: u32,
    periods: u32,
    /// Pages that came lately and looked as if they would go.
    recent: Vec<Option<u32>>,
    recent_next: usize,
    victim_density: f32,
    chance: clock::Random,
}

impl Tuned for Lhd {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::number("samples", "the random keys that an eviction looks at", 32, 1024),
        Parameter::number("recent", "the new keys that an eviction looks at too", 8, 1024),
        Parameter::number(
            "explore",
            "one key in N may become an explorer, 0 for none",
            32,
            u32::MAX,
        ),
        Parameter::number("budget", "what explorers may take, in percent of the cache", 1, 100),
        Parameter::number("every", "the accesses between new densities", 1 << 20, u32::MAX),
        Parameter::number("classes", "the classes of keys by their hit ages", 16, 64),
        Parameter::number("ages", "the ages that are distinguished", 20_000, 1_000_000),
        Parameter::number("decay", "how much of the counts is kept, in percent", 90, 100),
    ];
    const SETTABLE: Settable = Settable {
        // Hits, evictions and the density of each age and class.
        least_bytes: |values| 12 * u64::from(values[5]) * u64::from(values[6]),
        ..Settable::with_objects::<Self>()
    };

    fn tuned(capacity: u32, seed: u64, values: &[u32]) -> Self {
        let &[samples, recent, explore, budget_percent, every, classes, ages, decay_percent] =
            values
        else {
            unreachable!("there is a value for each parameter")
        };
        let settings = Settings {
            samples: samples.max(1),
            recent,
            explore,
            budget_percent,
            every: every.max(1),
            classes: classes.max(1),
            ages: ages.max(2),
            decay_percent,
        };
        let mut lhd = Self {
            capacity: at_least_one(capacity),
            settings,
            frames: Frames::default(),
            tags: Table::default(),
            classes: Classes::new(settings.classes, settings.ages, settings.decay_percent),
            weighed: 0,
            budget: 0,
            time: 0,
            left: settings.every,
            periods: 0,
            recent: vec![None; settings.recent as usize],
            recent_next: 0,
            victim_density: 0.0,
            chance: clock::Random::new(seed),
        };
        lhd.bound(capacity.into());
        lhd
    }
}

impl Lhd {
    fn age(&self, tag: &Tag) -> u32 {
        self.classes.age(self.time - tag.used_at)
    }

    fn density(&self, page: u32) -> f32 {
        let tag = self.tags.get(page);
        let age = self.age(&tag);
        if self.classes.is_beyond(age) {
            return f32::MIN;
        }
        let density = self.classes.density(tag.hit_age + tag.hit_age_before, age);
        let each = density / tag.bytes.max(1) as f32;
        if tag.is_explorer { each + 1.0 } else { each }
    }

    /// A use of a page, or its coming.
    fn update(&mut self, page: u32, is_new: bool) {
        let mut tag = self.tags.get(page);
        if is_new {
            tag = Tag { hit_age_before: self.settings.ages, ..Tag::default() };
        } else {
            let age = self.age(&tag);
            self.classes.count(tag.hit_age + tag.hit_age_before, age, Event::Hit);
            self.give_back(&tag);
            (tag.hit_age_before, tag.hit_age) = (tag.hit_age, age);
        }
        (tag.used_at, tag.bytes) = (self.time, self.weighed.max(1));
        let drawn =
            self.settings.explore > 0 && self.chance.below(self.settings.explore.into()) == 0;
        tag.is_explorer = drawn && self.budget > 0 && self.periods < PERIODS_OF_SEARCH;
        if tag.is_explorer {
            self.budget -= i64::try_from(tag.bytes).unwrap_or(i64::MAX);
        }
        *self.tags.at(page) = tag;
        if is_new && !drawn && !self.recent.is_empty() && self.density(page) < self.victim_density {
            let at = self.recent_next % self.recent.len();
            self.recent[at] = Some(page);
            self.recent_next = at + 1;
        }
        self.time += 1;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.settings.every;
            self.classes.learn(self.periods, self.frames.len());
            self.periods += 1;
        }
    }

    /// What an explorer took is free for others.
    fn give_back(&mut self, tag: &Tag) {
        if tag.is_explorer {
            self.budget += i64::try_from(tag.bytes).unwrap_or(i64::MAX);
        }
    }

    /// The candidate with the lowest density that may go.
    fn candidate(&mut self, is_evictable: &mut impl FnMut(u32) -> bool) -> Option<(u32, f32)> {
        let few = self.periods <= PERIODS_OF_SEARCH;
        let samples =
            if few { SAMPLES_FIRST.min(self.settings.samples) } else { self.settings.samples };
        let mut found: Option<(u32, f32)> = None;
        let mut look = |page: u32, density: f32| {
            if found.is_none_or(|(_, lowest)| density < lowest) && is_evictable(page) {
                found = Some((page, density));
            }
        };
        for _ in 0..samples {
            if let Some(page) = self.frames.at_any(&mut self.chance).next() {
                look(page, self.density(page));
            }
        }
        for page in self.recent.iter().flatten().copied() {
            if self.frames.contains(page) {
                look(page, self.density(page));
            }
        }
        found
    }
}

impl Simple for Lhd {
    fn new(capacity: u32, seed: u64) -> Self {
        Self::usual(capacity, seed)
    }

    fn bound(&mut self, cache_bytes: u64) {
        let budget = u128::from(cache_bytes) * u128::from(self.settings.budget_percent) / 100;
        self.budget = i64::try_from(budget).unwrap_or(i64::MAX);
    }

    fn weigh(&mut self, _page: u32, bytes: u64, _cost: f64) {
        self.weighed = bytes;
    }

    fn touch(&mut self, access: Access) -> bool {
        let there = self.contains(access.page);
        if there {
            self.update(access.page, false);
        }
        there
    }

    fn evict(&mut self, mut is_evictable: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.frames.len() == 0 {
            return None;
        }
        let (victim, density) = if let Some(found) = self.candidate(&mut is_evictable) {
            found
        } else {
            let page = self.frames.at_any(&mut self.chance).find(|&page| is_evictable(page))?;
            (page, self.density(page))
        };
        self.victim_density = VICTIM_DECAY * self.victim_density + (1.0 - VICTIM_DECAY) * density;
        let tag = self.tags.get(victim);
        self.classes.count(tag.hit_age + tag.hit_age_before, self.age(&tag), Event::Eviction);
        self.leave(victim);
        Some(victim)
    }

    fn rival(&mut self) -> Option<u32> {
        self.candidate(&mut |_| true).map(|(page, _)| page)
    }

    fn insert(&mut self, access: Access, _cause: Cause) {
        self.frames.insert(access.page);
        self.update(access.page, true);
    }

    fn leave(&mut self, page: u32) {
        let tag = std::mem::take(self.tags.at(page));
        self.give_back(&tag);
        self.frames.remove(page);
    }

    fn contains(&self, page: u32) -> bool {
        self.frames.contains(page)
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn pages(&self) -> u32 {
        self.frames.len()
    }

    fn check(&self) -> Result<(), String> {
        self.frames.check()
    }

    fn prefetch(&self, page: u32) {
        self.frames.prefetch(page);
    }
}
