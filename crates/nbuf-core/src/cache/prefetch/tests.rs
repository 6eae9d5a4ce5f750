//! Every prefetcher in front of LRU against its twin, and in front of every policy against its own counts.

mod naive;

use naive::{Amp, Lru, Mithril, Next, Stride, Twin};

use super::*;
use crate::cache::engine::{Accesses, Count, Engine, Prefetches};
use crate::cache::policy::{Choice, POLICIES};

/// Sizes of the caches, with one of no pages and one twice.
const SIZES: [u64; 7] = [0, 1, 2, 7, 30, 30, 200];

/// A few numbers that chance chose.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most
    }
}

/// Accesses, and pages that are removed: streams with strides of both signs in three objects, one of which is near the
/// end of its numbers; among them hot pages, loops of pages that belong together, and random ones.
fn trace(seed: u64, length: usize) -> Vec<Result<u64, u64>> {
    let mut dice = Dice(seed);
    let base = [1 << 20, 5 << PAGE_BITS, (7 << PAGE_BITS) - 300];
    let mut streams: Vec<(u64, i64)> = vec![(1 << 20, 1); 4];
    let mut trace = Vec::new();
    while trace.len() < length {
        let at = usize::try_from(dice.below(4)).unwrap();
        match dice.below(40) {
            0 => {
                let object = usize::try_from(dice.below(3)).unwrap();
                let step = [1, 1, 1, 2, 7, -1, -3][usize::try_from(dice.below(7)).unwrap()];
                streams[at] = (base[object] + dice.below(250), step);
            }
            1 => trace.push(Err(base[0] + dice.below(250))),
            2..=5 => trace.push(Ok(dice.below(20))),
            6..=8 => {
                let first = dice.below(6) * 1000;
                trace.extend((0..4).map(|nth| Ok(first + nth * 37 % 91)));
            }
            9 => trace.push(Ok(base[1] + dice.below(3000))),
            _ => {
                let run = 1 + dice.below(3);
                for _ in 0..run {
                    let (page, step) = streams[at];
                    trace.push(Ok(page));
                    streams[at].0 = further(page, step).unwrap_or(base[2]);
                }
            }
        }
    }
    trace
}

/// What was counted at a size.
#[derive(Clone, Copy, Debug)]
struct Found {
    pages: u64,
    accesses: u64,
    requests: u64,
    misses: u64,
    prefetches: Prefetches,
}

fn finish(engine: Box<dyn Engine>) -> Vec<Found> {
    let prefetches = engine.prefetches();
    let all = engine.finish().into_iter().zip(prefetches);
    let found = all.map(|(count, prefetches)| {
        let Count { pages, accesses, requests, misses, .. } = count;
        Found { pages, accesses, requests, misses, prefetches }
    });
    found.collect()
}

/// What the layer counts over a trace, in batches.
fn layered(policy: &str, prefetching: &str, trace: &[Result<u64, u64>]) -> Vec<Found> {
    let choice: Choice = policy.parse().unwrap();
    let mut engine = engine(&choice, &SIZES, 3, prefetching.parse().unwrap());
    feed(&mut *engine, trace);
    finish(engine)
}

fn feed(engine: &mut dyn Engine, trace: &[Result<u64, u64>]) {
    for run in trace.chunk_by(|one, other| one.is_ok() == other.is_ok()) {
        let keys: Vec<u64> = run.iter().filter_map(|access| access.ok()).collect();
        for keys in keys.chunks(11) {
            let pages = vec![0; keys.len()];
            engine.access_keys(&Accesses { pages: &pages, request_ends: None }, keys);
        }
        run.iter().filter_map(|access| access.err()).for_each(|key| engine.remove_keys(key, key));
    }
}

