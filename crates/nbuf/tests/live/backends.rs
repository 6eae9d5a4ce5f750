//! BPF and perf's events: they record the same accesses, and nothing of either stays.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nbuf::experiment::result::LiveDocument;
use nbuf::internal::clock::Random;
use nbuf::internal::sys::bpf::ids;
use nbuf::trace::CacheEvent;

use super::service::Service;
use super::support::{Need, Place, Recorded, requires, requires_shared, skip, until};

const PAGES: u64 = 64;
const READS: u64 = 2000;

/// Waits for a line. Then it and a process that it starts read known pages, and end.
const KNOWN: &str = "
import os, sys
f = os.open(sys.argv[1], os.O_RDONLY | os.O_CLOEXEC)
os.posix_fadvise(f, 0, 0, os.POSIX_FADV_RANDOM)
for page in range(64): os.pread(f, 4096, page * 4096)
print('ready', flush=True)
sys.stdin.readline()
def work():
    for at in range(2000): os.pread(f, 4096, at * 7 % 64 * 4096)
work()
child = os.fork()
if child == 0:
    work()
    os._exit(0)
os.waitpid(child, 0)
";

/// Offsets that the program and its child read, while a backend recorded them.
fn recorded(place: &Place, file: &Path, capture: &str) -> (String, Vec<Vec<u64>>) {
    let mut python = Command::new("python3");
    python.args(["-c", KNOWN]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(python.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pid = python.id().to_string();
    let name = format!("{capture}.parquet");
    let mut nbuf = place.nbuf(["record", "--capture", capture, "--pid", &pid, "-o", &name]);
    let nbuf = nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    python.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(python.wait().unwrap().success());
    let recorded = Recorded::of(nbuf.wait_with_output().unwrap(), &place.path(&name));
    let trace = recorded.trace();
    assert_eq!(trace.facts.capture.lost, 0, "{capture}");
    let file = trace.files.iter().position(|name| name == file.to_str().unwrap()).unwrap();
    let mut tasks = std::collections::BTreeMap::<u32, Vec<u64>>::new();
    for record in &trace.records {
        if record.file.0 as usize == file && record.op == CacheEvent::Read {
            assert_eq!(record.length_bytes, 4096, "{capture}");
            tasks.entry(record.task).or_default().push(record.offset_bytes / 4096);
        }
    }
    (trace.facts.capture.backend.clone(), tasks.into_values().collect())
}

#[test]
fn both_backends_record_each_access_in_order() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", (PAGES * 4096).try_into().unwrap());
    let known: Vec<u64> = (0..READS).map(|at| at * 7 % PAGES).collect();
    let want = vec![known; 2];
    let (perf, got) = recorded(&place, &file, "perf");
    assert_eq!((perf.as_str(), got == want), ("perf", true));
    let (auto, got) = recorded(&place, &file, "auto");
    assert!(got == want, "{auto}");
    if auto != "bpf" {
        skip("BPF cannot record here; `nbuf doctor` says why");
    }
}

/// A hundred kills at random moments from before the attachment until after the first events. Alone: what BPF has
/// loaded is counted on the whole machine.
#[test]
fn sigkill_leaves_no_program_map_or_link() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Program("python3")]) else { return };
    let Ok(before) = ids() else { return skip("no permission to list what the kernel has") };
    let place = Place::new();
    let path = place.file("data", 400 * 4096);
    let services = [(); 2].map(|()| Service::start(&path, "read", "now"));
    let most = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (place, before, most) = (&place, &before, &most);
        for (lane, service) in (0..).zip(&services) {
            scope.spawn(move || {
                let mut random = Random::new(22 + lane);
                for cycle in 0..50 {
                    let pid = service.pid();
                    let mut nbuf = place.nbuf(["size", "--pid", &pid, "--for", "60s"]);
                    let mut nbuf =
                        nbuf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                    let most_ms = if cycle % 20 == 0 { 1500 } else { 400 };
                    std::thread::sleep(Duration::from_millis(random.below(most_ms)));
                    let links = ids().unwrap()[2].len().saturating_sub(before[2].len());
                    most.fetch_max(links, Ordering::Relaxed);
                    nbuf.kill().unwrap();
                    nbuf.wait().unwrap();
                }
            });
        }
    });
    let most = most.into_inner();
    // Those of both lanes are counted.
    assert!(most > 8 || !fs::exists("/sys/kernel/btf/vmlinux").unwrap(), "{most} links at most");
    until("what was loaded is gone", || {
        let after = ids().unwrap();
        after.iter().zip(&before).all(|(after, before)| after.iter().all(|it| before.contains(it)))
    });
    // The services still read.
    for service in &services {
        let reads = || fs::read_to_string(format!("/proc/{}/io", service.pid())).unwrap();
        let then = reads();
        until("the service reads on", || reads() != then);
    }
}

