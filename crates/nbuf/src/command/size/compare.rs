//! `nbuf size --compare`: two documents side by side, and whether the second needs too much.

use std::path::Path;

use anyhow::{Result, anyhow};
use nbuf::experiment::compare::{CompareError, Which, compare};
use nbuf::experiment::document::{self, OpenError};
use nbuf::experiment::result::SizeReport;

use super::Page;
use crate::output::print;
use crate::show::report;

/// What writes such a document.
const HOW: &str = "write one with `nbuf size --json -- COMMAND > FILE`";
/// Gives the exit status.
pub(super) fn run(a: &Path, b: &Path, budget: f64, page: &Page) -> Result<u8> {
    let (first, second) = (read(a)?, read(b)?);
    let found = compare(&first, &second, budget).map_err(|error| match error {
        CompareError::NoRecommendation(Which::A) => anyhow!("{error} (A is {})", a.display()),
        CompareError::NoRecommendation(Which::B) => anyhow!("{error} (B is {})", b.display()),
        other => other.into(),
    })?;
    page.show(&report::comparison(&found, page.width))?;
    if page.is_silent() {
        print(document::write(&found)?.as_bytes())?;
    }
    Ok(u8::from(found.exceeded))
}

fn read(path: &Path) -> Result<SizeReport> {
    document::open(path).map_err(|error| match error {
        OpenError::Document { .. } => anyhow!("{error}; {HOW}"),
        other => other.into(),
    })
}
