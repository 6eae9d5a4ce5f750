//! What is advised of ways and their rates.

use super::*;

#[test]
fn a_file_for_each_stride_is_tried_for_strides_only() {
    let has = |pattern: &str| {
        let pattern: AccessPattern = pattern.parse().unwrap();
        let tests = candidates(&pattern, "read");
        assert!(tests.len() > 5, "{pattern}");
        assert!(tests.iter().all(|test| !test.path.ends_with("-raw")));
        tests.iter().any(|test| test.path == "stdio-multi")
    };
    assert!(has("512, stride 1 MiB, hot"));
    assert!(!has("4096, random, hot") && !has("512, sequential, cold"));
}

fn row(path: &str, rate: f64) -> BenchRow {
    BenchRow {
        path: path.to_owned(),
        bytes_per_second: rate,
        low: rate * 0.99,
        high: rate * 1.01,
        process_rates: (0..11).map(|n| rate * (1.0 + f64::from(n) / 1e4)).collect(),
        ..BenchRow::default()
    }
}

#[test]
fn a_verdict_is_firm_only_if_its_range_is() {
    let pattern: AccessPattern = "4KiB, random, cold".parse().unwrap();
    let wide = BenchRow { low: 20.0, high: 120.0, ..row("pool-direct", 60.0) };
    let others = [row("direct", 60.0), wide];
    let found =
        document(&pattern.test("read", 4096), &pattern, row("read", 100.0), &others, Vec::new());
    let verdict =
        |path: &str| found.ways.iter().find(|way| way.path == path).map(|way| way.verdict.as_str());
    assert_eq!((verdict("direct"), verdict("pool-direct")), (Some("slower"), Some("unsure")));
}

#[test]
fn of_ways_as_fast_none_is_advised_with_a_hint_for_another_order() {
    let check = |pattern: &str, ways: &[(&str, f64)], want: &str| {
        let pattern: AccessPattern = pattern.parse().unwrap();
        let others: Vec<BenchRow> = ways.iter().map(|(path, rate)| row(path, *rate)).collect();
        let test = pattern.test("read", 4096);
        let found = document(&test, &pattern, row("read", 100.0), &others, Vec::new());
        assert_eq!(found.advised().unwrap().path, want, "{pattern} {ways:?}");
    };
    let (random, sequential) = ("4KiB, random, hot", "4KiB, sequential, hot");
    let near = [("mmap-sequential", 200.0), ("mmap-random", 197.0), ("mmap", 180.0)];
    check(random, &near, "mmap-random");
    check(sequential, &near, "mmap-sequential");
    check(random, &[("mmap-sequential", 200.0), ("mmap", 180.0)], "mmap-sequential");
    check(sequential, &[("mmap-random", 200.0), ("mmap", 199.0)], "mmap");
}

#[test]
fn less_than_a_tenth_is_no_advice() {
    let pattern: AccessPattern = "4KiB, random, hot, file 1MiB, touches 64KiB".parse().unwrap();
    let test = pattern.test("read", 4096);
    for (rate, want) in [(109.0, false), (111.0, true), (90.0, false)] {
        let others = [row("mmap", rate), row("stdio", 50.0)];
        let found = document(&test, &pattern, row("read", 100.0), &others, Vec::new());
        assert_eq!(found.advised().is_some(), want, "{rate}: {:?}", found.ways);
        let best = &found.ways[0];
        assert!(best.path == "mmap" && best.low < best.ratio && best.ratio < best.high);
        assert_eq!((found.file_bytes, found.touched_bytes), (1 << 20, 64 << 10));
    }
}
