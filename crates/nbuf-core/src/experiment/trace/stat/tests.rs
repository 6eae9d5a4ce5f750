//! Shapes of traces whose truth is known, and of any trace against slow twins.

use std::collections::HashSet;

use proptest::prelude::*;

use super::cause::{differences, explain};
use super::judge::{Again, Judge};
use super::shape::Shape;
use super::walk::Walk;
use super::watched::Room;
use crate::cache::policy::{Access, Choice, Outcome};
use crate::experiment::result::{
    ShapeClass, ShapeDifference, ShapeHeat, ShapePolicy, ShapeSeries, TraceShape,
};
use crate::trace::request::{Op, Request, Unit};
use crate::units::Bytes;
use crate::workload::synthetic::{Keys, Pattern};
use crate::workload::within::Growing;

fn shape_of(unit: Unit, requests: &[Request], sample: Option<f64>) -> (TraceShape, Vec<u32>) {
    let mut shape = Shape::new(unit, Bytes(4096), sample);
    // In two batches, and with a promise that is kept.
    let (first, second) = requests.split_at(requests.len() / 3);
    shape.take(first);
    shape.take(second);
    shape.finish(sample)
}

fn keys(keys: impl IntoIterator<Item = u64>) -> Vec<Request> {
    keys.into_iter().map(|key| Request::new(Op::Read, key, 1)).collect()
}

fn judge(
    requests: &[Request],
    policies: &[&str],
    size: u32,
) -> (Vec<ShapePolicy>, Vec<ShapeDifference>) {
    judge_in(requests, policies, Room::Keys(size))
}

fn judge_in(
    requests: &[Request],
    policies: &[&str],
    room: Room,
) -> (Vec<ShapePolicy>, Vec<ShapeDifference>) {
    let (shape, uses) = shape_of(Unit::Keys, requests, None);
    let choices: Vec<Choice> = policies.iter().map(|name| name.parse().unwrap()).collect();
    let judge = Judge::new(&choices, room, 7, &uses, shape.accesses);
    let mut again = Again { walk: Walk::new(Unit::Keys, Bytes(1), None), judge };
    again.take(requests);
    let rows = again.judge.finish();
    let differences = differences(&again.judge, &rows);
    (rows, differences)
}

/// Requests for few keys, some of which are discarded, at times that sometimes go back.
fn some_requests() -> impl Strategy<Value = Vec<Request>> {
    let op = prop_oneof![6 => Just(Op::Read), 3 => Just(Op::Write), 1 => Just(Op::Discard)];
    let request = (op, 0_u64..24, -3_i64..40, 1_u64..5000);
    prop::collection::vec(request, 1..120).prop_map(|requests| {
        let mut time_ns = 0;
        let later = |(op, key, step, bytes)| {
            time_ns += step;
            Request { time_ns, ..Request::new(op, key, bytes) }
        };
        requests.into_iter().map(later).collect()
    })
}

/// An access as a slow count sees it.
#[derive(Debug)]
struct Slow {
    key: u64,
    ns: u64,
    is_write: bool,
    bytes: u64,
    /// Distinct keys since the last use, the key itself included, with no regard to holes.
    distance: Option<u64>,
    since: Option<u64>,
}

/// By looking back at everything, each time.
fn slow(requests: &[Request]) -> Vec<Slow> {
    let mut seen: Vec<Slow> = Vec::new();
    let mut gone_after: Vec<(u64, usize)> = Vec::new();
    let (mut first, mut now) = (None, 0);
    for request in requests {
        let key = request.offset;
        if request.op == Op::Discard {
            gone_after.push((key, seen.len()));
            continue;
        }
        let from = *first.get_or_insert(request.time_ns);
        now = now.max(u64::try_from(request.time_ns - from).unwrap_or(0));
        let last = seen.iter().rposition(|slow| slow.key == key);
        let is_gone = |last: usize| gone_after.iter().any(|&(gone, at)| gone == key && at > last);
        let last = last.filter(|&last| !is_gone(last));
        let between = |last: usize| {
            let others: HashSet<u64> = seen[last..].iter().map(|slow| slow.key).collect();
            others.len() as u64
        };
        let (distance, since) = (last.map(between), last.map(|last| now - seen[last].ns));
        let (is_write, bytes) = (request.op == Op::Write, request.length_bytes);
        seen.push(Slow { key, ns: now, is_write, bytes, distance, since });
    }
    seen
}

