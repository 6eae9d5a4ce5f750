//! What chooses and compares: targets, readahead windows, several samples, two documents.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use support::{Need, Place, requires};

const MIB: u64 = 1 << 20;

/// Reads 12 MiB in 48 files three times.
fn workload(place: &Place) -> Vec<String> {
    let names: Vec<String> = (0..48).map(|n| format!("f{n}")).collect();
    for name in &names {
        place.file(name, 256 << 10);
    }
    let script = "for i in 1 2 3; do cat f* >/dev/null; done";
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

#[test]
fn samples_are_told_one_by_one_and_judged_by_their_median() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let command = workload(&place);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let options = ["--json", "--force", "--samples", "3", "--verify-at", "150%,50%,50%"];
    let sized = place.size(&options, &command);
    let report = sized.json();
    assert!(sized.stderr.contains("running the command 9 more times"), "{}", sized.stderr);
    assert!(sized.stderr.contains(", each 3 times"), "{}", sized.stderr);
    let runs = report["verify"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        let samples = run["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 3, "{run:#}");
        let middle = |key: &str| {
            let mut values: Vec<f64> = samples.iter().map(|s| s[key].as_f64().unwrap()).collect();
            values.sort_by(f64::total_cmp);
            values[1]
        };
        for key in ["measured_fills", "measured_seconds"] {
            let apart = (run[key].as_f64().unwrap() - middle(key)).abs();
            assert!(apart < 1e-9, "{key}: {run:#}");
        }
    }

    // For people the spread is next to the median, or below the table where there is no room.
    let options = ["--force", "--samples", "2", "--verify-at", "150%"];
    let sized = place.size(&options, &command);
    assert!(sized.stdout.contains("\nVerified: pages filled, medians of 2 runs\n"), "{sized:?}");
    let spread = |line: &str| line.contains("from..to") || line.contains(" fills, ");
    assert!(sized.stdout.lines().any(spread), "{sized:?}");
    assert!(sized.stdout.contains("major"), "the other meters have medians too: {sized:?}");
}

#[test]
fn samples_that_end_early_are_reported() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 1 << 20);
    // The preparation fails before the third of six runs: the two made so far are reported.
    let prepare = "echo x >>count; [ $(wc -l <count) -lt 4 ]";
    let options =
        ["--json", "--force", "--samples", "3", "--verify-at", "200%", "--prepare", prepare];
    let sized = place.size(&options, &["cat", "file"]);
    assert_eq!(sized.status, 125, "{sized:?}");
    let start = sized.stdout.find('{').unwrap();
    let report: Value = serde_json::from_str(&sized.stdout[start..]).unwrap();
    let runs = report["verify"].as_array().unwrap();
    let samples: usize = runs.iter().map(|run| run["samples"].as_array().unwrap().len()).sum();
    assert_eq!(samples, 2, "{runs:#?}");
}

#[test]
fn a_target_becomes_the_recommendation_and_is_verified() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let command = workload(&place);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let size = |options: &[&str]| place.size(&[&["--json", "--force"], options].concat(), &command);

    let report = size(&["--target", "price=1,0"]).json();
    let target = &report["target"];
    assert_eq!((&target["goal"], &target["met"]), (&json!("price=1,0"), &json!(true)));
    // Fills cost nothing, so that the smallest cache is the cheapest, and it is what is run.
    assert_eq!(
        report["recommend"]["cache_bytes"],
        report["curve"][0]["cache_bytes"]
            .as_u64()
            .map(|least| json!((least + least.div_ceil(100) * 2).div_ceil(4096) * 4096))
            .unwrap()
    );
    let limit = &report["recommend"]["limit_bytes"];
    let runs = report["verify"].as_array().unwrap();
    assert!(runs.iter().any(|run| run["limit_bytes"] == *limit), "{runs:#?}");
    assert_eq!(report["recommend"]["kind"], "target");
    assert!(target["knee"]["cache_bytes"].as_u64() > report["recommend"]["cache_bytes"].as_u64());

    let report = size(&["--no-verify", "--target", "hit=0.9999"]).json();
    assert_eq!(report["target"]["met"], false);
    assert!(report["target"]["reason"].to_string().contains("hit at best"));
    assert_eq!(report["recommend"], report["target"]["knee"]);

    let report = size(&["--no-verify", "--readahead", "64KiB"]).json();
    let windows = report["readahead"].as_array().unwrap();
    assert!(windows.iter().any(|at| at["readahead_bytes"] == 64 << 10), "{windows:#?}");
    let own: Vec<&Value> = windows.iter().filter(|at| at["is_own"] == true).collect();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0]["limit_bytes"], report["recommend"]["limit_bytes"]);
}

