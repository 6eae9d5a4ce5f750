//! The model of the page cache against the kernel: traces recorded once, and the pages that Linux
//! 6.18 filled when the same commands ran under limits. Needs no privileges.
//!
//! `tests/traces/record.sh` makes the recordings again.

use std::fs::File;
use std::path::Path;

use nbuf::experiment::size::{Analysis, Ask};
use nbuf::internal::cache::kernel::{Replacement, Rules, Stream, simulate};
use nbuf::internal::meter::residency::Residency;
use nbuf::trace::{CacheEvent, Device, Facts, FileId, Memory, Record, Trace};
use nbuf::units::{Bytes, Pages, Size};
use nbuf::workload::format::native;
use serde::Deserialize;

/// What was kept of a report.
#[derive(Deserialize)]
struct Truth {
    memory: Memory,
    shared: Vec<Shared>,
    verify: Vec<Run>,
}

#[derive(Deserialize)]
struct Shared {
    name: String,
    pages: Vec<(u32, u32)>,
}

#[derive(Deserialize)]
struct Run {
    limit_bytes: Option<Bytes>,
    measured_fills: u64,
    killed: bool,
}

/// Predicts every run of a recording; each count must lie within `percent` of the band.
fn check(name: &str, percent: u32) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let open = |kind: &str| File::open(folder.join(format!("{name}.{kind}"))).unwrap();
    let trace = native::read(open("parquet")).unwrap();
    let truth: Truth = serde_json::from_reader(open("json")).unwrap();
    assert_eq!(trace.facts.capture.lost, 0);
    assert!(truth.memory.anonymous_bytes > Bytes(0));
    let mut left = Residency::default();
    for shared in &truth.shared {
        let file = trace.files.iter().position(|file| *file == shared.name).unwrap();
        let file = u32::try_from(file).unwrap();
        let pages = shared.pages.iter().flat_map(|&(first, last)| first..=last);
        left.left.extend(pages.map(|page| (file, page)));
    }
    let analysis =
        Analysis::of(trace, &left, &Ask { force: true, ..Ask::default() }, &|_, _| {}).unwrap();
    // These runs had no shared text taken off.
    let alone = |run: &Run| run.limit_bytes.map(|limit| limit + analysis.memory.shared_text_bytes);
    let limits: Vec<Size> = truth.verify.iter().filter_map(alone).map(Size::Absolute).collect();
    assert!(limits.len() >= 4);
    for prediction in analysis.plan(&limits) {
        let run = truth.verify.iter().find(|run| alone(run) == prediction.limit).unwrap();
        assert!(!run.killed);
        let slack = f64::from(percent) / 100.0;
        let (low, high) = (prediction.fills_low as f64, prediction.fills_high as f64);
        let fills = run.measured_fills as f64;
        assert!(
            low * (1.0 - slack) <= fills && fills <= high * (1.0 + slack),
            "{name} at {:?}: the kernel filled {fills}, predicted were {low} to {high}",
            run.limit_bytes
        );
    }
}

#[test]
fn a_tree_searched_twice() {
    check("grep-128", 1);
}

#[test]
fn a_database_without_readahead() {
    check("sqlite-0", 6);
}

#[test]
fn a_database_with_the_usual_readahead() {
    check("sqlite-128", 3);
}

/// A window of 640 pages in caches of 1,700 to 7,000: which pages are read ahead hangs by a thread.
#[test]
fn a_database_with_far_too_much_readahead() {
    check("sqlite-2560", 7);
}

/// Python's library, of 5,637 pages, as `python3 -c pass` maps it on a disc with a window of 8 MiB. Linux
/// 6.18 filled 2,422 pages of it from a cold cache: a window around page 1398, and what lacked around page
/// 24. The marker at page 1, of the read of the header, is reached when all behind it is there.
#[test]
fn a_marker_in_a_mapped_window_waits_for_its_own_touch() {
    let record = |op, page: u64, pages: u32| Record {
        time_ns: 0,
        offset_bytes: page * 4096,
        file_bytes: 5637 * 4096,
        length_bytes: pages * 4096,
        file: FileId(0),
        task: 1,
        request: 0,
        op,
    };
    let facts = on_a_device(8 << 20);
    let (read, fault, map) = (CacheEvent::Read, CacheEvent::Fault, CacheEvent::Map);
    let start = [record(read, 0, 1), record(fault, 1398, 1), record(map, 1087, 16)];
    let header = record(map, 0, 16);
    // From a cold cache the fault at the marker is seen, from a warm one it is not.
    let cold = [record(fault, 24, 1), record(map, 16, 16), header, record(fault, 1, 1)];
    let warm = [record(map, 16, 16), header, record(map, 32, 16)];
    for rest in [&cold[..], &warm[..]] {
        let records: Vec<Record> = start.iter().chain([&header]).chain(rest).copied().collect();
        let stream = Stream::of(records, &["library".into()], &facts, &[]);
        let fills = simulate(&stream, Replacement::Lru, Pages(u32::MAX.into())).fills;
        assert_eq!(fills, 2422, "{rest:?}");
    }
}

/// Facts of a recording on one device with this readahead.
fn on_a_device(readahead_bytes: u64) -> Facts {
    Facts {
        devices: vec![Device {
            major: 254,
            minor: 0,
            name: String::new(),
            filesystem: "ext4".into(),
            readahead_bytes,
            io_bytes: 4 << 20,
            folio_order_max: 9,
        }],
        ..Facts::default()
    }
}