/// Hits and evictions of a list of objects, newest first; `moves` if a hit makes an object the newest.
fn listed(requests: &[Request], size: u64, moves: bool) -> (u64, u64) {
    let mut cache: Vec<(u64, u64)> = Vec::new();
    let (mut hits, mut evictions) = (0, 0);
    for &Request { op, offset: key, length_bytes: bytes, .. } in requests {
        let found = cache.iter().position(|kept| kept.0 == key);
        if op == Op::Discard {
            found.map(|at| cache.remove(at));
            continue;
        }
        hits += u64::from(found.is_some());
        let fits = bytes <= size;
        match found {
            // It grew beyond the cache.
            Some(at) if !fits => {
                cache.remove(at);
                evictions += 1;
            }
            Some(at) if moves => {
                cache.remove(at);
                cache.insert(0, (key, bytes));
            }
            Some(at) => cache[at].1 = bytes,
            None if fits => cache.insert(0, (key, bytes)),
            None => {}
        }
        while cache.iter().map(|kept| kept.1).sum::<u64>() > size {
            cache.pop();
            evictions += 1;
        }
    }
    (hits, evictions)
}

/// Asserts that a map has these numbers at these times.
fn assert_heat(heat: &ShapeHeat, numbers: &[(u64, Option<u64>)]) {
    let columns = heat.first_uses.len();
    for column in 0..columns {
        let here = |tick: u64| tick / heat.column_width == column as u64;
        let count = |of: &dyn Fn(Option<u64>) -> bool| {
            numbers.iter().filter(|(tick, number)| here(*tick) && of(*number)).count() as u64
        };
        assert_eq!(heat.first_uses[column], count(&|number| number.is_none()));
        for row in &heat.rows {
            let is_in =
                |number: Option<u64>| number.is_some_and(|n| (row.from..row.below).contains(&n));
            assert_eq!(row.counts[column], count(&is_in), "{row:?}");
        }
    }
    let all: u64 = heat.rows.iter().flat_map(|row| &row.counts).chain(&heat.first_uses).sum();
    assert_eq!(all, numbers.len() as u64);
}

