//! Engines count what the plain files say: misses of pages and of requests, at every size, in
//! batches of any length, with pages that go in between.

use nbuf::cache::policy::{Access, NEVER, Outcome, POLICIES, Row};
use nbuf::internal::cache::engine::{Accesses, Count, engine};
use proptest::prelude::*;

/// A batch: requests of some pages each, then pages that are no more.
type Batch = (Vec<Vec<u32>>, Vec<u32>);

fn batches() -> impl Strategy<Value = Vec<Batch>> {
    let request = prop::collection::vec(0..40_u32, 1..4);
    let requests = prop::collection::vec(request, 0..30);
    let removed = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(0..50_u32, 1..4)];
    prop::collection::vec((requests, removed), 1..8)
}

/// What the plain file of a policy counts, with the next use of each page.
fn plain(row: &Row, pages: u64, batches: &[Batch]) -> Count {
    let mut count = Count { pages, ..Count::default() };
    let capacity = u32::try_from(pages).unwrap_or(u32::MAX);
    let mut policy = (capacity > 0).then(|| (row.build)(capacity, 5));
    let mut future = next_uses(batches).into_iter();
    for (requests, removed) in batches {
        for request in requests {
            let mut misses = 0;
            for &page in request {
                let access = Access { page, next_use: future.next().unwrap() };
                let outcome = policy.as_mut().map(|policy| policy.access(access));
                misses += u64::from(outcome != Some(Outcome::Hit));
                count.accesses += 1;
            }
            count.misses += misses;
            count.requests += 1;
            count.request_misses += u64::from(misses > 0);
        }
        for &page in removed {
            policy.as_mut().map(|policy| policy.remove(page));
        }
    }
    count
}

/// For each access, the number of the next one to its page, unless the page is removed before.
fn next_uses(batches: &[Batch]) -> Vec<u64> {
    let mut next = [NEVER; 64];
    let mut uses = Vec::new();
    let all: usize = batches.iter().flat_map(|(requests, _)| requests).map(Vec::len).sum();
    let mut at = u64::try_from(all).unwrap();
    for (requests, removed) in batches.iter().rev() {
        for &page in removed {
            next[page as usize] = NEVER;
        }
        let pages: Vec<u32> = requests.iter().flatten().copied().collect();
        for &page in pages.iter().rev() {
            at -= 1;
            uses.push(std::mem::replace(&mut next[page as usize], at));
        }
    }
    uses.reverse();
    uses
}

fn check(row: &Row, sizes: &[u64], batches: &[Batch]) {
    let mut engine = engine(row, sizes, 5);
    for (requests, removed) in batches {
        let pages = requests.concat();
        let mut end = 0;
        let ends: Vec<u32> = requests
            .iter()
            .map(|request| {
                end += u32::try_from(request.len()).unwrap();
                end
            })
            .collect();
        engine.access(&Accesses { pages: &pages, request_ends: Some(&ends) });
        engine.remove(removed);
    }
    let want: Vec<Count> = sizes.iter().map(|&pages| plain(row, pages, batches)).collect();
    assert_eq!(engine.finish(), want, "{}", row.name);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_engine_equals_its_policy(
        batches in batches(),
        sizes in prop::collection::vec(0..45_u64, 1..20),
    ) {
        for row in POLICIES {
            check(row, &sizes, &batches);
        }
    }
}

/// Enough accesses for every table to grow and for moments to be numbered again; pages go at the end
/// of this many batches.
fn long(removes_every: u32) {
    let mut state = 9;
    let batches: Vec<Batch> = (1..=50_u32)
        .map(|batch| {
            let requests = (0..4000).map(|_| {
                let drawn = super::splitmix(&mut state);
                let page = u32::try_from(drawn % 64).unwrap() & u32::try_from(drawn >> 58).unwrap();
                vec![page]
            });
            let requests = requests.collect();
            let gone = u32::try_from(super::splitmix(&mut state) % 64).unwrap();
            let removed = batch.is_multiple_of(removes_every).then_some(gone);
            (requests, removed.into_iter().collect())
        })
        .collect();
    for row in POLICIES {
        check(row, &[1, 2, 3, 5, 8, 13, 21, 34, 60, 64, 99], &batches);
        check(row, &[0, 7, 1 << 33], &batches);
    }
}

#[test]
fn engines_equal_their_policies_for_long() {
    long(99);
}

#[test]
fn engines_equal_their_policies_for_long_while_pages_go() {
    long(1);
}

#[test]
fn without_requests_each_access_is_one() {
    for row in POLICIES {
        let mut engine = engine(row, &[2], 1);
        engine.access(&Accesses { pages: &[1, 2, 1, 3, 3], request_ends: None });
        let count = engine.finish()[0];
        assert_eq!((count.accesses, count.requests), (5, 5), "{}", row.name);
        assert_eq!(count.misses, count.request_misses, "{}", row.name);
    }
}

/// Misses of this many pages' worth of cache, by the engine and by the plain file.
fn misses(row: &Row, pages: &[u32], sizes: &[u64]) -> [Vec<u64>; 2] {
    let mut engine = engine(row, sizes, 5);
    engine.access(&Accesses { pages, request_ends: None });
    let batch = [(pages.iter().map(|&page| vec![page]).collect(), Vec::new())];
    let plain = sizes.iter().map(|&size| plain(row, size, &batch).misses);
    [engine.finish().iter().map(|count| count.misses).collect(), plain.collect()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// An engine does not say what it evicts. After each access any page may be asked for, and is
    /// there or not: that is the same only if the same pages went.
    #[test]
    fn engines_have_the_same_pages_after_every_access(
        pages in prop::collection::vec(0..10_u32, 1..50),
    ) {
        let sizes = [1, 2, 3, 5, 8];
        for row in POLICIES {
            for end in 0..pages.len() {
                for asked in 0..10 {
                    let asked = [&pages[..end], &[asked]].concat();
                    let [engine, plain] = misses(row, &asked, &sizes);
                    prop_assert_eq!(engine, plain, "{} after {:?}", row.name, asked);
                }
            }
        }
    }
}
