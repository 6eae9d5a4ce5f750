//! Documents to show in tests.

use nbuf::experiment::result::{
    CurveCorners, CurveDocument, CurveGroup, CurvePoint, CurveTarget, CurveWindow, PointPrefetches,
    PolicyCurve, SampleFacts, TraceSummary,
};

use crate::show::scale::whole;

/// A hostile name of a file, with markup and control characters.
pub(super) const HOSTILE: &str =
    "/srv/<script>alert(1)</script>&amp;\"',\u{0}\u{1b}[31m\u{202e}\u{ffff}\u{fffd}";

const ACCESSES: u64 = 1_141_869;
const DISTINCT: u64 = 269_210;
const SIZES: [u64; 16] = [
    262, 417, 663, 1_054, 1_676, 2_664, 4_235, 6_731, 10_700, 17_008, 27_034, 42_970, 68_302,
    108_566, 172_564, 269_210,
];

fn trace() -> TraceSummary {
    TraceSummary {
        files: vec!["/traces/cloudphysics/w106.vscsitrace.gz".into()],
        format: "vscsi".into(),
        packing: "gzip".into(),
        unit: "page".into(),
        writes_do: "allocate".into(),
        requests: 113_872,
        reads: 67_405,
        writes: 46_467,
        read_bytes: 2_841_000_000,
        written_bytes: 1_836_000_000,
        span_ns: 5_160_000_000_000,
        ..TraceSummary::default()
    }
}

fn corners(floor_pages: u64, knee_pages: u64, ceiling_pages: u64) -> CurveCorners {
    CurveCorners { floor_pages, knee_pages, ceiling_pages }
}

/// Points whose share of hits is an S in the logarithm of the size, up to `most`.
fn points(accesses: u64, most: f64, knee: f64, steepness: f64) -> Vec<CurvePoint> {
    let point = |&pages: &u64| {
        let share = most / (1.0 + (knee / pages as f64).powf(steepness));
        let misses = accesses - whole(share * accesses as f64);
        CurvePoint { pages, accesses, misses, ..CurvePoint::default() }
    };
    SIZES.iter().map(point).collect()
}

fn curve(policy: &str, most: f64, knee: f64, steepness: f64) -> PolicyCurve {
    PolicyCurve {
        policy: policy.into(),
        page_bytes: 4096,
        distinct_pages: DISTINCT,
        points: points(ACCESSES, most, knee, steepness),
        corners: Some(corners(10_700, 108_566, 200_000)),
        ..PolicyCurve::default()
    }
}

fn document(curves: Vec<PolicyCurve>) -> CurveDocument {
    CurveDocument {
        schema: CurveDocument::SCHEMA.into(),
        trace: trace(),
        curves,
        warnings: Vec::new(),
    }
}

/// LRU with requests of several pages, and a target.
pub(super) fn one() -> CurveDocument {
    let mut lru = curve("lru", 0.7652, 40_000.0, 1.4);
    lru.cold_misses = Some(DISTINCT);
    for point in &mut lru.points {
        point.requests = Some(113_872);
        let misses = 113_872 * point.misses / point.accesses + 900;
        point.request_misses = Some(misses.min(113_872));
    }
    lru.target = Some(CurveTarget {
        target: "hit=0.6".into(),
        pages: 88_001,
        met: true,
        more_than_pages: None,
    });
    document(vec![lru])
}

/// Seven policies, the optimum among them.
pub(crate) fn many() -> CurveDocument {
    let mut lru = curve("lru", 0.7652, 40_000.0, 1.4);
    lru.target = Some(CurveTarget {
        target: "hit=0.9".into(),
        pages: DISTINCT,
        met: false,
        more_than_pages: None,
    });
    let names = [
        ("opt", 0.768, 9_000.0, 0.9),
        ("fifo", 0.7652, 52_000.0, 1.35),
        ("sieve", 0.7652, 24_000.0, 1.1),
        ("s3-fifo", 0.7652, 21_000.0, 1.05),
        ("arc", 0.7652, 22_000.0, 1.2),
        ("w-tinylfu", 0.7652, 19_000.0, 1.0),
    ];
    let mut curves = vec![lru];
    let others = names.map(|(name, most, knee, steepness)| curve(name, most, knee, steepness));
    curves.extend(others);
    let mut document = document(curves);
    document.warnings = vec![
        "lirs was left out: it would need 12 GiB at these sizes, and 8 GiB are allowed".into(),
    ];
    document
}

/// Two policies whose caches prefetch.
pub(super) fn prefetched() -> CurveDocument {
    let mut document = many();
    document.warnings.clear();
    document.curves.retain(|curve| matches!(&*curve.policy, "lru" | "arc"));
    for curve in &mut document.curves {
        curve.prefetch = Some("amp:pages=2:most=256:trigger=0".to_owned());
        curve.target = None;
        for point in &mut curve.points {
            let useful = (point.accesses - point.misses) / 2;
            let useless = 9_000_000 / point.pages;
            let (unused, prefetches) = (12, useful + useless + 12);
            let device_reads = point.misses + prefetches;
            point.prefetch =
                Some(PointPrefetches { prefetches, useful, useless, unused, device_reads });
        }
    }
    document
}

