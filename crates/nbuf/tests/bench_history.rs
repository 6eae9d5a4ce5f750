//! The history of `nbuf bench`: what a run keeps for later ones, and what it leaves alone.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use nbuf::experiment::result::BenchDocument;
use support::{Place, skip};

/// Where the history is.
fn history(place: &Place) -> PathBuf {
    place.path("state/nbuf/bench-history.jsonl")
}

/// A run of one row, which prints its document and nothing else.
fn run(place: &Place, state: &str, more: &[&str]) -> BenchDocument {
    let disc = place.path("disc");
    fs::create_dir_all(&disc).unwrap();
    let mut command =
        place.nbuf(["-q", "bench", "--rows", "--quick", "--size", "1MiB", "--json", "--dir"]);
    command.arg(&disc).arg("r01-byte").args(more);
    command.env("XDG_STATE_HOME", place.path(state)).env("HOME", place.path("home"));
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(!place.path("home").exists());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The same once more until it has its row, which a busy machine leaves without a number. Such a run is not kept.
fn bench(place: &Place, state: &str, more: &[&str]) -> Option<BenchDocument> {
    let whole = |document: &BenchDocument| document.is_complete && document.rows.len() == 1;
    let found = (0..8).map(|_| run(place, state, more)).find(whole);
    if found.is_none() {
        skip("this machine was never steady enough for a row of nbuf bench");
    }
    found
}

#[test]
fn complete_runs_are_kept_and_widen_later_ranges() {
    let place = Place::new();
    let kept = || fs::read_to_string(history(&place)).unwrap();
    let mut rates = Vec::new();
    for number in 0..3 {
        let Some(document) = bench(&place, "state", &[]) else { return };
        let row = &document.rows[0];
        rates.push(row.bytes_per_second);
        assert_eq!(row.earlier_runs, if number < 2 { 0 } else { 2 });
        assert_eq!(kept().lines().count(), 1 + rates.len());
        if number == 2 {
            let logarithms: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
            let mean = logarithms.iter().sum::<f64>() / 3.0;
            let squares: f64 = logarithms.iter().map(|it| (it - mean).powi(2)).sum();
            let wide = 2.0 * (squares / 2.0).sqrt() - 1e-9;
            assert!((row.high / row.bytes_per_second).ln() >= wide, "{rates:?} {row:?}");
            assert!((row.bytes_per_second / row.low).ln() >= wide, "{rates:?} {row:?}");
        }
    }
    let mode = fs::metadata(history(&place)).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert_eq!(fs::read_dir(place.path("state/nbuf")).unwrap().count(), 1);
    let before = kept();
    assert!(before.contains("\"r01-byte\":") && !before.contains("disc"), "{before}");
    for (more, earlier) in [(&["--slowdown", "10"][..], 3), (&["--no-history"][..], 0)] {
        let Some(document) = bench(&place, "state", more) else { return };
        assert_eq!((document.rows[0].earlier_runs, kept()), (earlier, before.clone()), "{more:?}");
    }
    // A torn line costs that line.
    fs::write(history(&place), before.clone() + "{\"unix_seconds\":17").unwrap();
    let Some(document) = bench(&place, "state", &[]) else { return };
    let warnings: Vec<String> = document.warnings.iter().map(ToString::to_string).collect();
    let damaged = warnings.iter().filter(|warning| warning.starts_with("damaged lines"));
    assert_eq!(damaged.count(), 1, "{warnings:?}");
    assert_eq!((document.rows[0].earlier_runs, kept().lines().count()), (3, 5));
}

#[test]
fn what_nbuf_did_not_write_stays_and_without_a_history_nothing_is_written() {
    let place = Place::new();
    let Some(document) = bench(&place, "state", &["--no-history"]) else { return };
    assert!(document.rows[0].earlier_runs == 0 && !place.path("state").exists());
    // A folder that cannot be made is no failure, and no word.
    fs::write(place.path("no-folder"), "").unwrap();
    if bench(&place, "no-folder", &[]).is_none() {
        return;
    }
    fs::create_dir_all(place.path("state/nbuf")).unwrap();
    fs::write(history(&place), "a diary\n").unwrap();
    let Some(document) = bench(&place, "state", &[]) else { return };
    assert_eq!(fs::read_to_string(history(&place)).unwrap(), "a diary\n");
    let warnings: Vec<String> = document.warnings.iter().map(ToString::to_string).collect();
    let said = warnings.iter().find(|warning| warning.contains("bench-history.jsonl"));
    assert!(said.is_some_and(|said| said.contains("stays as it is")), "{warnings:?}");
    let Some(document) = bench(&place, "state", &["--no-history"]) else { return };
    assert!(document.warnings.iter().all(|it| !it.to_string().contains("bench-history")));
}
