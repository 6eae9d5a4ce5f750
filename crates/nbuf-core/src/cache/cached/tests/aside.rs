//! A cache that steps aside: when, and what is read meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{Bypass, Cached, Counts, Others, Settings, State, Writes};
use crate::cache::policy::{AnyPolicy, Choice};
use crate::clock::Random;
use crate::disc::{Delayed, Ram, wait_for};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const PAGE: u64 = 4096;
const DISC_PAGES: u64 = 8192;

type Cache = Cached<dyn AnyPolicy, Delayed<Ram>>;

/// A cache whose work on a page takes this long, and whose disc takes so much for a read.
fn cache(bypass: Bypass, work: Nanos, disc: Nanos, writes: Writes) -> Cache {
    let image = (0..DISC_PAGES).flat_map(|page| [page_byte(page, 0); 4096]).collect();
    let disc = Delayed::new(Ram::new(image), disc, disc, 1);
    let policy: Choice = "s3-fifo".parse().unwrap();
    let settings = Settings { bypass, ..Settings::new(512, writes) };
    let mut cache = Cached::new(disc, policy.build(512, 0), settings);
    let readings = AtomicU64::new(0);
    // The first readings show what a reading takes, which is nothing.
    cache.time_with(Box::new(move || {
        let reading = readings.fetch_add(1, Ordering::Relaxed);
        Nanos(reading.saturating_sub(128) * work.0)
    }));
    cache.compare_with(Others::new(policy, 512, Counts::default()));
    cache
}

fn page_byte(page: u64, version: u64) -> u8 {
    u8::try_from((page + 7 * version) % 251).unwrap()
}

/// This many reads of pages by chance, of the first `pages`.
fn read(cache: &mut Cache, count: u64, pages: u64) {
    let mut random = Random::new(5);
    for _ in 0..count {
        let page = random.below(pages);
        let now = cache.now;
        let done = wait_for(cache, now, Request::new(Op::Read, page * PAGE, PAGE), vec![0; 4096]);
        let done = done.unwrap();
        assert!(done.outcome.is_ok() && done.data == [page_byte(page, 0); 4096], "page {page}");
    }
    cache.check().unwrap();
}

#[test]
fn it_steps_aside_where_it_costs_more_and_is_back_where_it_saves() {
    let mut cache = cache(Bypass::Auto, Nanos(10_000), Nanos(5000), Writes::Through);
    read(&mut cache, 4 * 4096, DISC_PAGES);
    assert_eq!(cache.aside(), (true, 1), "6 % of the pages fit");
    let before = cache.counts();
    read(&mut cache, 8 * 4096, DISC_PAGES);
    let after = cache.counts();
    assert_eq!((cache.aside(), after.evictions), ((true, 1), before.evictions));
    let past = after.past_reads - before.past_reads;
    assert!(past > 8 * 4096 * 9 / 10 && past == after.misses_bypassed - before.misses_bypassed);
    assert!(after.hits > before.hits, "what it holds is served");
    assert_eq!(after.past_read_bytes, after.past_reads * PAGE);
    // Small caches show that all of these would fit.
    read(&mut cache, 4 * 4096, 300);
    assert_eq!(cache.aside(), (false, 2));
    let before = cache.counts();
    read(&mut cache, 4096, 300);
    assert!(cache.counts().hits - before.hits > 4000);
    read(&mut cache, 20 * 4096, 300);
    assert_eq!(cache.aside(), (false, 2));
}

#[test]
fn it_stays_where_it_saves_and_where_it_may_not_step_aside() {
    let mut slow = cache(Bypass::Auto, Nanos(10_000), Nanos(5_000_000), Writes::Through);
    let mut off = cache(Bypass::Off, Nanos(10_000), Nanos(5000), Writes::Through);
    for cache in [&mut slow, &mut off] {
        read(cache, 6 * 4096, DISC_PAGES);
        assert_eq!((cache.aside(), cache.counts().past_reads), ((false, 0), 0));
    }
    // Reads in front of a full cache only.
    let mut cold = cache(Bypass::Auto, Nanos(10_000), Nanos(5000), Writes::Through);
    read(&mut cold, 6 * 4096, 400);
    assert_eq!(cold.aside(), (false, 0));
    slow.set_bypass(Bypass::Off);
    slow.step(true);
    slow.set_bypass(Bypass::Auto);
    assert_eq!(slow.aside(), (false, 2), "a change of the setting has it back");
}

/// Writes of all kinds while it is aside: what was acknowledged is read, and what is dirty is written.
#[test]
fn writes_are_read_back_while_it_is_aside() {
    for writes in [Writes::Back, Writes::Through, Writes::Around] {
        let mut cache = cache(Bypass::Auto, Nanos(10_000), Nanos(5000), writes);
        cache.step(true);
        let mut versions = vec![0; 1024];
        let mut random = Random::new(3);
        for version in 1..6000 {
            let page = random.below(1024);
            let at = usize::try_from(page).unwrap();
            let now = cache.now;
            if random.below(3) == 0 {
                versions[at] = version;
                let request = Request::new(Op::Write, page * PAGE, PAGE);
                let data = vec![page_byte(page, version); 4096];
                assert!(wait_for(&mut cache, now, request, data).unwrap().outcome.is_ok());
            } else {
                let request = Request::new(Op::Read, page * PAGE + 512, 1024);
                let done = wait_for(&mut cache, now, request, vec![0; 1024]).unwrap();
                assert_eq!(done.data, [page_byte(page, versions[at]); 1024], "page {page}");
            }
        }
        let now = cache.now;
        let flush = Request::new(Op::Flush, 0, 0);
        assert!(wait_for(&mut cache, now, flush, Vec::new()).unwrap().outcome.is_ok());
        cache.check().unwrap();
        let image = cache.disc().disc().image();
        for (page, &version) in (0..).zip(&versions) {
            let from = usize::try_from(page * PAGE).unwrap();
            assert_eq!(image[from..from + 4096], [page_byte(page, version); 4096]);
        }
        assert!(cache.counts().past_reads > 500, "{writes}");
        assert_eq!(cache.state(5000 * PAGE), State::Empty);
    }
}
