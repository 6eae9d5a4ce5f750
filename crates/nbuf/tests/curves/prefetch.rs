//! `nbuf curve --prefetch`: useful and useless prefetches on every face, and what cannot be prefetched.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::support::Place;
use super::{blocks, curve, document, keys, refused};

/// A thousand pages of 4 KiB in turn, a request each, in the format of the traces of ARC.
fn scan(place: &Place) {
    let mut text = String::new();
    for page in 0..1000 {
        writeln!(text, "{} 8 0 {page}", page * 8).unwrap();
    }
    fs::write(place.path("scan.lis"), text).unwrap();
}

/// Numbers of the only point of a curve.
fn numbers<const N: usize>(curve: &Value, names: [&str; N]) -> [u64; N] {
    let point = &curve["points"][0];
    names.map(|name| {
        let found = if point[name].is_null() { &point["prefetch"][name] } else { &point[name] };
        found.as_u64().unwrap()
    })
}

const COUNTS: [&str; 6] = ["misses", "prefetches", "useful", "useless", "unused", "device_reads"];

#[test]
fn a_scan_has_the_misses_that_each_prefetcher_leaves() {
    let place = Place::new();
    scan(&place);
    for (prefetch, want) in [
        ("next:on=miss", [500, 500, 500, 0, 0, 1000]),
        ("next", [1, 1000, 999, 0, 1, 1001]),
        ("next:pages=3:on=miss", [250, 750, 750, 0, 0, 1000]),
        ("mithril", [1000, 0, 0, 0, 0, 1000]),
    ] {
        let options = ["--policy", "lru,fifo,clock", "--size", "100", "--prefetch", prefetch];
        let found = document(&place, &[&options[..], &["scan.lis"]].concat());
        for curve in found["curves"].as_array().unwrap() {
            assert_eq!(numbers(curve, COUNTS), want, "{prefetch}: {curve}");
            let written = curve["prefetch"].as_str().unwrap();
            assert!(written.starts_with(prefetch.split(':').next().unwrap()), "{written}");
        }
    }
    let without = document(&place, &["--size", "100", "scan.lis"]);
    assert!(without["curves"][0]["prefetch"].is_null(), "{without}");
    assert!(without["curves"][0]["points"][0]["prefetch"].is_null(), "{without}");
}

#[test]
fn every_face_has_the_useful_and_the_useless() {
    let place = Place::new();
    scan(&place);
    let run = |more: &[&str]| {
        let options = ["--prefetch", "next:pages=3:on=always", "--size", "2,100", "scan.lis"];
        let output = curve(&place, &[more, &options[..]].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let csv = run(&["--csv"]);
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(header.ends_with(",name,prefetches,useful,useless,unused,device_reads"), "{header}");
    let rows: Vec<&str> = lines.collect();
    assert!(
        rows[1].starts_with("lru,4096,100,") && rows[1].ends_with(",,1002,999,0,3,1003"),
        "{csv}"
    );
    // In a cache of two pages the third one evicts the first: each access misses.
    assert!(rows[0].starts_with("lru,4096,2,8192,1000,1000,"), "{csv}");
    let table = run(&[]);
    for text in ["useful", "useless", "device reads", "1,003", "--prefetch next:pages=3:on=always"]
    {
        assert!(table.contains(text), "{text}: {table}");
    }
    let several = run(&["--policy", "lru,fifo"]);
    assert!(several.contains("useful and useless prefetches"), "{several}");
    let options = ["--prefetch", "amp", "--policy", "lru,arc", "--html", "page.html", "scan.lis"];
    assert!(curve(&place, &options).status.success());
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("useless") && page.contains("--prefetch amp:pages=2"), "{page}");
}

#[test]
fn the_counts_add_up_whatever_the_threads_and_whatever_is_discarded() {
    let place = Place::new();
    blocks(&place);
    for prefetch in ["next:pages=2", "stride", "amp", "mithril:mine=20"] {
        let options = [
            "--policy",
            "lru,w-tinylfu,random",
            "--prefetch",
            prefetch,
            "--warmup",
            "500",
            "blocks.log",
        ];
        let one = document(&place, &[&options[..], &["--threads", "1"]].concat());
        let two = document(&place, &[&options[..], &["--threads", "2"]].concat());
        assert_eq!(one, two, "{prefetch}");
        assert!(one["curves"][0]["corners"].is_object(), "{one}");
        for point in one["curves"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|curve| curve["points"].as_array().unwrap())
        {
            let counts = &point["prefetch"];
            let [all, useful, useless, unused, reads] =
                ["prefetches", "useful", "useless", "unused", "device_reads"]
                    .map(|name| counts[name].as_u64().unwrap());
            assert_eq!(all, useful + useless + unused, "{prefetch}: {point}");
            assert_eq!(reads, all + point["misses"].as_u64().unwrap(), "{prefetch}: {point}");
        }
    }
}

#[test]
fn what_cannot_be_prefetched_gets_one_line() {
    let place = Place::new();
    keys(&place);
    scan(&place);
    fs::write(place.path("objects.csv"), "key,size\n1,5\n2,5\n1,5\n").unwrap();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--prefetch", "more", "scan.lis"], 2, "write next:pages=1, stride, amp or mithril"),
        (&["--prefetch", "next:pages=0", "scan.lis"], 2, "`next:pages=0` is no prefetcher"),
        (&["--prefetch", "amp", "keys.txt"], 125, "each access to keys.txt is to a key: take"),
        (
            &["--prefetch", "next", "--unit", "request", "scan.lis"],
            125,
            "each access to scan.lis is to a whole request",
        ),
        (
            &["--prefetch", "mithril", "--size", "64KiB", "objects.csv"],
            125,
            "--prefetch is for caches of pages, and these caches are of objects",
        ),
        (&["--prefetch", "next", "--policy", "opt", "scan.lis"], 125, "opt has no rule for pages"),
        (&["--prefetch", "next", "--sample", "0.1", "scan.lis"], 2, "leave --prefetch out"),
        (&["--prefetch", "next", "--window", "100", "scan.lis"], 2, "leave --prefetch out"),
        (&["--prefetch", "next", "--by", "op", "scan.lis"], 2, "leave --prefetch out"),
    ];
    refused(&place, &cases);
    let found =
        document(&place, &["--prefetch", "mithril", "--policy", "all", "--size", "50", "keys.txt"]);
    let policies = found["curves"].as_array().unwrap();
    assert!(policies.len() > 15 && policies.iter().all(|curve| curve["policy"] != "opt"));
    assert!(found["warnings"].to_string().contains("opt has no rule"), "{}", found["warnings"]);
    let help = curve(&place, &["--help-policies"]);
    let help = String::from_utf8_lossy(&help.stdout);
    for line in ["amp: ", "next:on=tagged: ", "mithril:rows=16384: "] {
        assert!(help.lines().any(|one| one.trim_start().starts_with(line)), "{line}: {help}");
    }
}
