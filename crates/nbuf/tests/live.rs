//! Programs that run already: what they need, by rates that a known pattern gives.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

#[path = "live/backends.rs"]
mod backends;
#[path = "live/follow.rs"]
mod follow;
#[path = "live/kubernetes.rs"]
mod kubernetes;
#[path = "live/probe.rs"]
mod probe;
#[path = "live/refusals.rs"]
mod refusals;
#[path = "live/service.rs"]
mod service;
#[path = "live/several.rs"]
mod several;

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use nbuf::experiment::result::{LiveDocument, LivePoint};
use nbuf::internal::sys::cgroup::Hierarchies;
use nbuf::trace::CacheEvent;
use service::{Group, Service};
use support::{Need, Place, is_alive, listens, requires_shared, skip, until, with_word};

const PAGES: usize = 3000;

fn sized(place: &Place, service: &Service, options: &[&str]) -> LiveDocument {
    let pid = service.pid();
    let words = [&["size", "--pid", &pid, "--json"], options].concat();
    let output = place.nbuf(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The page has the answer of the document.
fn check_page(place: &Place, name: &str, live: &LiveDocument) {
    let page = std::fs::read_to_string(place.path(name)).unwrap();
    let answer = live.answer.unwrap().limit_bytes.0.div_ceil(1 << 20);
    for part in [format!("MemoryHigh={answer}M"), "<svg".into(), "misses a second".into()] {
        assert!(page.contains(&part), "{part}: {page}");
    }
}

#[test]
fn a_warm_service_that_reads_gets_the_hit_ratio_of_its_pattern() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    check_pattern("read", PAGES, "9s");
}

#[test]
fn a_warm_service_that_maps_gets_the_hit_ratio_of_its_pattern() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    // Fewer pages than a large page has, which has one mark for all.
    check_pattern("mapped", 400, "14s");
}

fn check_pattern(how: &str, pages: usize, time: &str) {
    let place = Place::new();
    let path = place.file(how, pages * 4096);
    let service = Service::start(&path, how, "now");
    let page = format!("{how}.html");
    // Other programs of this machine may make the kernel reclaim memory.
    let options = ["--for", time, "--target", "hit=0.8", "--html", &page, "--mmap", "on"];
    let live = sized(&place, &service, &options);
    if how == "mapped" && live.mapped_share < 0.5 {
        skip("page tables cannot be read here; `nbuf doctor` says why");
        return;
    }
    assert_eq!((live.lost, live.is_steady, live.processes), (0, true, 1), "{how}: {live:?}");
    assert!(live.accesses_per_second > 100.0, "{how}: {live:?}");
    assert!((live.mapped_share > 0.9) == (how == "mapped"), "{how}: {live:?}");
    // The interpreter's own pages are hot, and hit at each size. Touches of an interval are in no order:
    // sizes near one are blurred.
    let hot_bytes = live.touched_bytes.0 as f64 - (pages * 4096) as f64;
    let smallest = if how == "mapped" { 0.3 } else { 0.1 };
    let share =
        |point: &LivePoint| (point.cache_bytes.0 as f64 - hot_bytes) / (pages * 4096) as f64;
    let judged = live.points.iter().filter(|point| (smallest..=0.9).contains(&share(point)));
    let judged: Vec<&LivePoint> = judged.collect();
    assert!(judged.len() >= 2, "{how}: {live:?}");
    let (first, rest) = judged.split_first().unwrap();
    for point in rest {
        let want = (1.0 - share(point)) / (1.0 - share(first));
        let got = point.misses_per_second / first.misses_per_second;
        assert!((got - want).abs() < 0.08, "{how}: {got}, not {want}: {point:?}");
    }
    if how == "read" {
        let reads = live.accesses_per_second * (1.0 - live.mapped_share);
        let got = first.misses_per_second / reads;
        assert!((got - (1.0 - share(first))).abs() < 0.08, "{got}: {first:?}");
    }
    let answer = live.answer.expect("the size is known");
    assert_eq!(live.points.iter().find(|point| point.hit_ratio >= 0.8), Some(&answer));
    assert!(live.memory.anonymous_bytes.0 > 1 << 20, "{how}: {live:?}");
    assert_eq!(answer.limit_bytes.0, answer.cache_bytes.0 + live.memory.other_bytes().0);
    check_page(&place, &page, &live);
    if how == "read" {
        check_stall(&place, &service, &live);
    } else {
        check_marks(&place, &service, &live);
    }
}

