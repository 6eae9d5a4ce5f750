//! Tests of the grid against caches that are run one by one, and against its input.

mod prefetch;

use proptest::prelude::*;

use super::*;
use crate::cache::policy::{self, Access, Outcome};
use crate::experiment::result::{CurvePoint, PolicyCurve};
use crate::experiment::target::Target;
use crate::trace::request::{Op, Request};

fn plan(policies: &str, sizes: Option<&str>) -> Plan {
    Plan {
        policies: policies.split(',').map(|name| name.parse().unwrap()).collect(),
        sizes: sizes.map(|sizes| sizes.parse().unwrap()),
        page_bytes: 4096,
        unit: Unit::Bytes,
        whole: Whole::No,
        writes: Writes::Allocate,
        prefetching: None,
        all_sizes: false,
        every: None,
        by: None,
        warmup_requests: 0,
        seed: 0,
        again: true,
        parallel: true,
    }
}

/// A second a request, two pages each but the last of a loop, over two objects.
fn requests(count: u64) -> Vec<Request> {
    let request = |at: u64| Request {
        time_ns: i64::try_from(at).unwrap() * 1_000_000_000,
        offset: at * 7 % 50 * 4096,
        length_bytes: if at % 5 == 4 { 1 } else { 8192 },
        object: u32::try_from(at % 2).unwrap(),
        task: u32::try_from(at % 3).unwrap(),
        op: if at.is_multiple_of(4) { Op::Write } else { Op::Read },
        ..Request::new(Op::Read, 0, 0)
    };
    (0..count).map(request).collect()
}

fn run(plan: Plan, requests: &[Request]) -> Vec<PolicyCurve> {
    run_for(plan, requests, None)
}

fn run_for(plan: Plan, requests: &[Request], target: Option<Target>) -> Vec<PolicyCurve> {
    let mut grid = Grid::new(plan).unwrap();
    requests.chunks(13).for_each(|requests| grid.take(requests));
    if grid.again().unwrap() {
        requests.chunks(17).for_each(|requests| grid.take(requests));
        assert!(!grid.again().unwrap());
    }
    let objects = ["one".to_owned(), "two".to_owned()];
    grid.finish(&Names { objects: &objects, target }).unwrap()
}

/// What one cache of a policy misses: accesses, and requests.
fn alone(name: &str, pages: u32, requests: &[Request]) -> (u64, u64) {
    let mut numbers = std::collections::HashMap::new();
    let mut cache = (policy::find(name).unwrap().build)(pages, 0);
    let (mut misses, mut request_misses) = (0, 0);
    for request in requests {
        let last = (request.offset + request.length_bytes - 1) / 4096;
        let mut has_missed = false;
        for page in request.offset / 4096..=last {
            let next = u32::try_from(numbers.len()).unwrap();
            let page = *numbers.entry((request.object, page)).or_insert(next);
            if cache.access(Access::to(page)) != Outcome::Hit {
                misses += 1;
                has_missed = true;
            }
        }
        request_misses += u64::from(has_missed);
    }
    (misses, request_misses)
}

#[test]
fn every_cell_is_the_cache_run_alone() {
    let requests = requests(700);
    for sizes in [Some("3,10,40,60..100:20"), Some("5%,50%,100%"), Some("7"), None] {
        for curve in run(plan("lru,fifo", sizes), &requests) {
            assert!(!curve.points.is_empty());
            for point in &curve.points {
                let (misses, of_requests) =
                    alone(&curve.policy, u32::try_from(point.pages).unwrap(), &requests);
                let what = format!("{} at {}", curve.policy, point.pages);
                assert_eq!(
                    (point.misses, point.request_misses),
                    (misses, Some(of_requests)),
                    "{what}"
                );
                assert_eq!((point.accesses, point.requests), (1260, Some(700)), "{what}");
            }
            assert_eq!(curve.distinct_pages, 90);
        }
    }
}

#[test]
fn a_pipe_is_read_once() {
    let mut plan = plan("lru,fifo", None);
    plan.again = false;
    let curves = run(plan, &requests(700));
    let sizes = |at: usize| curves[at].points.iter().map(|point| point.pages).collect::<Vec<_>>();
    assert_eq!(sizes(1), [64, 128]);
    assert!(sizes(0).len() > 10, "LRU is exact at every size: {:?}", sizes(0));
}

