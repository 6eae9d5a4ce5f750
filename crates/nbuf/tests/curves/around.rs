//! What is around the policies of `nbuf curve` over objects: times to live, admissions, costs, and the bounds
//! of the optimum.

use std::fs;

use serde_json::Value;

use super::support::Place;
use super::{document, refused};

/// Requests for keys 0 to 9 in turn, a second apart, of 100 bytes; every fifth writes.
fn write(place: &Place) {
    let line = |at: u64| {
        let op = if at.is_multiple_of(5) { "set" } else { "get" };
        let ttl = if at < 10 { "25" } else { "" };
        format!("{at},{},100,{op},{ttl},{}\n", at % 10, at % 10 * 3)
    };
    let lines: String = (0..100).map(line).collect();
    fs::write(place.path("lives.csv"), format!("time,key,size,op,ttl,price\n{lines}")).unwrap();
    fs::write(place.path("timeless.csv"), "key,size\n1,5\n1,5\n").unwrap();
}

/// The misses of the only size of each curve.
fn misses(document: &Value) -> Vec<u64> {
    let curves = document["curves"].as_array().unwrap();
    curves.iter().map(|curve| curve["points"][0]["misses"].as_u64().unwrap()).collect()
}

#[test]
fn objects_expire_unless_they_are_written_in_time() {
    let place = Place::new();
    write(&place);
    let run = |ttl: &str, expired: &str| {
        let options = ["--policy", "lru,memcached", "--size", "64MiB", "--expired", expired];
        let found = document(&place, &[&options[..], &["--ttl", ttl, "lives.csv"]].concat());
        assert_eq!(found["curves"][0]["objects"]["ttl"], ttl);
        misses(&found)
    };
    // All fit. Keys 0 and 5 are written each ten seconds. The others come in at 1..9 s, and again each time that they are
    // older than 25 s: when they are asked for after 30 s.
    let all = 2 + 8 * 4;
    for expired in ["evict", "free"] {
        assert_eq!(run("trace", expired), [all; 2], "{expired}");
        assert_eq!(run("25s", expired), [all; 2], "{expired}");
        assert_eq!(run("30s", expired), [2 + 8 * 3; 2], "the last moment hits, {expired}");
        assert_eq!(run("1h", expired), [10; 2], "{expired}");
        assert_eq!(run("9s", expired), [100; 2], "{expired}");
    }
    let cases: [(&[&str], i32, &str); 4] = [
        (&["--ttl", "1h", "--size", "1KiB", "timeless.csv"], 125, "no time passes in it"),
        (&["--ttl", "trace", "--size", "1KiB", "timeless.csv"], 125, "has a time to live (csv)"),
        (&["--ttl", "soon", "lives.csv"], 2, "write trace for those of the trace"),
        (&["--ttl", "1h", "--policy", "opt", "lives.csv"], 125, "has no rule for times to live"),
    ];
    refused(&place, &cases);
}

#[test]
fn an_object_larger_than_the_cache_bypasses_or_clears_it() {
    let place = Place::new();
    let rows = "0,10\n1,10\n0,10\n1,10\n9,1000\n".repeat(10);
    fs::write(place.path("huge.csv"), format!("key,size\n{rows}")).unwrap();
    let run = |how: &[&str]| {
        let options = ["--policy", "lru,gdsf,lfu", "--size", "50B", "--unit", "object", "huge.csv"];
        document(&place, &[how, &options[..]].concat())
    };
    let (bypass, clear) = (run(&[]), run(&["--oversized", "clear"]));
    assert_eq!(misses(&bypass), [2 + 10; 3], "both small ones stay");
    assert_eq!(misses(&clear), [3 * 10; 3], "each round begins empty");
    assert_eq!(clear["curves"][0]["objects"]["oversized"], "clear");
    assert!(bypass["curves"][0]["objects"].get("oversized").is_none());
    let cases: [(&[&str], i32, &str); 1] =
        [(&["--oversized", "keep", "huge.csv"], 2, "write bypass, with which the others stay")];
    refused(&place, &cases);
}

#[test]
fn the_optimum_over_objects_has_bounds() {
    let place = Place::new();
    write(&place);
    let found = document(&place, &["--policy", "lru,opt", "--size", "500B", "lives.csv"]);
    let [lru, opt] = [0, 1].map(|at| &found["curves"][at]["points"][0]);
    assert_eq!(lru["misses"], 100, "a loop is the worst for LRU");
    // Four of ten objects stay, and the fifth place is for what passes: between 9 and 10 loops hit.
    let [attained, least] = ["misses", "misses_low"].map(|name| opt[name].as_u64().unwrap());
    assert_eq!(opt["misses_high"], opt["misses"]);
    assert!((55..=64).contains(&attained) && (50..=attained).contains(&least), "{opt}");
    assert!(opt["miss_bytes_low"].as_u64().unwrap() <= opt["miss_bytes"].as_u64().unwrap());
}

