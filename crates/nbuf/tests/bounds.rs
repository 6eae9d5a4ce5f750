//! Inputs that ask for more memory than there is: each ends soon, in one line, within the bound that it was
//! given. The program runs in a memory cgroup of a gibibyte where one can be made, and with a limit of its
//! addresses otherwise.

#![expect(clippy::print_stdout, reason = "the figures are wanted beside the verdict")]

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nbuf::internal::clock::Stopwatch;
use nbuf::internal::sys::cgroup::{Group, Hierarchies};
use nbuf::trace::{CacheEvent, FileId, Record, Trace};
use nbuf::units::Bytes;
use nbuf::workload::format::native;
use support::{NBUF, requires_shared};

const MIB: u64 = 1 << 20;
/// The memory of the program besides the part that grows: itself, blocks that are read, threads.
const BESIDE_BYTES: u64 = 64 * MIB;

/// What came of a run.
#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    stderr: String,
    stdout: String,
    peak_bytes: u64,
}

/// Runs the program within a gibibyte, with this on its standard input.
fn run(place: &Path, arguments: &[&str], input: impl Into<Stdio>) -> Ran {
    let _lock = requires_shared(&[]);
    let group = Group::create(&Hierarchies::of_this_process()).ok();
    let group = group.filter(|group| group.limiter().limit(Some(Bytes(1024 * MIB))).is_ok());
    let lists = group.as_ref().map(Group::paths).unwrap_or_default();
    let lists = lists.into_iter().map(|group| group.processes.into_string().unwrap());
    // The shell goes in before it begins. Without a group its addresses are limited.
    let script = "[ $# -gt 0 ] || ulimit -v 1572864; for list; do echo $$ >$list || exit 99; done; \
                  eval exec \"$CALL\"";
    let call: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    let call = format!("'{NBUF}' {}", call.join(" "));
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).args(lists).env("CALL", call).current_dir(place);
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let began = Stopwatch::start();
    let status = format!("/proc/{}/status", child.id());
    let mut peak_bytes = 0;
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reads = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut out, &mut text).unwrap();
        text
    });
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut err, &mut text).unwrap();
        text
    });
    // A deadline far off turns a hang into a failure: a minute, ten times.
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_bytes = peak_bytes.max(kib.unwrap_or(0) << 10);
        assert!(began.elapsed() < Duration::from_mins(10), "{arguments:?} does not end");
        std::thread::sleep(Duration::from_millis(2));
    };
    let (stdout, stderr) = (reads.join().unwrap(), errors.join().unwrap());
    println!("{arguments:?}: {:?}, {} MiB", ended.code(), peak_bytes / MIB);
    Ran { status: ended.code(), stderr, stdout, peak_bytes }
}

/// Checks that it was refused in one line with advice, besides the lines about the format.
#[track_caller]
fn refused(ran: &Ran, want: &str) {
    assert_eq!(ran.status, Some(125), "{ran:?}");
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("nbuf: ") && last.contains(want), "{ran:?}");
    assert!(last.contains(" is allowed: ") && last.contains("--memory"), "{ran:?}");
    assert!(ran.stderr.lines().all(|line| line.starts_with("nbuf: ")), "{ran:?}");
}

/// A thousand requests of terabytes, as a CSV.
fn terabytes(place: &Path, tebibytes: u64) -> String {
    let mut text = "time,offset,size,op\n".to_owned();
    for at in 0..1000_u64 {
        let _ = writeln!(text, "{at},{},{},R", at << 44, tebibytes << 40);
    }
    fs::write(place.join("huge.csv"), text).unwrap();
    "csv:time=time,offset=offset,size=size,op=op".to_owned()
}

/// A small native trace with many pages, all different where `apart`.
fn many_pages(place: &Path, apart: bool) {
    let record = |at: u64| Record {
        time_ns: i64::try_from(at).unwrap(),
        offset_bytes: if apart { at << 32 } else { 0 },
        file_bytes: 0,
        length_bytes: u32::MAX,
        file: FileId(0),
        task: 0,
        request: u32::try_from(at).unwrap(),
        op: CacheEvent::Read,
    };
    let records = (0..1000).map(record).collect();
    let trace = Trace { records, files: vec!["file".into()], ..Trace::default() };
    let mut bytes = Vec::new();
    native::write(&trace, &mut bytes).unwrap();
    assert!(bytes.len() < 64 << 10, "{}", bytes.len());
    fs::write(place.join("pages.parquet"), bytes).unwrap();
}