#[test]
fn parts_sum_up_to_the_whole() {
    let requests = requests(700);
    for (by, names) in [
        (By::File, vec!["one", "two"]),
        (By::Task, vec!["0", "1", "2"]),
        (By::Op, vec!["read", "write"]),
    ] {
        let mut plan = plan("lru", None);
        (plan.by, plan.every) = (Some(by), Some(Every::Nanoseconds(100_000_000_000)));
        let curve = run(plan, &requests).remove(0);
        let mut found: Vec<&str> = curve.groups.iter().map(|group| &*group.name).collect();
        found.sort_unstable();
        assert_eq!(found, names);
        assert_eq!(curve.windows.len(), 7);
        assert!(curve.windows.iter().all(|window| window.requests == 100));
        let sum = |parts: Vec<&[CurvePoint]>| -> Vec<(u64, u64)> {
            let at = |at: usize| {
                let points = parts.iter().map(|points| points[at]);
                points.fold((0, 0), |sum, point| (sum.0 + point.accesses, sum.1 + point.misses))
            };
            (0..curve.points.len()).map(at).collect()
        };
        let whole = sum(vec![&curve.points]);
        assert_eq!(sum(curve.groups.iter().map(|group| &group.points[..]).collect()), whole);
        assert_eq!(sum(curve.windows.iter().map(|window| &window.points[..]).collect()), whole);
    }
}

#[test]
fn windows_of_requests_and_quiet_hours() {
    let mut quiet = requests(20);
    quiet.iter_mut().skip(10).for_each(|request| request.time_ns += 1_000_000_000_000);
    let mut plan = plan("lru", None);
    plan.every = Some(Every::Nanoseconds(10_000_000_000));
    let windows = run(plan.clone(), &quiet).remove(0).windows;
    let from: Vec<i64> = windows.iter().map(|window| window.from_ns / 1_000_000_000).collect();
    assert_eq!(from, [0, 1010]);
    plan.every = Some(Every::Requests(8));
    let windows = run(plan, &quiet).remove(0).windows;
    assert_eq!(windows.iter().map(|window| window.requests).collect::<Vec<_>>(), [8, 8, 4]);
}

#[test]
fn what_is_discarded_misses_and_a_write_around_takes_its_page_along() {
    let request = |op, page: u64| Request::new(op, page * 4096, 4096);
    let requests = [
        request(Op::Read, 1),
        request(Op::Read, 2),
        request(Op::Write, 1),
        request(Op::Read, 1),
        request(Op::Discard, 2),
        request(Op::Read, 2),
        request(Op::Flush, 0),
    ];
    for (writes, want) in
        [(Writes::Allocate, (5, 3)), (Writes::Around, (4, 4)), (Writes::Ignore, (4, 3))]
    {
        for sizes in [None, Some("5")] {
            let mut plan = plan("lru,fifo", sizes);
            plan.writes = writes;
            for curve in run(plan, &requests) {
                let last = curve.points.last().unwrap();
                assert_eq!((last.accesses, last.misses), want, "{writes:?} {}", curve.policy);
            }
        }
    }
}

#[test]
fn a_target_is_met_by_the_smallest_size_that_does() {
    let requests: Vec<Request> = requests(700);
    let hit = Target::Hit(0.9);
    let curve = run_for(plan("lru", None), &requests, Some(hit)).remove(0);
    let target = curve.target.unwrap();
    assert!(target.met);
    let ratio = |pages: u64| {
        let (misses, _) = alone("lru", u32::try_from(pages).unwrap(), &requests);
        1.0 - misses as f64 / 1260.0
    };
    assert!(ratio(target.pages) >= 0.9 && ratio(target.pages - 1) < 0.9, "{target:?}");
    let curve = run_for(plan("fifo", None), &requests, Some(Target::Hit(0.9999))).remove(0);
    assert_eq!(curve.target.map(|target| target.met), Some(false));
}

#[test]
fn a_loop_bends_where_it_fits() {
    let request = |at: u64| Request { offset: at % 60 * 4096, length_bytes: 1, ..requests(1)[0] };
    let requests: Vec<Request> = (0..600).map(request).collect();
    let curve = run(plan("lru", None), &requests).remove(0);
    let corners = curve.corners.unwrap();
    assert_eq!((corners.floor_pages, corners.knee_pages, corners.ceiling_pages), (59, 60, 60));
    assert!(curve.points.iter().any(|point| point.pages == 60), "{:?}", curve.points);
}

