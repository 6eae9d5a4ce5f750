//! Traces to be shared: nothing of the names, the command or the machine is in the file.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};

use nbuf::trace::{CacheEvent, Device, Facts, FileId, Record, Trace};
use nbuf::workload::format::native;
use support::{Need, Place, Recorded, requires};

/// Every part of a name, a command or a machine that a trace could give away.
const WORDS: [&str; 12] = [
    "alice", "payroll", "salaries", "xlsx", "sqlite3", "acmehost", "nvme7", "4711", "31337", "srv",
    "Quartal", "dropme",
];

fn record(time_ns: i64, file: u32, task: u32) -> Record {
    Record {
        time_ns,
        offset_bytes: 4096 * u64::from(file),
        file_bytes: 1 << 20,
        length_bytes: 4096,
        file: FileId(file),
        task,
        request: 0,
        op: CacheEvent::Read,
    }
}

fn trace() -> Trace {
    let device = Device {
        major: 4711,
        minor: 1,
        name: "nvme7".into(),
        filesystem: "ext4".into(),
        readahead_bytes: 131_072,
        io_bytes: 0,
        folio_order_max: 9,
    };
    let files = ["/srv/alice/payroll/salaries.xlsx", "/srv/Quartal", "unknown inode 4711:1/31337"];
    Trace {
        records: (0..300).map(|n| record(n.into(), n % 3, 31_337)).collect(),
        files: files.map(str::to_owned).to_vec(),
        facts: Facts {
            schema: Facts::SCHEMA.into(),
            command: vec!["sqlite3".into(), "payroll".into()],
            directory: "/srv/alice".into(),
            kernel: "6.18.0-acmehost".into(),
            devices: vec![device],
            warnings: vec!["dropme: salaries.xlsx".into(), "1 of 2 events were lost".into()],
            ..Facts::default()
        },
    }
}

/// No word is in the bytes of the file, nor in what they unpack to.
#[track_caller]
fn names_nothing(bytes: &[u8], words: &[&str]) {
    let raw = String::from_utf8_lossy(bytes).into_owned();
    let path = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(path.path(), bytes).unwrap();
    let read = format!("{:?}", native::read(File::open(path.path()).unwrap()).unwrap());
    for word in words {
        assert!(!raw.contains(word), "{word} in the bytes");
        assert!(!read.contains(word), "{word} in {read:.2000}");
    }
}

#[test]
fn a_trace_without_names_names_nothing_and_has_the_same_curve() {
    let place = Place::new();
    native::write(&trace(), File::create(place.path("in.parquet")).unwrap()).unwrap();
    let before = fs::read(place.path("in.parquet")).unwrap();
    // What is looked for is there to begin with.
    let read = format!("{:?}", trace());
    assert!(WORDS.iter().all(|word| read.contains(word)));
    assert!(String::from_utf8_lossy(&before).contains("payroll"));

    let anonymize = ["trace", "anonymize", "in.parquet", "-o", "out.parquet"];
    let output = place.nbuf(anonymize).output().unwrap();
    let done = Recorded::of(output, &place.path("out.parquet"));
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(done.stderr, "nbuf: out.parquet has 300 records of 3 files\n");
    names_nothing(&fs::read(place.path("out.parquet")).unwrap(), &WORDS);
    let warnings = &done.trace().facts.warnings;
    assert!(warnings.iter().any(|warning| warning == "1 of 2 events were lost"), "{warnings:?}");
    assert_eq!(fs::read(place.path("in.parquet")).unwrap(), before);

    let curve = |name: &str| {
        let output = place.nbuf(["size", "--json", "--trace", name]).output().unwrap();
        Recorded::of(output, &place.path("none")).json()["curve"].clone()
    };
    assert_eq!(curve("in.parquet"), curve("out.parquet"));

    let again = place.nbuf(anonymize).output().unwrap();
    assert_eq!(again.status.code(), Some(125));
    let told = String::from_utf8(again.stderr).unwrap();
    assert!(told.starts_with("nbuf: out.parquet exists; "), "{told}");
}

#[test]
fn a_recording_can_be_without_names_from_the_start() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("salaries.xlsx", 8 << 12);
    let recorded = place.record_with(&["--anonymize"], "cat salaries.xlsx >/dev/null");
    assert_eq!(recorded.status, 0, "{recorded:?}");
    assert!(recorded.trace().records.len() > 1);
    // Its last part is random: another may be a word of our own.
    let directory = place.path("");
    let mut words = vec![directory.file_name().unwrap().to_str().unwrap()];
    words.extend(["salaries", "xlsx", "/dev/null", "libc.so", "/usr", "bin/cat"]);
    names_nothing(&fs::read(place.path("t.parquet")).unwrap(), &words);
    assert!(!place.path("t.parquet.log").exists());
}
