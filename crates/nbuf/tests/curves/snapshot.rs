//! `nbuf curve --snapshot`: sizes and times to live of a store, joined to a trace without them.

use std::collections::HashSet;
use std::fs;
use std::process::{Command, Stdio};

use super::support::{NBUF, Place};
use super::{document, refused};

/// The key of each request, and the bytes of its value.
fn requests() -> impl Iterator<Item = (u64, u64)> {
    (0..2000_u64).map(|at| (at * at % 41, at * at % 41 * 37 % 300))
}

/// Keys without sizes, a table with them, and a dump that lacks the last key.
fn write(place: &Place) {
    let keys: Vec<String> = requests().map(|(key, _)| format!("user:{key}\n")).collect();
    let keys = keys.concat();
    let held = |key: u64, value: u64| format!("user:{key}").len() as u64 + value;
    let row = |(key, value): (u64, u64)| {
        let bytes = if key == 40 { 0 } else { held(key, value) };
        format!("user:{key},{bytes}\n")
    };
    let rows: String = requests().map(row).collect();
    // A header of 56 bytes, and the ends of key and value.
    let item = |key: u64| {
        let size = 59 + held(key, key * 37 % 300);
        format!("key=user%3A{key} exp=-1 la=1795956359 cas=9 fetch=no cls=1 size={size}\n")
    };
    let dump: String = (0..40).map(item).collect();
    fs::write(place.path("keys.txt"), keys).unwrap();
    fs::write(place.path("table.csv"), format!("key,size\n{rows}")).unwrap();
    fs::write(place.path("dump.txt"), format!("{dump}END\r\n")).unwrap();
    fs::write(place.path("cut.txt"), &dump[..dump.len() - 9]).unwrap();
    fs::write(place.path("other.txt"), "key=a exp=-1 la=1 cas=0 size=99\nEND\r\n").unwrap();
}

#[test]
fn sizes_of_a_snapshot_are_those_of_a_table() {
    let place = Place::new();
    write(&place);
    let options = ["--policy", "lru,fifo,gdsf", "--size", "500B,1KiB,3KiB"];
    let table = document(&place, &[&options[..], &["table.csv"]].concat());
    let joined = ["--snapshot", "dump.txt", "keys.txt"];
    let joined = document(&place, &[&options[..], &joined].concat());
    for at in 0..3 {
        let points = |document: &serde_json::Value| document["curves"][at]["points"].clone();
        assert_eq!(points(&joined), points(&table), "{}", table["curves"][at]["policy"]);
    }
    let lacking = requests().filter(|&(key, _)| key == 40).count();
    let distinct = requests().map(|(key, _)| key).collect::<HashSet<_>>().len();
    let warnings = joined["warnings"].to_string();
    let want =
        format!("the snapshot lacks 1 of the {distinct} keys of the trace: {lacking} requests");
    assert!(lacking > 0 && warnings.contains(&want), "{warnings}");
    let cut = document(&place, &["--snapshot", "cut.txt", "keys.txt"]);
    let warnings = cut["warnings"].to_string();
    assert!(warnings.contains("nbuf takes the 39 keys before that place"), "{warnings}");
}

#[test]
fn a_snapshot_of_nothing_in_the_trace_is_refused() {
    let place = Place::new();
    write(&place);
    super::blocks(&place);
    fs::write(place.path("half.txt"), "key=a exp=-1 la=1 cas=0 size=99\nkey=b exp").unwrap();
    // A value of no bytes, and the store adds the key itself.
    fs::write(place.path("zero.txt"), "key=user:1 exp=-1 la=1 cas=9 size=65\nEND\r\n").unwrap();
    let zero = ["--allocator", "redis:key=6", "--snapshot", "zero.txt", "keys.txt"];
    let cases: [(&[&str], i32, &str); 5] = [
        (&zero, 125, "because keys and the snapshot give no sizes"),
        (&["--snapshot", "half.txt", "keys.txt"], 125, "half.txt, which cannot be read behind"),
        (&["--snapshot", "other.txt", "keys.txt"], 125, "no key of keys.txt is in the snapshot"),
        (&["--snapshot", "keys.txt", "keys.txt"], 125, "keys.txt is no snapshot"),
        (&["--snapshot", "dump.txt", "blocks.log"], 125, "--snapshot joins sizes to keys"),
    ];
    refused(&place, &cases);
}