/// The report has what clearing marks cost. Without the right to clear them there is no touch.
fn check_marks(place: &Place, service: &Service, on: &LiveDocument) {
    let marks = on.marks.expect("mapped files were watched");
    assert!(marks.rounds > 5 && marks.longest_clear_seconds > 0.0, "{marks:?}");
    assert!((2.0..10.0).contains(&marks.waited_seconds), "{marks:?}");
    assert!((marks.pause_seconds - 0.005).abs() < 1e-9, "{marks:?}");
    let faults = [marks.faults_before, marks.faults_during, marks.faults_after];
    assert!(faults.iter().all(|it| it.is_some_and(|it| it.seconds >= 1.9)), "{marks:?}");
    let off = sized(place, service, &["--for", "3s", "--mmap", "off"]);
    assert!(off.marks.is_none() && off.mapped_share < 0.5, "{off:?}");
    assert!(off.warnings.iter().any(|it| it.to_string().contains("--mmap off")), "{off:?}");
    // A clear takes longer than that: after four the process is left out.
    let slow = sized(place, service, &["--for", "8s", "--mmap", "on", "--mmap-pause", "0.0001ms"]);
    let marks = slow.marks.expect("mapped files were watched at first");
    assert_eq!((marks.processes_left_out, marks.rounds >= 4), (1, true), "{slow:?}");
    assert!(slow.warnings.iter().any(|it| it.to_string().contains("left out")), "{slow:?}");
}

/// The wait of each size is its misses times a read of the disc, and the target chooses by it.
fn check_stall(place: &Place, service: &Service, before: &LiveDocument) {
    let Some(known) = before.service else {
        return skip("the discs of this machine have had no 100 reads");
    };
    let stall = before.points[0].stall.unwrap() / 2.0;
    assert!(known.read_seconds > 0.0 && known.reads >= 100, "{known:?}");
    let target = format!("stall={}", stall.min(0.9));
    let live = sized(place, service, &["--for", "3s", "--target", &target]);
    let service = live.service.expect("the discs have more reads now");
    assert!(!live.points.is_empty(), "{live:?}");
    for point in &live.points {
        let want = point.misses_per_second * service.read_seconds;
        assert!((point.stall.unwrap() - want).abs() < 1e-9, "{point:?}");
    }
    assert_eq!(live.stall_target, Some(stall.min(0.9)));
    let meets = |point: &&LivePoint| point.stall.unwrap() <= stall.min(0.9);
    assert_eq!(live.answer.as_ref(), live.points.iter().find(meets), "{live:?}");
}

/// Misses a second at a size between two points.
fn misses_at(live: &LiveDocument, bytes: f64) -> f64 {
    let after = live.points.iter().position(|point| point.cache_bytes.0 as f64 >= bytes);
    let after = after.expect("the size is known");
    let (low, high) = (&live.points[after - 1], &live.points[after]);
    let (from, to) = (low.cache_bytes.0 as f64, high.cache_bytes.0 as f64);
    let share = (bytes - from) / (to - from);
    low.misses_per_second + (high.misses_per_second - low.misses_per_second) * share
}

