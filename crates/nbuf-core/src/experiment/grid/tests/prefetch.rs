//! A grid of caches that prefetch.

use super::{plan, run};
use crate::experiment::grid::{Grid, Plan};
use crate::experiment::result::PointPrefetches;
use crate::trace::request::{Op, Request};
use crate::workload::pages::Writes;
use crate::workload::within::Growing;

/// The same plan with a prefetcher.
fn prefetching(plan: Plan, prefetch: &str) -> Plan {
    Plan { prefetching: Some(prefetch.parse().unwrap()), ..plan }
}

#[test]
fn threads_count_what_one_counts() {
    for (seed, prefetch) in (0..).zip(["next:pages=2", "stride", "amp", "mithril:mine=10"]) {
        let mut random = crate::clock::Random::new(seed);
        let request = |at: u64| {
            let op = match random.below(12) {
                0 => Op::Discard,
                1 => Op::Write,
                _ => Op::Read,
            };
            let page = if random.below(3) == 0 { random.below(90) } else { at / 3 % 200 };
            Request::new(op, page * 4096, 1 + random.below(9000))
        };
        let requests: Vec<Request> = (0..3000).map(request).collect();
        for sizes in [None, Some("1,7,20,3"), Some("10%,50%,100%")] {
            let draw = |parallel| {
                let plan = prefetching(plan("lru,fifo,arc,w-tinylfu,random", sizes), prefetch);
                let plan = Plan { writes: Writes::Around, warmup_requests: 200, parallel, ..plan };
                run(plan, &requests)
            };
            let curves = draw(true);
            let json = |curves| serde_json::to_string(curves).unwrap();
            assert_eq!(json(&curves), json(&draw(false)), "{prefetch}");
            for point in curves.iter().flat_map(|curve| &curve.points) {
                let PointPrefetches { prefetches, useful, useless, unused, device_reads } =
                    point.prefetch.unwrap();
                assert_eq!(prefetches, useful + useless + unused);
                assert_eq!(device_reads, point.misses + prefetches);
            }
        }
    }
}

#[test]
fn a_discard_takes_along_pages_that_no_request_named() {
    let request = |op, page: u64| Request::new(op, page * 4096, 4096);
    let requests = [
        request(Op::Read, 10),
        request(Op::Discard, 11),
        request(Op::Read, 12),
        request(Op::Read, 11),
    ];
    let curve = &run(prefetching(plan("lru", Some("50")), "next:pages=2:on=miss"), &requests)[0];
    let point = curve.points[0];
    assert_eq!((point.accesses, point.misses), (3, 2), "pages 10 and 11 miss");
    let found = point.prefetch.unwrap();
    // Pages 11 and 12, and behind page 11 only page 13.
    assert_eq!((found.prefetches, found.useful, found.useless, found.unused), (3, 1, 1, 1));
    assert_eq!(curve.prefetch.as_deref(), Some("next:pages=2:on=miss"));
}

#[test]
fn memory_goes_with_the_pages_that_were_only_prefetched() {
    let requests: Vec<Request> =
        (0..100).map(|at| Request::new(Op::Read, at * 100 * 4096, 4096)).collect();
    let grid = |prefetch| {
        let mut grid = Grid::new(prefetching(plan("lru", Some("20,30")), prefetch)).unwrap();
        let before = std::slice::from_ref(&grid).most(&requests);
        grid.take(&requests);
        (before, std::slice::from_ref(&grid).most(&[]))
    };
    let [few, many] = ["next:pages=1", "next:pages=9"].map(grid);
    let pages = 8 * 100 * 2;
    assert!(many.1 - few.1 >= pages * 37, "{few:?} {many:?}");
    assert!(few.1 <= few.0 && many.1 <= many.0, "{few:?} {many:?}");
}

#[test]
fn sizes_that_a_pipe_does_not_give_are_refused() {
    let plan = Plan { again: false, ..prefetching(plan("lru", Some("10%")), "next") };
    assert!(Grid::new(plan).is_err());
}