#[test]
fn a_thousand_requests_of_terabytes_are_counted_by_arithmetic() {
    let place = tempfile::tempdir().unwrap();
    let from = terabytes(place.path(), 4);
    let ran =
        run(place.path(), &["trace", "stat", "--json", "--from", &from, "huge.csv"], Stdio::null());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["distinct"].as_u64(), Some(1000 << 30), "{ran:?}");
    assert_eq!(document["is_cut"].as_bool(), Some(false), "{ran:?}");
    assert!(ran.peak_bytes < BESIDE_BYTES, "{ran:?}");
    let convert =
        ["trace", "convert", "--to", "oracleGeneral", "-o", "out", "--from", &from, "huge.csv"];
    refused(&run(place.path(), &convert, Stdio::null()), "the new trace would take ");
    let curve = ["curve", "--from", &from, "huge.csv"];
    let ran = run(place.path(), &curve, Stdio::null());
    assert!(ran.status.is_some() && ran.peak_bytes < BESIDE_BYTES, "{ran:?}");
}

#[test]
fn a_small_file_with_a_thousand_million_pages_is_refused() {
    let place = tempfile::tempdir().unwrap();
    many_pages(place.path(), true);
    let cases: [(&[&str], &str); 5] = [
        (&["curve", "pages.parquet"], "the distinct pages of this trace would take "),
        (
            &["curve", "--sample", "1.0", "pages.parquet"],
            "the keys that the sample follows would take ",
        ),
        (&["replay", "--size", "1GiB", "--disc", "null", "pages.parquet"], ""),
        (&["size", "--trace", "pages.parquet"], "sizing this trace would take "),
        (
            &["trace", "convert", "--to", "oracleGeneral", "-o", "out", "pages.parquet"],
            "the new trace would take ",
        ),
    ];
    for (arguments, want) in cases {
        let ran = run(place.path(), arguments, Stdio::null());
        if want.is_empty() {
            // Requests of gibibytes are damage for a disc, and left out.
            assert!(ran.status == Some(125) && ran.peak_bytes < BESIDE_BYTES, "{ran:?}");
            continue;
        }
        refused(&ran, want);
        // Sizing has a bit for each page of the files, which are of terabytes here.
        let bits = if arguments[0] == "size" { 128 * MIB } else { 0 };
        assert!(ran.peak_bytes < bits + BESIDE_BYTES, "{ran:?}");
    }
    let stat = run(place.path(), &["trace", "stat", "pages.parquet"], Stdio::null());
    assert_eq!(stat.status, Some(0), "{stat:?}");
    assert!(stat.stdout.contains("1,048,576,000"), "{stat:?}");
}

#[test]
fn a_stream_of_keys_without_end_is_refused_at_the_bound() {
    let place = tempfile::tempdir().unwrap();
    let cases: [(&[&str], Option<&str>); 5] = [
        (&["curve", "--from", "u32le", "--memory", "128MiB", "-"], Some("the distinct keys")),
        (
            &["curve", "--sample", "0.1", "--from", "u32le", "--memory", "32MiB", "-"],
            Some("the keys that"),
        ),
        (
            &[
                "trace",
                "convert",
                "--to",
                "oracleGeneral",
                "-o",
                "out",
                "--from",
                "u32le",
                "--memory",
                "128MiB",
                "-",
            ],
            Some("the new trace"),
        ),
        (
            &[
                "replay", "--size", "1000", "--disc", "null", "--from", "u32le", "--memory",
                "128MiB", "-",
            ],
            Some("the units that the cache"),
        ),
        (&["trace", "stat", "--from", "u32le", "--memory", "128MiB", "-"], None),
    ];
    for (arguments, want) in cases {
        let mut keys = Command::new(NBUF);
        // More than each has room for; `stat` reads them all, and has room for less than four million.
        let count = if want.is_some() { "30000000" } else { "12000000" };
        keys.args(["trace", "generate", "scan", "-n", count, "--to", "u32le", "-o", "-"]);
        let mut keys = keys.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let ran = run(place.path(), arguments, keys.stdout.take().unwrap());
        keys.wait().unwrap();
        if let Some(want) = want {
            refused(&ran, want);
        } else {
            assert_eq!(ran.status, Some(0), "{ran:?}");
            assert!(ran.stdout.contains("distinct keys    at least "), "{ran:?}");
            assert!(ran.stderr.contains("too little to tell all distinct"), "{ran:?}");
        }
        let allowed = if arguments.contains(&"32MiB") { 32 * MIB } else { 128 * MIB };
        assert!(ran.peak_bytes <= allowed + BESIDE_BYTES, "{arguments:?} {ran:?}");
    }
}

