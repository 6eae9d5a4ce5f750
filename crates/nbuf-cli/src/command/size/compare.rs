//! `nbuf size --compare`: two documents side by side, and whether the second needs too much.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use nbuf::experiment::compare::{CompareError, Which, compare};
use nbuf::experiment::result::{SizeDocument, SizeReport};
use nbuf::sys::input;
use serde_json::Value;

use super::Page;
use crate::output::print;
use crate::show::report;

/// What writes such a document.
const HOW: &str = "write one with `nbuf size --json -- COMMAND > FILE`";
/// More than any document has.
const BYTES_MAX: u64 = 256 << 20;

/// Gives the exit status.
pub(super) fn run(a: &Path, b: &Path, budget: f64, page: &Page) -> Result<u8> {
    let (first, second) = (read(a)?, read(b)?);
    let found = compare(&first, &second, budget).map_err(|error| match error {
        CompareError::NoRecommendation(Which::A) => anyhow!("{error} (A is {})", a.display()),
        CompareError::NoRecommendation(Which::B) => anyhow!("{error} (B is {})", b.display()),
        other => other.into(),
    })?;
    page.show(&report::comparison(&found, page.width))?;
    if page.silent {
        print(format!("{}\n", serde_json::to_string_pretty(&found)?).as_bytes())?;
    }
    Ok(u8::from(found.exceeded))
}

fn read(path: &Path) -> Result<SizeDocument> {
    let name = path.display();
    let file = input::open(path)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        bail!("{name} is empty; {HOW}");
    }
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| anyhow!("{name} is no JSON document ({error}); {HOW}"))?;
    let want = SizeReport::SCHEMA;
    match value.get("schema").and_then(Value::as_str) {
        Some(schema) if schema == want => {}
        Some(other) => bail!("{name} has the schema {other}, not {want}; {HOW}"),
        None => bail!("{name} does not say that its schema is {want}; {HOW}"),
    }
    serde_json::from_value(value)
        .map_err(|error| anyhow!("{name} is not a whole document ({error}); {HOW}"))
}
