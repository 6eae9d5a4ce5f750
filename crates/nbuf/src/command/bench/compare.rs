//! `nbuf bench --compare`: two documents side by side.

use std::path::Path;

use anyhow::{Result, anyhow};
use nbuf::experiment::bench::{self, Error};
use nbuf::experiment::document::OpenError;

use crate::output::print;
use crate::show::bench as shown;
use crate::show::terminal::Terminal;

pub(super) fn run(a: &Path, b: &Path, is_json: bool) -> Result<u8> {
    let [first, second] = bench::open_documents(a, b).map_err(|error| match error {
        Error::Document(error) => unusable(error, "nbuf bench"),
        other => other.into(),
    })?;
    if is_json {
        let rows = bench::compare(&first, &second);
        let moved = bench::moved(&first.reference, &second.reference);
        let document = serde_json::json!({
            "schema": "nbuf.bench-comparison/2",
            "processor_moved_percent": moved.processor.exp_m1() * 100.0,
            "copies_moved_percent": moved.copies.exp_m1() * 100.0,
            "core_was_shared": moved.is_shared,
            "rows": rows,
        });
        print((serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
    } else {
        let width = Terminal::of_output().width;
        print(shown::comparison(&first, &second, width).as_bytes())?;
    }
    Ok(0)
}

/// Why a file is no document of a verb, and what writes one.
pub(super) fn unusable(error: OpenError, verb: &str) -> anyhow::Error {
    match error {
        OpenError::Document { .. } => anyhow!("{error}; write one with `{verb} --json > FILE`"),
        other => other.into(),
    }
}
