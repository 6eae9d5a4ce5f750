//! What a curve takes a distinct page at its most, as the kernel counts it, against what is said
//! before the reading begins. Each curve has a process of its own: what one gave back to the
//! allocator would be there already for the next.

#![expect(clippy::print_stdout, reason = "the figures are read with --nocapture")]

use std::env;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nbuf::experiment::grid::{Grid, Names, Plan};
use nbuf::internal::workload::pages::{Whole, Writes};
use nbuf::trace::request::{Op, Request, Unit};

/// Requests handed over at once.
const BATCH: usize = 4096;
const PAGE_BYTES: u64 = 4096;
/// What may be taken that does not go with the pages: text of this program that the kernel maps around each fault,
/// and room of the allocator. It was 1.0 to 1.2 MiB.
const FIXED_BYTES: u64 = 2 << 20;

/// A number of the kernel about this process, in bytes.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a number of it");
    let kib: u64 = line.trim_matches([':', '\t', ' ']).trim_end_matches(" kB").parse().unwrap();
    kib << 10
}

/// As many pages as the table of keys has just grown for.
fn pages_after_growth() -> u64 {
    let mut entries = 4096;
    while entries < 1 << 20 {
        entries += entries / 4;
    }
    entries * 3 / 4
}

/// Every page once, and then five times as often any of them: so all depths are hit.
fn requests(pages: u64, unit: Unit) -> impl Iterator<Item = Request> {
    let mut state = 1_u64;
    (0..6 * pages).map(move |at| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let page = if at < pages { at } else { (state >> 33) % pages };
        let (offset, length_bytes) = match unit {
            Unit::Keys => (page, 1),
            // The second page of the last one is one more than there are: the first again.
            Unit::Bytes if page + 1 < pages => (page * PAGE_BYTES, PAGE_BYTES + 1),
            Unit::Bytes => (0, 1),
        };
        Request::new(Op::Read, offset, length_bytes)
    })
}

/// What was said and what was taken, in bytes a page.
fn measure(policies: &str, sizes: Option<&str>, unit: Unit, again: bool) -> (f64, f64) {
    let plan = Plan {
        policies: policies.split(',').map(|name| name.parse().unwrap()).collect(),
        sizes: sizes.map(|sizes| sizes.parse().unwrap()),
        page_bytes: PAGE_BYTES,
        unit,
        whole: Whole::No,
        writes: Writes::Allocate,
        prefetching: None,
        all_sizes: true,
        every: None,
        by: None,
        warmup_requests: 0,
        seed: 0,
        again,
        parallel: false,
    };
    let pages = pages_after_growth();
    let before = status("VmRSS");
    let mut grid = Grid::new(plan).unwrap();
    let said = grid.page_bytes();
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let mut trace = requests(pages, unit);
        loop {
            batch.clear();
            batch.extend(trace.by_ref().take(BATCH));
            if batch.is_empty() {
                break;
            }
            grid.take(&batch);
        }
        if !grid.again().unwrap() {
            break;
        }
    }
    assert_eq!(grid.distinct_pages(), pages);
    let curves = grid.finish(&Names { objects: &[], target: None }).unwrap();
    let taken = status("VmHWM").saturating_sub(before + FIXED_BYTES);
    assert!(curves.iter().all(|curve| curve.distinct_pages == pages));
    (said as f64, taken as f64 / pages as f64)
}

/// Policies, sizes, the unit, whether there is a second reading, and the most bytes a page.
type Case = (&'static str, Option<&'static str>, Unit, bool, f64);

/// What must be taken of what is said, lest more and more is said.
const SHARE_MIN: f64 = 0.7;

const SIZES: Option<&str> = Some("1000,100000,500000,1000000");
const CASE_COUNT: usize = 5;
const CASES: [Case; CASE_COUNT] = [
    ("lru", None, Unit::Keys, false, 40.0),
    ("lru", None, Unit::Bytes, false, 40.0),
    ("lru,opt", SIZES, Unit::Keys, false, f64::MAX),
    ("lru,opt", None, Unit::Keys, true, f64::MAX),
    ("s3-fifo,2q", SIZES, Unit::Keys, false, f64::MAX),
];

/// Processes at once. The kernel counts the memory of each by itself.
const AT_ONCE: usize = 2;

/// Which case a process of its own is to measure.
const CASE: &str = "NBUF_MEMORY_CASE";

#[test]
fn a_distinct_page_takes_what_was_said() {
    if let Ok(case) = env::var(CASE) {
        return check(CASES[case.parse::<usize>().unwrap()]);
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let case @ 0..CASE_COUNT = next.fetch_add(1, Ordering::Relaxed) {
                    check_in_a_process(case);
                }
            });
        }
    });
}

fn check_in_a_process(case: usize) {
    let mut command = Command::new(env::current_exe().unwrap());
    let output = command.arg("--nocapture").env(CASE, case.to_string()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

fn check((policies, sizes, unit, again, most): Case) {
    let (said, taken) = measure(policies, sizes, unit, again);
    println!("{policies} {sizes:?} {unit:?}: said {said}, taken {taken:.1} bytes a page");
    assert!(taken <= said.min(most), "{policies}: said {said}, taken {taken:.1}");
    assert!(taken >= SHARE_MIN * said, "{policies}: said {said}, taken {taken:.1}");
}
