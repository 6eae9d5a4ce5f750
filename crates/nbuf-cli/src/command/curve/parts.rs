//! Windows and parts of a trace: whether it can be split as was asked.

use anyhow::{Result, bail, ensure};
use nbuf::experiment::grid::Every;
use nbuf::experiment::result::PolicyCurve;

use super::Args;
use super::arguments::Part;
use super::policies::is_lru;
use super::reading::{Reading, named};
use crate::command::policy::Asked;
use crate::fail::Senseless;

/// Refuses parts of a policy that has none, before anything is read.
pub(super) fn must_be_possible(args: &Args) -> Result<()> {
    let is_split = args.window.is_some() || args.by.is_some();
    let has_lru = args.policy.is_empty()
        || args.policy.iter().any(|asked| is_lru(asked) || matches!(asked, Asked::Word(_)));
    let why = "--window and --by split the curve of lru, which --policy does not name: add lru \
               to --policy";
    ensure!(!is_split || has_lru, Senseless(why.to_owned()));
    Ok(())
}

/// Refuses windows of time of a trace that has no times.
pub(super) fn times_must_be_there(args: &Args, reading: &Reading<'_>, span_ns: u64) -> Result<()> {
    if let Some(Every::Nanoseconds(_)) = args.window
        && span_ns == 0
        && reading.requests > 1
    {
        bail!(
            "--window cannot cut {} by time, because no time passes in it ({}): give a number of \
             requests such as --window 1000000",
            named(args),
            reading.source.detected().format.name
        );
    }
    Ok(())
}

/// Refuses parts of which there is but one, because the trace says nothing of them.
pub(super) fn must_be_there(
    args: &Args,
    reading: &Reading<'_>,
    curves: &[PolicyCurve],
) -> Result<()> {
    let (name, what) = match args.by {
        Some(Part::File) if reading.source.objects().is_empty() => ("file", "files or volumes"),
        Some(Part::Task) => ("task", "processes or threads"),
        _ => return Ok(()),
    };
    let mut groups = curves.iter().flat_map(|curve| &curve.groups);
    // Without a number of its own, every request has the first.
    if groups.all(|group| matches!(group.name.as_str(), "0" | "object 0")) && reading.requests > 0 {
        bail!(
            "--by {name} cannot split {}, because it names no {what} ({}): take --by op, or leave \
             --by out",
            named(args),
            reading.source.detected().format.name
        );
    }
    Ok(())
}
