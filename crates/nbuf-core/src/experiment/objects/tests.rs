//! Curves over objects: one reading against runs at single sizes, sums, shares and the overhead.

use proptest::prelude::*;

use super::*;
use crate::cache::allocator::Allocator;
use crate::cache::objects::{Expired, Oversized};
use crate::experiment::result::{CurvePoint, PolicyCurve};
use crate::trace::request::{Op, Request, Unit};
use crate::workload::pages::Writes;

fn plan(sizes: Option<&str>, overhead_bytes: u64) -> Plan {
    Plan {
        policies: ["lru", "fifo", "gdsf"].map(|name| name.parse().unwrap()).to_vec(),
        sizes: sizes.map(|sizes| sizes.parse().unwrap()),
        overhead_bytes,
        allocator: Allocator::Exact,
        unit: Unit::Keys,
        writes: Writes::Allocate,
        all_sizes: true,
        warmup_requests: 0,
        ttl: None,
        expired: Expired::Evict,
        oversized: Oversized::Bypass,
        admissions: Vec::new(),
        costs: Costs::Equal,
        seed: 1,
        again: true,
        parallel: false,
    }
}

fn curves(plan: Plan, requests: &[Request]) -> Vec<PolicyCurve> {
    let mut objects = Objects::new(plan).unwrap();
    let read =
        |objects: &mut Objects| requests.chunks(7).for_each(|some| objects.take_requests(some));
    read(&mut objects);
    if objects.again().unwrap() {
        read(&mut objects);
        assert!(objects.drop_unequal().is_empty(), "both readings are the same");
    }
    objects.finish(None).unwrap()
}

/// The oracle: misses and their bytes in a list, newest first, that evicts from its end.
fn lru(requests: &[Request], cache_bytes: u64, overhead: u64) -> (u64, u64) {
    let mut cache: Vec<(u64, u64)> = Vec::new();
    let (mut misses, mut miss_bytes) = (0, 0);
    for &Request { op, offset: key, length_bytes, .. } in requests {
        let found = cache.iter().position(|kept| kept.0 == key);
        found.map(|at| cache.remove(at));
        if op == Op::Discard {
            continue;
        }
        // Writes are there only where they are not counted.
        if found.is_none() && op == Op::Read {
            (misses, miss_bytes) = (misses + 1, miss_bytes + length_bytes);
        }
        let takes = length_bytes + overhead;
        if takes <= cache_bytes {
            while cache.iter().map(|kept| kept.1).sum::<u64>() + takes > cache_bytes {
                cache.pop();
            }
            cache.insert(0, (key, takes));
        }
    }
    (misses, miss_bytes)
}

fn check(requests: &[Request], overhead: u64, only_grows: bool) {
    let all = curves(plan(None, overhead), requests);
    let lru_curve = &all[0];
    let facts = lru_curve.objects.as_ref().unwrap();
    assert_eq!(facts.exact_from_bytes.is_some(), only_grows && !requests.is_empty());
    let counted = |point: &CurvePoint| (point.misses, point.miss_bytes.unwrap());
    for point in &lru_curve.points {
        assert_eq!(counted(point), lru(requests, point.pages, overhead), "{}", point.pages);
    }
    let data: Vec<u64> =
        requests.iter().filter(|r| r.op == Op::Read).map(|r| r.length_bytes).collect();
    for curve in &all {
        for point in &curve.points {
            assert_eq!(point.accesses, data.len() as u64, "{}", curve.policy);
            assert_eq!(point.bytes, Some(data.iter().sum()), "{}", curve.policy);
            let size = format!("{}B", point.pages);
            let one = curves(Plan { all_sizes: false, ..plan(Some(&size), overhead) }, requests);
            let same = one.iter().find(|other| other.policy == curve.policy).unwrap();
            assert_eq!(same.points, [*point], "{} of {size}", curve.policy);
        }
    }
    if let Some(from) = facts.exact_from_bytes {
        let every = format!("{}B..{}B:1B", from.max(1), curves_end(lru_curve));
        let all = curves(plan(Some(&every), overhead), requests);
        for point in &all[0].points {
            assert_eq!(counted(point), lru(requests, point.pages, overhead), "{}", point.pages);
        }
    }
}

/// A size beyond what all objects take.
fn curves_end(curve: &PolicyCurve) -> u64 {
    curve.distinct_pages.max(1) + 2
}

