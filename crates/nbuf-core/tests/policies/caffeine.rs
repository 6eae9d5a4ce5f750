//! CLOCK-Pro and W-TinyLFU as the simulator of Caffeine counts them (github.com/ben-manes/caffeine,
//! commit ccef955 of 2026-08-08): `irr.ClockPro` and `sketch.WindowTinyLfu`.
//!
//! CLOCK-Pro with the limits of the paper: as many pages remembered as there are frames, at least one
//! page cold, at most all (`non-resident-multiplier` 1, `lower-bound-resident-cold` 1,
//! `percent-min-resident-cold` 0, `percent-max-resident-cold` 1). Equal to the last miss, once uses of
//! one page in a row are taken for one, as the other program does.
//!
//! W-TinyLFU with a window of a hundredth that does not adapt, without chance (`jitter` off), and
//! with exact counts in place of a sketch (`perfect-table`). Those exact counts are in a twin here,
//! which must be equal to the last miss; the policy must do what the twin does while few pages leave
//! its sketch exact, and come close to it where the sketch guesses.

use std::collections::HashMap;

use nbuf::cache::policy::{Access, Outcome, find};
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

/// W-TinyLFU in lists, with a count for each page of up to `count_max` uses. `None` for a hit, else
/// what went.
fn twin(capacity: usize, count_max: u32) -> impl FnMut(u32) -> Option<Option<u32>> {
    let window_limit = capacity.div_ceil(100);
    let protected_limit = (capacity - window_limit) * 4 / 5;
    let [mut window, mut probation, mut protected] = [const { Vec::new() }; 3];
    let (mut uses, mut counted) = (HashMap::<u32, u32>::new(), 0);
    let take = |list: &mut Vec<u32>, page| {
        let at = list.iter().position(|&other| other == page);
        at.map(|at| list.remove(at)).is_some()
    };
    move |page| {
        let count = uses.entry(page).or_default();
        if *count < count_max {
            *count += 1;
            counted += 1;
        }
        if counted == 10 * capacity {
            for count in uses.values_mut() {
                *count /= 2;
            }
            counted /= 2;
        }
        if take(&mut window, page) {
            window.push(page);
            return None;
        }
        if take(&mut protected, page) || take(&mut probation, page) {
            protected.push(page);
            if protected.len() > protected_limit {
                probation.push(protected.remove(0));
            }
            return None;
        }
        window.push(page);
        if window.len() <= window_limit {
            return Some(None);
        }
        let candidate = window.remove(0);
        if window.len() + probation.len() + protected.len() < capacity {
            probation.push(candidate);
            return Some(None);
        }
        if probation.first().is_none_or(|victim| uses[&candidate] <= uses[victim]) {
            return Some(Some(candidate));
        }
        probation.push(candidate);
        Some(Some(probation.remove(0)))
    }
}

#[test]
fn with_exact_counts_w_tinylfu_is_equal() {
    let pages = dense(&tiny());
    for (size, want) in counts("tiny", 3) {
        let mut twin = twin(size as usize, u32::MAX);
        let count = pages.iter().filter(|&&page| twin(page).is_some()).count() as u64;
        assert_eq!(count, want, "the twin of {size}");
        // What a sketch of four bits costs or gains; LRU has up to eleven points more misses.
        let guessed = misses("w-tinylfu", size, &pages);
        let slack = pages.len() as u64 / 200;
        assert!(guessed.abs_diff(want) <= slack, "{size}: {guessed} misses, {want} with counts");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn w_tinylfu_does_what_its_twin_does(
        capacity in 1..9_u32,
        pages in prop::collection::vec((0..10_u32, 0..10_u32), 0..300),
    ) {
        let mut policy = (find("w-tinylfu").unwrap().build)(capacity, 1);
        // The sketch counts to fifteen.
        let mut twin = twin(capacity as usize, 15);
        for (at, &(one, other)) in pages.iter().enumerate() {
            // The lower numbers more often.
            let page = one.min(other);
            let want = match twin(page) {
                None => Outcome::Hit,
                Some(evicted) => Outcome::Filled { evicted },
            };
            prop_assert_eq!(policy.access(Access::to(page)), want, "access {} of {:?}", at, pages);
        }
    }
}
