//! Warm starts: every policy's order of eviction against what it then evicts, and what comes back of it.

use std::collections::HashSet;

use super::super::{Cached, Settings, Writes};
use super::seed;
use crate::cache::policy::{AnyPolicy, POLICIES, Row};
use crate::clock::Random;
use crate::disc::{Completion, Delayed, Disc as _, Faults, Faulty, Ram, wait_for};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const PAGE: u64 = 4096;
const PAGES: u64 = 512;
const HELD: u32 = 100;

type Cache = Cached<dyn AnyPolicy, Delayed<Faulty<Ram>>>;

fn page_byte(page: u64) -> u8 {
    u8::try_from(page % 251).unwrap()
}

fn cache(row: &Row, pages: u32, faults: Faults) -> Cache {
    let image = (0..PAGES).flat_map(|page| vec![page_byte(page); 4096]).collect();
    let disc = Faulty::new(Ram::new(image), faults, true, false, 3);
    let disc = Delayed::new(disc, Nanos(1000), Nanos(1000), 1);
    let settings = Settings { readahead_bytes: 0, ..Settings::new(pages, Writes::Back) };
    Cached::new(disc, (row.build)(pages, 0), settings)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    POLICIES.iter().filter(|row| row.name != "opt")
}

fn read(cache: &mut Cache, page: u64) -> Completion {
    let now = cache.now;
    let done = wait_for(cache, now, Request::new(Op::Read, page * PAGE, PAGE), vec![0; 4096]);
    let done = done.unwrap();
    assert!(done.outcome.is_ok() && done.data == vec![page_byte(page); 4096], "page {page}");
    done
}

/// Reads pages, most often those with low numbers.
fn use_it(cache: &mut Cache, requests: u64, random: &mut Random) {
    for _ in 0..requests {
        let bound = 1 + random.below(PAGES);
        read(cache, random.below(bound));
    }
    cache.check().unwrap();
}

fn held(cache: &Cache) -> HashSet<u64> {
    let state = |&page: &u64| cache.state(page * PAGE) != super::super::State::Empty;
    (0..PAGES).filter(state).collect()
}

fn warm_all(cache: &mut Cache) {
    while cache.is_warming() {
        cache.warm(cache.now);
        while cache.next_completion(Nanos::MAX).is_some() {}
        cache.check().unwrap();
    }
}

#[test]
fn the_order_has_each_page_once_and_changes_no_page() {
    let mut random = Random::new(seed());
    for row in rows() {
        for requests in [0, 20, 3000] {
            let mut cache = cache(row, HELD, Faults::None);
            use_it(&mut cache, requests, &mut random);
            let before = held(&cache);
            let order = cache.eviction_order();
            assert_eq!(order.iter().copied().collect::<HashSet<_>>(), before, "{}", row.name);
            assert_eq!(order.len(), before.len(), "{}", row.name);
            cache.check().unwrap();
            assert_eq!(held(&cache), before, "{}", row.name);
            use_it(&mut cache, 300, &mut random);
        }
    }
}

/// What comes first in the order is what a cache in the same state evicts for a new page, where chance has no part.
#[test]
fn the_first_of_the_order_is_the_one_that_goes() {
    let mut found = 0;
    let plain = ["lru", "fifo", "clock", "sieve", "slru", "s3-fifo"];
    for row in rows().filter(|row| plain.contains(&row.name)) {
        let same = || {
            let mut random = Random::new(seed());
            let mut cache = cache(row, HELD, Faults::None);
            // All within half of the disc.
            for _ in 0..3000 {
                let bound = 1 + random.below(PAGES / 2);
                read(&mut cache, random.below(bound));
            }
            cache
        };
        let order = same().eviction_order();
        let mut cache = same();
        let before = held(&cache);
        read(&mut cache, PAGES - 1);
        let gone: Vec<u64> = before.difference(&held(&cache)).copied().collect();
        assert_eq!(gone, order[..1], "{}", row.name);
        found += 1;
    }
    assert!(found >= 4, "{found}");
}

#[test]
fn what_was_held_comes_back_in_its_order() {
    let mut random = Random::new(seed());
    for row in rows() {
        let mut first = cache(row, HELD, Faults::None);
        use_it(&mut first, 3000, &mut random);
        let order = first.eviction_order();
        let mut second = cache(row, HELD, Faults::None);
        let taken = second.expect(&order);
        assert!(taken >= u64::from(HELD) * 9 / 10, "{}: {taken}", row.name);
        second.check().unwrap();
        // Places are not bytes.
        assert!(held(&second).is_empty() && second.is_warming(), "{}", row.name);
        if row.name == "lru" || row.name == "fifo" {
            assert_eq!(second.eviction_order(), order, "{}", row.name);
        }
        warm_all(&mut second);
        let back = held(&second);
        assert_eq!(back.len() as u64, taken, "{}", row.name);
        // Adjacent pages come together.
        let reads = second.counts().disc_reads;
        assert!(reads <= taken, "{}: {reads}", row.name);
        for &page in &back {
            read(&mut second, page);
        }
        let counts = second.counts();
        assert_eq!((counts.disc_reads, counts.hits), (reads, taken), "{}", row.name);
    }
}