#[test]
fn under_a_limit_the_kernel_misses_as_often_as_was_said() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let Some(parent) = Hierarchies::of_this_process().memory_v1 else {
        return skip("no memory controller of version 1 to limit a group of our own");
    };
    let group = Group::make(&parent, "live");
    let place = Place::new();
    let path = place.file("data", PAGES * 4096);
    // Its pages are to be charged to the service.
    let file = File::open(&path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let service = Service::start_in(&group.0, &path);
    let words = ["size", "--json", "--for", "7s", "--cgroup", group.0.to_str().unwrap()];
    let size = || -> LiveDocument {
        let output = place.nbuf(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let reads = |live: &LiveDocument| live.accesses_per_second * (1.0 - live.mapped_share);
    let free = size();
    assert!(free.fills_per_second < 10.0, "{free:?}");
    // Three fifths of the file stay.
    let cache = free.memory.cache_bytes.0 - (PAGES * 4096) as u64 * 2 / 5;
    let limit = cache + free.memory.other_bytes().0;
    std::fs::write(group.0.join("memory.limit_in_bytes"), limit.to_string()).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let limited = size();
    let said = misses_at(&free, cache as f64) / reads(&free);
    let got = limited.fills_per_second / reads(&limited);
    assert!((got / said - 1.0).abs() < 0.15, "{got} of the reads miss, not {said}: {limited:?}");
    drop(service);
}

#[test]
fn threads_and_processes_that_begin_later_are_recorded() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("data", PAGES * 4096);
    let service = Service::start(&path, "read", "late");
    let pid = service.pid();
    let words = ["record", "--pid", &pid, "--for", "6s", "-o", "t.parquet"];
    let output = place.nbuf(words).output().unwrap();
    let recorded = support::Recorded::of(output, &place.path("t.parquet"));
    let trace = recorded.trace();
    let file = trace.files.iter().position(|name| name == path.to_str().unwrap());
    let file = file.expect("the file was open before, and has its name");
    let mut tasks = std::collections::BTreeMap::<u32, u64>::new();
    for record in &trace.records {
        if record.file.0 as usize == file && record.op == CacheEvent::Read {
            *tasks.entry(record.task).or_default() += 1;
        }
    }
    assert_eq!(tasks.len(), 3, "{tasks:?}");
    assert!(tasks.values().all(|&reads| reads > 50), "{tasks:?}");
    assert!(trace.facts.command.first().is_some_and(|word| word.ends_with("python3")));
    assert!(is_alive(&pid));
}

#[test]
fn a_service_survives_nbuf() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("data", PAGES * 4096);
    let service = Service::start(&path, "read", "now");
    let pid = service.pid();
    // Another test kills it at many moments.
    let mut nbuf = place.nbuf(["size", "--pid", &pid, "--for", "60s"]);
    let mut nbuf = nbuf.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    nbuf.kill().unwrap();
    nbuf.wait().unwrap();
    assert!(is_alive(&pid));
    // It can be attached to again, and Ctrl-C gives a report.
    let mut nbuf = place.nbuf(["size", "--pid", &pid, "--for", "60s", "--json"]);
    let nbuf = nbuf.stdout(Stdio::piped()).spawn().unwrap();
    until("nbuf listens", || listens(nbuf.id()));
    std::thread::sleep(Duration::from_secs(4));
    let number = rustix::process::Pid::from_raw(nbuf.id().cast_signed()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::INT).unwrap();
    let output = nbuf.wait_with_output().unwrap();
    let live: LiveDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert!(live.interrupted == Some(2) && live.events > 0, "{live:?}");
    // The end of the service ends it.
    let mut nbuf = place.nbuf(["size", "--pid", &pid, "--for", "60s", "--json"]);
    let nbuf = nbuf.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    drop(service);
    let output = nbuf.wait_with_output().unwrap();
    let live: LiveDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert!(live.processes == 0 && live.seconds < 50.0, "{live:?}");
    until("nothing of nbuf is left", || with_word(place.path("").to_str().unwrap()).is_empty());
}

#[test]
fn what_cannot_be_attached_to_is_said() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    for (words, status, want) in [
        (&["--pid", "4194305"][..], 125, "no process has the number 4194305"),
        (&["--pid", "2"], 125, "2 is a thread of the kernel"),
        (&["--cgroup", "/nowhere"], 125, "cannot read the cgroup /nowhere"),
        (&["--pid", "1", "--capture", "calls"], 2, "--capture calls is for commands"),
        (&["--pid", "1", "--svg", "x.svg"], 2, "'--svg <FILE>' cannot be used with"),
        (&["--pid", "1", "--target", "slowdown=1.5"], 2, "hit=0.99, fills=100/s or stall=1% only"),
        (&["--pid", "1", "--mmap-pause", "5"], 2, "write a time with its unit"),
        (&["--pid", "1", "--mmap", "never"], 2, "invalid value 'never'"),
        (&["--target", "fills=9/s", "--", "true"], 2, "for programs that run already"),
        (&["--pid", "1", "--", "true"], 2, "cannot be used with"),
    ] {
        let output = place.nbuf([&["size"], words].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(want), "{words:?}: {text}");
        assert_eq!(output.status.code(), Some(status), "{words:?}: {text}");
    }
}
