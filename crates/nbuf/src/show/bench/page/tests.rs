//! The page of `nbuf bench`, of a document that has everything.

use nbuf::experiment::result::{
    BenchComparison, BenchMachine, BenchModel, ModelPoint, NoiseFloor, PingReference, PingRow,
    Refused, State,
};

use super::*;
use crate::show::page::tests::well_formed;

pub(crate) fn document() -> BenchDocument {
    let row = |test: &str, rate: f64, imac: Option<f64>| BenchRow {
        test: test.to_owned(),
        about: "block size 1, <sequential>".to_owned(),
        path: "read".to_owned(),
        direction: "read".to_owned(),
        bytes_per_second: rate,
        low: rate * 0.9,
        high: rate * 1.1,
        samples: 60,
        clean: 41,
        imac_2011: imac,
        thinkpad_2007: imac.map(|rate| rate / 2.0),
        ..BenchRow::default()
    };
    let point = |block_bytes, residual_percent| ModelPoint {
        block_bytes,
        measured_ns: 300.0 + block_bytes as f64 / 10.0,
        predicted_ns: 300.0,
        residual_percent,
    };
    BenchDocument {
        machine: BenchMachine { processor: "A&B \"x\"".to_owned(), ..BenchMachine::default() },
        noise_floor: Some(NoiseFloor { percent: 1.2, comparisons: 24, ..NoiseFloor::default() }),
        rows: vec![row("r01-byte", 3.3e6, Some(2.2e6)), row("r-<mmap>", 2e10, None)],
        refused: vec![Refused {
            test: "r-direct".to_owned(),
            reason: "O_DIRECT & so on".to_owned(),
            is_contradiction: false,
        }],
        comparisons: vec![BenchComparison {
            question: "read : mapping".to_owned(),
            ratio: 2.0,
            low: 1.9,
            high: 2.1,
            verdict: "faster".to_owned(),
            ..BenchComparison::default()
        }],
        models: vec![BenchModel {
            path: "read".to_owned(),
            state: State::Hot,
            base_ns: 300.0,
            byte_ns: 0.1,
            half_bandwidth_bytes: Some(3000.0),
            points: vec![point(1, 2.0), point(1 << 20, 40.0)],
            ..BenchModel::default()
        }],
        is_complete: true,
        ..BenchDocument::default()
    }
}

#[test]
fn the_page_has_everything_and_fetches_nothing() {
    let row = PingRow { mechanism: "pipe<2>".to_owned(), ..PingRow::default() };
    let mark = PingReference { machine: "OpenVMS".to_owned(), ..PingReference::default() };
    let references = vec![mark];
    let pings = PingDocument { rows: vec![row], references, ..PingDocument::default() };
    let text = page(&document(), Some(&pings));
    for want in [
        "r01-byte",
        "iMac 2011",
        "1.5",
        "41/60",
        // The range of each row, and what the marks of a rate mean.
        "3.0 MB/s to 3.6 MB/s",
        "18 GB/s to 22 GB/s",
        "<dt>?, !</dt><dd>few samples were clean; hardly any was",
        "1.2 %",
        "2.0 times as fast",
        "3,000 B",
        "1.00 MiB +40 %",
        "class=\"odd\"",
        "O_DIRECT &amp; so on",
        "A&amp;B &quot;x&quot;",
        "r-&lt;mmap&gt;",
        "&lt;sequential&gt;",
        "pipe&lt;2&gt;",
        "OpenVMS",
        "No line of null, pread, ",
    ] {
        assert!(text.contains(want), "no {want}");
    }
    well_formed(&text);
    assert!(!text.contains("<mmap>") && !text.contains("<sequential>"));
}

#[test]
fn of_nothing_there_is_a_page_too() {
    let text = page(&BenchDocument::default(), None);
    assert!(!text.contains("threads wake each other"));
    assert!(text.contains("Interrupted") && !text.contains("NaN") && !text.contains("inf"));
}