fn read(key: u64, bytes: u64) -> Request {
    Request::new(Op::Read, key, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_stored_comes_in_and_is_not_counted(
        all in prop::collection::vec((any::<bool>(), 0_u64..12, 1_u64..9), 0..120),
        overhead in 0_u64..3,
    ) {
        let request = |&(is_write, key, bytes): &(bool, u64, u64)| {
            Request::new(if is_write { Op::Write } else { Op::Read }, key, bytes)
        };
        let requests: Vec<Request> = all.iter().map(request).collect();
        let asked = requests.iter().filter(|request| request.op == Op::Read).count() as u64;
        let policies = ["lru", "fifo", "gdsf", "redis", "memcached"].map(|name| name.parse().unwrap());
        let plan = Plan {
            writes: Writes::Store,
            policies: policies.to_vec(),
            ..plan(Some("5B,12B,40B"), overhead)
        };
        for curve in &curves(plan, &requests) {
            for point in &curve.points {
                prop_assert_eq!(point.accesses, asked, "{}", curve.policy);
                prop_assert!(point.misses <= asked);
                if curve.policy == "lru" {
                    let counted = (point.misses, point.miss_bytes.unwrap());
                    prop_assert_eq!(counted, lru(&requests, point.pages, overhead));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn all_sizes_at_once_are_those_of_single_runs_where_sizes_are_constant(
        sizes in prop::collection::vec(prop_oneof![0..4_u64, 1..40_u64], 10),
        keys in prop::collection::vec(0..10_u64, 1..120),
        overhead in 0..5_u64,
    ) {
        let all: u64 = sizes.iter().sum();
        prop_assume!(all + overhead > 0);
        let request = |&key: &u64| read(key << 40, sizes[usize::try_from(key).unwrap()]);
        let requests: Vec<Request> = keys.iter().map(request).collect();
        prop_assume!(requests.iter().any(|request| request.length_bytes + overhead > 0));
        check(&requests, overhead, true);
    }

    #[test]
    fn all_sizes_at_once_are_those_of_single_runs_where_objects_only_grow(
        mut sizes in prop::collection::vec(1..9_u64, 8),
        events in prop::collection::vec((0..8_u64, prop_oneof![3 => Just(0), 1 => 0..9_u64]), 1..100),
        overhead in 0..5_u64,
    ) {
        let request = |&(key, more): &(u64, u64)| {
            let size = &mut sizes[usize::try_from(key).unwrap()];
            *size += more;
            read(key << 40, *size)
        };
        let requests: Vec<Request> = events.iter().map(request).collect();
        check(&requests, overhead, true);
    }

    #[test]
    fn sizes_that_change_and_objects_that_go_are_counted_at_each_size(
        events in prop::collection::vec((0..8_u64, 1..60_u64, 0..12_u8), 0..100),
        overhead in 0..5_u64,
    ) {
        let request = |&(key, bytes, kind): &(u64, u64, u8)| {
            Request::new(if kind == 0 { Op::Discard } else { Op::Read }, key, bytes)
        };
        let mut requests = vec![read(3, 9), read(3, 5)];
        requests.extend(events.iter().map(request));
        check(&requests, overhead, false);
    }
}

#[test]
fn a_share_is_of_the_distinct_bytes_with_the_overhead() {
    let requests: Vec<Request> = (0..100).map(|at| read(at % 10, 90 + at % 10)).collect();
    let at = |overhead, sizes| {
        let all = curves(plan(Some(sizes), overhead), &requests);
        all[0].points.iter().map(|point| point.pages).collect::<Vec<_>>()
    };
    assert_eq!(at(0, "10%,50%,100%"), [95, 473, 945]);
    assert_eq!(at(10, "10%,100%,200B"), [105, 200, 1045]);
    let hits = |overhead| {
        let all = curves(plan(Some("945B"), overhead), &requests);
        all.iter().map(|curve| curve.points[0].misses).collect::<Vec<_>>()
    };
    assert_eq!(hits(0), [10, 10, 10], "all fit");
    assert!(hits(1).iter().all(|&misses| misses > 10), "they do not");
}

#[test]
fn a_warm_up_fills_and_is_not_counted() {
    let requests: Vec<Request> = (0..60).map(|at| read(at % 6, 10)).collect();
    let warm = Plan { warmup_requests: 6, ..plan(Some("59B,60B,100%"), 0) };
    let all = curves(warm, &requests);
    let misses =
        |curve: &PolicyCurve| curve.points.iter().map(|point| point.misses).collect::<Vec<_>>();
    assert_eq!(misses(&all[0]), [54, 0]);
    assert_eq!(misses(&all[1]), [54, 0]);
    assert_eq!(all[0].points[0].bytes, Some(540));
}

#[test]
fn a_pipe_is_read_once_and_counted_at_each_size() {
    let requests: Vec<Request> =
        (0..4000).map(|at| read(at * at % 97, 3000 + at * at % 97)).collect();
    let once = Plan { again: false, ..plan(None, 0) };
    let all = curves(once, &requests);
    for point in &all[0].points {
        let counted = (point.misses, point.miss_bytes.unwrap());
        assert_eq!(counted, lru(&requests, point.pages, 0), "{}", point.pages);
    }
    assert!(Objects::new(Plan { again: false, ..plan(Some("10%"), 0) }).is_err());
    assert!(Objects::new(plan(Some("10%,70"), 0)).is_err());
    let arc = Plan { policies: vec!["arc".parse().unwrap()], ..plan(None, 0) };
    assert!(Objects::new(arc).is_err_and(|error| error.to_string().contains("gdsf")));
}

#[test]
fn what_is_too_large_for_an_object_is_left_out_and_counted() {
    let requests = [read(1, 1 << 34), read(2, (1 << 34) + 1), read(3, u64::MAX), read(1, 1 << 34)];
    let mut objects = Objects::new(plan(Some("16GiB"), 0)).unwrap();
    objects.take_requests(&requests);
    assert_eq!((objects.tally().unplaced, objects.distinct()), (2, 1));
}
