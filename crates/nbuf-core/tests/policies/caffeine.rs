//! CLOCK-Pro and W-TinyLFU as the simulator of Caffeine counts them (github.com/ben-manes/caffeine,
//! commit ccef955 of 2026-08-08): `irr.ClockPro`, `sketch.WindowTinyLfu` and `sketch.HillClimberWindowTinyLfu`.
//!
//! CLOCK-Pro with the limits of the paper: as many pages remembered as there are frames, at least one
//! page cold, at most all (`non-resident-multiplier` 1, `lower-bound-resident-cold` 1,
//! `percent-min-resident-cold` 0, `percent-max-resident-cold` 1). Equal to the last miss, once uses of
//! one page in a row are taken for one, as the other program does.
//!
//! W-TinyLFU with a window of a hundredth that does not adapt, or adapts (`strategy` simple, `small-cache-threshold` and
//! `min-initial-step` 0), without chance (`jitter` off), and
//! with exact counts in place of a sketch (`perfect-table`). Those exact counts are in a twin here,
//! which must be equal to the last miss; the policy must do what the twin does while few pages leave
//! its sketch exact, and come close to it where the sketch guesses.

use std::collections::HashMap;

use nbuf::cache::policy::{Access, Choice, Outcome, find};
use nbuf::units::whole;
use proptest::prelude::*;

use super::{dense, tiny};

/// A row for each trace and size; empty where nothing is compared.
const COUNTS: &str = include_str!("caffeine.csv");

/// The sizes and misses of a policy on a trace.
fn counts(trace: &str, column: usize) -> Vec<(u32, u64)> {
    let rows = COUNTS.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let rows = rows.filter(|row| row[0] == trace && !row[column].is_empty());
    rows.map(|row| (row[1].parse().unwrap(), row[column].parse().unwrap())).collect()
}

fn misses(policy: &str, capacity: u32, pages: &[u32]) -> u64 {
    let mut policy = (find(policy).unwrap().build)(capacity, 1);
    let missed = pages.iter().filter(|&&page| policy.access(Access::to(page)) != Outcome::Hit);
    missed.count() as u64
}

/// Compares CLOCK-Pro on one of the traces of [`super::reference`].
pub(super) fn check(trace: &str, pages: &[u32]) {
    let mut pages = pages.to_vec();
    pages.dedup();
    let counts = counts(trace, 2);
    assert!(!counts.is_empty(), "no counts for {trace}");
    for (size, want) in counts {
        let count = misses("clock-pro", size, &pages);
        assert_eq!(count, want, "clock-pro of {size} on {trace}");
    }
}

/// Whether the window of the twin adapts, and how.
#[derive(Clone, Copy, PartialEq)]
enum Climb {
    No,
    /// As in the simulator: the window may lose its last page, a part of a page counts as one, and pages that leave
    /// the window are the next to go.
    Simulator,
    /// As in Caffeine itself, and in nbuf.
    Library,
}

/// W-TinyLFU in lists, with a count for each page of up to `count_max` uses.
struct Twin {
    capacity: usize,
    count_max: u32,
    climb: Climb,
    window: Vec<u32>,
    probation: Vec<u32>,
    protected: Vec<u32>,
    window_limit: usize,
    protected_limit: usize,
    /// A part of a page of the window.
    carry: f64,
    uses: HashMap<u32, u32>,
    counted: usize,
    sample: [usize; 2],
    ratio: f64,
    grows: bool,
    step: f64,
}

fn take(list: &mut Vec<u32>, page: u32) -> bool {
    let at = list.iter().position(|&other| other == page);
    at.map(|at| list.remove(at)).is_some()
}

impl Twin {
    fn new(capacity: usize, count_max: u32, climb: Climb) -> Self {
        let window_limit = capacity.div_ceil(100);
        Self {
            capacity,
            count_max,
            climb,
            window: Vec::new(),
            probation: Vec::new(),
            protected: Vec::new(),
            window_limit,
            protected_limit: (capacity - window_limit) * 4 / 5,
            carry: 0.0,
            uses: HashMap::new(),
            counted: 0,
            sample: [0; 2],
            ratio: 0.0,
            grows: false,
            step: 0.0625 * capacity as f64,
        }
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }

    fn access(&mut self, page: u32) -> Outcome {
        let is_full = self.len() == self.capacity;
        self.count(page);
        let is_hit = self.hit(page);
        let outcome =
            if is_hit { Outcome::Hit } else { Outcome::Filled { evicted: self.miss(page) } };
        if is_full && self.climb != Climb::No {
            self.sample[usize::from(is_hit)] += 1;
            if self.sample.iter().sum::<usize>() == 10 * self.capacity {
                self.adapt();
            }
        }
        outcome
    }

