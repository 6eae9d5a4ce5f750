//! One referee for all policies, and liars that it must catch.

use std::collections::BTreeSet;

use nbuf::cache::policy::{Access, AnyPolicy, Cause, Choice, Outcome, find};
use nbuf::internal::meter::distance::Distances;
use proptest::prelude::*;

use super::{dense, tiny, with_future};

/// Follows a policy with a set of what should be there; the misses, or the first offence.
pub(crate) fn judge(
    policy: &mut dyn AnyPolicy,
    capacity: usize,
    accesses: &[Access],
) -> Result<u64, String> {
    let mut there = BTreeSet::new();
    let mut misses = 0;
    for (at, &access) in accesses.iter().enumerate() {
        let page = access.page;
        let outcome = policy.access(access);
        let offence = |what: &str| Err(format!("access {at} to {page}: {what}"));
        match outcome {
            Outcome::Hit if !there.contains(&page) => return offence("a hit of an absent page"),
            Outcome::Hit => continue,
            _ if there.contains(&page) => return offence("a miss of a page that is there"),
            Outcome::Filled { evicted: Some(victim) } if !there.remove(&victim) => {
                return offence("evicts a page that is not there");
            }
            Outcome::Filled { .. } => _ = there.insert(page),
            Outcome::Bypassed => {}
        }
        misses += 1;
        if there.len() > capacity {
            return offence("more pages than frames");
        }
        if policy.contains(page) != there.contains(&page) {
            return offence("denies what it just did");
        }
        if policy.len() as usize != there.len() {
            return offence("counts its pages wrongly");
        }
    }
    Ok(misses)
}

fn check(pages: &[u32], capacities: impl Iterator<Item = u32>) {
    let accesses = with_future(pages);
    let mut distances = Distances::new();
    distances.access_all(pages, |_| ());
    let stack = distances.finish();
    for capacity in capacities {
        let misses = |name: &str| {
            let mut policy = name.parse::<Choice>().unwrap().build(capacity, 1);
            let misses = judge(policy.as_mut(), capacity as usize, &accesses);
            policy.check().unwrap_or_else(|error| panic!("{name} of {capacity}: {error}"));
            misses.unwrap_or_else(|offence| panic!("{name} of {capacity}: {offence}"))
        };
        let least = misses("opt");
        for name in super::all() {
            assert!(misses(name) >= least, "{name} of {capacity} beats OPT");
        }
        assert_eq!(misses("lru"), stack.at(capacity.into()), "LRU of {capacity}");
    }
}

proptest! {
    #[test]
    fn all_are_legal_on_random_accesses(
        pages in prop::collection::vec(0..30_u32, 0..400),
    ) {
        check(&pages, (1..12).chain([20, 29, 30, 31]));
    }

    #[test]
    fn all_are_legal_on_loops_and_scans(
        length in 1..40_u32, often in 1..8_usize, hot in 1..6_u32,
    ) {
        let loops = (0..length).cycle().take(length as usize * often);
        let pages: Vec<u32> = loops.flat_map(|page| [page % hot, page + 6]).collect();
        check(&pages, [1, 2, 3, 5, 10, 17, 40].into_iter());
    }
}

/// What a page is called is nothing to a policy, but to those that hash its number.
fn check_renamed(pages: &[u32], capacity: u32, multiplier: u32, add: u32) {
    // An odd multiplier makes it a permutation of the numbers below 2^10.
    let renamed = |page: u32| (page.wrapping_mul(2 * multiplier + 1).wrapping_add(add)) % 1024;
    let renamed: Vec<u32> = pages.iter().copied().map(renamed).collect();
    for name in super::all().filter(|name| !name.starts_with("w-tinylfu")) {
        let misses = |pages: &[u32]| {
            let mut policy = name.parse::<Choice>().unwrap().build(capacity, 1);
            judge(policy.as_mut(), capacity as usize, &with_future(pages)).unwrap()
        };
        assert_eq!(misses(pages), misses(&renamed), "{name} of {capacity}");
    }
}

