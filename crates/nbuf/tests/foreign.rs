//! Foreign traces on the command line: counted, shown, converted, generated.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nbuf::trace::CacheEvent;
use nbuf::workload::format::native;
use support::NBUF;

fn nbuf(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(NBUF).args(arguments).current_dir(directory).output().unwrap()
}

#[track_caller]
fn stdout(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(125));
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(
        error.trim_end().lines().filter(|line| line.contains("nbuf: ")).count(),
        error.lines().count()
    );
    error
}

const MSR: &str = "128166372003061629,hm,1,Read,0,8192,413\n\
    128166372013061629,hm,1,Write,4096,4096,4194\n128166372013061630,hm,0,Read,4096,1,1\n";

#[test]
fn a_trace_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("hm.csv"), MSR).unwrap();
    let output = nbuf(directory.path(), &["trace", "stat", "--json", "hm.csv"]);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let want: [(&str, serde_json::Value); 11] = [
        ("schema", "nbuf.stat/1".into()),
        ("format", "msr".into()),
        ("unit", "bytes".into()),
        ("requests", 3.into()),
        ("reads", 2.into()),
        ("written_bytes", 4096.into()),
        ("objects", 2.into()),
        ("accesses", 4.into()),
        ("distinct", 3.into()),
        ("page_bytes", 4096.into()),
        ("problems", 0.into()),
    ];
    for (name, value) in want {
        assert_eq!(document[name], value, "{name}");
    }
    let text = stdout(&nbuf(directory.path(), &["trace", "stat", "hm.csv", "--page", "512"]));
    assert!(text.contains("page accesses    25 of 512 B"), "{text}");
}

#[test]
fn the_first_requests_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("hm.csv"), MSR).unwrap();
    let output = nbuf(directory.path(), &["trace", "head", "-n", "1", "hm.csv"]);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 2);
    assert!(
        text.ends_with(
            "1172163600.306162900 read                       0         8192        0 hm.1\n"
        ),
        "{text}"
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "nbuf: hm.csv: msr (bytes), not compressed\n");
}

#[test]
fn a_trace_becomes_native_and_oracle_general() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("hm.csv"), MSR).unwrap();
    stdout(&nbuf(directory.path(), &["trace", "convert", "hm.csv", "-o", "hm.parquet"]));
    let trace = native::read(File::open(at("hm.parquet")).unwrap()).unwrap();
    assert_eq!(trace.files, ["hm.1", "hm.0"]);
    let ops: Vec<(i64, CacheEvent)> =
        trace.records.iter().map(|record| (record.time_ns, record.op)).collect();
    assert_eq!(
        ops,
        [
            (0, CacheEvent::Read),
            (1_000_000_000, CacheEvent::Write),
            (1_000_000_100, CacheEvent::Read)
        ]
    );
    assert!(trace.facts.warnings.iter().any(|warning| warning.starts_with("converted from msr")));

    let arguments =
        ["trace", "convert", "--to", "oracleGeneral", "hm.parquet", "-o", "hm.oracleGeneral"];
    stdout(&nbuf(directory.path(), &arguments));
    let bytes = fs::read(at("hm.oracleGeneral")).unwrap();
    // The second access is the third's page.
    assert_eq!((bytes.len(), &bytes[24 + 16..48]), (4 * 24, &3_u64.to_le_bytes()[..]));

    let again = refused(&nbuf(directory.path(), &arguments));
    assert!(again.contains("hm.oracleGeneral exists"), "{again}");
    let keys = ["trace", "convert", "hm.oracleGeneral", "-o", "keys.parquet"];
    let error = refused(&nbuf(directory.path(), &keys));
    assert!(error.contains("write --to oracleGeneral"), "{error}");
    assert!(!at("keys.parquet").exists());
}

