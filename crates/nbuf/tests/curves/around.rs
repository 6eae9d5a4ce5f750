//! What is around the policies of `nbuf curve` over objects: times to live, admissions, and the bounds
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
        (&["--ttl", "1h", "--policy", "opt", "lives.csv"], 125, "does not know times to live"),
    ];
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