/// What `nbuf` prints and says, run by a shell.
fn shell(place: &Place, line: &str) -> (Option<i32>, String, String) {
    let line = line.replace("nbuf ", &format!("{NBUF} "));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(place.path(".")).stdin(Stdio::null());
    let output = shell.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_snapshot_from_a_pipe_is_read_once_for_all_readings() {
    let place = Place::new();
    write(&place);
    fs::write(place.path("other.keys"), "user:1\nuser:2\nuser:99\n").unwrap();
    for options in ["--policies lru,gdsf --size 1KiB", "--full --against other.keys"] {
        let stat = format!("nbuf trace stat --json --from keys {options} keys.txt");
        let (status, of_file, said) = shell(&place, &format!("{stat} --snapshot dump.txt"));
        assert_eq!(status, Some(0), "{said}");
        let (status, of_pipe, said) = shell(&place, &format!("cat dump.txt | {stat} --snapshot -"));
        assert_eq!((status, of_pipe), (Some(0), of_file), "{said}");
    }
    let stat = "nbuf trace stat --policies lru,gdsf --size 1KiB --snapshot dump.txt keys.txt";
    let (_, _, said) = shell(&place, stat);
    assert_eq!(said.matches("a guess").count(), 1, "{said}");
    for verb in ["trace stat", "curve"] {
        let (status, _, said) = shell(&place, &format!("nbuf {verb} --snapshot - - <keys.txt"));
        assert_eq!(status, Some(125), "{said}");
        assert!(said.contains("name a file for one of them"), "{said}");
    }
}

#[test]
fn counts_of_a_part_are_not_those_of_the_trace() {
    let place = Place::new();
    write(&place);
    let head = "nbuf trace head -n 3 --snapshot dump.txt keys.txt";
    let (status, _, said) = shell(&place, head);
    assert_eq!(status, Some(0), "{said}");
    assert!(!said.contains("the snapshot lacks"), "{said}");
}

#[test]
fn a_conversion_keeps_the_sizes_of_a_snapshot() {
    let place = Place::new();
    write(&place);
    let trace = |arguments: &[&str]| {
        let mut command = Command::new(NBUF);
        command.arg("trace").args(arguments).current_dir(place.path("."));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    };
    let joined = ["convert", "--snapshot", "dump.txt", "keys.txt"];
    trace(&[&joined[..], &["--to", "oracleGeneral", "-o", "sized.oracleGeneral"]].concat());
    let options = ["--policy", "lru,gdsf", "--size", "500B,1KiB,3KiB"];
    let converted = document(&place, &[&options[..], &["sized.oracleGeneral"]].concat());
    let table = document(&place, &[&options[..], &["table.csv"]].concat());
    for at in 0..2 {
        assert_eq!(converted["curves"][at]["points"], table["curves"][at]["points"]);
    }
    let stat = trace(&["stat", "--json", "--full", "--snapshot", "dump.txt", "keys.txt"]);
    let stat: serde_json::Value = serde_json::from_slice(&stat.stdout).unwrap();
    let held: u64 = requests()
        .filter(|&(key, _)| key < 40)
        .map(|(key, value)| format!("user:{key}").len() as u64 + value)
        .sum();
    assert_eq!(stat["shape"]["ceiling"]["bytes"], held);
    assert!(stat["warnings"].to_string().contains("the snapshot lacks 1 of the"), "{stat}");
}

#[test]
fn the_head_of_a_trace_refuses_a_snapshot_of_another_store() {
    let place = Place::new();
    write(&place);
    let head = |options: &str| shell(&place, &format!("nbuf trace head {options} keys.txt"));
    let (status, _, said) = head("-n 3 --snapshot other.txt");
    assert_eq!(status, Some(125), "{said}");
    assert!(said.contains("no key of the first "), "{said}");
    assert!(said.contains("requests of keys.txt is in the snapshot other.txt:"), "{said}");
    // All of it was read.
    let (status, _, said) = head("-n 5000 --snapshot other.txt");
    assert_eq!(status, Some(125), "{said}");
    assert!(said.contains("no key of keys.txt is in the snapshot other.txt:"), "{said}");
}
