//! Documents that differ in one thing each, and what is said of them.

use serde_json::json;

use super::*;

const MIB: u64 = 1 << 20;

/// A loop of 64 MiB, run three times at each of two sizes: what every document has.
fn document() -> SizeReport {
    let point = |&(mib, fills): &(u64, u64)| Point {
        cache_bytes: Bytes(mib * MIB),
        lru_misses: fills,
        lru_fills: fills,
        active_inactive_fills: fills + 100,
        interpolated: false,
    };
    let run = |limit: Option<u64>, fills: u64, seconds: [f64; 3]| {
        let sample = |measured_seconds| Sample {
            measured_fills: fills,
            measured_seconds,
            killed: false,
            timed_out: false,
        };
        json!({
            "limit_bytes": limit.map(|mib| mib * MIB),
            "measured_fills": fills,
            "measured_seconds": seconds[1],
            "within_band": true,
            "samples": seconds.map(sample),
        })
    };
    let curve = [(1, 300_000), (60, 300_000), (64, 16_384), (80, 16_384)];
    let document = json!({
        "schema": SizeReport::SCHEMA,
        "command": ["query"],
        "exit_status": 0,
        "capture": {
            "backend": "perf", "lost": 0, "mapped_share": 0.01, "readahead_bytes": 128 << 10
        },
        "memory": {
            "anonymous_bytes": 10 * MIB,
            "shmem_bytes": 0,
            "kernel_bytes": MIB,
            "page_cache_bytes": 0,
        },
        "curve": curve.iter().map(point).collect::<Vec<_>>(),
        "footprint_bytes": 64 * MIB,
        "recommend": { "limit_bytes": 80 * MIB, "cache_bytes": 66 * MIB },
        "verify": [run(None, 16_384, [1.0, 1.1, 1.2]), run(Some(80), 16_400, [1.0, 1.2, 1.3])],
    });
    serde_json::from_value(document).unwrap()
}

/// The rows in which a difference was seen, and whether the budget was exceeded.
fn check(budget: f64, change: impl FnOnce(&mut SizeReport), want: &str) {
    let a = document();
    let mut b = document();
    change(&mut b);
    let found = compare(&a, &b, budget).unwrap();
    let seen = found.measures.iter().filter(|row| row.difference != Difference::NotSeen);
    let mut shown: Vec<String> =
        seen.map(|row| format!("{} {:?}", row.what.name(), row.difference)).collect();
    if found.exceeded {
        shown.push("exceeded".into());
    }
    shown.extend(found.warnings.iter().map(ToString::to_string));
    assert_eq!(shown.join("; "), want);
}

#[test]
fn a_document_is_like_itself() {
    check(1.0, |_| {}, "");
}

#[test]
fn commands_that_did_not_do_the_same_are_not_compared() {
    let ended = |status| SizeReport { exit_status: Some(status), ..document() };
    let error = compare(&ended(0), &ended(1), 1.0).unwrap_err();
    assert_eq!(error, CompareError::Status { a: 0, b: 1 });
    let found = compare(&ended(1), &ended(1), 1.0).unwrap();
    assert_eq!(found.warnings, [Warning::BothFailed { status: 1 }]);
    let calls = |b: &mut SizeReport| b.capture.backend = "calls".into();
    let want = "the captures differ, perf and calls: this alone changes the fills";
    check(1.0, calls, want);
}

#[test]
fn a_limit_is_judged_by_the_budget_and_the_noise() {
    let limit = |mib: u64| {
        move |b: &mut SizeReport| b.recommend.as_mut().unwrap().limit_bytes = Bytes(mib * MIB)
    };
    // A needs 80 MiB; the noise is 1 for rounding, 0.25 for charging, 0.5 for others, 1 % of 66.
    let without_runs = |mib: u64| {
        move |b: &mut SizeReport| {
            limit(mib)(b);
            b.verify.clear();
        }
    };
    check(1.0, without_runs(82), "");
    check(1.0, without_runs(83), "limit More; exceeded");
    check(1.05, without_runs(86), "limit More");
    check(1.05, without_runs(87), "limit More; exceeded");
    check(0.9, without_runs(75), "limit Less; exceeded");
    check(0.9, without_runs(74), "limit Less");
    check(1.0, without_runs(40), "limit Less");
}

#[test]
fn differences_are_those_above_the_noise_of_their_kind() {
    check(1.0, |b| b.memory.anonymous_bytes = Bytes(10 * MIB + 64 * 4096), "");
    check(1.0, |b| b.memory.anonymous_bytes = Bytes(11 * MIB), "anonymous More");
    check(1.0, |b| b.memory.kernel_bytes = Bytes(0), "kernel Less");
    check(1.0, |b| b.memory.shmem_bytes = Bytes(MIB), "shared More");
    check(1.0, |b| b.footprint_bytes = Bytes(64 * MIB + 128 * 4096), "");
    check(1.0, |b| b.footprint_bytes = Bytes(65 * MIB), "footprint More");
    // Fills where the curve is level, above and below the cliff.
    let more = |b: &mut SizeReport, from: usize, fills: u64| {
        for point in &mut b.curve[from..from + 2] {
            (point.lru_fills, point.active_inactive_fills) = (fills, fills);
        }
    };
    check(1.0, |b| more(b, 2, 16_500), "");
    check(1.0, |b| more(b, 2, 17_000), "predicted_fills More");
    check(1.0, |b| more(b, 0, 290_000), "predicted_fills Less");
    // On the cliff, a percent of the size is all of it.
    check(1.0, |b| b.recommend.as_mut().unwrap().cache_bytes = Bytes(62 * MIB), "cache Less");
}

#[test]
fn measurements_are_judged_by_the_spread_of_their_runs() {
    let shift = |b: &mut SizeReport, by: f64| {
        for sample in &mut b.verify[0].samples {
            sample.measured_seconds += by;
        }
        b.verify[0].measured_seconds += by;
    };
    check(1.0, |b| shift(b, 0.3), "");
    check(1.0, |b| shift(b, 0.5), "measured_seconds More");
    check(1.0, |b| shift(b, -0.5), "measured_seconds Less");
    check(1.0, |b| b.verify[1].measured_fills += 128, "");
    check(1.0, |b| b.verify[1].measured_fills += 129, "measured_fills More");
    // One run says nothing of how far runs lie apart, and none nothing at all.
    check(1.0, |b| b.verify[0].samples.truncate(1), "measured_seconds NotJudged");
    check(1.0, |b| b.verify[0].samples.clear(), "measured_seconds NotJudged");
    check(1.0, |b| b.verify.clear(), "");
}

#[test]
fn what_makes_two_results_hard_to_compare_is_told() {
    check(1.0, |b| b.command.push("-x".into()), "the commands differ: `query` and `query -x`");
    check(1.0, |b| b.capture.lost = 3, "B lost 3 events: its figures are too low");
    check(1.0, |b| b.capture.mapped_share = 0.5, "the curve of B is a lower bound of the need");
    check(1.0, |b| b.verify[1].within_band = Some(false), "the fills of B were out of band");
    check(
        1.0,
        |b| b.capture.readahead_bytes = Bytes(0),
        "the devices differ in readahead, 128 KiB and 0 B: this alone changes the fills",
    );
    let (a, mut b) = (document(), document());
    b.recommend = None;
    let refused = compare(&a, &b, 1.0).unwrap_err().to_string();
    assert!(refused.starts_with("B recommends no size"), "{refused}");
}

#[test]
fn curves_without_points_are_no_reason_to_fail() {
    check(1.0, |b| b.curve.clear(), "");
}
