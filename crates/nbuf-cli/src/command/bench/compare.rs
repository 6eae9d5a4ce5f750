//! `nbuf bench --compare`: two documents side by side.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use nbuf::experiment::result::BenchDocument;
use serde_json::Value;

use crate::output::print;
use crate::show::bench as shown;
use crate::show::terminal::Terminal;

/// What writes such a document.
const HOW: &str = "write one with `nbuf bench --json > FILE`";
/// More than any document has.
const BYTES_MAX: u64 = 64 << 20;

pub(super) fn run(a: &Path, b: &Path, is_json: bool) -> Result<u8> {
    let (first, second) = (read(a)?, read(b)?);
    if is_json {
        let rows = shown::compared(&first, &second);
        let document = serde_json::json!({"schema": "nbuf.bench-comparison/1", "rows": rows});
        print((serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
    } else {
        let width = Terminal::of_output().width;
        print(shown::comparison(&first, &second, width).as_bytes())?;
    }
    Ok(0)
}

fn read(path: &Path) -> Result<BenchDocument> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| anyhow!("{name} is no JSON document ({error}); {HOW}"))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(BenchDocument::SCHEMA) => {}
        Some(other) => bail!("{name} has the schema {other}, not {}; {HOW}", BenchDocument::SCHEMA),
        None => bail!("{name} does not say that its schema is {}; {HOW}", BenchDocument::SCHEMA),
    }
    serde_json::from_value(value)
        .map_err(|error| anyhow!("{name} is not a whole document ({error}); {HOW}"))
}
