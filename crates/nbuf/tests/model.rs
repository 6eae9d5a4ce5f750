//! The model of the page cache against the kernel: traces recorded once, and the pages that Linux
//! 6.18 filled when the same commands ran under limits. Needs no privileges.
//!
//! `tests/traces/record.sh` makes the recordings anew.

use std::fs::File;
use std::path::Path;

use nbuf::experiment::size::{Analysis, Ask};
use nbuf::meter::probe::residency::Residency;
use nbuf::units::{Bytes, Size};
use nbuf::workload::format::native;
use nbuf::workload::trace::Memory;
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
    let limits: Vec<Size> =
        truth.verify.iter().filter_map(|run| run.limit_bytes).map(Size::Absolute).collect();
    assert!(limits.len() >= 4);
    for prediction in analysis.plan(&limits) {
        let run = truth.verify.iter().find(|run| run.limit_bytes == prediction.limit).unwrap();
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