/// The layer equals a twin at every size, and the pages that were fetched are accounted for.
fn check<T: Twin>(prefetching: &str, twin: impl Fn() -> T) {
    let mut fetched = 0;
    for seed in 0..12 {
        let trace = trace(seed, 4000);
        for count in layered("lru", prefetching, &trace) {
            let accesses = trace.iter().filter(|access| access.is_ok()).count() as u64;
            assert_eq!((count.accesses, count.requests), (accesses, accesses));
            if count.pages == 0 {
                assert_eq!((count.misses, count.prefetches), (accesses, <_>::default()));
                continue;
            }
            let mut lru = Lru::new(usize::try_from(count.pages).unwrap(), twin());
            for access in &trace {
                match *access {
                    Ok(page) => lru.access(page),
                    Err(page) => lru.remove(page),
                }
            }
            let what = format!("{prefetching}, seed {seed}, {} pages", count.pages);
            assert_eq!((count.misses, count.prefetches), (lru.misses, lru.counts), "{what}");
            let all = count.prefetches;
            assert_eq!(all.fetched, all.useful + all.useless + all.unused, "{what}");
            fetched += all.useful;
        }
    }
    assert!(fetched > 300, "{prefetching} was hardly tested: {fetched}");
}

#[test]
fn next_pages_equal_their_twin() {
    let every = [
        ("miss", vec![How::Miss]),
        ("tagged", vec![How::Miss, How::FirstUse]),
        ("always", vec![How::Miss, How::FirstUse, How::Hit]),
    ];
    for (name, on) in every {
        for pages in [1, 3] {
            check(&format!("next:pages={pages}:on={name}"), || Next { pages, on: on.clone() });
        }
    }
}

#[test]
fn strides_equal_their_twin() {
    for (pages, most, reach) in [(1, 64, 256_i128), (4, 3, 16), (2, 1, 8)] {
        let text = format!("stride:pages={pages}:streams={most}:reach={reach}");
        check(&text, || Stride { pages, most, reach, streams: Vec::new() });
    }
}

#[test]
fn amp_equals_its_twin() {
    for (pages, most, trigger) in [(4, 256, 0), (1, 6, 2), (5, 5, 9)] {
        let text = format!("amp:pages={pages}:most={most}:trigger={trigger}");
        check(&text, || Amp { pages, most, trigger, kept: Vec::new() });
    }
}

#[test]
fn mithril_equals_its_twin() {
    for (lookahead, support, most, list, mine, rows) in
        [(20, 2, 8, 2, 40, 500), (5, 3, 4, 3, 10, 30), (50, 1, 2, 1, 25, 10)]
    {
        let text = format!(
            "mithril:lookahead={lookahead}:support={support}:most={most}:list={list}:mine={mine}:rows={rows}"
        );
        check(&text, || Mithril {
            lookahead,
            support,
            most,
            list,
            mine,
            rows,
            now: 0,
            recorded: Vec::new(),
            mined: Vec::new(),
            associated: Vec::new(),
        });
    }
}

/// A count of one prefetcher in front of one policy at 100 pages.
fn known(policy: &str, prefetching: &str, keys: impl IntoIterator<Item = u64>) -> Found {
    let choice: Choice = policy.parse().unwrap();
    let mut engine = engine(&choice, &[100], 0, prefetching.parse().unwrap());
    feed(&mut *engine, &keys.into_iter().map(Ok).collect::<Vec<_>>());
    finish(engine)[0]
}

#[test]
fn a_scan_misses_what_each_prefetcher_must_miss() {
    let scan = || 5000..6000;
    let misses = |prefetching: &str| known("lru", prefetching, scan()).misses;
    // One block on a miss: every second page misses. Tagged: only the first one.
    assert_eq!(misses("next:pages=1:on=miss"), 500);
    assert_eq!(misses("next:pages=3:on=miss"), 250);
    assert_eq!(misses("next:pages=1:on=tagged"), 1);
    assert_eq!(misses("next:pages=1:on=always"), 1);
    // Two equal steps make a stream, and AMP needs a second page.
    assert_eq!(misses("stride:pages=1"), 3);
    assert_eq!(misses("amp"), 2);
    assert_eq!(misses("mithril"), 1000);
    let amp = known("lru", "amp:most=8", scan()).prefetches;
    assert_eq!((amp.useful, amp.useless), (998, 0));
    assert!(amp.unused <= 8, "{amp:?}");
    let next = known("lru", "next", scan()).prefetches;
    assert_eq!(next, Prefetches { fetched: 1000, useful: 999, useless: 0, unused: 1 });
}

