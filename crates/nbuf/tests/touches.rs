//! Repeated touches of mapped pages: which are seen, of whom, and that the command does not notice.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use nbuf::trace::{CacheEvent, Looks, Trace};
use nbuf::workload::format::native;
use support::{Need, Place, requires};

/// Maps a file of 400 pages, touches all of them once, then the first 32 again and again for two seconds:
/// at once, in a child that maps it again, or through the mapping that a child was born with.
const PROGRAM: &str = "
import mmap, os, sys, time
path, where = sys.argv[1], sys.argv[2]
def open_map():
    m = mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)
    for page in range(400): m[page * 4096]
    return m
def work(m):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for page in range(32): m[page * 4096]
        time.sleep(0.001)
if where == 'here': work(open_map())
m = open_map() if where == 'born' else None
if where != 'here':
    if os.fork() == 0:
        work(m or open_map())
        os._exit(0)
    os.wait()
print(sum(open(path, 'rb').read()[:100]))
";

/// Fewer than a large page has, which would have one mark for all.
const PAGES: usize = 400;

/// How often each page of the file was touched again.
fn touches(trace: &Trace, path: &Path) -> BTreeMap<u64, usize> {
    let is_it = |name: &String| name == path.to_str().unwrap();
    let file = trace.files.iter().position(is_it).expect("the file is in the trace");
    let mut touches = BTreeMap::new();
    for record in &trace.records {
        if record.file.0 as usize == file && record.op == CacheEvent::Touch {
            assert_eq!(record.length_bytes, 4096);
            *touches.entry(record.offset_bytes / 4096).or_default() += 1;
        }
    }
    touches
}

/// What was recorded of a run, and how that was looked at; nothing where it cannot be.
fn recorded(place: &Place, arguments: &[&str], path: &Path) -> Option<(Trace, Looks)> {
    let mut nbuf = place.nbuf(["record", "-o", "t.parquet", "--", "python3", "-c", PROGRAM]);
    let output = nbuf.arg(path).args(arguments).output().unwrap();
    let recorded = support::Recorded::of(output, &place.path("t.parquet"));
    fs::remove_file(place.path("t.parquet")).unwrap();
    let trace = recorded.trace().clone();
    let Some(looks) = trace.facts.capture.looks else {
        support::skip("page tables cannot be read here; `nbuf doctor` says why");
        return None;
    };
    Some((trace, looks))
}

#[test]
fn what_is_touched_again_is_seen_and_what_is_not_is_not() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Program("python3")]) else { return };
    let place = Place::new();
    let path = place.file("file", PAGES * 4096);
    for case in ["here", "child", "born"] {
        let Some((trace, looks)) = recorded(&place, &[case], &path) else { return };
        let touches = touches(&trace, &path);
        // Two seconds have nine looks; on a busy machine fewer, and not every look sees each page.
        let hot = (0..32).filter_map(|page| touches.get(&page)).filter(|&&times| times >= 2);
        assert_eq!(hot.count(), 32, "{case}: {looks:?} {touches:?}");
        // The last loop is in one interval with what touches all, in the worst case.
        let cold = touches.iter().filter(|&(&page, &times)| page >= 32 && times > 1);
        assert_eq!(cold.count(), 0, "{case}: {touches:?}");
        assert!(looks.rounds >= 3 && looks.pages_max >= 32, "{case}: {looks:?}");
        assert!(looks.seen_pages >= PAGES as u64, "{case}: {looks:?}");
    }
}

#[test]
fn copies_of_the_process_and_memory_of_its_own_are_no_pages_of_the_file() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Program("python3")]) else { return };
    let place = Place::new();
    let path = place.file("file", PAGES * 4096);
    let program = "
import mmap, os, sys, time
m = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0, flags=mmap.MAP_PRIVATE,
              prot=mmap.PROT_READ | mmap.PROT_WRITE)
own = mmap.mmap(-1, 1 << 20)
for page in range(400): m[page * 4096] = 1
end = time.monotonic() + 1.5
while time.monotonic() < end:
    for page in range(400): m[page * 4096]
    for page in range(256): own[page * 4096] = 1
    time.sleep(0.001)
";
    let mut nbuf = place.nbuf(["record", "-o", "t.parquet", "--", "python3", "-c", program]);
    let output = nbuf.arg(&path).output().unwrap();
    let recorded = support::Recorded::of(output, &place.path("t.parquet"));
    assert_eq!(touches(recorded.trace(), &path), BTreeMap::new());
}

/// Touches pages of a mapping at random, some much more often than others: 10,000 a second.
const AT_RANDOM: &str = "
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#define PAGES 4096
int main(void) {
    static long pages[PAGES];
    volatile char *mapped =
        mmap(0, PAGES * 4096L, PROT_READ, MAP_SHARED, open(\"mapped\", O_RDONLY), 0);
    madvise((void *)mapped, PAGES * 4096L, MADV_RANDOM);
    srand48(7);
    for (long page = 0; page < PAGES; page++) {
        long other = drand48() * (page + 1);
        pages[page] = pages[other];
        pages[other] = page;
    }
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (int touches = 0; touches < 40000; touches++) {
        double random = drand48();
        mapped[pages[(long)(PAGES * random * random * random)] * 4096];
        if (touches % 100) continue;
        at.tv_nsec += 10000000;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
    }
}";

/// Takes what was written to a file out of memory.
fn drop_from_cache(path: &Path) {
    File::options().write(true).open(path).unwrap().sync_all().unwrap();
    let mut dd = Command::new("dd");
    dd.arg(format!("if={}", path.display())).args(["iflag=nocache", "count=0", "status=none"]);
    assert!(dd.status().unwrap().success());
}

#[test]
fn fills_of_a_program_that_maps_its_file_are_predicted() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Program("cc")]) else { return };
    // The program sleeps most of the time.
    std::thread::scope(|scope| {
        for is_cold in [true, false] {
            scope.spawn(move || check_fills(is_cold));
        }
    });
}

fn check_fills(is_cold: bool) {
    let place = Place::new();
    fs::write(place.path("program.c"), AT_RANDOM).unwrap();
    let mut cc = Command::new("cc");
    let cc = cc.args(["-O1", "program.c", "-o", "program"]).current_dir(place.path("."));
    assert!(cc.status().unwrap().success());
    let options = ["--json", "--verify-at", "80%,60%", "--trace-out", "t.parquet"];
    let path = place.file("mapped", 16 << 20);
    if is_cold {
        drop_from_cache(&path);
    }
    let sized = place.size(&options, &["./program"]);
    let report = sized.json();
    assert_eq!(report["exit_status"], 0, "{sized:?}");
    let trace = native::read(File::open(place.path("t.parquet")).unwrap()).unwrap();
    fs::remove_file(place.path("t.parquet")).unwrap();
    if trace.facts.capture.looks.is_none() {
        return support::skip("page tables cannot be read here; `nbuf doctor` says why");
    }
    // A file that was just written may be mapped by large pages, and is measured then.
    let is_bound = report["capture"]["is_mapped"] == true;
    assert!(!is_bound || !is_cold, "{}", report["capture"]);
    for run in report["verify"].as_array().unwrap() {
        let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run:#}"));
        let fills = number("measured_fills");
        // On a busy machine looks are seldom.
        let low = number("predicted_fills_low") * 0.75;
        let high = number("predicted_fills_high") * 1.25;
        assert!(fills >= low && (fills <= high || is_bound), "{is_cold}: {run:#}");
    }
}