proptest! {
    #[test]
    fn a_shape_is_what_looking_back_each_time_finds(requests in some_requests()) {
        let slow = slow(&requests);
        prop_assume!(slow.last().is_some_and(|last| last.ns > 0));
        let (shape, uses) = shape_of(Unit::Keys, &requests, None);
        let has_discards = requests.iter().any(|request| request.op == Op::Discard);
        let distances: Vec<_> = slow.iter().map(|slow| (slow.ns, slow.distance)).collect();
        if !has_discards {
            assert_heat(&shape.reuse_distance, &distances);
        }
        let times: Vec<_> = slow.iter().map(|slow| (slow.ns, slow.since)).collect();
        assert_heat(&shape.reuse_time, &times);
        let compulsory: Vec<&Slow> = slow.iter().filter(|slow| slow.distance.is_none()).collect();
        prop_assert_eq!(shape.ceiling.compulsory_misses, compulsory.len() as u64);
        let bytes = compulsory.iter().map(|slow| slow.bytes).sum();
        prop_assert_eq!(shape.ceiling.compulsory_bytes, Some(Bytes(bytes)));
        let distinct: HashSet<u64> = slow.iter().map(|slow| slow.key).collect();
        let of = |key: u64| slow.iter().filter(move |slow| slow.key == key);
        let once = distinct.iter().filter(|&&key| of(key).count() == 1).count();
        prop_assert_eq!(shape.popularity.used_once, once as u64);
        prop_assert_eq!(uses.iter().map(|&uses| u64::from(uses)).sum::<u64>(), slow.len() as u64);
        let lives = distinct.iter().filter(|&&key| of(key).count() > 1);
        let lives: Vec<u64> =
            lives.map(|&key| of(key).next_back().unwrap().ns - of(key).next().unwrap().ns).collect();
        for bin in &shape.lifetimes.rows {
            let here = lives.iter().filter(|&&life| (bin.from..bin.below).contains(&life));
            prop_assert_eq!(bin.count, here.count() as u64);
        }
        prop_assert_eq!(shape.lifetimes.count, lives.len() as u64);
        let piece = |series: &ShapeSeries, of: &dyn Fn(&[&Slow]) -> u64| {
            for (at, &value) in (0..).zip(&series.values) {
                let here: Vec<&Slow> =
                    slow.iter().filter(|slow| slow.ns / series.column_width == at).collect();
                assert_eq!(value, of(&here));
            }
        };
        let distinct = |here: &[&Slow]| here.iter().map(|slow| slow.key).collect::<HashSet<_>>().len() as u64;
        piece(&shape.working_set, &distinct);
        piece(&shape.writes, &|here| here.iter().filter(|slow| slow.is_write).count() as u64);
        piece(&shape.reads, &|here| here.iter().filter(|slow| !slow.is_write).count() as u64);
    }

    #[test]
    fn caches_of_bytes_hit_and_evict_what_lists_do(requests in some_requests(), size in 1_u64..30_000) {
        let policies = ["lru", "fifo", "gdsf", "lhd"];
        let (rows, differences) = judge_in(&requests, &policies, Room::Bytes(size));
        for (row, moves) in rows.iter().zip([true, false]) {
            prop_assert_eq!((row.hits, row.evictions), listed(&requests, size, moves), "{}", row.policy);
        }
        for difference in &differences {
            for list in [&difference.by_pattern, &difference.by_popularity, &difference.by_distance] {
                let points: f64 = list.iter().map(|class| class.points).sum();
                prop_assert!((points - difference.points).abs() < 1e-6, "{:?}", difference);
            }
            // What LRU hits is near, or part of a loop or a scan.
            let far = difference.by_pattern.iter().find(|class| class.class == "far");
            let of_lru = far.map_or(0, |far| {
                if difference.better == "lru" { far.better_hits } else { far.worse_hits }
            });
            prop_assert_eq!(of_lru, 0);
        }
    }

    #[test]
    fn classes_add_up_to_what_a_policy_hits(requests in some_requests(), size in 1_u32..12) {
        let (rows, differences) = judge(&requests, &["lru", "s3-fifo", "w-tinylfu", "arc"], size);
        for row in &rows {
            let choice: Choice = row.policy.parse().unwrap();
            let mut policy = choice.build(size, 7);
            let (mut numbers, mut evicted) = (Vec::new(), 0);
            let hits = requests.iter().filter(|request| {
                // Some policies hash numbers, so these are given as they come.
                let known = numbers.iter().position(|&key| key == request.offset);
                if request.op == Op::Discard {
                    known.map(|number| policy.remove(u32::try_from(number).unwrap()));
                    return false;
                }
                let number = known.unwrap_or_else(|| {
                    numbers.push(request.offset);
                    numbers.len() - 1
                });
                let key = u32::try_from(number).unwrap();
                let outcome = policy.access(Access::to(key));
                evicted += u64::from(matches!(outcome, Outcome::Filled { evicted: Some(_) }));
                outcome == Outcome::Hit
            });
            prop_assert_eq!(row.hits, hits.count() as u64, "{}", row.policy);
            prop_assert_eq!(row.evictions, evicted, "{}", row.policy);
            prop_assert!(row.used_once_share <= row.no_hit_share + 1e-9);
        }
        for difference in &differences {
            for list in [&difference.by_pattern, &difference.by_popularity, &difference.by_distance] {
                let points: f64 = list.iter().map(|class| class.points).sum();
                prop_assert!((points - difference.points).abs() < 1e-6, "{:?}", difference);
            }
        }
    }
}

