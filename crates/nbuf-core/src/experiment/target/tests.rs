//! What is asked of a curve, and what answers it.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::experiment::result::Point;
use crate::experiment::result::{Curve, TimePoint};
use crate::units::Bytes;

const MIB: u64 = 1 << 20;

/// Ten passes over 100 MiB of which 60 MiB are wanted more often; 1000 accesses a step.
fn lru(pages: u64) -> u64 {
    match pages {
        0..15_360 => 300_000,
        15_360..25_600 => 100_000,
        _ => 25_600,
    }
}

fn curve() -> Curve {
    let sizes = [1, 10, 30, 60, 80, 100, 110];
    let point = |&mib: &u64| Point {
        cache_bytes: Bytes(mib * MIB),
        lru_misses: lru(mib * 256),
        lru_fills: lru(mib * 256),
        active_inactive_fills: lru(mib * 256) + 100,
        interpolated: false,
    };
    Curve {
        points: sizes.iter().map(point).collect(),
        footprint_bytes: Bytes(100 * MIB),
        accesses: 512_000,
    }
}

/// Between the points the time is the one of the next larger point, except for 10 MiB.
fn seconds(cache: Bytes) -> (f64, f64) {
    match cache.0 / MIB {
        0..10 => (30.0, 40.0),
        10..60 => (9.0, 11.0),
        60..80 => (14.0, 15.0),
        _ => (10.0, 12.0),
    }
}

fn times() -> Vec<TimePoint> {
    let point = |&(mib, low, high): &(u64, f64, f64)| TimePoint {
        cache_bytes: Bytes(mib * MIB),
        limit_bytes: Bytes((mib + 10) * MIB),
        seconds_low: low,
        seconds_high: high,
    };
    let points = [(1, 30.0, 40.0), (30, 9.0, 11.0), (60, 14.0, 15.0), (100, 10.0, 12.0)];
    points.iter().map(point).collect()
}

fn check_with(target: &str, curve: &Curve, time: &[TimePoint], run_seconds: f64, want: &Expect) {
    let offer = Offer {
        curve,
        time,
        seconds: &seconds,
        limit: &|cache| cache + Bytes(10 * MIB),
        run_seconds,
    };
    let Choice { cache, reason } = choose(target.parse().unwrap(), &offer);
    let cache = cache.map_or("none".into(), |cache| cache.to_string());
    want.assert_eq(&format!("{cache}: {reason}\n"));
}

fn check(target: &str, want: &Expect) {
    check_with(target, &curve(), &times(), 2.0, want);
}