    fn count(&mut self, page: u32) {
        let count = self.uses.entry(page).or_default();
        if *count < self.count_max {
            *count += 1;
            self.counted += 1;
        }
        if self.counted == 10 * self.capacity {
            for count in self.uses.values_mut() {
                *count /= 2;
            }
            self.counted /= 2;
        }
    }

    fn hit(&mut self, page: u32) -> bool {
        if take(&mut self.window, page) {
            self.window.push(page);
            return true;
        }
        let there = take(&mut self.protected, page) || take(&mut self.probation, page);
        if there {
            self.protected.push(page);
            self.demote();
        }
        there
    }

    fn demote(&mut self) {
        if self.protected.len() > self.protected_limit {
            self.probation.push(self.protected.remove(0));
        }
    }

    fn miss(&mut self, page: u32) -> Option<u32> {
        self.window.push(page);
        let carry = if self.climb == Climb::Simulator { self.carry } else { 0.0 };
        if self.window.len() as f64 + carry <= self.window_limit as f64 {
            return (self.len() > self.capacity).then(|| self.probation.remove(0));
        }
        let candidate = self.window.remove(0);
        if self.len() < self.capacity {
            self.probation.push(candidate);
            return None;
        }
        if self.probation.first().is_none_or(|victim| self.uses[&candidate] <= self.uses[victim]) {
            return Some(candidate);
        }
        self.probation.push(candidate);
        Some(self.probation.remove(0))
    }

    /// Another sample is complete.
    fn adapt(&mut self) {
        let ratio = self.sample[1] as f64 / (10 * self.capacity) as f64;
        self.grows ^= ratio < self.ratio;
        if (ratio - self.ratio).abs() >= 0.05 {
            self.step = 0.0625 * self.capacity as f64;
        }
        let least = usize::from(self.climb == Climb::Library);
        let size = self.window.len() as f64 + self.carry;
        let most = if self.grows { self.protected_limit } else { self.window_limit - least };
        let quota = self.step.min(most as f64);
        let after = if self.grows { size + quota } else { size - quota };
        self.carry = after - after.floor();
        for _ in 0..whole((after.floor() - size.floor()).abs()) {
            if self.grows {
                self.window_limit += 1;
                self.protected_limit -= 1;
                self.demote();
                self.window.push(self.probation.remove(0));
            } else {
                self.window_limit -= 1;
                self.protected_limit += 1;
                let page = self.window.remove(0);
                let at = if self.climb == Climb::Library { self.probation.len() } else { 0 };
                self.probation.insert(at, page);
            }
        }
        (self.sample, self.ratio, self.step) = ([0; 2], ratio, self.step * 0.98);
    }
}

#[test]
fn with_exact_counts_w_tinylfu_is_equal() {
    let pages = dense(&tiny());
    for (size, want) in counts("tiny", 3) {
        let mut twin = Twin::new(size as usize, u32::MAX, Climb::No);
        let count = pages.iter().filter(|&&page| twin.access(page) != Outcome::Hit).count() as u64;
        assert_eq!(count, want, "the twin of {size}");
        // What a sketch of four bits costs or gains; LRU has up to eleven points more misses.
        let guessed = misses("w-tinylfu", size, &pages);
        let slack = pages.len() as u64 / 200;
        assert!(guessed.abs_diff(want) <= slack, "{size}: {guessed} misses, {want} with counts");
    }
}

#[test]
fn with_exact_counts_the_window_adapts_as_in_the_simulator() {
    let pages = dense(&tiny());
    for (size, want) in counts("tiny", 4) {
        let misses = |climb| {
            let mut twin = Twin::new(size as usize, u32::MAX, climb);
            pages.iter().filter(|&&page| twin.access(page) != Outcome::Hit).count() as u64
        };
        assert_eq!(misses(Climb::Simulator), want, "the twin of {size}");
        // What the rules of the library change.
        let ours = misses(Climb::Library);
        assert!(ours.abs_diff(want) <= pages.len() as u64 / 200, "{size}: {ours}, not {want}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn w_tinylfu_does_what_its_twin_does(
        climbs in any::<bool>(),
        capacity in 1..9_u32,
        pages in prop::collection::vec((0..10_u32, 0..10_u32), 0..1000),
    ) {
        let (name, climb) = if climbs { ("w-tinylfu:climb", Climb::Library) } else { ("w-tinylfu", Climb::No) };
        let mut policy = name.parse::<Choice>().unwrap().build(capacity, 1);
        // The sketch counts to fifteen.
        let mut twin = Twin::new(capacity as usize, 15, climb);
        for (at, &(one, other)) in pages.iter().enumerate() {
            // The lower numbers more often.
            let page = one.min(other);
            let want = twin.access(page);
            prop_assert_eq!(policy.access(Access::to(page)), want, "access {} of {:?}", at, pages);
            prop_assert_eq!(policy.check(), Ok(()));
        }
    }
}