#[test]
fn the_exponent_of_a_zipf_trace_is_within_its_error() {
    for alpha in [0.0, 0.6, 0.8, 1.0, 1.2, 1.5] {
        for seed in 1..=2 {
            let trace = Keys::new(Pattern::Zipf { alpha }, 10_000, seed).take(250_000);
            let zipf = shape_of(Unit::Keys, &keys(trace), None).0.popularity.zipf.unwrap();
            assert!((zipf.exponent - alpha).abs() <= zipf.error, "{alpha} {seed}: {zipf:?}");
            assert!(zipf.error < 0.1, "{alpha} {seed}: {zipf:?}");
        }
    }
    // A law that does not hold has a factor that says so.
    let mut two = keys((0..100_000).map(|at| at % 100));
    two.extend(keys((0..100_000).map(|at| 1000 + at % 2000)));
    let zipf = shape_of(Unit::Keys, &two, None).0.popularity.zipf.unwrap();
    assert!(zipf.factor > 2.0 && zipf.error > 0.15, "{zipf:?}");
}

#[test]
fn a_sample_gives_about_the_same() {
    let trace = || keys(Keys::new(Pattern::Zipf { alpha: 0.8 }, 100_000, 3).take(400_000));
    let whole = shape_of(Unit::Keys, &trace(), None).0;
    let part = shape_of(Unit::Keys, &trace(), Some(0.1)).0;
    assert_eq!((part.sample, part.loops, part.scans), (Some(0.1), None, None));
    let near = |a: u64, b: u64| (a as f64 / b as f64 - 1.0).abs() < 0.15;
    let (a, b) = (part.ceiling, whole.ceiling);
    assert!((a.hit_ratio - b.hit_ratio).abs() < 0.01, "{a:?} {b:?}");
    assert!((a.byte_hit_ratio.unwrap() - b.byte_hit_ratio.unwrap()).abs() < 0.01);
    assert!(near(part.keys, whole.keys), "{} {}", part.keys, whole.keys);
    assert!(near(part.popularity.used_once, whole.popularity.used_once));
    for (part, whole) in part.working_set.values.iter().zip(&whole.working_set.values) {
        assert!(near(*part, *whole), "{part} {whole}");
    }
}

#[test]
fn patterns_of_generated_traces_are_found() {
    let found = |pattern, count| {
        let trace = keys(Keys::new(pattern, 3000, 1).take(count));
        shape_of(Unit::Keys, &trace, None).0
    };
    let shape = found(Pattern::Loop, 30_000);
    let loops = shape.loops.unwrap();
    assert_eq!((loops.len(), loops[0].keys, loops[0].accesses), (1, 3000, 27_000));
    let shape = found(Pattern::Scan, 5000);
    let (scans, first) = (shape.scans.unwrap(), shape.first_uses.unwrap());
    assert_eq!((scans.runs, scans.longest, first.longest), (1, 5000, 5000));
    assert!(shape.loops.unwrap().is_empty() && shape.ceiling.hit_ratio == 0.0);
    assert_eq!((shape.popularity.used_once, shape.clock.as_str()), (5000, "accesses"));
    for pattern in [Pattern::Uniform, Pattern::Zipf { alpha: 1.0 }] {
        let shape = found(pattern, 60_000);
        assert_eq!((shape.loops.unwrap().len(), shape.scans.unwrap().runs), (0, 0));
    }
}

#[test]
fn pages_of_a_request_are_accesses_and_a_discard_ends_them() {
    let at = |op, offset, length, time_ns| Request { time_ns, ..Request::new(op, offset, length) };
    let requests = [
        at(Op::Read, 0, 8192, 100),
        at(Op::Write, 4096, 1, 300),
        at(Op::Discard, 0, 8192, 400),
        at(Op::Read, 0, 1, 500),
    ];
    let (shape, _) = shape_of(Unit::Bytes, &requests, None);
    assert_eq!((shape.accesses, shape.keys, shape.unit.as_str()), (4, 2, "page"));
    assert_eq!((shape.ceiling.compulsory_misses, shape.ceiling.bytes), (3, None));
    let lives: Vec<_> = shape.lifetimes.rows.iter().map(|row| (row.from, row.count)).collect();
    assert_eq!((lives[0], lives[1], lives.len()), ((128, 1), (256, 1), 2));
    let sizes = shape.sizes.unwrap();
    assert_eq!((sizes.of.as_str(), sizes.bytes.count), ("request", 4));
}

