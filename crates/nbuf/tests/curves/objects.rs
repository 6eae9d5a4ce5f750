//! `nbuf curve` over objects with sizes: the program against a naive cache.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::support::Place;
use super::{curve, document, keys, refused, stderr};

/// Keys and sizes. A key keeps its size unless sizes change.
fn objects(changes: bool) -> Vec<(u64, u64)> {
    let key = |at: u64| (at * at % 83).min(at * 7 % 61);
    let size = |at: u64| 100 + key(at) * 37 % 500 + if changes { at % 3 } else { 0 };
    (0..3000).map(|at| (key(at), size(at))).collect()
}

fn write(place: &Place, name: &str, objects: &[(u64, u64)]) {
    let mut text = "key,size\n".to_owned();
    for (key, size) in objects {
        writeln!(text, "{key},{size}").unwrap();
    }
    fs::write(place.path(name), text).unwrap();
}

/// Misses and their bytes: newest first, the last go until the next one fits; `moves` where a hit makes
/// an object the newest.
fn naive(objects: &[(u64, u64)], most: u64, overhead: u64, moves: bool) -> (u64, u64) {
    let mut cache: Vec<(u64, u64)> = Vec::new();
    let used = |cache: &[(u64, u64)]| cache.iter().map(|kept| kept.1 + overhead).sum::<u64>();
    let (mut misses, mut bytes) = (0, 0);
    for &(key, size) in objects {
        let found = cache.iter().position(|kept| kept.0 == key);
        match found {
            Some(at) if moves => {
                cache.remove(at);
                cache.insert(0, (key, size));
            }
            Some(at) => cache[at].1 = size,
            None => {
                (misses, bytes) = (misses + 1, bytes + size);
                while size + overhead <= most && used(&cache) + size + overhead > most {
                    cache.pop();
                }
                if size + overhead <= most {
                    cache.insert(0, (key, size));
                }
            }
        }
        // One that grew beyond the cache leaves; for others room is made.
        cache.retain(|kept| kept.1 + overhead <= most);
        while used(&cache) > most {
            cache.pop();
        }
    }
    (misses, bytes)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn objects_miss_what_a_naive_cache_of_as_many_bytes_misses() {
    let place = Place::new();
    for (changes, overhead) in [(false, 0), (false, 56), (true, 0), (true, 7)] {
        let trace = objects(changes);
        write(&place, "objects.csv", &trace);
        let extra = overhead.to_string();
        let sizes = ["--size", "300B,2KiB..20KiB:3KiB,25%,100%", "--overhead", &extra];
        let all = [&sizes[..], &["--policy", "lru,fifo,gdsf", "objects.csv"]].concat();
        let document = document(&place, &all);
        assert_eq!(document["trace"]["unit"], "object");
        for curve in &document["curves"].as_array().unwrap()[..2] {
            let is_lru = curve["policy"] == "lru";
            let facts = &curve["objects"];
            assert_eq!(number(&facts["size_changes"]) > 0, changes);
            assert_eq!(facts["exact_from_bytes"].is_u64(), is_lru && !changes);
            for point in curve["points"].as_array().unwrap() {
                let counted = (number(&point["misses"]), number(&point["miss_bytes"]));
                let want = naive(&trace, number(&point["pages"]), overhead, is_lru);
                assert_eq!(counted, want, "{} {overhead} {changes}", curve["policy"]);
                let asked: u64 = trace.iter().map(|object| object.1).sum();
                assert_eq!(number(&point["bytes"]), asked);
            }
        }
        let most = document["curves"][0]["points"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(most["pages"], document["curves"][0]["distinct_pages"], "100 % is all bytes");
    }
}

#[test]
fn a_target_and_all_policies_take_objects_too() {
    let place = Place::new();
    let trace = objects(false);
    write(&place, "objects.csv", &trace);
    let target = ["--unit", "object", "--policy", "lru", "--target", "hit=0.9", "objects.csv"];
    let found = number(&document(&place, &target)["curves"][0]["target"]["pages"]);
    let hits = |size| 1.0 - naive(&trace, size, 0, true).0 as f64 / trace.len() as f64;
    assert!(hits(found) >= 0.9 && hits(found - 1) < 0.9, "{found}");
    let all = ["--size", "4KiB", "--policy", "all", "--csv", "objects.csv"];
    let output = curve(&place, &all);
    let said = stderr(&output);
    assert!(said.contains("which divide their caches by a number of pages"), "{said}");
    let rows = String::from_utf8_lossy(&output.stdout);
    assert!(rows.lines().all(|row| row.split(',').count() == 15), "{rows}");
    assert!(rows.contains("\ngdsf,1,4096,4096,3000,"), "{rows}");
}

#[test]
fn what_objects_cannot_be_counted_by_is_refused() {
    let place = Place::new();
    keys(&place);
    fs::write(place.path("sized.csv"), "key,size\n1,2\n3,4\n").unwrap();
    fs::write(place.path("nothing.csv"), "key,size\n1,0\n3,0\n").unwrap();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["--unit", "object", "--from", "keys", "keys.txt"], 125, "gives no sizes"),
        (&["--size", "1MiB,7", "sized.csv"], 125, "`7` has no unit: write 7B, 64MiB or 10%"),
        (&["--size", "1MiB", "--policy", "arc", "sized.csv"], 125, "take lru, fifo, clock, sieve"),
        (&["--overhead", "8", "--by", "op", "sized.csv"], 125, "count pages or keys, not bytes"),
        (&["--size", "1MiB", "nothing.csv"], 125, "the keys of nothing.csv have no bytes here"),
    ];
    refused(&place, &cases);
}
