//! How well `nbuf size` predicts: real programs, at three readahead windows and five sizes of cache,
//! each run under a real limit.
//!
//! Makes its data in a folder of its own, on a private disc where the readahead is not the machine's,
//! and writes the tables of docs/accuracy.md between their marks. Takes three quarters of an
//! hour, as root.

pub mod held_out;
pub mod live;
mod programs;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

pub use table::{between, replace};

use programs::PROGRAMS;
pub(crate) use programs::{Program, tree};

/// Parts of the footprint that are left as cache.
const AT: &str = "100%,75%,50%,25%,10%";
/// The private disc.
const DISC: &str = "400MiB";
/// Requests a second where time is looked at.
const IOPS: &str = "2000";
/// All runs of a cell together; one that thrashes is cut off then.
const TIME_MAX: &str = "150s";
/// The same of a program that maps, and thrashes most of the time.
const TIME_MAX_MAPPED: &str = "45s";

/// Where the readahead comes from.
#[derive(Clone, Copy, Debug)]
enum Window {
    /// The disc that the data is on, as it is.
    Own,
    /// A private disc with this many bytes of it.
    Private(&'static str),
}

/// One cell: a program at a window.
#[derive(Debug)]
pub struct Cell {
    program: &'static str,
    window: String,
    report: Option<Value>,
}

/// Measures; `only` picks programs by name. Fills come first, then time.
pub fn measure(nbuf: &Path, only: &[String]) -> Result<(Vec<Cell>, Vec<Cell>)> {
    let place = Place::make("nbuf-accuracy")?;
    let wanted = |program: &&Program| {
        only.is_empty() || only.iter().any(|name| program.name.starts_with(name.as_str()))
    };
    let (mut fills, mut time) = (Vec::new(), Vec::new());
    for program in PROGRAMS.iter().filter(wanted) {
        let data = place.path().join(program.name);
        fs::create_dir_all(&data)?;
        program.prepare(&data).with_context(|| format!("preparing {}", program.name))?;
        for window in [Window::Own, Window::Private("128KiB"), Window::Private("0")] {
            fills.push(cell(nbuf, program, &data, window, None)?);
        }
        if program.reads {
            time.push(cell(nbuf, program, &data, Window::Private("128KiB"), Some(IOPS))?);
        }
    }
    Ok((fills, time))
}

fn cell(
    nbuf: &Path,
    program: &Program,
    data: &Path,
    window: Window,
    iops: Option<&str>,
) -> Result<Cell> {
    let mut command = Command::new(nbuf);
    command.args(["size", "-q", "--yes", "--json", "--force", "--max-time"]);
    command.arg(if program.reads { TIME_MAX } else { TIME_MAX_MAPPED });
    command.args(["--verify-at", AT]);
    if let Window::Private(readahead) = window {
        command.args(["--loop", DISC, "--loop-readahead", readahead, "--data"]).arg(data);
    }
    if let Some(iops) = iops {
        command.args(["--iops", iops]);
    }
    if let Some(script) = program.before {
        command.args(["--prepare", script]);
    }
    command.args(["--", "sh", "-c", program.script]).current_dir(data);
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let report: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    if report.is_none() && output.status.code().is_none_or(|code| code > 1) {
        bail!("{}: {}", program.name, String::from_utf8_lossy(&output.stderr).trim());
    }
    let window = match (window, &report) {
        (Window::Private(window), _) => window.to_owned(),
        (Window::Own, Some(report)) => {
            let bytes = report["capture"]["readahead_bytes"].as_u64().unwrap_or(0);
            format!("own, {}KiB", bytes >> 10)
        }
        (Window::Own, None) => "own".to_owned(),
    };
    Ok(Cell { program: program.name, window, report })
}

/// A folder that goes when we do.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn make(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
