//! `nbuf run --baseline` and `--compare`: which of two is faster, and why.

use std::path::Path;

use anyhow::{Result, anyhow};
use nbuf::experiment::document::{self, OpenError};
use nbuf::experiment::result::{RunComparison, RunDocument};
use nbuf::experiment::run;

use super::Arguments;
use crate::output::{keep, print, print_error};
use crate::show::run::{comparison, comparison_page};
use crate::show::terminal::Terminal;

/// How the two are named.
const FILES: [&str; 2] = ["A", "B"];
const BASELINE: [&str; 2] = ["the baseline", "now"];

/// `--compare`.
pub(super) fn files(arguments: &Arguments, a: &Path, b: &Path) -> Result<u8> {
    let found = run::compare(&read(a)?, &read(b)?, arguments.force)?;
    if arguments.json {
        print(document::write(&found)?.as_bytes())?;
    } else {
        let width = Terminal::of_output().width;
        print(comparison(&found, FILES, width).as_bytes())?;
    }
    page(arguments, &found, FILES)?;
    Ok(0)
}

/// The document of `--baseline`, if the command can be compared with it.
pub(super) fn baseline(arguments: &Arguments, path: &Path) -> Result<RunDocument> {
    let baseline = read(path)?;
    // Before the command runs: a run that can be compared with nothing would be in vain.
    let to_be = RunDocument {
        command: arguments.spec().words(),
        exit_status: baseline.exit_status,
        meters: arguments.meters.then(Default::default),
        per_line: arguments.per_line.then(Default::default),
        profile: arguments.profile.then(Default::default),
        ..RunDocument::default()
    };
    run::compare(&baseline, &to_be, arguments.force)?;
    Ok(baseline)
}

/// The comparison of the runs that were made now, after the command.
pub(super) fn with_baseline(
    arguments: &Arguments,
    baseline: &RunDocument,
    ran: &RunDocument,
) -> Result<()> {
    let found = run::compare(baseline, ran, arguments.force)?;
    if arguments.json {
        print(document::write(&found)?.as_bytes())?;
    } else {
        let width = Terminal::error_width().unwrap_or(100);
        print_error(comparison(&found, BASELINE, width).as_bytes())?;
    }
    page(arguments, &found, BASELINE)
}

fn page(arguments: &Arguments, found: &RunComparison, names: [&'static str; 2]) -> Result<()> {
    match &arguments.html {
        Some(path) => keep(path, "--html", comparison_page(found, names).as_bytes()),
        None => Ok(()),
    }
}

fn read(path: &Path) -> Result<RunDocument> {
    document::open(path).map_err(|error| match error {
        OpenError::Document { .. } => {
            anyhow!("{error}; write one with `nbuf run --runs 10 --json -- COMMAND > FILE`")
        }
        other => other.into(),
    })
}