/// Reads pages of a file with no data, some of them much more often than others.
const ZIPF: &str = "
import itertools, os, random, sys, time
f = os.open(sys.argv[1], os.O_RDONLY | os.O_CLOEXEC)
os.posix_fadvise(f, 0, 0, os.POSIX_FADV_RANDOM)
n = 65536
often = list(itertools.accumulate(1 / (at + 1) ** 0.7 for at in range(n)))
pages = list(range(n))
random.Random(1).shuffle(pages)
r = random.Random(2)
for page in range(n): os.pread(f, 4096, page * 4096)
print('ready', flush=True)
while True:
    for page in r.choices(pages, cum_weights=often, k=50): os.pread(f, 4096, page * 4096)
    time.sleep(0.002)
";

#[test]
fn a_sample_misses_as_often_as_all_pages() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("data", 0);
    fs::File::options().write(true).open(&path).unwrap().set_len(65536 * 4096).unwrap();
    let mut python = Command::new("python3");
    let mut python = python.args(["-c", ZIPF]).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(python.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pid = python.id().to_string();
    let size = |overhead: &[&str]| -> LiveDocument {
        let words = [&["size", "--pid", &pid, "--for", "8s", "--json"], overhead].concat();
        let output = place.nbuf(words).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (all, some) = (size(&[]), size(&["--overhead", "0.6%"]));
    python.kill().unwrap();
    python.wait().unwrap();
    if all.backend != "bpf" {
        return skip("BPF cannot record here; `nbuf doctor` says why");
    }
    assert!(all.sampled_share >= 1.0 && all.reader_seconds > 0.0, "{all:?}");
    assert!((0.01..0.9).contains(&some.sampled_share) && some.events > 10_000, "{some:?}");
    let misses = |live: &LiveDocument, bytes| {
        let point = live.points.iter().find(|point| point.cache_bytes.0 == bytes)?;
        Some(point.misses_per_second / live.accesses_per_second)
    };
    let sizes = all.points.iter().map(|point| point.cache_bytes.0);
    let sizes = sizes.filter(|bytes| (2048 * 4096..24_000 * 4096).contains(bytes));
    let mut judged = 0;
    for bytes in sizes {
        let (Some(want), Some(got)) = (misses(&all, bytes), misses(&some, bytes)) else { continue };
        assert!(
            (got / want - 1.0).abs() < 0.1,
            "{bytes}: {got}, not {want}, {}",
            some.sampled_share
        );
        judged += 1;
    }
    assert!(judged >= 5, "{judged}: {some:?}");
}

#[test]
fn a_report_names_the_backend() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("data", 400 * 4096);
    let service = Service::start(&path, "read", "now");
    for (capture, want) in [("perf", &["perf"][..]), ("auto", &["bpf", "perf"])] {
        let pid = service.pid();
        let words = ["size", "--pid", &pid, "--for", "1s", "--json", "--capture", capture];
        let output = place.nbuf(words).output().unwrap();
        let live: LiveDocument = serde_json::from_slice(&output.stdout).unwrap();
        assert!(want.contains(&live.backend.as_str()) && live.events > 100, "{live:?}");
    }
}
