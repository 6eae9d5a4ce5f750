//! What earlier runs on this machine gave, and how much wider that makes a range: no file and no clock.
//!
//! On a shared host, two runs differ by more than one run can see. So the medians of complete runs are kept
//! (`file`), a line of JSON for each. A range becomes wider by how far the medians of its row lay apart in the runs
//! that agree in all that changes rates. `docs/performance.md` says how well that holds. Not for `--compare`, which
//! judges by the processes of two runs.

pub(super) mod file;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::experiment::result::{BenchMachine, BenchRow};
use crate::experiment::statistics::Interval;

/// The schema in the first line. A file without it is not ours.
const SCHEMA: &str = "nbuf.bench-history/1";
/// Runs that count at most, and for how long.
const RUNS_MAX: usize = 20;
const SECONDS_MAX: u64 = 30 * 24 * 3600;
/// Fewer runs say nothing of how they differ; this one is among them.
const RUNS_MIN: usize = 3;
/// Lines that are kept.
const LINES_MAX: usize = 200;
/// A range becomes wider by this many standard deviations. Two independent runs differ by more in 16 of 100 cases, and
/// runs that follow each other in fewer.
const DEVIATIONS: f64 = 2.0;

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Header {
    schema: String,
}

/// What changes rates. Only runs that agree in all of it are held against each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conditions {
    /// The version of nbuf.
    pub nbuf: String,
    pub kernel: String,
    pub c_library: String,
    pub processor: String,
    pub processors: u32,
    /// The file system of the test files, or of the file of `--file`.
    pub filesystem: String,
    pub readahead_bytes: u64,
    pub scheduler: String,
    /// Whether there are fewer and other samples.
    pub is_quick: bool,
    /// Whether the file is the caller's. Its name is not kept.
    pub is_lent: bool,
    /// The size of the files; none where each test has its own.
    pub size_bytes: Option<u64>,
}

impl Conditions {
    /// Those of this version on a machine; the rest is the request's.
    pub(super) fn of(machine: &BenchMachine, c_library: String) -> Self {
        Self {
            nbuf: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: machine.kernel.clone(),
            c_library,
            processor: machine.processor.clone(),
            processors: machine.processors,
            filesystem: machine.filesystem.clone(),
            readahead_bytes: machine.readahead_bytes,
            scheduler: machine.scheduler.clone(),
            ..Self::default()
        }
    }
}

/// A line: one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    /// When it began, in seconds since 1970.
    pub unix_seconds: u64,
    pub conditions: Conditions,
    /// The median of each row, in bytes a second.
    pub rates: BTreeMap<String, f64>,
}

impl Run {
    /// Whether every rate has a logarithm.
    fn is_whole(&self) -> bool {
        self.rates.values().all(|&rate| rate.is_finite() && rate > 0.0)
    }
}

/// What the file has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    /// In the order in which they ended.
    runs: Vec<Run>,
    /// Lines that are no run.
    pub damaged: usize,
}

/// Reads the file; none if nbuf did not write it. A line that is damaged is counted and left out.
pub(super) fn parse(bytes: &[u8]) -> Option<History> {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Some(History::default()) };
    let header: Header = serde_json::from_slice(first).ok()?;
    if header.schema != SCHEMA {
        return None;
    }
    let mut history = History::default();
    for line in lines {
        match serde_json::from_slice::<Run>(line).ok().filter(Run::is_whole) {
            Some(run) => history.runs.push(run),
            None => history.damaged += 1,
        }
    }
    Some(history)
}

impl History {
    /// The last runs before this moment that agree in all that changes rates.
    pub(super) fn alike(&self, conditions: &Conditions, unix_seconds: u64) -> Vec<&Run> {
        let is_alike = |run: &&Run| {
            run.conditions == *conditions
                && unix_seconds.saturating_sub(run.unix_seconds) <= SECONDS_MAX
        };
        self.runs.iter().rev().filter(is_alike).take(RUNS_MAX).collect()
    }

    /// The file with one more run, without the oldest if there are too many. Damaged lines go.
    pub(super) fn with(mut self, run: Run) -> serde_json::Result<Vec<u8>> {
        self.runs.push(run);
        let mut text = serde_json::to_vec(&Header { schema: SCHEMA.to_owned() })?;
        text.push(b'\n');
        let first = self.runs.len().saturating_sub(LINES_MAX);
        for run in self.runs.iter().skip(first) {
            serde_json::to_writer(&mut text, run)?;
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// Widens the ranges of rows by what their medians were in earlier runs, and notes in each row how many count.
pub(super) fn widen(rows: &mut [BenchRow], earlier: &[&Run]) {
    for row in rows {
        let rates: Vec<f64> =
            earlier.iter().filter_map(|run| run.rates.get(&row.test)).copied().collect();
        let Some(deviation) = deviation(&rates, row.bytes_per_second) else { continue };
        let range = Interval { low: row.low, median: row.bytes_per_second, high: row.high };
        let range = widened(range, deviation);
        (row.low, row.high) = (range.low, range.high);
        row.earlier_runs = rates.len() as u64;
    }
}

/// The standard deviation of the logarithms of medians, this run's among them; none of too few.
fn deviation(earlier: &[f64], this: f64) -> Option<f64> {
    let count = earlier.len() + 1;
    if count < RUNS_MIN || this <= 0.0 {
        return None;
    }
    let logarithms = || earlier.iter().chain([&this]).map(|rate| rate.ln());
    let mean = logarithms().sum::<f64>() / count as f64;
    let squares: f64 = logarithms().map(|it| (it - mean).powi(2)).sum();
    Some((squares / (count - 1) as f64).sqrt())
}

/// The range that holds the next run's median, where runs differ by this deviation of their logarithms.
fn widened(range: Interval, deviation: f64) -> Interval {
    // Exactly as it is, without the rounding of logarithms.
    if deviation > 0.0 { range.widened((DEVIATIONS * deviation).exp_m1()) } else { range }
}

#[cfg(test)]
mod tests;