proptest! {
    #[test]
    fn what_pages_are_called_changes_nothing(
        pages in prop::collection::vec(0..30_u32, 0..400),
        capacity in 1..32_u32,
        multiplier in 0..512_u32,
        add in 0..1024_u32,
    ) {
        check_renamed(&pages, capacity, multiplier, add);
    }
}

#[test]
fn all_are_legal_on_a_longer_trace() {
    check(&dense(&tiny())[..20_000], [7, 100, 1234].into_iter());
}

/// What a liar does wrong.
#[derive(Clone, Copy, Debug)]
enum Lie {
    HidesItsVictim,
    NamesAnother,
    KeepsOneTooMany,
    HitsWhatIsGone,
    MissesWhatIsThere,
    MiscountsItself,
}

/// LRU, honest except for one thing after a while.
struct Liar {
    lie: Lie,
    inner: Box<dyn AnyPolicy>,
    gone: Option<u32>,
}

impl AnyPolicy for Liar {
    fn touch(&mut self, access: Access) -> bool {
        self.inner.touch(access)
    }

    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        is_evictable: &mut dyn FnMut(u32) -> bool,
    ) -> Outcome {
        self.inner.fill(access, cause, is_evictable)
    }

    fn access(&mut self, access: Access) -> Outcome {
        if matches!(self.lie, Lie::HitsWhatIsGone) && self.gone == Some(access.page) {
            return Outcome::Hit;
        }
        let outcome = self.inner.access(access);
        let Outcome::Filled { evicted: Some(victim) } = outcome else {
            let forgets = matches!(self.lie, Lie::MissesWhatIsThere) && outcome == Outcome::Hit;
            return if forgets { Outcome::Filled { evicted: None } } else { outcome };
        };
        self.gone = Some(victim);
        let evicted = match self.lie {
            Lie::HidesItsVictim | Lie::KeepsOneTooMany => None,
            Lie::NamesAnother => Some(victim + 1000),
            _ => Some(victim),
        };
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        self.inner.remove(page)
    }

    fn contains(&self, page: u32) -> bool {
        let is_kept = matches!(self.lie, Lie::KeepsOneTooMany) && self.gone == Some(page);
        is_kept || self.inner.contains(page)
    }

    fn len(&self) -> u32 {
        self.inner.len() + u32::from(matches!(self.lie, Lie::MiscountsItself))
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn check(&self) -> Result<(), String> {
        self.inner.check()
    }
}

#[test]
fn liars_are_caught() {
    let accesses = with_future(&dense(&tiny())[..2000]);
    let lies = [
        (Lie::HidesItsVictim, "more pages than frames"),
        (Lie::NamesAnother, "evicts a page that is not there"),
        (Lie::KeepsOneTooMany, "more pages than frames"),
        (Lie::HitsWhatIsGone, "a hit of an absent page"),
        (Lie::MissesWhatIsThere, "a miss of a page that is there"),
        (Lie::MiscountsItself, "counts its pages wrongly"),
    ];
    for (lie, offence) in lies {
        let inner = (find("lru").unwrap().build)(100, 1);
        let mut liar = Liar { lie, inner, gone: None };
        let error = judge(&mut liar, 100, &accesses).unwrap_err();
        assert!(error.contains(offence), "{lie:?}: {error}");
    }
}

/// A larger FIFO cache may miss more (L. Belady, R. Nelson, G. Shedler, 1969).
#[test]
fn fifo_has_its_anomaly() {
    let accesses = with_future(&[1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]);
    let misses = |capacity| {
        let mut fifo = (find("fifo").unwrap().build)(capacity, 1);
        judge(fifo.as_mut(), capacity as usize, &accesses).unwrap()
    };
    assert_eq!([misses(3), misses(4)], [9, 10]);
}
