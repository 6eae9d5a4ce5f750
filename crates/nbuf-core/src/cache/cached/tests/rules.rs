//! The rules one by one.

use super::super::{Cached, Settings, State, Writes};
use crate::cache::policy::{AnyPolicy, POLICIES};
use crate::disc::{Completion, Delayed, Disc, Faults, Faulty, Ram, wait_for};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

type Backend = Delayed<Faulty<Ram>>;
type Cache = Cached<dyn AnyPolicy, Backend>;

const PAGE: u64 = 4096;

fn cache(pages: u32, writes: Writes) -> Cache {
    let ram = Ram::new((0..64 * 8).flat_map(|sector| vec![sector_byte(sector); 512]).collect());
    let faulty = Faulty::new(ram, Faults::None, true, false, 1);
    let disc = Delayed::new(faulty, Nanos(5_000_000), Nanos(5_000_000), 1);
    let lru = POLICIES.iter().find(|row| row.name == "lru").unwrap();
    let settings = Settings { dirty_low_pages: pages / 2, ..Settings::new(pages, writes) };
    Cached::new(disc, (lru.build)(pages, 0), settings)
}

fn sector_byte(sector: u64) -> u8 {
    u8::try_from(sector % 200).unwrap()
}

fn ask(cache: &mut Cache, request: Request, byte: u8) -> Completion {
    let length = usize::try_from(request.length_bytes).unwrap();
    let moves = matches!(request.op, Op::Read | Op::Write);
    let now = cache.now;
    wait_for(cache, now, request, vec![byte; if moves { length } else { 0 }]).unwrap()
}

fn read(cache: &mut Cache, offset: u64) -> u8 {
    let read = ask(cache, Request::new(Op::Read, offset, 512), 0xEE);
    read.outcome.unwrap();
    read.data[0]
}

fn write(cache: &mut Cache, offset: u64, length: u64, byte: u8) -> bool {
    ask(cache, Request::new(Op::Write, offset, length), byte).outcome.is_ok()
}

fn flush(cache: &mut Cache, client: u32) -> bool {
    let flush = Request { object: client, ..Request::new(Op::Flush, 0, 0) };
    ask(cache, flush, 0).outcome.is_ok()
}

fn on_disc(cache: &Cache, offset: usize) -> u8 {
    cache.disc().disc().disc().image()[offset]
}

#[test]
fn hits_complete_while_misses_are_out_and_a_page_is_fetched_once() {
    let mut cache = cache(8, Writes::Back);
    read(&mut cache, 0);
    let now = cache.now;
    for task in 1..=3 {
        let miss = Request { task, ..Request::new(Op::Read, PAGE + 512 * u64::from(task), 512) };
        cache.submit(now, miss, vec![0; 512]);
    }
    assert_eq!((cache.state(PAGE), cache.state(0)), (State::Reading, State::Clean));
    let hit = Request { task: 9, ..Request::new(Op::Read, 0, 512) };
    cache.submit(now, hit, vec![0; 512]);
    let first = cache.next_completion(now).unwrap();
    assert_eq!((first.request.task, first.at), (9, now));
    assert_eq!(cache.next_completion(now), None);
    let tasks: Vec<u32> =
        (0..3).map(|_| cache.next_completion(Nanos::MAX).unwrap().request.task).collect();
    assert_eq!(tasks, [1, 2, 3]);
    assert_eq!((cache.counts().disc_reads, cache.counts().joined), (2, 2));
    let mut out = vec![7];
    assert!(cache.read_hit(&Request::new(Op::Read, PAGE - 1, 2), &mut out));
    assert_eq!(out, [7, sector_byte(7), sector_byte(8)]);
    assert!(!cache.read_hit(&Request::new(Op::Read, 2 * PAGE - 1, 2), &mut out));
}