/// LRU of a sample of the keys, with bands, which has no bytes.
pub(super) fn sampled() -> CurveDocument {
    let mut lru = curve("lru", 0.9, 12_000.0, 0.8);
    lru.page_bytes = 0;
    lru.points.retain(|point| point.pages >= 4_235);
    for point in &mut lru.points {
        let wide = whole(9e6 / (point.pages as f64).sqrt() / 10.0);
        point.misses_low = Some(point.misses - wide);
        point.misses_high = Some(point.misses + wide);
    }
    lru.sample = Some(SampleFacts {
        rate: 0.01,
        seed: 42,
        hot_keys: 1024,
        followed_keys: 3_716,
        judged_from_pages: Some(4_000),
    });
    lru.corners = Some(corners(4_235, 68_302, 172_564));
    let mut document = document(vec![lru]);
    document.trace = TraceSummary {
        files: vec!["-".into()],
        format: "csv".into(),
        packing: "zstd".into(),
        unit: "key".into(),
        writes_do: "allocate".into(),
        requests: ACCESSES,
        reads: ACCESSES,
        problems: 3,
        ..TraceSummary::default()
    };
    document
}

/// Keys that are all followed.
pub(super) fn keys() -> CurveDocument {
    let mut document = sampled();
    let lru = &mut document.curves[0];
    lru.sample = None;
    for point in &mut lru.points {
        (point.misses_low, point.misses_high) = (None, None);
    }
    lru.cold_misses = Some(100_000);
    document
}

/// Windows of ten minutes since a day of 2013, and files with hostile names.
pub(crate) fn parts() -> CurveDocument {
    let mut document = one();
    let lru = &mut document.curves[0];
    let window = |number: u64| {
        let swing = ((number as f64) * 0.9).sin();
        CurveWindow {
            from_ns: 1_372_000_000_000_000_000 + i64::try_from(number * 600_000_000_000).unwrap(),
            requests: 13_000 + 997 * number,
            points: points(120_000, 0.75 + 0.1 * swing, 30_000.0 * (1.5 + swing), 1.4),
            corners: (number != 3)
                .then(|| corners(6_731, whole(80_000.0 * (1.3 + swing)), 200_000)),
        }
    };
    lru.windows = (0..9).map(window).collect();
    // Nothing happened then.
    lru.windows[5].points.iter_mut().for_each(|point| (point.accesses, point.misses) = (0, 0));
    let group = |number: u64| {
        let accesses = 400_000 / (number + 1);
        let name = match number {
            0 => HOSTILE.to_owned(),
            1 => "/var/lib/日本語/base/16384/a/path/that/goes/on/for/longer/than/a/line".to_owned(),
            _ => format!("/var/lib/postgresql/16/main/base/16384/{}", 2600 + number),
        };
        CurveGroup {
            name,
            points: points(accesses, 0.9 / (1.0 + number as f64 / 8.0), 9_000.0, 1.2),
            corners: (number < 20).then(|| corners(663, 9_000 + 1_000 * number, 100_000)),
        }
    };
    lru.groups = (0..23).map(group).collect();
    lru.groups[22].name = "all others".into();
    document.warnings = vec![format!("{HOSTILE} was cut short").into()];
    document
}

/// The same trace in pages of two sizes.
pub(super) fn two_page_sizes() -> CurveDocument {
    let mut document = one();
    let mut large = document.curves[0].clone();
    large.page_bytes = 64 << 10;
    large.points.iter_mut().for_each(|point| point.pages = point.pages.div_ceil(16));
    large.points.dedup_by_key(|point| point.pages);
    large.corners = Some(corners(700, 7_000, 14_000));
    large.knee_misses = Some(400_000);
    large.distinct_pages /= 16;
    document.curves.push(large);
    document
}

/// Documents that lack something.
pub(super) fn lacking() -> [CurveDocument; 5] {
    let none = document(Vec::new());
    let mut empty = one();
    let lru = &mut empty.curves[0];
    lru.points = vec![CurvePoint { pages: 1, ..CurvePoint::default() }];
    (lru.corners, lru.target, lru.cold_misses, lru.distinct_pages) = (None, None, Some(0), 0);
    empty.trace = TraceSummary { files: Vec::new(), ..empty.trace };
    let mut blind = sampled();
    blind.curves[0].points.clear();
    blind.curves[0].corners = None;
    blind.curves[0].sample.as_mut().unwrap().judged_from_pages = None;
    let mut scan = one();
    let lru = &mut scan.curves[0];
    for point in &mut lru.points {
        (point.misses, point.request_misses) = (point.accesses, point.requests);
    }
    (lru.corners, lru.target) = (None, None);
    let mut bare = one();
    bare.curves[0].points.truncate(1);
    [none, empty, blind, scan, bare]
}