#[test]
fn a_trace_of_many_volumes_becomes_one_of_each() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("hm.csv"), MSR).unwrap();
    let convert = |more: &[&str]| {
        nbuf(directory.path(), &[&["trace", "convert", "hm.csv", "--partition-by"], more].concat())
    };
    stdout(&convert(&["volume", "-o", "volumes"]));
    // Times are counted from the first request of all.
    for (name, times) in [("hm.1", &[0, 1_000_000_000][..]), ("hm.0", &[1_000_000_100])] {
        let path = at(&format!("volumes/volume={name}/part-0.parquet"));
        let trace = native::read(File::open(path).unwrap()).unwrap();
        let found: Vec<i64> = trace.records.iter().map(|record| record.time_ns).collect();
        assert_eq!((&trace.files[..], &found[..]), (&[name.to_owned()][..], times));
    }
    let again = refused(&convert(&["volume", "-o", "volumes"]));
    assert!(again.contains("volumes exists"), "{again}");
    let keys = refused(&convert(&["file", "--to", "oracleGeneral", "-o", "keys"]));
    assert!(keys.contains("write --to native") && !at("keys").exists(), "{keys}");
    // Names that no folder can have are cut, and stay apart.
    let long =
        ["a", "b"].map(|end| format!("128166372013061639,{}{end},0,Read,0,1,1\n", "x".repeat(300)));
    fs::write(at("hm.csv"), format!("{MSR}{}{}", long[0], long[1])).unwrap();
    stdout(&convert(&["volume", "-o", "long"]));
    let names = fs::read_dir(at("long")).unwrap().map(|it| it.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let is_long = |name: &&String| name.starts_with("volume=xxx") && name.len() == 255;
    assert_eq!((names.len(), names.iter().filter(is_long).count()), (4, 2), "{names:?}");
    let nowhere = refused(&convert(&["file", "-o", "no/such/place"]));
    assert!(nowhere.contains("no/such/place"), "{nowhere}");
}

#[test]
fn generated_traces_are_the_same_everywhere_and_pass_through_pipes() {
    let directory = tempfile::tempdir().unwrap();
    let generate = ["trace", "generate", "zipf", "-n", "100000", "--keys", "1000", "-o", "-"];
    let mut maker = Command::new(NBUF).args(generate).stdout(Stdio::piped()).spawn().unwrap();
    let from = maker.stdout.take().unwrap();
    let counted = Command::new(NBUF).args(["trace", "stat", "--json", "-"]).stdin(from).output();
    let document: serde_json::Value = serde_json::from_str(&stdout(&counted.unwrap())).unwrap();
    assert!(maker.wait().unwrap().success());
    assert_eq!(document["format"], "oracleGeneral");
    assert_eq!((&document["requests"], &document["distinct"]), (&100_000.into(), &1000.into()));
    let file = ["trace", "generate", "zipf", "-n", "100000", "--keys", "1000", "-o", "z"];
    stdout(&nbuf(directory.path(), &file));
    let whole = fs::read(directory.path().join("z")).unwrap();
    assert_eq!(whole, stdout_bytes(&generate));
    let keys = stdout_bytes(&[&generate[..], &["--to", "u32le"]].concat());
    let (records, _) = whole.as_chunks::<24>();
    assert_eq!(keys, records.iter().flat_map(|record| record[4..8].to_vec()).collect::<Vec<_>>());
}

fn stdout_bytes(arguments: &[&str]) -> Vec<u8> {
    Command::new(NBUF).args(arguments).output().unwrap().stdout
}

#[test]
fn output_that_nobody_reads_is_no_failure() {
    let arguments = ["trace", "generate", "scan", "-n", "1000000", "-o", "-"];
    let mut child = Command::new(NBUF).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_read_is_said_and_too_much_of_it_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!("{MSR}not,a,request\n");
    fs::write(directory.path().join("hm.csv"), &text).unwrap();
    let some = nbuf(directory.path(), &["trace", "stat", "--from", "msr", "hm.csv"]);
    assert!(stdout(&some).contains("1 that could not be read"));
    let said = String::from_utf8(some.stderr).unwrap();
    assert!(said.contains("hm.csv, line 4: expected a time"), "{said}");
    let strict = ["trace", "stat", "--problems-max", "0", "--from", "msr", "hm.csv"];
    let error = refused(&nbuf(directory.path(), &strict));
    assert!(error.contains("1 record cannot be read, the first at hm.csv, line 4"), "{error}");
    fs::write(directory.path().join("q.txt"), "8,0 3 1 0.0 697 G W 223490 + 8 [x]\n").unwrap();
    let none = nbuf(directory.path(), &["trace", "stat", "--from", "blkparse", "q.txt"]);
    let error = refused(&none);
    assert!(
        error.contains("no request in q.txt as blkparse (its parameters: action=Q|D|C)"),
        "{error}"
    );
}

#[test]
fn the_table_of_formats_is_printed() {
    let text = stdout(&nbuf(Path::new("/"), &["trace", "formats"]));
    assert!(
        text.lines().any(|line| line.starts_with("msr             bytes  MSR Cambridge")),
        "{text}"
    );
    assert!(text.contains("csv:key|offset=COLUMN"), "{text}");
}