#[test]
fn an_object_that_is_damage_is_left_out_of_both_readings() {
    let mut requests = keys([1, 2, 1, 2]);
    requests.insert(1, Request::new(Op::Read, 3, 1 << 63));
    requests.push(Request::new(Op::Write, 1, u64::MAX));
    let mut shape = Shape::new(Unit::Keys, Bytes(1), None);
    shape.take(&requests);
    assert_eq!((shape.walk.tally().unplaced, shape.found.accesses), (2, 4));
    let (rows, _) = judge_in(&requests, &["lru", "gdsf", "lhd"], Room::Bytes(1 << 20));
    assert!(rows.iter().all(|row| row.hits == 2), "{rows:?}");
    // The largest object stays.
    let (shape, _) = shape_of(Unit::Keys, &[Request::new(Op::Read, 3, 1 << 34)], None);
    assert_eq!(shape.ceiling.compulsory_bytes, Some(Bytes(1 << 34)));
}

/// A hot set, and between its uses keys that come once.
fn hot_and_once() -> Vec<Request> {
    let mut trace = Keys::new(Pattern::Uniform, 500, 1);
    let mixed = (0..60_000_u64)
        .map(|at| if at % 2 == 0 { trace.next().unwrap() } else { 1_000_000 + at * 7919 });
    keys(mixed.collect::<Vec<_>>())
}

#[test]
fn the_rule_names_the_class_that_was_planted() {
    let planted = keys((0..40_000).map(|at| at % 1000));
    let (rows, differences) = judge(&planted, &["lru", "mru"], 500);
    assert_eq!(
        (differences[0].better.as_str(), differences[0].class.as_deref()),
        ("mru", Some("loop"))
    );
    assert_eq!(rows[0].hits, 0, "LRU never hits on a loop");
    assert_eq!(rows[0].eviction_age.unwrap().p50, 500);
    let (rows, differences) = judge(&hot_and_once(), &["lru", "s3-fifo"], 600);
    let difference = &differences[0];
    assert_eq!((difference.better.as_str(), difference.class.as_deref()), ("s3-fifo", Some("far")));
    assert!(rows[0].used_once_share > 2.0 * rows[1].used_once_share, "{rows:?}");
    let (_, differences) = judge(&planted, &["lru", "lru"], 500);
    assert!(differences[0].class.is_none() && differences[0].reason.is_some());
}

#[test]
fn a_class_that_does_not_go_one_way_explains_nothing() {
    let class = |class: &str, points, eighths_better| ShapeClass {
        class: class.to_owned(),
        points,
        eighths: 8,
        eighths_better,
        ..ShapeClass::default()
    };
    assert_eq!(explain(2.0, &[class("near", 1.2, 6), class("far", 0.8, 8)]), Ok("near".to_owned()));
    assert!(explain(2.0, &[class("near", 1.2, 5), class("far", 0.8, 8)]).is_err());
    assert!(explain(2.0, &[class("near", 0.9, 8), class("far", 0.9, 8)]).is_err());
    assert!(explain(0.05, &[class("near", 0.05, 8)]).is_err());
}

#[test]
fn memory_is_never_more_than_was_promised() {
    let trace = keys(Keys::new(Pattern::Scan, 1, 1).take(100_000));
    let mut shape = Shape::new(Unit::Keys, Bytes(1), None);
    let promised = shape.most(&trace);
    shape.take(&trace);
    let taken = shape.found.keys.capacity() * size_of_val(&shape.found.keys[0]);
    assert!(taken as u64 <= promised, "{taken} {promised}");
}