#[test]
fn a_packed_trace_that_unpacks_without_end_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let mut packer = Command::new("gzip");
    packer
        .arg("-1")
        .stdin(Stdio::piped())
        .stdout(fs::File::create(place.path().join("t.gz")).unwrap());
    let Ok(mut packer) = packer.spawn() else {
        return support::skip("no program gzip");
    };
    let mut to = packer.stdin.take().unwrap();
    to.write_all(b"PAR1").unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..160 {
        to.write_all(&zeros).unwrap();
    }
    drop(to);
    packer.wait().unwrap();
    let ran = run(place.path(), &["curve", "--memory", "64MiB", "t.gz"], Stdio::null());
    refused(&ran, "a native trace that is packed or comes through a pipe would take ");
    assert!(ran.peak_bytes <= 64 * MIB + BESIDE_BYTES, "{ran:?}");
}

#[test]
fn what_fits_is_drawn_within_the_bound() {
    let place = tempfile::tempdir().unwrap();
    for (policies, memory) in
        [("lru", "96MiB"), ("lru,opt", "128MiB"), ("arc,s3-fifo,lirs", "1GiB")]
    {
        let mut keys = Command::new(NBUF);
        keys.args(["trace", "generate", "uniform", "-n", "4000000", "--keys", "1500000"]);
        keys.args(["--to", "u32le", "-o", "-"]);
        let mut keys = keys.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let arguments = [
            "curve",
            "-p",
            policies,
            "--csv",
            "--size",
            "1000,100000",
            "--from",
            "u32le",
            "--memory",
            memory,
            "-",
        ];
        let ran = run(place.path(), &arguments, keys.stdout.take().unwrap());
        keys.wait().unwrap();
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let allowed = memory.trim_end_matches("iB");
        let allowed = if let Some(gib) = allowed.strip_suffix('G') {
            gib.parse::<u64>().unwrap() << 30
        } else {
            allowed.trim_end_matches('M').parse::<u64>().unwrap() << 20
        };
        assert!(ran.peak_bytes <= allowed + BESIDE_BYTES, "{ran:?}");
    }
}

#[test]
fn inputs_are_files_and_streams_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("keys"), "1\n2\n3\n1\n").unwrap();
    fs::write(at("marked"), "\u{feff}1\n2\n3\n1\n").unwrap();
    let wide: Vec<u8> = "1\n2\n3\n1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(at("wide"), wide).unwrap();
    fs::write(at("nuls"), "1\n2\n3\n\0\0").unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
    let shell = |script: &str| -> Output {
        let mut command = Command::new("bash");
        command.args(["-c", script]).env("NBUF", NBUF).current_dir(place.path());
        command.stdin(Stdio::null()).output().unwrap()
    };
    for script in [
        "$NBUF trace stat --from keys keys",
        "$NBUF trace stat --from keys marked",
        "$NBUF trace stat --from keys <(cat keys)",
        "$NBUF trace stat --from keys - <keys",
        "$NBUF trace stat --from keys /dev/stdin <keys",
        "cat keys | $NBUF trace stat --from keys /dev/fd/0",
        "mkfifo fifo; cat keys >fifo & $NBUF trace stat --from keys fifo",
        "$NBUF curve --from keys --csv <(cat keys) >out; $NBUF trace stat --from keys keys",
    ] {
        let output = shell(script);
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{script}: {err}");
        assert!(out.contains("distinct keys    3\n"), "{script}: {out}{err}");
    }
    let cases = [
        ("curve zero", "zero is a character device: "),
        ("curve /dev/zero", "/dev/zero is a character device: "),
        ("trace stat /dev/ptmx", "/dev/ptmx is a terminal: "),
        ("trace stat - </dev/zero", "standard input is a character device: "),
        ("replay /proc/kmsg", "/proc/kmsg is a file of proc, "),
        ("trace head --from keys /proc/self/environ", "is a file of proc, "),
        ("size --trace /dev/zero", "/dev/zero is a character device: "),
        ("size --compare /dev/zero /dev/zero", "/dev/zero is a character device: "),
        ("trace anonymize /dev/zero -o out.parquet", "/dev/zero is a character device: "),
        ("trace recover /dev/zero -o out.parquet", "/dev/zero is a character device: "),
        ("bench advise --trace /dev/zero", "/dev/zero is a character device: "),
        ("curve wide", "wide is text in UTF-16: make it UTF-8 with `iconv -f UTF-16 -t UTF-8`"),
        ("curve <(gzip -c wide)", "is text in UTF-16: "),
        ("trace stat nuls", "nuls is text with NULs in it"),
    ];
    for (arguments, want) in cases {
        // Quiet, because nbuf reports the remains of earlier runs.
        let output = shell(&format!("$NBUF --quiet {arguments}"));
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{arguments}: {err}");
        assert!(err.contains(want) && err.lines().count() == 1, "{arguments}: {err}");
    }
    for name in ["rf0.dsk", "rk0.dsk"] {
        std::os::unix::fs::symlink("/dev/zero", at(name)).unwrap();
    }
    let output = shell("$NBUF unix sweep --images . </dev/null");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(125) && err.contains("rf0.dsk is a character device: "),
        "{err}"
    );
}
