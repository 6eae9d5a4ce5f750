//! Advice about how a file will be read reaches the reads that it holds for, by both ways of recording.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::HashSet;
use std::path::Path;

use nbuf::trace::{ADVICE_ON_MAPPING, CacheEvent, Trace};
use support::{Need, Place, requires_shared};

/// Opens a file, says how it will be read, and reads some of it: in this thread, in another one, in a
/// child that opens it again, or through a mapping, for which it is said once more.
const PROGRAM: &str = "
import mmap, os, sys, threading, time
path, advice, where = sys.argv[1], sys.argv[2], sys.argv[3]
f = os.open(path, os.O_RDONLY)
if advice != 'none': os.posix_fadvise(f, 0, 0, getattr(os, 'POSIX_FADV_' + advice.upper()))
def work(f):
    for at in range(0, 256, 7): os.pread(f, 4096, at * 4096)
if where == 'here': work(f)
if where == 'thread':
    thread = threading.Thread(target=work, args=(f,))
    thread.start()
    thread.join()
if where == 'child':
    if os.fork() == 0:
        work(os.open(path, os.O_RDONLY))
        os._exit(0)
    os.wait()
if where == 'mapped':
    m = mmap.mmap(f, 0, prot=mmap.PROT_READ)
    m.madvise(getattr(mmap, 'MADV_' + advice.upper()))
    for at in range(0, 256, 7): m[at * 4096]
# What advice is about is looked up while the process lives.
time.sleep(0.3)
";

/// The tasks that did this to the file, and for advice what was said.
fn tasks(trace: &Trace, path: &Path, op: CacheEvent) -> HashSet<(u32, u32)> {
    let is_it = |name: &String| name == path.to_str().unwrap();
    let file = trace.files.iter().position(is_it).expect("the file is in the trace");
    let of =
        trace.records.iter().filter(|record| record.file.0 as usize == file && record.op == op);
    let what = |length: u32| if op == CacheEvent::Advise { length } else { 0 };
    of.map(|record| (record.task, what(record.length_bytes))).collect()
}

#[test]
fn advice_reaches_the_reads_of_every_thread_of_its_process() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("file", 1 << 20);
    let check = |capture: &str, command: &[&str], want: Option<u32>| {
        let case = format!("{capture} {command:?}");
        let mut nbuf = place.nbuf(["record", "--capture", capture, "-o", "t.parquet", "--"]);
        match command {
            ["cat"] => nbuf.arg("cat").arg(&path),
            _ => nbuf.args(["python3", "-c", PROGRAM]).arg(&path).args(command),
        };
        let recorded = support::Recorded::of(nbuf.output().unwrap(), &place.path("t.parquet"));
        std::fs::remove_file(place.path("t.parquet")).unwrap();
        let trace = recorded.trace();
        let readers = tasks(trace, &path, CacheEvent::Read);
        assert_eq!(readers.len(), 1, "{case}: {readers:?}");
        let (reader, _) = *readers.iter().next().unwrap();
        let said = tasks(trace, &path, CacheEvent::Advise);
        let heard = said.iter().find(|&&(task, _)| task == reader).map(|&(_, advice)| advice);
        assert_eq!(heard, want, "{case}: {said:?}");
    };
    for capture in ["perf", "calls"] {
        check(capture, &["random", "here"], Some(1));
        check(capture, &["sequential", "here"], Some(2));
        check(capture, &["random", "thread"], Some(1));
        check(capture, &["random", "child"], None);
        check(capture, &["none", "here"], None);
        // It speaks for itself, and may be gone when it is asked which file it meant.
        check(capture, &["cat"], Some(2));
    }
}

#[test]
fn advice_on_a_mapping_reaches_its_faults() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("file", 1 << 20);
    for (advice, want) in [("random", 1), ("sequential", 2), ("normal", 0)] {
        let mut nbuf = place.nbuf(["record", "-o", "t.parquet", "--", "python3", "-c", PROGRAM]);
        let output = nbuf.arg(&path).args([advice, "mapped"]).output().unwrap();
        let recorded = support::Recorded::of(output, &place.path("t.parquet"));
        std::fs::remove_file(place.path("t.parquet")).unwrap();
        let said = tasks(recorded.trace(), &path, CacheEvent::Advise);
        let said: Vec<u32> = said.into_iter().map(|(_, advice)| advice).collect();
        // The file is not read: only what was said of its mapping is passed on.
        assert_eq!(said, [ADVICE_ON_MAPPING + want], "{advice}");
    }
}

/// Asks for the pages of a file ahead of time, in one of the ways that there are, and reads some of them.
const AHEAD: &str = "
import ctypes, mmap, os, random, sys, time
path, way = sys.argv[1], sys.argv[2]
f = os.open(path, os.O_RDONLY)
if way == 'mapping': m = mmap.mmap(f, 0, prot=mmap.PROT_READ)
if way != 'never': os.posix_fadvise(f, 0, 0, os.POSIX_FADV_RANDOM)
for at in range(0, os.fstat(f).st_size, 64 << 10):
    if way == 'readahead': ctypes.CDLL(None).readahead(f, ctypes.c_long(at), ctypes.c_long(64 << 10))
    if way == 'advice': os.posix_fadvise(f, at, 64 << 10, os.POSIX_FADV_WILLNEED)
    if way == 'mapping': m.madvise(mmap.MADV_WILLNEED, at, 64 << 10)
# Files are looked up while the process lives.
time.sleep(0.5)
pages = random.Random(7)
for _ in range(200): os.pread(f, 4096, pages.randrange(os.fstat(f).st_size // 4096) * 4096)
";

#[test]
fn pages_that_are_asked_for_ahead_of_time_are_filled() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("file", 8 << 20);
    let pages = 8 << 8;
    for capture in ["perf", "calls"] {
        for way in ["readahead", "advice", "mapping", "never"] {
            if (capture, way) == ("calls", "mapping") {
                continue;
            }
            let case = format!("{capture} {way}");
            let mut nbuf = place.nbuf(["record", "--capture", capture, "-o", "t.parquet", "--"]);
            nbuf.args(["python3", "-c", AHEAD]).arg(&path).arg(way);
            let recorded = support::Recorded::of(nbuf.output().unwrap(), &place.path("t.parquet"));
            let trace = recorded.trace();
            let is_it = |name: &String| name == path.to_str().unwrap();
            let file = trace.files.iter().position(is_it).expect("the file is in the trace");
            let of_file = trace.records.iter().filter(|record| record.file.0 as usize == file);
            let ahead = of_file.filter(|record| record.op == CacheEvent::Prefetch);
            let bytes: u64 = ahead.map(|record| u64::from(record.length_bytes)).sum();
            assert_eq!(bytes, if way == "never" { 0 } else { 8 << 20 }, "{case}");
            let sized = place.nbuf(["size", "--json", "--trace", "t.parquet"]).output().unwrap();
            let report: serde_json::Value = serde_json::from_slice(&sized.stdout).unwrap();
            let files = report["files"].as_array().unwrap();
            let predicted = files.iter().find(|of| of["name"] == path.to_str().unwrap());
            let predicted = predicted.unwrap()["fills_unlimited"].as_u64().unwrap();
            std::fs::remove_file(place.path("t.parquet")).unwrap();
            if way != "never" {
                assert_eq!(predicted, pages, "{case}");
            }
        }
    }
}
