//! Runs of `nbuf bench`, and what it says of two of them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A row of a document.
pub(super) struct Row {
    pub(super) test: String,
    pub(super) path: String,
    pub(super) rate: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether the terminal prints it without `?` and `!`.
    pub(super) is_unmarked: bool,
}

/// What counts of a document.
pub(super) struct Run {
    pub(super) rows: Vec<Row>,
    /// Rows without a number.
    pub(super) refused: usize,
}

impl Run {
    /// Measures the course's rows into a document of this name, unless it is there. The history of runs is the
    /// folder's own, so that a trial depends on no run before it.
    pub(super) fn measure(nbuf: &Path, place: &Path, name: &str, more: &[&str]) -> Result<Self> {
        let path = file(place, name);
        if !path.exists() {
            let unfinished = path.with_extension("unfinished");
            let mut command = Command::new(nbuf);
            command.args(["-q", "bench", "--rows", "--group", "cs61", "--json"]).args(more);
            command.env("XDG_STATE_HOME", std::path::absolute(place.join("state"))?);
            let status = command.stdout(File::create(&unfinished)?).status()?;
            // 1 says that a row contradicts its label, and has no number.
            if ![Some(0), Some(1)].contains(&status.code()) {
                bail!("{command:?} ended with {status}");
            }
            std::fs::rename(&unfinished, &path)?;
        }
        let document: Value = serde_json::from_reader(File::open(&path)?)?;
        let rows = document["rows"].as_array().context("no rows")?;
        let refused = document["refused"].as_array().map_or(0, Vec::len);
        let row = |row: &Value| {
            Some(Row {
                test: row["test"].as_str()?.to_owned(),
                path: row["path"].as_str()?.to_owned(),
                rate: row["bytes_per_second"].as_f64()?,
                low: row["low"].as_f64()?,
                high: row["high"].as_f64()?,
                is_unmarked: row["trust"].as_str()? == "clean",
            })
        };
        let rows: Option<Vec<Row>> = rows.iter().map(row).collect();
        Ok(Self { rows: rows.context("a row is not whole")?, refused })
    }
}

/// Tests with the verdicts of `--compare`.
pub(super) fn verdicts(
    nbuf: &Path,
    place: &Path,
    a: &str,
    b: &str,
) -> Result<Vec<(String, String)>> {
    let mut command = Command::new(nbuf);
    command.args(["-q", "bench", "--json", "--compare"]).arg(file(place, a)).arg(file(place, b));
    let output = command.output()?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let rows = document["rows"].as_array().context("no rows")?;
    let verdict =
        |row: &Value| Some((row["test"].as_str()?.to_owned(), row["verdict"].as_str()?.to_owned()));
    rows.iter().map(verdict).collect::<Option<_>>().context("a row is not whole")
}

fn file(place: &Path, name: &str) -> PathBuf {
    place.join(format!("{name}.json"))
}