/// A page that is read twice in a row, and again after more pages than fit. A read that goes on in the page of the
/// read before does not mark it again; one into a pipe does, so the kernel takes it for a page in use.
#[test]
fn a_page_that_a_pipe_took_twice_stays() {
    let fills = |op| {
        let record = |page: u64| Record {
            time_ns: 0,
            offset_bytes: page * 4096,
            file_bytes: 1000 * 4096,
            length_bytes: 4096,
            file: FileId(0),
            task: 1,
            request: 0,
            op,
        };
        let others = (1..=400).map(|at| at * 2);
        let pages = [0, 0].into_iter().chain(others).chain([0]);
        let records: Vec<Record> = pages.map(record).collect();
        let stream = Stream::of(records, &["file".into()], &on_a_device(0), &[]);
        simulate(&stream, Replacement::ActiveInactive, Pages(200)).fills
    };
    assert_eq!(fills(CacheEvent::Read), 402);
    assert_eq!(fills(CacheEvent::Splice), 401);
}

/// A file of 1,000 pages, read twice: all of it fits, or nothing is left of it.
#[test]
fn a_size_of_ours_at_a_cliff_becomes_two() {
    let record = |request| Record {
        time_ns: 0,
        offset_bytes: 0,
        file_bytes: 1000 * 4096,
        length_bytes: 1000 * 4096,
        file: FileId(0),
        task: 1,
        request,
        op: CacheEvent::Read,
    };
    let records = [record(0), record(1)].into_iter().collect();
    let trace = Trace { records, files: vec!["file".into()], facts: Facts::default() };
    let none = Residency::default();
    let analysis = Analysis::of(trace, &none, &Ask::default(), &|_, _| {}).unwrap();
    let edge = analysis.cliffs.last().unwrap().cache_bytes.0 as f64;
    let parts = |sizes: &[Size]| -> Vec<f64> {
        let made = analysis.plan(sizes).into_iter().filter(|made| made.limit.is_some());
        made.map(|made| (made.cache.0 as f64 / edge * 100.0).round()).collect()
    };
    assert_eq!(parts(&[Size::Percent(100.0), Size::Percent(50.0)]), [97.0, 103.0, 50.0]);
    let asked = analysis.plan(&[Size::Percent(100.0)])[1].limit.unwrap();
    let typed = Size::Absolute(Bytes(asked.0 + asked.0 * 3 / 100));
    assert_eq!(parts(&[typed]), [100.0], "what a user types is run as it is");
    // The recommendation is 2 % past the cliff, and nine tenths of it are far below.
    assert_eq!(parts(&[]).len(), 3);
}

/// Linux 6.18 brought a window for each of 1,198 faults in a cold file, 64 pages apart. It takes a fault again once the
/// page has come, and then what is mapped around it counts as hits.
#[test]
fn cold_faults_read_around_however_many_they_are() {
    let record = |page: u64| Record {
        time_ns: 0,
        offset_bytes: page * 4096,
        file_bytes: 76_800 * 4096,
        length_bytes: 4096,
        file: FileId(0),
        task: 1,
        request: 0,
        op: CacheEvent::Touch,
    };
    let records = (1..=1198).map(|number| record(number * 64));
    let stream = Stream::of(records, &["file".into()], &on_a_device(128 << 10), &[]);
    let generations = [Rules::V6_12, Rules::V6_14, Rules::V7_3].map(Replacement::Generations);
    for order in [Replacement::Lru, Replacement::ActiveInactive].into_iter().chain(generations) {
        assert_eq!(simulate(&stream, order, Pages(100_000)).fills, 1198 * 32, "{order:?}");
    }
}

/// A recording says which order its kernel has, and the predictions are of that one.
#[test]
fn the_kernel_of_the_recording_chooses_the_order() {
    let order = |multi_generational, kernel: &str| {
        let facts = Facts { multi_generational, kernel: kernel.into(), ..on_a_device(0) };
        Stream::of(Vec::new(), &["file".into()], &facts, &[]).kernel_order()
    };
    assert_eq!(order(false, "6.18.0"), Replacement::ActiveInactive);
    assert_eq!(order(true, "6.12.41"), Replacement::Generations(Rules::V6_12));
    assert_eq!(order(true, "6.18.0"), Replacement::Generations(Rules::V6_14));
    assert_eq!(order(true, "7.3.4"), Replacement::Generations(Rules::V7_3));
}

/// Pages that calls read five times stay in the multi-generational LRU through a scan that is larger than the cache, as
/// in the active list. In LRU order the scan takes their places.
#[test]
fn a_scan_does_not_evict_what_is_read_often() {
    let record = |page: u64| Record {
        time_ns: 0,
        offset_bytes: page * 4096,
        file_bytes: 10_000 * 4096,
        length_bytes: 4096,
        file: FileId(0),
        task: 1,
        request: 0,
        op: CacheEvent::Read,
    };
    let hot = || (0..100).map(|page| page * 2);
    let warm = (0..5).flat_map(|_| hot());
    let scan = (0..1000).map(|page| 1000 + page * 2);
    let records: Vec<Record> = warm.chain(scan).chain(hot()).map(record).collect();
    let stream = Stream::of(records, &["file".into()], &on_a_device(0), &[]);
    let fills = |order| simulate(&stream, order, Pages(400)).fills;
    assert_eq!(fills(Replacement::Lru), 1200);
    assert_eq!(fills(Replacement::ActiveInactive), 1100);
    // By the rules of 7.3 the scan comes into the generation of what was promoted, and follows it out.
    for (rules, want) in [(Rules::V6_12, 1100), (Rules::V6_14, 1100), (Rules::V7_3, 1200)] {
        assert_eq!(fills(Replacement::Generations(rules)), want, "{rules:?}");
    }
}