#[test]
fn an_empty_trace_has_no_misses() {
    for sizes in [None, Some("10")] {
        for curve in run(plan("lru,fifo", sizes), &[]) {
            assert!(curve.points.iter().all(|point| point.misses == 0));
            assert_eq!((curve.distinct_pages, curve.corners), (0, None));
        }
    }
}

/// Returns the dropped policies, and the names of the curves. The first reading has 200 requests,
/// the second has `count`.
fn after_second(policies: &str, count: u64) -> (Vec<String>, Vec<String>) {
    let mut grid = Grid::new(plan(policies, None)).unwrap();
    grid.take(&requests(200));
    assert!(grid.again().unwrap());
    grid.take(&requests(count));
    let dropped = grid.drop_unequal();
    let distinct = grid.distinct_pages();
    let curves = grid.finish(&Names { objects: &[], target: None }).unwrap();
    assert!(curves.iter().all(|curve| curve.distinct_pages == distinct), "{curves:?}");
    (dropped, curves.into_iter().map(|curve| curve.policy).collect())
}

#[test]
fn a_second_reading_that_is_not_the_first_says_nothing() {
    assert_eq!(
        after_second("fifo,lru,opt", 200),
        (vec![], vec!["fifo".into(), "lru".into(), "opt".into()])
    );
    for count in [0, 199, 201] {
        assert_eq!(
            after_second("fifo,lru,opt", count),
            (vec!["fifo".into(), "opt".into()], vec!["lru".into()])
        );
    }
}

/// Requests to keys of which some are wanted much more often than others.
fn skewed() -> Vec<Request> {
    let request = |key: u64| Request::new(Op::Read, key, 1);
    (0..2000_u64).map(|at| request(at * at % 311 % (at % 97 + 1))).collect()
}

#[test]
fn keys_may_be_called_anything() {
    let plain = skewed();
    let rename = |key: u64| key.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5bd1_e995;
    let renamed: Vec<Request> =
        plain.iter().map(|plain| Request { offset: rename(plain.offset), ..*plain }).collect();
    let names: Vec<&str> = policy::POLICIES.iter().map(|row| row.name).collect();
    let run = |requests| run(Plan { unit: Unit::Keys, ..plan(&names.join(","), None) }, requests);
    assert_eq!(run(&plain), run(&renamed));
}

#[test]
fn a_parameter_makes_another_policy_of_the_same_row() {
    let plan = plan("lru,v1:busy=0,v1,v1:busy=1,v1:busy=9", Some("3..40:1"));
    let curves = run(Plan { unit: Unit::Keys, ..plan }, &skewed());
    let names: Vec<&str> = curves.iter().map(|curve| &curve.policy[..]).collect();
    assert_eq!(names, ["lru", "v1:busy=0", "v1", "v1:busy=1", "v1:busy=9"]);
    assert_eq!(curves[0].points, curves[1].points);
    assert_eq!(curves[2].points, curves[3].points);
    assert_ne!(curves[0].points, curves[4].points);
}

/// Returns requests for a loop of `looped` pages. In between are other pages, requested less often
/// the higher their number.
fn mixed(seed: u64, looped: u64) -> Vec<Request> {
    let mut state = seed;
    let mut page = |at: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(at | 1);
        let share = (state >> 40) as f64 / f64::from(1 << 24);
        if at.is_multiple_of(3) {
            9000 + at / 3 % looped
        } else {
            crate::units::whole(share.powi(3) * 2e3)
        }
    };
    let request = |at: u64| Request { offset: page(at) * 4096, length_bytes: 1, ..requests(1)[0] };
    (0..20_000).map(request).collect()
}

#[test]
fn the_three_sizes_of_a_grid_say_between_which_they_lie() {
    for seed in 1..12 {
        // The same caches, once counted at every size and once at some.
        let curves = run(plan("lru,v1:busy=0", None), &mixed(seed, 70 * seed));
        assert_eq!(curves[0].corners_between, None);
        let (exact, grid) = (curves[0].corners.unwrap(), curves[1].corners.unwrap());
        assert_ne!(exact, grid, "{seed}: a grid that is no test");
        let between = curves[1].corners_between.unwrap();
        for ([low, high], exact, grid) in [
            (between.floor_pages, exact.floor_pages, grid.floor_pages),
            (between.knee_pages, exact.knee_pages, grid.knee_pages),
            (between.ceiling_pages, exact.ceiling_pages, grid.ceiling_pages),
        ] {
            let range = low..=high;
            assert!(range.contains(&exact) && range.contains(&grid), "{seed}: {exact} {between:?}");
        }
    }
    let every = run(plan("v1:busy=0", Some("1..90:1")), &requests(700)).remove(0);
    let (corners, between) = (every.corners.unwrap(), every.corners_between.unwrap());
    assert_eq!(between.floor_pages, [corners.floor_pages; 2], "every size is known");
    assert_eq!(between.ceiling_pages, [corners.ceiling_pages; 2]);
}