#[test]
fn strides_backwards_and_far_are_found_and_the_end_of_an_object_is_kept() {
    let back = (0..500).map(|nth| 90_000 - 3 * nth);
    assert_eq!(known("lru", "stride:pages=2", back.clone()).misses, 3);
    assert_eq!(known("lru", "stride:pages=2:reach=2", back).misses, 500, "out of reach");
    let last = (1 << PAGE_BITS) - 1;
    for prefetching in ["next:pages=9", "stride:pages=9", "amp:pages=9"] {
        let end = known("lru", prefetching, last - 5..=last).prefetches;
        assert_eq!((end.useless, end.unused), (0, 0), "{prefetching}: {end:?}");
    }
}

#[test]
fn amp_fetches_what_the_cache_has_room_for() {
    // Thirty scans in turn, and a cache with room for three pages of each.
    let scans = || (0..300_u64).flat_map(|nth| (0..30).map(move |scan| (scan << 20) + nth));
    let amp = known("lru", "amp:pages=2", scans());
    let next = known("lru", "next:pages=16", scans());
    assert!(amp.misses * 2 < next.misses, "{amp:?} {next:?}");
    assert!(amp.prefetches.useless < amp.prefetches.useful, "{amp:?}");
    assert!(next.prefetches.useless > next.prefetches.useful, "{next:?}");
    // A single scan gets all that it uses.
    let one = known("lru", "amp:pages=1:most=32", 0..5000).prefetches;
    assert!(one.useless == 0 && one.unused <= 32, "{one:?}");
}

#[test]
fn mithril_brings_pages_that_were_missed_together() {
    // A hundred pairs far apart, in ten orders; a cache of 100 pages forgets most of them in between.
    let pairs = || {
        let steps = [1, 3, 7, 9, 11, 13, 17, 19, 21, 23].into_iter().cycle().take(40);
        steps.flat_map(|step: u64| {
            (0..100).flat_map(move |nth| {
                let pair = nth * step % 100;
                [pair * 1000, pair * 7919 + 1_000_003]
            })
        })
    };
    let found = known("lru", "mithril:lookahead=1:mine=20", pairs());
    let none = known("lru", "mithril:support=64:most=64", pairs());
    assert_eq!(none.prefetches, Prefetches::default(), "no page is missed so often");
    assert!(found.misses + 2000 < none.misses, "{found:?} {none:?}");
    assert!(found.prefetches.useful > 2000, "{found:?}");
}

#[test]
fn every_policy_accounts_for_every_prefetch() {
    let trace = trace(99, 3000);
    for row in POLICIES.iter().filter(|row| row.name != "opt") {
        for prefetcher in PREFETCHERS {
            for count in layered(row.name, &prefetcher.text(), &trace) {
                let all = count.prefetches;
                let what = format!("{} with {} at {}", row.name, prefetcher.name, count.pages);
                assert_eq!(all.fetched, all.useful + all.useless + all.unused, "{what}");
                assert!(all.unused <= count.pages, "{what}");
            }
        }
    }
}

#[test]
fn prefetches_of_the_warm_up_do_not_count() {
    let mut engine = engine(&"lru".parse().unwrap(), &[50], 0, "next:pages=10".parse().unwrap());
    feed(&mut *engine, &[Ok(100), Ok(200), Ok(300)]);
    engine.start_counting();
    // First uses of pages of the warm-up fetch on, as ever.
    feed(&mut *engine, &[Ok(101), Ok(201), Ok(901)]);
    let count = finish(engine)[0];
    assert_eq!(count.misses, 1);
    assert_eq!(count.prefetches, Prefetches { fetched: 12, useful: 0, useless: 0, unused: 12 });
}

#[test]
fn memory_beyond_the_trace_is_what_was_numbered() {
    let prefetching: Prefetching = "next:pages=10".parse().unwrap();
    let choice: Choice = "lru".parse().unwrap();
    let mut engine = engine(&choice, &[50, 60], 0, prefetching);
    let each = number_bytes(choice.row(), prefetching);
    assert_eq!(engine.bytes_beyond(0, 3, 3), 2 * 33 * each);
    // A long request has prefetched pages behind its end alone.
    assert_eq!(engine.bytes_beyond(0, 1000, 1), 2 * 1020 * each);
    feed(&mut *engine, &[Ok(100), Ok(500)]);
    assert_eq!(engine.bytes_beyond(2, 0, 0), 2 * 20 * each);
}
