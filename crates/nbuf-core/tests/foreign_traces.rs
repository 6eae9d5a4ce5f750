//! The traces that others published give the counts that others counted.
//!
//! They are not part of the repository: they are looked for in `../shared/traces` next to it, or in
//! the folder that `NBUF_TRACES` names, and the test says aloud when they are absent.

mod support;

use std::path::{Path, PathBuf};

use nbuf::experiment::result::Census;
use nbuf::internal::census::Counting;
use nbuf::units::Bytes;
use nbuf::workload::format::Batch;
use nbuf::workload::source::{Options, Source};

use support::skip;

/// A file, the format it must be named as (most are recognised), what it is recognised as, bytes of a
/// page, requests, accesses and distinct pages or keys.
type Row = (&'static str, Option<&'static str>, &'static str, u64, u64, u64, u64);

/// As the authors of the traces and readers next to ours count them.
const ROWS: [Row; 15] = [
    ("arc/OLTP.lis.zst", None, "arc", 512, 914_145, 914_145, 186_880),
    ("arc/P3.lis.zst", None, "arc", 512, 238_578, 3_912_296, 762_543),
    ("lirs/2_pools.trace.gz", None, "lirs", 1, 100_000, 100_000, 9939),
    ("lirs/loop.trace.gz", None, "lirs", 1, 505_500, 505_500, 1011),
    ("lirs/scan.trace.gz", None, "lirs", 1, 50_025, 50_025, 2001),
    ("lirs/zigzag.trace.gz", None, "lirs", 1, 52_001, 52_001, 2001),
    ("cache2k/orm-busy.trace.xz", Some("i32be"), "i32be", 1, 5_000_000, 5_000_000, 76_349),
    ("cache2k/web07.trace.xz", Some("i32be"), "i32be", 1, 76_118, 76_118, 20_484),
    ("cloudphysics/cloudPhysicsIO.vscsi.zst", None, "vscsi", 4096, 113_872, 1_141_869, 269_210),
    ("cloudphysics/cloudPhysicsIO.vscsi.lcs.zst", None, "lcs", 1, 113_872, 113_872, 48_974),
    (
        "cloudphysics/cloudPhysicsIO.oracleGeneral.bin.zst",
        None,
        "oracleGeneral",
        1,
        113_872,
        113_872,
        48_974,
    ),
    ("cloudphysics/cloudPhysicsIO.csv.zst", None, "csv", 1, 113_872, 113_872, 48_974),
    ("cloudphysics/cloudPhysicsIO.txt.zst", None, "lirs", 1, 113_872, 113_872, 48_974),
    ("twitter/twitter_cluster52.csv.zst", None, "csv", 1, 1_000_000, 1_000_000, 143_542),
    ("mqsim/tpcc-small.trace.zst", None, "mqsim", 4096, 6999, 20_669, 20_470),
];

fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    std::env::var_os("NBUF_TRACES").map_or(beside, PathBuf::from)
}

fn census(source: &mut Source, page_bytes: u64) -> Census {
    let mut counting = Counting::new(source.detected().unit, Bytes(page_bytes));
    let mut batch = Batch::default();
    while source.next(&mut batch).unwrap() {
        counting.push(&batch.requests);
    }
    counting.finish(source.objects().len())
}

#[test]
fn published_traces_have_the_published_counts() {
    let folder = folder();
    if !folder.is_dir() {
        return skip("no sample traces beside the repository, nor where NBUF_TRACES says");
    }
    for (file, from, format, page_bytes, requests, accesses, distinct) in ROWS {
        let from = from.map(|name| name.parse().unwrap());
        let options = Options { format: from, ..Options::default() };
        let mut source = Source::open(&[folder.join(file)], &options).unwrap();
        let census = census(&mut source, page_bytes);
        assert_eq!(source.detected().format.name, format, "{file}");
        let counts = (census.requests, census.accesses, census.distinct);
        assert_eq!(counts, (requests, accesses, distinct), "{file}");
        assert_eq!(source.problems().count, 0, "{file}: {:?}", source.problems().kept);
    }
}

#[test]
fn one_trace_in_several_formats_is_the_same_trace() {
    let folder = folder();
    if !folder.is_dir() {
        return skip("no sample traces beside the repository, nor where NBUF_TRACES says");
    }
    let read = |file: &str| {
        let path = folder.join("cloudphysics").join(file);
        let mut source = Source::open(&[path], &Options::default()).unwrap();
        let (mut batch, mut keys) = (Batch::default(), Vec::new());
        while source.next(&mut batch).unwrap() {
            keys.extend(
                batch.requests.iter().map(|request| (request.offset, request.length_bytes)),
            );
        }
        keys
    };
    let blocks = |requests: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
        requests.iter().map(|(offset, bytes)| (offset / 512, *bytes)).collect()
    };
    let keys = |requests: &[(u64, u64)]| -> Vec<u64> {
        requests.iter().map(|(offset, _)| *offset).collect()
    };
    let want = blocks(read("cloudPhysicsIO.vscsi.zst"));
    // Millions of numbers are not printed when they differ.
    assert!(read("cloudPhysicsIO.vscsi.lcs.zst") == want);
    assert!(read("cloudPhysicsIO.csv.zst") == want);
    // Its sizes are not those of the others.
    assert!(keys(&read("cloudPhysicsIO.oracleGeneral.bin.zst")) == keys(&want));
    assert!(keys(&read("cloudPhysicsIO.txt.zst")) == keys(&want));
}
