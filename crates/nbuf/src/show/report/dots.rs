//! The runs as dots of a chart: a disc where a run was in band, a cross elsewhere.

use nbuf::experiment::result::{SizeReport, Verified};

use super::super::chart::{Dot, Kind};
use super::super::text::grouped;

/// The fills of every run that came to a count, at the room for cache that it had.
pub(super) fn fills(report: &SizeReport) -> Vec<Dot> {
    finished(report).map(|run| dot(run, run.measured_fills as f64)).collect()
}

/// Runs that verified a prediction and came to their end.
pub(super) fn finished(report: &SizeReport) -> impl Iterator<Item = &Verified> {
    report.verify.iter().filter(|run| run.within_band.is_some())
}

/// A run that was made: a disc where the fills were in band, a cross where they were not.
pub(super) fn dot(run: &Verified, y: f64) -> Dot {
    let limit = run.limit_bytes.map_or("no limit".into(), |limit| format!("limit {limit}"));
    let (fills, seconds) = (grouped(run.measured_fills), run.measured_seconds);
    let (kind, name, verdict) = if run.within_band == Some(true) {
        (Kind::Measured, "measured, in band", "")
    } else {
        (Kind::Missed, "measured, out of band", ", OUT OF BAND")
    };
    let title = format!("{limit}: {fills} fills measured, {seconds:.2} s{verdict}");
    Dot { kind, x: run.cache_bytes.0 as f64, y, name, label: String::new(), title }
}
