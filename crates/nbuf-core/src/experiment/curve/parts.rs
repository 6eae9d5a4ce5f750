//! Windows and parts of a trace: whether it can be split as was asked.

use super::policies::is_lru;
use super::reading::{Reading, named};
use super::{Error, Spec};
use crate::experiment::grid::{By, Every};
use crate::experiment::result::PolicyCurve;

/// Refuses parts of a policy that has none, before anything is read.
pub(super) fn must_be_possible(spec: &Spec) -> Result<(), Error> {
    let is_split = spec.every.is_some() || spec.by.is_some();
    let has_lru = spec.policies.is_empty() || spec.policies.iter().any(is_lru);
    if is_split && !has_lru { Err(Error::SplitWithoutLru) } else { Ok(()) }
}

/// Refuses windows of time of a trace that has no times.
pub(super) fn times_must_be_there(
    spec: &Spec,
    reading: &Reading<'_>,
    span_ns: u64,
) -> Result<(), Error> {
    let is_by_time = matches!(spec.every, Some(Every::Nanoseconds(_)));
    if is_by_time && span_ns == 0 && reading.requests > 1 {
        let format = reading.source.detected().format.name;
        return Err(Error::NoTime { name: named(spec), format });
    }
    Ok(())
}

/// Refuses parts of which there is but one, because the trace says nothing of them.
pub(super) fn must_be_there(
    spec: &Spec,
    reading: &Reading<'_>,
    curves: &[PolicyCurve],
) -> Result<(), Error> {
    let (by, what) = match spec.by {
        Some(By::File) if reading.source.objects().is_empty() => ("file", "files or volumes"),
        Some(By::Task) => ("task", "processes or threads"),
        _ => return Ok(()),
    };
    let mut groups = curves.iter().flat_map(|curve| &curve.groups);
    // Without a number of its own, every request has the first.
    if groups.all(|group| matches!(group.name.as_str(), "0" | "object 0")) && reading.requests > 0 {
        let format = reading.source.detected().format.name;
        return Err(Error::OnePart { by, what, name: named(spec), format });
    }
    Ok(())
}