#[test]
fn an_admission_is_in_front_of_every_policy() {
    let place = Place::new();
    write(&place);
    let run = |admit: &[&str]| {
        let options =
            ["--policy", "lru,gdsf,lhd:samples=4:recent=2", "--size", "1KiB", "lives.csv"];
        let found = document(&place, &[admit, &options[..]].concat());
        assert_eq!(found["curves"][2]["policy"], "lhd:samples=4:recent=2");
        (misses(&found), found["curves"][0]["objects"]["admissions"].clone())
    };
    assert_eq!(run(&["--overhead", "0", "--unit", "object"]).0, [10; 3], "all fit");
    let (refused_all, shown) = run(&["--admit", "threshold:bytes=99", "--admit", "tinylfu"]);
    assert_eq!(refused_all, [100; 3]);
    assert_eq!(shown, serde_json::json!(["threshold:bytes=99", "tinylfu:sample=10"]));
    assert_eq!(run(&["--admit", "threshold:bytes=100"]).0, [10; 3]);
    assert!(run(&["--admit", "probability:p=0.2"]).0.iter().all(|&few| few > 20));
    let help = super::curve(&place, &["--help-policies"]);
    let help = String::from_utf8_lossy(&help.stdout);
    for line in ["lhd*: ", "lhd:samples=32: ", "v1:busy=1: ", "tinylfu:sample=10: "] {
        assert!(help.lines().any(|one| one.trim_start().starts_with(line)), "{line}: {help}");
    }
    let cases: [(&[&str], i32, &str); 2] = [
        (&["--admit", "small", "lives.csv"], 2, "write threshold:bytes=64KiB"),
        (&["--policy", "lhd:samples=9999", "lives.csv"], 2, "write lhd:samples=N"),
    ];
    refused(&place, &cases);
}

#[test]
fn misses_cost_what_their_column_says() {
    let place = Place::new();
    write(&place);
    let options =
        ["--cost", "price", "--policy", "lru,gdsf,opt", "--size", "400B,1KiB", "lives.csv"];
    let found = document(&place, &options);
    let point = |curve: usize, at: usize| &found["curves"][curve]["points"][at];
    let all: f64 = (0..10).map(|key| f64::from(key * 3)).sum();
    for curve in [0, 1] {
        assert_eq!(point(curve, 0)["cost"], 10.0 * all);
        assert_eq!(point(curve, 1)["miss_cost"], all, "what comes first, as all fit");
    }
    assert_eq!(point(0, 0)["miss_cost"], 10.0 * all, "LRU never hits on a loop");
    assert!(point(2, 0)["cost"].is_null());
    let csv = super::curve(&place, &[&options[..], &["--csv"]].concat());
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert!(csv.lines().next().unwrap().ends_with(",miss_bytes_low,cost,miss_cost"), "{csv}");
    assert!(csv.lines().any(|row| row.starts_with("lru,") && row.ends_with(",1350,1350")), "{csv}");
    let line = |at: u64| {
        let key = (at.wrapping_mul(2_654_435_761) >> 7) % 12;
        format!("{key},100,{}\n", if key < 3 { 100.5 } else { 1.0 })
    };
    let lines: String = (0..2000).map(line).collect();
    fs::write(place.path("dear.csv"), format!("key,size,price\n{lines}")).unwrap();
    let dear = ["--cost", "price", "--policy", "lru,gdsf", "--size", "400B", "dear.csv"];
    let found = document(&place, &dear);
    let [lru, gdsf] =
        [0, 1].map(|at| found["curves"][at]["points"][0]["miss_cost"].as_f64().unwrap());
    assert!(gdsf < 0.5 * lru, "what costs more stays: {gdsf} {lru}");
    let table = super::curve(&place, &options);
    assert!(String::from_utf8_lossy(&table.stdout).contains("and what the misses cost"));
    let cases: [(&[&str], i32, &str); 2] = [
        (&["--cost", "price", "--from", "twitter", "lives.csv"], 2, "--from twitter is none"),
        (&["--cost", "prices", "lives.csv"], 125, "there is no column `prices`"),
    ];
    refused(&place, &cases);
}