#[test]
fn what_a_warm_up_missed_is_not_counted() {
    let requests = requests(700);
    let policies = "lru,fifo,clock,sieve,opt,arc,s3-fifo,v1:busy=2";
    for sizes in ["3,10,40,60..100:20", "7,20"] {
        let whole = run(plan(policies, Some(sizes)), &requests);
        let begin = run(plan(policies, Some(sizes)), &requests[..301]);
        let mut plan = plan(policies, Some(sizes));
        plan.warmup_requests = 301;
        let warm = run(plan, &requests);
        for ((whole, begin), warm) in whole.iter().zip(&begin).zip(&warm) {
            for ((whole, begin), warm) in whole.points.iter().zip(&begin.points).zip(&warm.points) {
                let counts = |point: &CurvePoint| {
                    let of_requests = point.requests.unwrap();
                    [point.accesses, point.misses, of_requests, point.request_misses.unwrap()]
                };
                let (whole, begin) = (counts(whole), counts(begin));
                let want: [u64; 4] = std::array::from_fn(|at| whole[at] - begin[at]);
                assert_eq!(counts(warm), want);
            }
        }
    }
    // On the second reading too, and in parts.
    let mut plan = plan("lru,fifo", None);
    (plan.warmup_requests, plan.by) = (301, Some(By::Op));
    for curve in run(plan, &requests) {
        assert!(curve.points.iter().all(|point| point.requests == Some(399)), "{}", curve.policy);
        let parts: u64 = curve.groups.iter().map(|group| group.points[0].accesses).sum();
        assert!(curve.groups.is_empty() || parts == curve.points[0].accesses);
    }
}

/// An engine that panics, as one with a defect would.
struct Broken;

impl crate::cache::engine::Engine for Broken {
    fn access(&mut self, _: &crate::cache::engine::Accesses) {
        panic!("a defect");
    }

    fn remove(&mut self, _: &[u32]) {}

    fn start_counting(&mut self) {}

    fn finish(self: Box<Self>) -> Vec<crate::cache::engine::Count> {
        Vec::new()
    }
}

#[test]
fn a_panic_of_a_job_is_one_of_the_grid() {
    let mut grid = Grid::new(plan("fifo", Some("3"))).unwrap();
    grid.counter.settle().cells[0].engines = vec![Box::new(Broken)];
    let take = std::panic::AssertUnwindSafe(|| {
        requests(7000).chunks(50).for_each(|requests| grid.take(requests));
        grid.finish(&Names::default())
    });
    let panic = std::panic::catch_unwind(take).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a defect"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn threads_count_what_one_counts(
        seed in 0..u64::MAX,
        warmup_requests in 0..900_u64,
        around in proptest::bool::ANY,
        by_op in proptest::bool::ANY,
        sizes in prop_oneof![Just(None), Just(Some("1,7,20,3")), Just(Some("2..60:3")), Just(Some("9"))],
    ) {
        let mut random = crate::clock::Random::new(seed);
        let requests: Vec<Request> = (0..1000)
            .map(|_| {
                let op = match random.below(4) {
                    0 => Op::Discard,
                    1 => Op::Write,
                    _ => Op::Read,
                };
                let page = random.below(60).min(random.below(90));
                Request::new(op, page * 4096, 1 + random.below(9000))
            })
            .collect();
        let draw = |parallel| {
            let mut plan = plan("lru,opt,fifo,sieve,arc,s3-fifo,random", sizes);
            plan.writes = if around { Writes::Around } else { Writes::Allocate };
            plan.by = by_op.then_some(By::Op);
            (plan.warmup_requests, plan.parallel, plan.seed) = (warmup_requests, parallel, seed);
            serde_json::to_string(&run(plan, &requests)).unwrap()
        };
        prop_assert_eq!(draw(true), draw(false));
    }
}
