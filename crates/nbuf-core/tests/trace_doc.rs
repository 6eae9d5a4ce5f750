//! The examples of `docs/trace.md` are run on a small trace, and must print what stands there.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use nbuf::trace::{CacheEvent, Capture, Facts, FileId, Record, Trace};
use nbuf::workload::format::native;

mod support;

const DOC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.md");

/// 100 reads, every fourth of which needed a fill, of files of 60, 30 and 10 reads.
fn small_trace() -> Trace {
    let mut records = Vec::new();
    for request in 0..100_u32 {
        let (file, length_bytes) = match request % 10 {
            0..6 => (0, 8192),
            6..9 => (1, 4096),
            _ => (2, 4096),
        };
        let record = Record {
            time_ns: i64::from(request) * 1_000,
            offset_bytes: u64::from(request) * 8192,
            file_bytes: 1 << 20,
            length_bytes,
            file: FileId(file),
            task: 7,
            request,
            op: CacheEvent::Read,
        };
        records.push(record);
        if request % 4 == 0 {
            records.push(Record { op: CacheEvent::Fill, ..record });
        }
    }
    let files = ["/data/orders.db", "/data/customers.db", "/etc/hosts"];
    Trace {
        records: records.into(),
        files: files.map(str::to_owned).to_vec(),
        facts: Facts {
            schema: Facts::SCHEMA.to_owned(),
            command: vec!["sqlite3".to_owned(), "orders.db".to_owned()],
            capture: Capture { backend: "perf".to_owned(), events: 125, ..Capture::default() },
            ..Facts::default()
        },
    }
}

/// Each block of Python with the block of output that follows it.
fn examples(doc: &str) -> Vec<(String, String)> {
    let mut examples = Vec::new();
    let mut code = None;
    // Odd pieces are inside fences; the first line is the language.
    for block in doc.split("```").skip(1).step_by(2) {
        let (language, body) = block.split_once('\n').unwrap();
        match language {
            "python" => assert_eq!(code.replace(body), None, "an example has no output"),
            "output" => examples.push((code.take().unwrap().to_owned(), body.to_owned())),
            _ => {}
        }
    }
    assert_eq!(code, None, "the last example has no output");
    examples
}

/// The modules among these that `python3` does not have; all of them when there is no `python3`.
fn missing(modules: &[&str]) -> Vec<String> {
    let has = |module: &str| {
        let import = format!("import {module}");
        let ran = Command::new("python3").args(["-c", &import]).output();
        ran.is_ok_and(|output| output.status.success())
    };
    let absent = modules.iter().filter(|module| !has(module));
    absent.map(|module| (*module).to_owned()).collect()
}

fn run(code: &str, directory: &Path) -> String {
    let mut python = Command::new("python3");
    let output = python.args(["-c", code]).current_dir(directory).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{code}\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Lines without the spaces that stand at their ends.
fn trimmed(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

#[test]
fn the_examples_of_the_trace_document_print_what_they_say() {
    let examples = examples(&fs::read_to_string(DOC).unwrap());
    assert_eq!(examples.len(), 3);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.parquet");
    let trace = small_trace();
    native::write(&trace, File::create(&path).unwrap()).unwrap();
    assert_eq!(native::read(File::open(&path).unwrap()).unwrap(), trace);

    let mut ran = 0;
    for (code, want) in &examples {
        let duckdb = code.contains("import duckdb");
        let modules: &[&str] = if duckdb { &["duckdb"] } else { &["pandas", "pyarrow"] };
        let missing = missing(modules);
        if !missing.is_empty() {
            let modules = missing.join(" and ");
            support::skip(&format!("an example of docs/trace.md needs python3 with {modules}"));
            continue;
        }
        assert_eq!(trimmed(&run(code, directory.path())), trimmed(want), "{code}");
        ran += 1;
    }
    let part = directory.path().join("part.parquet");
    if ran == examples.len() {
        let part = native::read(File::open(part).unwrap()).unwrap();
        assert_eq!(part.facts, trace.facts);
        assert_eq!(part.files, trace.files[..2]);
        let data = trace.records.iter().filter(|record| record.file.0 < 2);
        assert!(part.records.iter().eq(data));
    }
}

/// What `DuckDB` and pandas write of themselves: other layouts, nullable columns, no facts.
#[test]
fn what_duckdb_and_pandas_write_is_read() {
    let cases = [
        (
            "duckdb",
            "import duckdb\nduckdb.execute(\"COPY (FROM 'trace.parquet') TO 'out.parquet'\")",
        ),
        (
            "duckdb",
            "import duckdb\nduckdb.execute(\"COPY (FROM 'trace.parquet') TO 'out.parquet' (PARQUET_VERSION v2)\")",
        ),
        ("pandas", "import pandas\npandas.read_parquet('trace.parquet').to_parquet('out.parquet')"),
        (
            "pyarrow",
            "import pyarrow.parquet as p\np.write_table(p.read_table('trace.parquet').replace_schema_metadata(None), 'out.parquet', \
             use_dictionary=False, data_page_version='2.0')",
        ),
    ];
    let trace = small_trace();
    for (module, code) in cases {
        if !missing(&[module]).is_empty() {
            support::skip(&format!("reading what {module} writes needs python3 with {module}"));
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.parquet");
        native::write(&trace, File::create(&path).unwrap()).unwrap();
        run(code, directory.path());
        let out = directory.path().join("out.parquet");
        let got = native::read(File::open(&out).unwrap()).unwrap();
        assert_eq!(got.records, trace.records, "{code}");
        assert_eq!(got.files, trace.files, "{code}");
    }
}