#[test]
fn a_page_is_fetched_once_also_when_all_numbers_of_pages_are_in_use() {
    let ram = Ram::zeroed(64 << 10);
    let disc = Delayed::new(ram, Nanos(5_000_000), Nanos(5_000_000), 1);
    let lru = POLICIES.iter().find(|row| row.name == "lru").unwrap();
    let settings =
        Settings { request_bytes_max: 8192, ids_min: 0, ..Settings::new(1, Writes::Back) };
    let mut cache = Cached::new(disc, (lru.build)(1, 0), settings);
    // Four pages are known at the most; these are all under way.
    for page in [6, 8, 10, 12] {
        cache.submit(Nanos(0), Request::new(Op::Read, page * PAGE, 512), vec![0; 512]);
    }
    cache.submit(Nanos(0), Request::new(Op::Read, 0, 8192), vec![0; 8192]);
    cache.submit(Nanos(0), Request::new(Op::Read, 0, 512), vec![0; 512]);
    cache.submit(Nanos(0), Request::new(Op::Read, PAGE, 512), vec![0; 512]);
    assert_eq!((cache.counts().disc_reads, cache.counts().joined), (5, 2));
}

#[test]
fn a_write_is_on_the_disc_when_its_way_says() {
    for (writes, at_once, is_kept) in
        [(Writes::Back, false, true), (Writes::Through, true, true), (Writes::Around, true, false)]
    {
        let mut cache = cache(8, writes);
        assert!(write(&mut cache, 0, PAGE, 250));
        assert_eq!(on_disc(&cache, 0) == 250, at_once, "{writes}");
        assert_eq!(cache.state(0) != State::Empty, is_kept, "{writes}");
        assert_eq!(read(&mut cache, 0), 250);
        assert_eq!(cache.owed_bytes(), if at_once { 0 } else { PAGE });
        assert!(flush(&mut cache, 0));
        assert_eq!((on_disc(&cache, 0), cache.owed_bytes()), (250, 0));
        let durable = Request { durable: true, ..Request::new(Op::Write, 512, 512) };
        assert!(ask(&mut cache, durable, 251).outcome.is_ok());
        assert_eq!((on_disc(&cache, 512), cache.owed_pages()), (251, 0));
    }
}

/// The rule of 1982: what the disc refused is not in the cache. What else the frame owes stays.
#[test]
fn a_refused_write_invalidates_its_bytes_only() {
    for writes in [Writes::Back, Writes::Through, Writes::Around] {
        let mut cache = cache(8, writes);
        read(&mut cache, 0);
        if writes == Writes::Back {
            assert!(write(&mut cache, 1024, 512, 240));
        }
        let operations = cache.disc().disc().operations();
        cache.disc_mut().disc_mut().set(Faults::Once(operations));
        let durable = Request { durable: true, ..Request::new(Op::Write, 0, 512) };
        assert!(ask(&mut cache, durable, 250).outcome.is_err());
        let reads = cache.counts().disc_reads;
        assert_eq!(read(&mut cache, 512), sector_byte(1));
        assert_eq!(cache.counts().disc_reads, reads, "the rest of the page is still valid");
        assert_eq!(read(&mut cache, 0), sector_byte(0), "{writes}: what the disc holds");
        assert_eq!(cache.counts().disc_reads, reads + 1);
        if writes == Writes::Back {
            assert_eq!((read(&mut cache, 1024), cache.owed_bytes()), (240, 512));
            assert!(flush(&mut cache, 0));
            assert_eq!(on_disc(&cache, 1024), 240);
        }
    }
}

#[test]
fn dirty_pages_are_no_victims_and_writes_wait_for_room() {
    let mut cache = cache(8, Writes::Back);
    for page in 0..64 {
        assert!(write(&mut cache, page * PAGE, PAGE, 201));
        assert!(cache.owed_pages() <= 4, "the high watermark");
    }
    assert!(cache.counts().throttled > 0);
    for page in 0..64 {
        assert_eq!(read(&mut cache, page * PAGE), 201);
    }
    assert!(flush(&mut cache, 0));
    assert!((0..64).all(|page| on_disc(&cache, page * 4096) == 201));
}

