//! What runs is what was simulated: the same outcomes at depth 1, and the same decisions at any depth.

use std::sync::{Arc, Mutex};

use super::super::{Cached, Decision, Settings, Writes, first_difference};
use super::{report, scale, seed};
use crate::cache::interner::Interner;
use crate::cache::layer::{self, Layer, Units};
use crate::cache::policy::{Access, Cause, Outcome, POLICIES, Row};
use crate::clock::Random;
use crate::disc::null::Null;
use crate::disc::{Delayed, Disc};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const PAGES: u32 = 50;
const DISC_PAGES: u64 = 400;

/// Requests of a page each: many to few pages, some to all, and a scan now and then.
fn requests(seed: u64, count: usize) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut scan = 0;
    let mut next = || {
        scan = (scan + 1) % 1000;
        let page = match random.below(10) {
            _ if scan > 900 => scan - 900 + 200,
            0..7 => random.below(20) * random.below(6),
            _ => random.below(DISC_PAGES),
        };
        let op = if random.below(4) == 0 { Op::Write } else { Op::Read };
        Request::new(op, page * 4096, 4096)
    };
    (0..count).map(|_| next()).collect()
}

fn policies() -> impl Iterator<Item = &'static Row> {
    // OPT needs the future, which nothing that runs has.
    POLICIES.iter().filter(|row| row.name != "opt")
}

/// Whether each read hits in a running cache, one request at a time.
fn running(row: &Row, requests: &[Request]) -> Vec<bool> {
    let disc = Null::new(DISC_PAGES * 4096);
    let settings = Settings::new(PAGES, Writes::Through);
    let mut cache = Cached::new(disc, (row.build)(PAGES, 7), settings);
    let mut hits = Vec::new();
    for request in requests {
        let before = cache.counts().hits;
        cache.submit(Nanos::ZERO, *request, vec![0; 4096]);
        cache.next_completion(Nanos::MAX).unwrap().outcome.unwrap();
        if request.op == Op::Read {
            hits.push(cache.counts().hits > before);
        }
    }
    cache.check().unwrap();
    hits
}

fn in_layer(row: &Row, requests: &[Request]) -> Vec<bool> {
    let policy = (row.build)(PAGES, 7);
    let mut layer = Units::new(policy, 4096, DISC_PAGES * 4096, layer::Writes::Fill);
    let mut hits = Vec::new();
    for request in requests {
        let lookup = layer.initiate(request);
        if request.op == Op::Read {
            hits.push(lookup.is_hit());
        }
        if !lookup.is_hit() {
            layer.terminate(request, true);
        }
    }
    hits
}

fn in_curve(row: &Row, requests: &[Request]) -> Vec<bool> {
    let mut policy = (row.build)(PAGES, 7);
    let keys: Vec<u64> = requests.iter().map(|request| request.offset).collect();
    let mut ids = Vec::new();
    Interner::new().intern(&keys, &mut ids);
    ids.into_iter().map(|id| policy.access(Access::to(id)) == Outcome::Hit).collect()
}

#[test]
fn at_depth_one_it_hits_when_the_simulation_does() {
    let mixed = requests(seed(), 20_000);
    let reads: Vec<Request> =
        mixed.iter().filter(|request| request.op == Op::Read).copied().collect();
    for row in policies() {
        let name = row.name;
        assert_eq!(running(row, &mixed), in_layer(row, &mixed), "{name}, the layer of a replay");
        assert_eq!(running(row, &reads), in_curve(row, &reads), "{name}, a curve");
    }
}

/// Four clients with 32 requests under way together; the log of the policy's decisions. With readahead the cache
/// steps aside for a third of the time.
fn logged(row: &Row, writes: Writes, count: usize, readahead_bytes: u32) -> (Vec<Decision>, f64) {
    let disc = Delayed::new(Null::new(DISC_PAGES * 4096), Nanos(100), Nanos(5000), 3);
    // Few numbers, so that they are used again.
    let settings =
        Settings { ids_min: 0, request_bytes_max: 65536, ..Settings::new(PAGES, writes) };
    let settings = Settings { readahead_bytes, readahead_part: 8, disc_requests: 256, ..settings };
    let mut cache = Cached::new(disc, (row.build)(PAGES, 7), settings);
    let log = Arc::new(Mutex::new(Vec::new()));
    let sink = log.clone();
    cache.log_to(Box::new(move |decision| sink.lock().unwrap().push(decision)));
    let mut now = Nanos::ZERO;
    for (at, request) in requests(seed() + 1, count).into_iter().enumerate() {
        let object = u32::try_from(at % 4).unwrap();
        if readahead_bytes > 0 && at % 500 == 0 {
            cache.step(at % 1500 == 500);
        }
        now += Nanos(40);
        cache.submit(now, Request { object, ..request }, vec![0; 4096]);
        while cache.under_way() >= 32 {
            now = now.max(cache.next_completion(Nanos::MAX).unwrap().at);
        }
    }
    while cache.next_completion(Nanos::MAX).is_some() {}
    cache.check().unwrap();
    let counts = cache.counts();
    drop(cache);
    let log = Arc::into_inner(log).unwrap().into_inner().unwrap();
    (log, counts.hits as f64 / counts.lookups as f64)
}

#[test]
fn the_log_of_a_run_at_depth_32_is_decided_in_the_same_way_again() {
    let count = usize::try_from(10_000 * scale()).unwrap();
    let mut decisions = 0;
    for row in policies() {
        for (writes, ahead) in [
            (Writes::Back, 0),
            (Writes::Back, 65536),
            (Writes::Through, 65536),
            (Writes::Through, 0),
            (Writes::Around, 0),
        ] {
            let (log, ratio) = logged(row, writes, count, ahead);
            let is_ahead = |decision: &&Decision| {
                matches!(decision, Decision::Fill { cause: Cause::Readahead, .. })
            };
            let read_ahead = log.iter().filter(is_ahead).count();
            assert_eq!(read_ahead > 20, ahead > 0, "{}: {read_ahead} read ahead", row.name);
            let again = first_difference(&mut *(row.build)(PAGES, 7), &log);
            assert_eq!(again, None, "{}, write {writes}", row.name);
            let refused = |decision: &&Decision| matches!(decision, Decision::Fill { refused, .. } if !refused.is_empty());
            let refusals = log.iter().filter(refused).count();
            assert!(ratio > 0.1 && (refusals > 0) == (writes == Writes::Back), "{}", row.name);
            decisions += log.len() as u64;
        }
    }
    report("decisions of policies at depth 32, decided in the same way again", decisions);
}

#[test]
fn a_log_that_was_changed_is_found_out() {
    let row = POLICIES.iter().find(|row| row.name == "lru").unwrap();
    let (mut log, _) = logged(row, Writes::Back, 2000, 65536);
    let other = POLICIES.iter().find(|row| row.name == "fifo").unwrap();
    assert!(first_difference(&mut *(other.build)(PAGES, 7), &log).is_some());
    let touched = log.iter_mut().rev().find_map(|decision| match decision {
        Decision::Touch { is_hit, .. } => Some(is_hit),
        _ => None,
    });
    let is_hit = touched.unwrap();
    *is_hit = !*is_hit;
    assert!(first_difference(&mut *(row.build)(PAGES, 7), &log).is_some());
}
