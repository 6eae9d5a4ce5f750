//! `nbuf bench --compare`: two documents side by side.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use nbuf::experiment::bench::compare;
use nbuf::experiment::result::BenchDocument;
use nbuf::sys::input;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::output::print;
use crate::show::bench as shown;
use crate::show::terminal::Terminal;

/// More than any document has.
const BYTES_MAX: u64 = 64 << 20;

pub(super) fn run(a: &Path, b: &Path, is_json: bool) -> Result<u8> {
    let read = |path| document(path, BenchDocument::SCHEMA, "nbuf bench");
    let (first, second): (BenchDocument, BenchDocument) = (read(a)?, read(b)?);
    must_share_library([(a, &first), (b, &second)])?;
    if is_json {
        let rows = compare::compare(&first, &second);
        let document = serde_json::json!({"schema": "nbuf.bench-comparison/2", "rows": rows});
        print((serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
    } else {
        let width = Terminal::of_output().width;
        print(shown::comparison(&first, &second, width).as_bytes())?;
    }
    Ok(0)
}

/// Rates through different C libraries are not compared: their calls and buffers differ.
fn must_share_library(documents: [(&Path, &BenchDocument); 2]) -> Result<()> {
    let mut rows =
        documents.iter().flat_map(|(path, document)| document.rows.iter().map(|row| (*path, row)));
    let Some((first, row)) = rows.next() else { return Ok(()) };
    if let Some((other, odd)) = rows.find(|(_, other)| other.c_library != row.c_library) {
        bail!(
            "{} was measured with {} and {} with {}: libraries differ in calls and buffers; measure both \
             with one",
            first.display(),
            row.c_library,
            other.display(),
            odd.c_library
        );
    }
    Ok(())
}

/// The document that a verb has written with `--json`.
pub(super) fn document<T: DeserializeOwned>(path: &Path, schema: &str, verb: &str) -> Result<T> {
    let name = path.display();
    let how = format!("write one with `{verb} --json > FILE`");
    let file = input::open(path)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| anyhow!("{name} is no JSON document ({error}); {how}"))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == schema => {}
        Some(other) => bail!("{name} has the schema {other}, not {schema}; {how}"),
        None => bail!("{name} does not say that its schema is {schema}; {how}"),
    }
    serde_json::from_value(value)
        .map_err(|error| anyhow!("{name} is not a whole document ({error}); {how}"))
}