/// A document that says just enough.
fn document(limit_mib: u64) -> Value {
    json!({
        "schema": "nbuf.size/1",
        "command": ["query"],
        "capture": { "lost": 0, "mapped_share": 0.0 },
        "memory": {
            "anonymous_bytes": 0, "shmem_bytes": 0, "kernel_bytes": 0, "page_cache_bytes": 0
        },
        "curve": [],
        "footprint_bytes": 64 * MIB,
        "recommend": { "limit_bytes": limit_mib * MIB, "cache_bytes": 60 * MIB },
        "verify": [],
    })
}

fn compare(place: &Place, options: &[&str]) -> (i32, String, String) {
    let arguments = [&["size", "--compare", "a.json", "b.json"], options].concat();
    let Output { status, stdout, stderr } = place.nbuf(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn a_build_that_needs_more_memory_fails_the_budget() {
    let place = Place::new();
    let write = |name: &str, document: &Value| {
        fs::write(place.path(name), document.to_string()).unwrap();
    };
    write("a.json", &document(100));
    // The noise is 1 MiB, 256 KiB, 512 KiB, and a hundredth of 60 MiB.
    for (limit, budget, status) in [
        (100, None, 0),
        (101, None, 0),
        (103, None, 1),
        (90, None, 0),
        (107, Some("1.05"), 0),
        (108, Some("1.05"), 1),
        (90, Some("0.8"), 1),
    ] {
        write("b.json", &document(limit));
        let options: Vec<&str> = budget.iter().flat_map(|&times| ["--budget", times]).collect();
        let (code, out, err) = compare(&place, &options);
        assert_eq!((code, err.as_str()), (status, ""), "{limit} {budget:?}: {out}");
        assert_eq!(out.contains("B needs too much"), status == 1, "{out}");
        let (code, out, _) = compare(&place, &[&options[..], &["--json"]].concat());
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, found["exceeded"].as_bool()), (status, Some(status == 1)));
        assert_eq!(found["schema"], "nbuf.compare/1");
    }
    let mut other = document(100);
    other["command"] = json!(["other"]);
    write("b.json", &other);
    let (code, out, _) = compare(&place, &[]);
    assert_eq!(code, 0);
    assert!(out.contains("Warning: the commands differ: `query` and `other`."), "{out}");
}

#[test]
fn what_is_no_result_is_refused_in_one_line() {
    let place = Place::new();
    fs::write(place.path("a.json"), document(100).to_string()).unwrap();
    let mut bound = document(100);
    bound["recommend"] = Value::Null;
    for (text, part) in [
        (String::new(), "b.json is empty; write one with"),
        (" \n".into(), "b.json is empty; write one with"),
        ("{".into(), "b.json is no JSON document ("),
        ("[]".into(), "b.json does not name the schema nbuf.size/1; "),
        (r#"{"schema":"x/1"}"#.into(), "b.json has the schema x/1, not nbuf.size/1; "),
        (r#"{"schema":"nbuf.size/1"}"#.into(), "b.json is not a whole document (missing field"),
        (bound.to_string(), "B recommends no size (a lower bound, or no file was touched); run"),
    ] {
        fs::write(place.path("b.json"), &text).unwrap();
        let (code, out, err) = compare(&place, &[]);
        assert_eq!((code, out.as_str()), (125, ""), "{text}");
        assert!(err.starts_with(&format!("nbuf: {part}")) && err.lines().count() == 1, "{err}");
    }
    fs::remove_file(place.path("b.json")).unwrap();
    let (code, _, err) = compare(&place, &[]);
    assert_eq!((code, err.lines().count()), (125, 1));
    assert!(err.starts_with("nbuf: cannot open b.json: "), "{err}");

    let alone = place.nbuf(["size", "--budget", "1.05", "--", "true"]).output().unwrap();
    let err = String::from_utf8(alone.stderr).unwrap();
    assert_eq!(alone.status.code(), Some(2));
    assert_eq!(
        err,
        "nbuf: --budget 1.05 needs --compare A.json B.json; add it, or write a time such as 90s or 10m\n"
    );
}
