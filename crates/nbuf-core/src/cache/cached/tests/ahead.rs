//! Readahead: how many requests the disc has, and whose they are.

use super::super::{Cached, Settings, Writes};
use crate::cache::policy::{AnyPolicy, POLICIES};
use crate::disc::{Completion, Delayed, Disc, Ram, wait_for};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const PAGE: u64 = 4096;
const PAGES: u64 = 4096;
/// Virtual time of each request of the disc.
const TAKES: Nanos = Nanos(5_000_000);

type Cache = Cached<dyn AnyPolicy, Delayed<Ram>>;

fn page_byte(page: u64) -> u8 {
    u8::try_from(page % 251).unwrap()
}

fn cache(policy: &str, settings: Settings) -> Cache {
    let image = (0..PAGES).flat_map(|page| vec![page_byte(page); 4096]).collect();
    let disc = Delayed::new(Ram::new(image), TAKES, TAKES, 1);
    let row = POLICIES.iter().find(|row| row.name == policy).unwrap();
    Cached::new(disc, (row.build)(settings.pages, 0), settings)
}

fn settings(readahead_bytes: u32) -> Settings {
    Settings { readahead_bytes, ..Settings::new(2048, Writes::Through) }
}

fn read(cache: &mut Cache, page: u64) -> Completion {
    let now = cache.now;
    let done = wait_for(cache, now, Request::new(Op::Read, page * PAGE, PAGE), vec![0; 4096]);
    let done = done.unwrap();
    assert!(done.outcome.is_ok() && done.data == vec![page_byte(page); 4096], "page {page}");
    if page.is_multiple_of(64) {
        cache.check().unwrap();
    }
    done
}

#[test]
fn a_stream_takes_a_tenth_of_the_requests_and_of_the_time() {
    let run = |readahead_bytes| {
        let mut cache = cache("s3-fifo", settings(readahead_bytes));
        (0..1000).for_each(|page| drop(read(&mut cache, page)));
        while cache.next_completion(Nanos::MAX).is_some() {}
        (cache.counts(), cache.now)
    };
    let (without, slow) = run(0);
    assert_eq!((without.disc_reads, without.aheads, without.hits), (1000, 0, 0));
    let (with, fast) = run(1 << 20);
    // Windows of 64 pages: a 32nd of the cache.
    assert!(with.disc_reads <= 25, "{with:?}");
    assert!(fast.0 * 10 < slow.0, "{fast} instead of {slow}");
    assert_eq!((with.ahead_used, with.ahead_useless), (998, 0));
    assert!(with.ahead_waiting() <= 128, "two windows: {with:?}");
}

#[test]
fn streams_of_all_clients_are_read_ahead_and_jumps_and_the_end_stop_it() {
    let mut cache = cache("lru", settings(256 << 10));
    for page in 0..200 {
        (0..8).for_each(|stream| drop(read(&mut cache, stream * 500 + page)));
    }
    let counts = cache.counts();
    assert!(counts.ahead_used > 8 * 190 && counts.disc_reads < 200, "{counts:?}");
    // Without order there is no stream.
    let before = cache.counts().aheads;
    (0..100).for_each(|at| drop(read(&mut cache, at * 1777 % PAGES)));
    let before_the_end = cache.counts().aheads;
    assert!(before_the_end <= before + 5, "some of these are near a stream by chance");
    (PAGES - 100..PAGES).for_each(|page| drop(read(&mut cache, page)));
    while cache.next_completion(Nanos::MAX).is_some() {}
    assert!(cache.counts().aheads > before_the_end);
}

#[test]
fn clients_come_first() {
    let settings = Settings { disc_requests: 8, ..settings(64 << 10) };
    let mut cache = cache("lru", settings);
    read(&mut cache, 0);
    let now = cache.now;
    let ask = |cache: &mut Cache, page: u64| {
        let request = Request::new(Op::Read, page * PAGE, PAGE);
        cache.submit(now, request, vec![0; 4096]);
    };
    // Half of the disc is busy, so that the stream waits.
    (0..3).for_each(|at| ask(&mut cache, 1000 + 7 * at));
    ask(&mut cache, 1);
    assert_eq!((cache.counts().aheads, cache.disc().under_way()), (0, 4));
    while cache.next_completion(Nanos::MAX).is_some() {}
    ask(&mut cache, 2);
    assert_eq!((cache.counts().aheads, cache.disc().under_way()), (1, 2));
    // A disc of one request at a time is all for clients.
    let settings = Settings { disc_requests: 1, ..settings };
    let mut cache = self::cache("lru", settings);
    (0..50).for_each(|page| drop(read(&mut cache, page)));
    assert_eq!(cache.counts().aheads, 0);
}

#[test]
fn pages_on_their_way_are_waited_for_and_those_not_used_are_useless() {
    let mut cache = cache("lru", settings(64 << 10));
    read(&mut cache, 0);
    read(&mut cache, 1);
    let under_way = cache.disc().under_way();
    let second = read(&mut cache, 2);
    assert_eq!((under_way, cache.counts().joined, cache.counts().ahead_used), (1, 1, 1));
    assert_eq!(second.at, cache.now);
    let unused = cache.counts().ahead_waiting();
    assert!(unused > 0);
    // All else leaves the cache.
    (0..2048).for_each(|at| drop(read(&mut cache, 100 + at * 1777 % 3900)));
    assert_eq!((cache.counts().ahead_waiting(), cache.counts().ahead_useless), (0, unused));
}

/// A page that was written while it was read ahead is as it was written.
#[test]
fn a_write_is_newer_than_what_was_read_ahead() {
    let mut cache = cache("lru", Settings { writes: Writes::Back, ..settings(64 << 10) });
    read(&mut cache, 0);
    read(&mut cache, 1);
    let now = cache.now;
    let write = Request::new(Op::Write, 3 * PAGE + 512, 512);
    assert!(wait_for(&mut cache, now, write, vec![0xAA; 512]).unwrap().outcome.is_ok());
    let read = Request::new(Op::Read, 3 * PAGE, PAGE);
    let done = wait_for(&mut cache, now, read, vec![0; 4096]).unwrap();
    assert!(done.data[512..1024] == [0xAA; 512] && done.data[1024..] == vec![3; 3072]);
    cache.check().unwrap();
}

#[test]
fn a_stream_does_not_evict_what_is_hot_where_the_policy_filters() {
    let kept = |policy: &str, readahead_bytes| {
        let mut cache = cache(policy, settings(readahead_bytes));
        for _ in 0..3 {
            (0..1000).for_each(|at| drop(read(&mut cache, at * 3 % 1000)));
        }
        (1000..PAGES).for_each(|page| drop(read(&mut cache, page)));
        let before = cache.counts().hits;
        (0..1000).for_each(|at| drop(read(&mut cache, at * 3 % 1000)));
        cache.counts().hits - before
    };
    for readahead_bytes in [0, 1 << 20] {
        let [filters, not] = ["s3-fifo", "lru"].map(|policy| kept(policy, readahead_bytes));
        assert!(filters > 800 && not < 100, "{readahead_bytes}: {filters}, {not}");
    }
}

#[test]
fn adjacent_pages_are_one_request_and_what_is_there_is_left_out() {
    let mut cache = cache("lru", settings(64 << 10));
    read(&mut cache, 5);
    read(&mut cache, 0);
    read(&mut cache, 1);
    // Pages 2 to 4 and 6 to 9.
    let counts = cache.counts();
    assert_eq!((counts.aheads, counts.ahead_pages), (2, 7), "{counts:?}");
    assert_eq!(counts.disc_read_bytes, (3 + 7) * PAGE);
}
