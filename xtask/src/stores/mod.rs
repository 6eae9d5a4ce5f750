//! What Redis and memcached hit of a trace under a limit, next to what `nbuf curve` predicts.
//!
//! Each store runs with three limits, takes the trace through a socket, one request at a time (a get and, where that
//! misses, a set), and counts its hits itself. The limits are shares of what all objects take. Three runs
//! of two minutes for each store and a million requests.

mod client;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use client::{KEY_BYTES, Kind, Server};

/// What is left of the bytes of all objects, in percent.
const PERCENT: [u64; 3] = [10, 25, 50];
/// A slab.
const MEBIBYTE: u64 = 1 << 20;
/// A record of oracleGeneral: seconds, the object, its bytes, and its next use.
const RECORD: usize = 24;

/// A row of the table.
struct Row {
    trace: String,
    kind: Kind,
    limit_bytes: u64,
    measured: f64,
    predicted: f64,
    lru: f64,
}

/// Runs both stores on each trace, and gives the table of docs/accuracy.md.
pub fn table(nbuf: &Path, traces: &[PathBuf]) -> Result<String> {
    ensure!(!traces.is_empty(), "which traces? cargo xtask stores TRACE...");
    let folder = std::env::temp_dir().join(format!("nbuf-stores-{}", std::process::id()));
    fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let rows = rows(nbuf, traces, &folder);
    fs::remove_dir_all(&folder)?;
    Ok(written(&rows?))
}

fn rows(nbuf: &Path, traces: &[PathBuf], folder: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for trace in traces {
        let objects = objects(nbuf, trace, folder)?;
        let name =
            trace.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        for kind in [Kind::Redis, Kind::Memcached] {
            let all = curve(nbuf, trace, kind, "100%")?.distinct_bytes;
            for percent in PERCENT {
                // memcached takes whole mebibytes.
                let bytes = (all * percent / 100).next_multiple_of(MEBIBYTE);
                let measured = measure(kind, folder, bytes, &objects)?;
                let answer = curve(nbuf, trace, kind, &format!("{bytes}B"))?;
                let row = Row {
                    trace: name.clone(),
                    kind,
                    limit_bytes: bytes,
                    measured,
                    predicted: answer.hits[0],
                    lru: answer.hits[1],
                };
                writeln!(io::stderr(), "{}", line(&row))?;
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Plays the trace. Hits in percent, by the store's own counter.
fn measure(kind: Kind, folder: &Path, limit_bytes: u64, objects: &[(u64, u32)]) -> Result<f64> {
    let mut server = Server::start(kind, folder, limit_bytes)?;
    for &(key, bytes) in objects {
        server.get_or_set(key, bytes)?;
    }
    let hits = server.hits()?;
    server.stop()?;
    Ok(100.0 * hits as f64 / objects.len() as f64)
}

/// Keys and sizes of a trace in any format.
fn objects(nbuf: &Path, trace: &Path, folder: &Path) -> Result<Vec<(u64, u32)>> {
    let file = folder.join("trace");
    let mut convert = Command::new(nbuf);
    convert.args(["trace", "convert", "-q", "--to", "oracleGeneral", "-o"]).arg(&file).arg(trace);
    let status =
        convert.stdin(Stdio::null()).status().context("cannot start nbuf; build the release")?;
    ensure!(status.success(), "nbuf trace convert failed on {}", trace.display());
    let bytes = fs::read(&file)?;
    fs::remove_file(&file)?;
    let object = |record: &[u8]| {
        let key = record[4..12].try_into().map(u64::from_le_bytes);
        let bytes = record[12..16].try_into().map(u32::from_le_bytes);
        Ok((key?, bytes?))
    };
    bytes.chunks_exact(RECORD).map(object).collect()
}

/// What nbuf says.
struct Answer {
    distinct_bytes: u64,
    /// The hits of the model of the store, and of LRU, in percent.
    hits: Vec<f64>,
}

fn curve(nbuf: &Path, trace: &Path, kind: Kind, size: &str) -> Result<Answer> {
    let name = kind.name();
    let mut curve = Command::new(nbuf);
    curve.args(["curve", "-q", "--json", "--unit", "object", "--size", size]);
    curve.arg("--allocator").arg(format!("{name}:key={KEY_BYTES}"));
    curve.arg("--policy").arg(format!("{name},lru")).arg(trace);
    let output = curve.stderr(Stdio::inherit()).output().context("cannot start nbuf")?;
    ensure!(output.status.success(), "nbuf curve failed on {}", trace.display());
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let curves = document["curves"].as_array().context("a document without curves")?;
    let hits = curves.iter().map(|curve| {
        let point = &curve["points"][0];
        let number = |name: &str| point[name].as_f64().context("a point without counts");
        Ok(100.0 - 100.0 * number("misses")? / number("accesses")?)
    });
    Ok(Answer {
        distinct_bytes: curves[0]["distinct_pages"].as_u64().context("a curve without bytes")?,
        hits: hits.collect::<Result<_>>()?,
    })
}

fn line(row: &Row) -> String {
    let mebibytes = row.limit_bytes / MEBIBYTE;
    let (name, error) = (row.kind.name(), row.predicted - row.measured);
    format!(
        "| {} | {name} | {mebibytes} MiB | {:.2} % | {:.2} % | {error:+.2} | {:.2} % |",
        row.trace, row.measured, row.predicted, row.lru
    )
}

fn written(rows: &[Row]) -> String {
    let mut text = String::from(
        "| trace | store | for objects | hits | predicted | points | LRU |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        text += &line(row);
        text.push('\n');
    }
    text
}