#[test]
fn a_smaller_cache_takes_what_is_worth_most_and_wrong_pages_are_left_out() {
    let row = rows().find(|row| row.name == "lru").unwrap();
    let mut small = cache(row, 3, Faults::None);
    assert_eq!(small.expect(&[1, 2, 3, 4, 5]), 3);
    warm_all(&mut small);
    assert_eq!(held(&small), [3, 4, 5].into());
    let mut odd = cache(row, 50, Faults::None);
    assert_eq!(odd.expect(&[7, 7, PAGES, PAGES - 1, u64::MAX, 7]), 2);
    warm_all(&mut odd);
    assert_eq!(held(&odd), [7, PAGES - 1].into());
    assert_eq!(odd.expect(&[]), 0);
}

/// Clients come first: while they ask for all that the disc serves at once, nothing is read for the start; while they
/// ask for less, one read at a time.
#[test]
fn clients_come_first() {
    let row = rows().find(|row| row.name == "lru").unwrap();
    let mut cache = cache(row, HELD, Faults::None);
    let most = cache.settings().disc_requests as usize;
    assert_eq!(cache.expect(&(0..100).map(|page| page * 2).collect::<Vec<_>>()), 100);
    cache.warm(Nanos::ZERO);
    assert_eq!(cache.disc().under_way(), most / 4);
    let ask = |cache: &mut Cache, count: usize, from: u64| {
        for at in 0..count as u64 {
            let request = Request::new(Op::Read, (from + at * 2) * PAGE, PAGE);
            cache.submit(Nanos::ZERO, request, vec![0; 4096]);
        }
    };
    ask(&mut cache, most, 301);
    cache.warm(Nanos::ZERO);
    assert_eq!(cache.disc().under_way(), most + most / 4);
    let mut most_seen = 0;
    for round in 0..20 {
        assert!(cache.next_completion(Nanos::MAX).is_some());
        ask(&mut cache, 1, 401 + round * 2);
        cache.warm(cache.now);
        most_seen = most_seen.max(cache.disc().under_way());
    }
    assert!(most_seen <= most + most / 4, "{most_seen}");
    let reads = cache.counts().disc_reads;
    assert!(reads < 60, "{reads}");
    while cache.next_completion(Nanos::MAX).is_some() {}
    warm_all(&mut cache);
    read(&mut cache, 0);
}

#[test]
fn a_disc_that_fails_ends_a_warm_start_and_harms_no_client() {
    let row = rows().find(|row| row.name == "lru").unwrap();
    let mut cache = cache(row, HELD, Faults::PerThousand(1000));
    let pages: Vec<u64> = (0..100).map(|page| page * 3).collect();
    assert_eq!(cache.expect(&pages), 100);
    warm_all(&mut cache);
    assert_eq!(cache.counts().disc_errors, 16, "it gives up");
    cache.disc_mut().disc_mut().set(Faults::None);
    for &page in &pages {
        read(&mut cache, page);
    }
    assert_eq!(held(&cache).len(), 100);
    cache.check().unwrap();
}

/// What was written before its page came back stays, and a page that was evicted before stays away.
#[test]
fn writes_and_evictions_go_on_meanwhile() {
    let row = rows().find(|row| row.name == "lru").unwrap();
    let mut cache = cache(row, 4, Faults::None);
    assert_eq!(cache.expect(&[10, 20, 30, 40]), 4);
    let write = Request::new(Op::Write, 40 * PAGE + 512, 1024);
    assert!(wait_for(&mut cache, Nanos::ZERO, write, vec![9; 1024]).unwrap().outcome.is_ok());
    read(&mut cache, 99);
    assert_eq!(cache.eviction_order(), [20, 30, 40, 99]);
    warm_all(&mut cache);
    assert_eq!(held(&cache), [20, 30, 40, 99].into());
    let got =
        wait_for(&mut cache, Nanos::ZERO, Request::new(Op::Read, 40 * PAGE, PAGE), vec![0; 4096]);
    let got = got.unwrap().data;
    assert!(got[..512] == [40; 512] && got[512..1536] == [9; 1024] && got[1536..] == [40; 2560]);
    assert_eq!(cache.counts().misses(), 1);
}
