//! `nbuf curve`: its three sizes, its warm-up and the names of its policies.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{NBUF, Place};

/// Runs `nbuf curve` in a place.
fn curve(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new(NBUF);
    command.arg("curve").args(arguments).current_dir(place.path("."));
    command.stdin(Stdio::null()).output().unwrap()
}

fn document(place: &Place, arguments: &[&str]) -> Value {
    let output = curve(place, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Keys, one a line: a loop over a hundred, with others in between.
fn keys(place: &Place) -> String {
    let line = |at: u64| if at.is_multiple_of(4) { at * at % 997 + 100 } else { at % 100 };
    let text = (0..20_000).fold(String::new(), |text, at| text + &line(at).to_string() + "\n");
    fs::write(place.path("keys.txt"), &text).unwrap();
    text
}

/// What is said on standard output.
fn curve_of(place: &Place, arguments: &[&str]) -> String {
    String::from_utf8(curve(place, arguments).stdout).unwrap()
}

#[test]
fn the_three_sizes_that_are_not_exact_say_between_which_they_lie() {
    let place = Place::new();
    keys(&place);
    let exact = document(&place, &["--from", "keys", "--policy", "lru", "keys.txt"]);
    let exact = &exact["curves"][0]["corners"];
    // The first key is asked for again after a hundred others: what a sample judges begins far behind.
    for seed in ["0", "1", "2", "3"] {
        let sample = ["--from", "keys", "--sample", "0.3", "--seed", seed, "keys.txt"];
        let curve = document(&place, &sample)["curves"][0].clone();
        for name in ["floor_pages", "knee_pages", "ceiling_pages"] {
            let [low, high] = [0, 1].map(|at| curve["corners_between"][name][at].as_u64().unwrap());
            let size = exact[name].as_u64().unwrap();
            assert!((low..=high).contains(&size), "{seed}: {name} {size}: {curve:#}");
        }
        let knee = curve_of(&place, &[&["-q", "--knee"], &sample[..]].concat());
        assert!(knee.contains(" to ") && knee.ends_with("; of a sample, with 95 %\n"), "{knee}");
        let table = curve_of(&place, &[&["-q"], &sample[..]].concat());
        assert!(table.contains("each of the three sizes is in the range next to it"), "{table}");
    }
    let knee = curve_of(&place, &["-q", "--knee", "--from", "keys", "--policy", "arc", "keys.txt"]);
    assert!(knee.contains("; known at "), "{knee}");
}

/// The advice in place of the three sizes leads to them.
#[test]
fn where_the_three_sizes_are_not_known_the_reason_is_said() {
    let place = Place::new();
    keys(&place);
    let once = (0..500).fold(String::new(), |text, at| text + &at.to_string() + "\n");
    fs::write(place.path("once.txt"), once).unwrap();
    let check = |arguments: &[&str], want: &str| {
        let knee = curve_of(&place, &[&["-q", "--knee", "--from", "keys"], arguments].concat());
        assert!(knee.starts_with(want), "{arguments:?}: {knee}");
    };
    let sampled = "fifo: no knee is known of it from this sample; leave --sample out\n";
    check(&["--policy", "fifo", "--sample", "0.9", "keys.txt"], sampled);
    let few = "fifo: no knee is known of it at so few sizes; leave --size out\n";
    check(&["--policy", "fifo", "--size", "90,1000", "keys.txt"], few);
    let end = "fifo: no knee is known of it; add the size that holds everything: --size ";
    check(&["--policy", "fifo", "--size", "90,500", "keys.txt"], end);
    check(&["--policy", "fifo", "keys.txt"], "fifo: floor ");
    for policy in ["lru", "fifo"] {
        let nothing = format!("{policy}: no size saves anything\n");
        check(&["--policy", policy, "once.txt"], &nothing);
    }
}

#[test]
fn a_warm_up_fills_the_caches_and_is_not_counted() {
    let place = Place::new();
    let text = keys(&place);
    let first: Vec<&str> = text.lines().take(5000).collect();
    fs::write(place.path("first.txt"), first.join("\n") + "\n").unwrap();
    let all = ["--from", "keys", "--policy", "lru,opt,fifo,arc", "--size", "50,90,120,500"];
    let misses = |document: &Value, curve: usize, at: usize| {
        let point = &document["curves"][curve]["points"][at];
        (point["misses"].as_u64().unwrap(), point["accesses"].as_u64().unwrap())
    };
    let whole = document(&place, &[&all[..], &["keys.txt"]].concat());
    let begin = document(&place, &[&all[..], &["first.txt"]].concat());
    for amount in ["5000", "25%"] {
        let warm = document(&place, &[&all[..], &["--warmup", amount, "keys.txt"]].concat());
        assert_eq!(warm["trace"]["warmup_requests"], 5000);
        for (curve, at) in (0..4).flat_map(|curve| (0..4).map(move |at| (curve, at))) {
            let (whole, begin) = (misses(&whole, curve, at), misses(&begin, curve, at));
            let want = (whole.0 - begin.0, 15_000);
            assert_eq!(misses(&warm, curve, at), want, "{amount}: curve {curve}, size {at}");
        }
    }
    // A sample of all keys is exact, and windows begin behind the warm-up.
    let lru = ["--from", "keys", "--policy", "lru", "--size", "90,120", "--warmup", "5000"];
    let exact = document(&place, &[&lru[..], &["--window", "6000", "keys.txt"]].concat());
    let sample = document(&place, &[&lru[..], &["--sample", "1", "keys.txt"]].concat());
    let windows = exact["curves"][0]["windows"].as_array().unwrap();
    let requests: Vec<_> = windows.iter().map(|window| window["requests"].as_u64()).collect();
    assert_eq!(requests, [Some(6000), Some(6000), Some(3000)]);
    for at in 0..2 {
        let (exact, sample) = (misses(&exact, 0, at), misses(&sample, 0, at));
        assert!(exact.0.abs_diff(sample.0) < 200 && exact.1 == sample.1, "{exact:?} {sample:?}");
    }
    let table = curve_of(&place, &[&all[..], &["-q", "--warmup", "25%", "keys.txt"]].concat());
    assert!(table.contains("the first 5,000 requests fill the caches"), "{table}");
}

#[test]
fn a_warm_up_of_a_pipe_is_a_number_of_requests() {
    let place = Place::new();
    let text = keys(&place);
    let piped = |arguments: &[&str]| {
        let mut command = Command::new(NBUF);
        command.args(["curve", "-q", "--json", "--from", "keys"]).args(arguments).arg("-");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may end before it has read all.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        child.wait_with_output().unwrap()
    };
    for sample in [&[][..], &["--sample", "1"]] {
        let arguments = [sample, &["--warmup", "7777", "--policy", "lru"]].concat();
        let of_pipe: Value = serde_json::from_slice(&piped(&arguments).stdout).unwrap();
        let of_file =
            document(&place, &[&["--from", "keys"], &arguments[..], &["keys.txt"]].concat());
        assert_eq!(of_pipe["curves"][0]["points"], of_file["curves"][0]["points"]);
        assert_eq!(of_pipe["curves"][0]["points"][0]["accesses"], 20_000 - 7777);
    }
    let refused = piped(&["--warmup", "10%"]);
    assert_eq!(refused.status.code(), Some(125));
    assert!(stderr(&refused).contains("a pipe can be read only once"), "{}", stderr(&refused));
}

#[test]
fn the_hits_at_the_knee_are_those_of_the_knee() {
    let place = Place::new();
    keys(&place);
    let all = document(&place, &["--from", "keys", "--policy", "lru", "keys.txt"]);
    let knee = all["curves"][0]["corners"]["knee_pages"].as_u64().unwrap();
    let at = ["--from", "keys", "--policy", "lru", "--size", &knee.to_string(), "keys.txt"];
    let misses = document(&place, &at)["curves"][0]["points"][0]["misses"].clone();
    let share = misses.as_f64().unwrap() / 200.0;
    assert_eq!(all["curves"][0]["knee_misses"], misses);
    // Sizes around the knee, and none at it.
    let apart = ["--from", "keys", "--policy", "lru", "--size", "20,40,1000", "keys.txt"];
    let split = ["--from", "keys", "--window", "4000", "keys.txt"];
    for arguments in [&apart[..], &split] {
        let table = curve_of(&place, &[&["-q"], arguments].concat());
        let hits = format!("hits {:.1} %", 100.0 - share);
        assert!(table.contains(&hits) && !table.contains("at least"), "{hits}: {table}");
    }
}

#[test]
fn policies_are_known_in_any_case_and_by_other_names() {
    let place = Place::new();
    keys(&place);
    let asked = "LRU,s3fifo,Belady,W_TinyLFU,V1:busy=2";
    let arguments = ["--from", "keys", "--policy", asked, "--size", "90", "keys.txt"];
    let document = document(&place, &arguments);
    let curves = document["curves"].as_array().unwrap();
    let names: Vec<_> = curves.iter().map(|curve| curve["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["lru", "s3-fifo", "opt", "w-tinylfu", "v1:busy=2"]);
}
