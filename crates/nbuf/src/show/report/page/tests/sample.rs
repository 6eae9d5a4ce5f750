//! A report with everything that a page can show, and others that lack some of it.

use nbuf::experiment::result::{
    AccessMap, CaptureReport, Cliff, Curve, Detail, Device, Facts, FileShare, Files,
    MapKind as Kind, OtherFiles, SizeReport, Strip, TimePoint, Traffic, Verified,
};
use nbuf::experiment::size::{cliffs, recommend};
use nbuf::units::Bytes;

use crate::show::tests::{MEMORY, cliff, cliff_verified};

/// A hostile name of a file, with markup and control characters.
pub(super) const HOSTILE: &str =
    "/srv/<script>alert(1)</script>&amp;\"'\u{0}\u{1b}[31m\u{202e}\u{ffff}\u{fffd}";

/// All that a page is made of.
pub(crate) struct Sample {
    pub(crate) report: SizeReport,
    pub(super) curve: Curve,
    pub(super) cliffs: Vec<Cliff>,
    pub(super) files: Files,
    pub(super) facts: Facts,
    pub(super) time: Vec<TimePoint>,
}

impl Sample {
    pub(crate) fn page(&self) -> String {
        let Self { report, curve, cliffs, files, facts, time } = self;
        super::super::page(report, &Detail { curve, cliffs, files, facts, time })
    }
}

/// A loop of 66 MiB, verified, of files with hostile names.
pub(crate) fn full() -> Sample {
    let curve = cliff();
    let facts = Facts {
        command: vec!["grep".into(), HOSTILE.into()],
        directory: "/home/<b>".into(),
        kernel: "6.18.44".into(),
        cgroup: "v2".into(),
        processors: 2,
        memory_total_bytes: Bytes(24 << 30),
        started_unix_seconds: 1_795_240_193,
        elapsed_ns: 2_500_000_000,
        cpu_ns: 1_250_000_000,
        exit_status: Some(0),
        devices: vec![device("ext4", 1), device("<fuse>", 2)],
        ..Facts::default()
    };
    let recommend = recommend(&curve, &MEMORY, Bytes(128 << 10)).unwrap();
    let verify = runs(recommend.limit_bytes);
    let report = SizeReport {
        schema: SizeReport::SCHEMA.into(),
        command: facts.command.clone(),
        exit_status: Some(0),
        capture: CaptureReport {
            backend: "perf".into(),
            events: 1_234_567,
            accesses: curve.accesses,
            distinct_pages: 33_792,
            mapped_share: 0.0123,
            shared_bytes: Bytes(2 << 20),
            readahead_bytes: Bytes(128 << 10),
            ..CaptureReport::default()
        },
        memory: MEMORY,
        traffic: Traffic { read_pages: 1_000_000, written_pages: 20, ..Traffic::default() },
        curve: curve.points.clone(),
        footprint_bytes: curve.footprint_bytes,
        recommend: Some(recommend),
        verify,
        repeatable: Some(true),
        warnings: vec!["a warning about <i>things</i>".into()],
        ..SizeReport::default()
    }
    .judged();
    Sample { report, cliffs: cliffs(&curve), files: files(), facts, time: Vec::new(), curve }
}

fn device(filesystem: &str, minor: u32) -> Device {
    Device {
        major: 8,
        minor,
        name: "sda1".into(),
        filesystem: filesystem.into(),
        readahead_bytes: 128 << 10,
        io_bytes: 1 << 20,
        folio_order_max: 9,
    }
}

fn runs(limit: Bytes) -> Vec<Verified> {
    let limits = [None, Some(limit), Some(Bytes(72 << 20)), Some(Bytes(60 << 20))];
    let run = |(limit_bytes, (cache_bytes, fills)): (Option<Bytes>, (Bytes, u64))| Verified {
        limit_bytes,
        cache_bytes,
        predicted_fills_low: fills,
        predicted_fills_high: fills,
        measured_fills: fills + fills / 50,
        measured_seconds: 0.5 + fills as f64 / 1e5,
        within_band: Some(true),
        near_band: true,
        measured_cache_bytes: cache_bytes,
        major_faults: 6,
        read_bytes: Bytes(fills * 4096),
        written_bytes: Bytes(fills * 64),
        memory_pressure_seconds: 0.25,
        io_pressure_seconds: 0.5,
        ..Verified::default()
    };
    limits.into_iter().zip(cliff_verified()).map(run).collect()
}

fn files() -> Files {
    let share = |name: &str, fills| FileShare {
        name: name.into(),
        pages: 16_896,
        accesses: 354_816,
        fills,
        fills_at_floor: 20 * fills,
        fills_unlimited: fills - 100,
    };
    let strips =
        vec![Strip { row: 0, rows: 60, pages: 16_896 }, Strip { row: 60, rows: 6, pages: 400 }];
    let mut map = AccessMap::new(240, 1_000_000, strips);
    for time in 0..1000 {
        let kind = Kind::ALL[usize::try_from(time / 400).unwrap()];
        map.add(0, time * 1000, time * 160 % 16_896, 160, kind);
        map.add(1, time * 1000, 0, 1, Kind::Read);
    }
    let others = OtherFiles { files: 1234, pages: 4321, accesses: 5432, ..OtherFiles::default() };
    Files {
        top: vec![share(HOSTILE, 16_896), share("/usr/share/日本語", 500)],
        others,
        map,
        strips: vec![HOSTILE.into(), "1235 other files, end to end".into()],
    }
}
