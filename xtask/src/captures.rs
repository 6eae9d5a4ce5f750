//! How close a recording by system calls comes to one by tracepoints: programs that read, each recorded
//! three times both ways, on a private disc, and their curves held against each other.
//!
//! Writes the table of docs/capture-calls.md between its marks. Takes three minutes, as root.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::accuracy::{Place, Program};

/// What is recorded, at which readahead.
const SETS: [(&str, &str); 6] = [
    ("sqlite3", "128KiB"),
    ("scans", "128KiB"),
    ("scans", "8MiB"),
    ("grep", "128KiB"),
    ("tar", "128KiB"),
    ("sha256sum", "128KiB"),
];
/// Recordings each way.
const ROUNDS: usize = 3;
/// Parts of the footprint that are compared, from a tenth on to a little more than all.
const PARTS: std::ops::RangeInclusive<u16> = 4..=42;
const WHOLE: f64 = 40.0;
/// A cliff may be this much further away, as a share of the size.
const SLACK: f64 = 0.02;
/// The two orders of a curve.
const ORDERS: [(&str, &str); 2] =
    [("LRU", "lru_fills"), ("active/inactive", "active_inactive_fills")];

/// The rows, as Markdown.
pub fn table(nbuf: &Path) -> Result<String> {
    let place = Place::make("nbuf-captures")?;
    let mut text = "| program | readahead | curve | tracepoints | calls and tracepoints | the same, except for cliffs |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for (name, window) in SETS {
        let program = Program::by_name(name).with_context(|| format!("no program {name}"))?;
        let data = place.path().join(name);
        if fs::create_dir(&data).is_ok() {
            program.prepare(&data).with_context(|| format!("preparing {name}"))?;
        }
        let (mut perf, mut calls) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            perf.push(record(nbuf, "perf", program, window, &data)?);
            calls.push(record(nbuf, "calls", program, window, &data)?);
        }
        for (order, field) in ORDERS {
            let curves = |of: &[Value]| {
                let all: Option<Vec<Curve>> = of.iter().map(|r| Curve::of(r, field)).collect();
                all.with_context(|| format!("a recording of {name} has no curve"))
            };
            let (perf, calls) = (curves(&perf)?, curves(&calls)?);
            let _ = writeln!(
                text,
                "| {name} | {window} | {order} | {} | {} | {} |",
                worst(&perf, &perf, 0.0),
                worst(&calls, &perf, 0.0),
                worst(&calls, &perf, SLACK),
            );
        }
    }
    Ok(text)
}

fn record(
    nbuf: &Path,
    capture: &str,
    program: &Program,
    window: &str,
    data: &Path,
) -> Result<Value> {
    let mut command = Command::new(nbuf);
    command.args(["size", "-q", "--json", "--force", "--no-verify", "--capture", capture]);
    command.args(["--loop", "400MiB", "--loop-readahead", window, "--data"]).arg(data);
    command.args(["--", "sh", "-c", program.script].map(OsStr::new)).current_dir(data);
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{}: {}", program.name, told.trim());
    }
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{}: {}", program.name, told.trim()))
}

/// Fills by size.
struct Curve {
    points: Vec<(f64, f64)>,
    footprint: f64,
}

impl Curve {
    fn of(report: &Value, field: &str) -> Option<Self> {
        let points = report["curve"].as_array()?.iter();
        let simulated = points.filter(|point| point["interpolated"] != true);
        let number = |point: &Value, field| point[field].as_f64();
        let points: Option<Vec<_>> =
            simulated.map(|p| number(p, "cache_bytes").zip(number(p, field))).collect();
        let points = points.filter(|points| points.len() > 1)?;
        Some(Self { points, footprint: report["footprint_bytes"].as_f64()? })
    }

    /// Fills at a size, straight between the points.
    fn at(&self, size: f64) -> f64 {
        let next = self.points.partition_point(|&(at, _)| at < size);
        match (next.checked_sub(1).and_then(|at| self.points.get(at)), self.points.get(next)) {
            (Some(&(from, more)), Some(&(to, fewer))) => {
                more + (fewer - more) * (size - from) / (to - from)
            }
            (Some(&(_, fills)), None) | (None, Some(&(_, fills))) => fills,
            (None, None) => 0.0,
        }
    }

    /// The fewest and the most fills of sizes so near to one.
    fn around(&self, size: f64, slack: f64) -> (f64, f64) {
        let (from, to) = (size * (1.0 - slack), size * (1.0 + slack));
        let within = self.points.iter().filter(|&&(at, _)| at > from && at < to);
        let all = within.map(|&(_, fills)| fills).chain([self.at(from), self.at(to)]);
        all.fold((f64::INFINITY, 0.0), |(low, high), fills| (low.min(fills), high.max(fills)))
    }
}

/// The largest difference between a curve of one list and one of the other, and at which part of the
/// footprint.
fn worst(ours: &[Curve], others: &[Curve], slack: f64) -> String {
    let mut worst = (0.0, 0.0);
    for (one, other) in ours.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
        for part in PARTS {
            let share = f64::from(part) / WHOLE;
            let size = other.footprint * share;
            let difference = apart(one, other, size, slack).min(apart(other, one, size, slack));
            if difference > worst.0 {
                worst = (difference, share);
            }
        }
    }
    let (difference, share) = worst;
    format!("{:.1} % at {share:.3}", difference * 100.0)
}

/// How far one curve is outside of another one around a size.
fn apart(one: &Curve, other: &Curve, size: f64, slack: f64) -> f64 {
    let ((low, high), fills) = (other.around(size, slack), one.at(size));
    (fills / high - 1.0).max(low / fills - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_that_is_a_little_further_away_is_no_difference_except_of_height() {
        let cliff = |at: f64| Curve {
            points: vec![(1.0, 200.0), (at, 200.0), (at + 0.01, 100.0), (100.0, 100.0)],
            footprint: 50.0,
        };
        let check = |slack, want: &str| {
            assert_eq!(worst(&[cliff(50.1)], &[cliff(49.9)], slack), want, "{slack}");
        };
        check(0.0, "100.0 % at 1.000");
        check(0.02, "0.0 % at 0.000");
        assert_eq!(worst(&[cliff(60.0)], &[cliff(50.0)], 0.02), "100.0 % at 1.025");
    }
}