#[test]
fn a_failed_write_back_stays_and_each_client_is_notified_once() {
    let mut cache = cache(8, Writes::Back);
    for client in [1, 2] {
        cache.client_came(client);
    }
    assert!(write(&mut cache, 0, PAGE, 250));
    cache.disc_mut().disc_mut().set(Faults::From(0));
    cache.tick(Nanos(1));
    assert_eq!(cache.next_completion(Nanos::MAX), None);
    assert_eq!((cache.state(0), cache.owed_bytes()), (State::Failed, PAGE));
    assert!(!flush(&mut cache, 1) && !flush(&mut cache, 1), "the disc still refuses");
    assert_eq!(read(&mut cache, 0), 250);
    cache.disc_mut().disc_mut().set(Faults::None);
    assert!(flush(&mut cache, 1), "client 1 was notified");
    assert!(!flush(&mut cache, 2) && flush(&mut cache, 2), "client 2 was not");
    cache.client_came(3);
    assert!(flush(&mut cache, 3), "client 3 came later");
    assert_eq!((on_disc(&cache, 0), cache.owed_bytes()), (250, 0));
}

#[test]
fn after_a_refused_flush_no_later_one_succeeds() {
    let mut cache = cache(8, Writes::Back);
    assert!(flush(&mut cache, 1) && write(&mut cache, 0, 4096, 1));
    let operations = cache.disc().disc().operations();
    // The write-back succeeds, and the flush behind it does not.
    cache.disc_mut().disc_mut().set(Faults::Once(operations + 1));
    assert!(!flush(&mut cache, 1));
    assert_eq!((on_disc(&cache, 0), cache.owed_pages()), (1, 0));
    assert_eq!([flush(&mut cache, 1), flush(&mut cache, 2)], [false; 2]);
    assert_eq!(read(&mut cache, 0), 1);
}

#[test]
fn writes_get_the_error_when_there_is_no_room_and_the_disc_refuses() {
    let mut cache = cache(8, Writes::Back);
    read(&mut cache, 60 * PAGE);
    cache.disc_mut().disc_mut().set(Faults::From(0));
    let mut served = 0;
    while write(&mut cache, served * PAGE, PAGE, 250) {
        served += 1;
    }
    assert_eq!(served, 4, "as many as the high watermark");
    let before = cache.now;
    assert!(!write(&mut cache, 9 * PAGE, PAGE, 251));
    assert!(cache.now - before <= Nanos(2 * 5_000_000), "within the time of two writes");
    assert_eq!(read(&mut cache, 60 * PAGE), sector_byte(60 * 8), "clean reads go on");
    cache.disc_mut().disc_mut().set(Faults::None);
    assert!(write(&mut cache, 9 * PAGE, PAGE, 251));
    assert!(!flush(&mut cache, 0) && flush(&mut cache, 0), "the failures are reported once");
    assert!((0..4).all(|page| on_disc(&cache, page * 4096) == 250));
}

#[test]
fn adjacent_dirty_pages_go_out_in_one_write_and_concurrent_flushes_share_one() {
    let mut cache = cache(32, Writes::Back);
    for page in [3, 1, 2, 0, 9] {
        assert!(write(&mut cache, page * PAGE, PAGE, 250));
    }
    let now = cache.now;
    for task in 0..5 {
        cache.submit(now, Request { task, ..Request::new(Op::Flush, 0, 0) }, Vec::new());
    }
    while let Some(done) = cache.next_completion(Nanos::MAX) {
        done.outcome.unwrap();
    }
    let counts = cache.counts();
    assert_eq!((counts.disc_writes, counts.disc_flushes, counts.flushes), (2, 1, 5));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let mut cache = cache(8, Writes::Back);
    let past = ask(&mut cache, Request::new(Op::Read, 64 * PAGE - 1, 2), 0);
    assert!(past.outcome.unwrap_err().to_string().contains("past the end"));
    let now = cache.now;
    let short = wait_for(&mut cache, now, Request::new(Op::Write, 0, 9), vec![0; 8]).unwrap();
    assert!(short.outcome.is_err());
    let none = ask(&mut cache, Request::new(Op::Write, 0, 0), 0);
    assert_eq!((none.outcome, cache.owed_bytes()), (Ok(()), 0));
}
