//! What the table of runs cannot say in a row.

use nbuf::experiment::result::{Meter, SizeReport, Verified};

use super::super::text::count;

/// What is compared where tracepoints are closed.
const BY_READS: &str = "measured: what the processes read from discs, by the \
    kernel's accounting, with directories and inodes";

/// What the runs were measured by, if not by the kernel's count of fills.
pub(super) fn meter(report: &SizeReport) -> Option<&'static str> {
    let is_read = report.verify.iter().any(|run| run.meter == Meter::BytesRead);
    is_read.then_some(BY_READS)
}

/// What a row cannot say.
pub(super) fn notes(report: &SizeReport) -> Vec<String> {
    let mut notes = Vec::new();
    for run in &report.verify {
        let limit = run.limit_bytes.map_or("without a limit".into(), |limit| limit.to_string());
        notes.extend(cut_off(run));
        if run.killed {
            notes.push(format!("killed at {limit}: below the floor"));
        } else if run.within_band.is_none() && !run.timed_out {
            notes.push(format!(
                "{limit}: too few pages to judge by; other processes bring and drop as many of the \
                 libraries they share"
            ));
        } else if run.within_band.is_some()
            && report.exit_status.is_some_and(|s| s != run.exit_status)
        {
            notes.push(format!(
                "{limit}: the command ended with status {}, and with {} when recorded",
                run.exit_status,
                report.exit_status.unwrap_or_default()
            ));
        }
        if let Some(cliff) = run.cliff_bytes {
            notes.push(format!(
                "{limit} is on a cliff of the curve, at {cliff} of cache: slightly less memory \
                 gives the fills below the cliff"
            ));
        }
        let window = report.capture.readahead_bytes;
        let is_small = run.limit_bytes.is_some() && run.cache_bytes < window + window + window;
        if is_small && run.within_band == Some(false) {
            notes.push(format!(
                "{limit}: a cache of less than three readahead windows of {window} evicts pages before \
                 they are read; how many is predicted poorly"
            ));
        }
        if run.lost_events > 0 {
            let lost = count(run.lost_events, "fill event was", "fill events were");
            notes.push(format!("{limit}: {lost} lost"));
        }
    }
    notes
}

/// The note on a run that was ended when its time was up.
fn cut_off(run: &Verified) -> Option<String> {
    let allowed = run.allowed_seconds.filter(|_| run.timed_out)?;
    let limit = run.limit_bytes.map_or("without a limit".into(), |limit| limit.to_string());
    let early = match run.predicted_seconds_high {
        Some(high) if high < allowed => format!(", not the {high:.1} s that were predicted"),
        _ => String::new(),
    };
    Some(format!(
        "{limit}: ended after {allowed:.0} s{early}, and not judged; --max-time allows more"
    ))
}