#[test]
fn hits_are_those_of_pages_that_were_kept() {
    check(
        "hit=0.5",
        &expect![[r#"
            61.2 MiB: at 61.2 MiB 80.46 % of the page accesses hit; no size simulated below 60.0 MiB reaches 50 %
        "#]],
    );
    check(
        "hit=0.4",
        &expect![[r#"
        1.02 MiB: at 1.02 MiB 41.4 % of the page accesses hit; a smaller cache would lose what is read ahead
    "#]],
    );
    check(
        "hit=0.8",
        &expect![[r#"
            61.2 MiB: at 61.2 MiB 80.46 % of the page accesses hit; no size simulated below 60.0 MiB reaches 80 %
        "#]],
    );
    check(
        "hit=0.95",
        &expect![[r#"
            102 MiB: at 102 MiB 95 % of the page accesses hit; no size simulated below 100 MiB reaches 95 %
        "#]],
    );
    check(
        "hit=0.9999",
        &expect![[r#"
        none: 95 % of the page accesses hit at best, with 110 MiB, which holds everything: the others are the first to their page
    "#]],
    );
}

#[test]
fn hits_that_only_lru_promises_do_not_count() {
    // The kernel fills more at 60 MiB than LRU misses, and reads ahead in vain everywhere.
    let mut curve = curve();
    for point in &mut curve.points {
        point.active_inactive_fills += 5000;
    }
    curve.points[3].active_inactive_fills = 290_000;
    check_with(
        "hit=0.8",
        &curve,
        &[],
        1.0,
        &expect![[r#"
            81.6 MiB: at 81.6 MiB 80.46 % of the page accesses hit; no size simulated below 80.0 MiB reaches 80 %
        "#]],
    );
}

#[test]
fn a_slowdown_counts_from_where_no_larger_size_breaks_it() {
    check(
        "slowdown=1",
        &expect![[r#"
            81.6 MiB: at 81.6 MiB it takes 1.00 times as long as with room for everything, 10.00 to 12.00 s
        "#]],
    );
    check(
        "slowdown=1.4",
        &expect![[r#"
            10.2 MiB: at 10.2 MiB it takes 0.92 times as long as with room for everything, 9.00 to 11.00 s
        "#]],
    );
    check(
        "slowdown=10",
        &expect![[r#"
        1.02 MiB: at 1.02 MiB it takes 3.33 times as long as with room for everything, 30.00 to 40.00 s
    "#]],
    );
    check_with(
        "slowdown=1.1",
        &curve(),
        &[],
        2.0,
        &expect![[r#"
            none: no time can be predicted: let the device be measured or give --iops; without --no-verify, or with --capture perf
        "#]],
    );
}

#[test]
fn prices_are_weighed_against_each_other() {
    // Fills for nothing, memory for nothing, and both.
    check(
        "price=1,0",
        &expect![[r#"
        1.02 MiB: with 11.0 MiB a month costs least, $0.0108: $0.0108 for the memory and $0.0000 for 394331 million fills in 1314000 runs back to back
    "#]],
    );
    check(
        "price=0,1",
        &expect![[r#"
        102 MiB: with 112 MiB a month costs least, $33769.80: $0.0000 for the memory and $33769.80 for 33770 million fills in 1314000 runs back to back
    "#]],
    );
    check(
        "price=3.5,0.00001",
        &expect![[r#"
        102 MiB: with 112 MiB a month costs least, $0.7205: $0.3828 for the memory and $0.3377 for 33770 million fills in 1314000 runs back to back
    "#]],
    );
    check_with(
        "price=3.5,0.4",
        &curve(),
        &[],
        0.0,
        &expect![[r#"
            none: it is not known how long a run takes, so that fills in a month are not either: ask without --no-verify, or with --capture perf
        "#]],
    );
}

#[test]
fn where_nothing_was_touched_nothing_is_chosen() {
    for target in ["hit=0.5", "slowdown=2", "price=1,1"] {
        let offer = Offer {
            curve: &Curve::default(),
            time: &[],
            seconds: &seconds,
            limit: &|cache| cache,
            run_seconds: 1.0,
        };
        let choice = choose(target.parse().unwrap(), &offer);
        assert_eq!(choice.cache, None);
        assert_eq!(choice.reason, "no file pages were touched: there is nothing to choose");
    }
}

#[test]
fn a_target_is_read_or_refused_with_its_grammar() {
    for text in [
        "hit=0.95",
        "hit=1",
        "slowdown=1",
        "slowdown=1.1",
        "stall=0.01",
        "fills=100/s",
        "price=3.5,0.4",
    ] {
        assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
    }
    assert_eq!("stall=1%".parse::<Target>(), Ok(Target::Stall(0.01)));
    let refused = |text: &str, part: &str| {
        let error = text.parse::<Target>().unwrap_err().to_string();
        assert!(error.contains(part) && error.starts_with('`'), "{text}: {error}");
        assert!(!error.contains('\n'), "{error}");
    };
    for text in ["", "hit", "=", "speed=3", "0.95"] {
        refused(text, "write hit=0.95, slowdown=1.1, stall=1%, fills=100/s, or price=3.5,0.4");
    }
    for text in ["hit=", "hit=0", "hit=95", "hit=95%", "hit=-1", "hit=NaN", "hit=x"] {
        refused(text, "is not a share");
    }
    for text in ["stall=", "stall=0", "stall=100%", "stall=-1%", "stall=x"] {
        refused(text, "write stall=1%");
    }
    for text in ["fills=", "fills=-1/s", "fills=x/s", "fills=1/m"] {
        refused(text, "write fills=100/s");
    }
    for text in ["slowdown=", "slowdown=0.9", "slowdown=inf", "slowdown=10%"] {
        refused(text, "is not a slowdown");
    }
    for text in ["price=", "price=1", "price=1,", "price=-1,1", "price=1,2,3", "price=1,NaN"] {
        refused(text, "is not two prices");
    }
    refused("price=0,0", "makes everything free");
}

proptest! {
    #[test]
    fn what_is_chosen_meets_the_target(share in 0.01..1.0_f64, slower in 1.0..5.0_f64) {
        let (curve, time) = (curve(), times());
        let offer = Offer {
            curve: &curve,
                time: &time,
            seconds: &seconds,
            limit: &|cache| cache,
            run_seconds: 1.0,
        };
        let hits = |cache: Bytes| 1.0 - lru(cache.pages_down().0) as f64 / 512_000.0;
        match choose(Target::Hit(share), &offer).cache {
            Some(cache) => prop_assert!(hits(cache) >= share),
            None => prop_assert!(hits(Bytes(110 * MIB)) < share),
        }
        let cache = choose(Target::Slowdown(slower), &offer).cache.unwrap();
        let larger = time.iter().filter(|at| at.cache_bytes >= cache);
        for at in larger {
            prop_assert!(at.seconds_high <= slower * 12.0 && at.seconds_low <= slower * 10.0);
        }
    }
}
