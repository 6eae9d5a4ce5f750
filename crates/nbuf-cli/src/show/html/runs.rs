//! The runs that were made to prove it: what was predicted beside what the kernel counted.

use nbuf::experiment::result::{SizeReport, Verified};

use super::super::report::{band, limit, verdict};
use super::super::text::grouped;
use super::table;

const HEADER: [&str; 10] = [
    "memory limit",
    "cache in it",
    "fills predicted",
    "fills measured",
    "verdict",
    "read",
    "written",
    "major faults",
    "seconds",
    "waited",
];

pub(super) fn section(report: &SizeReport) -> String {
    if report.verify.is_empty() {
        return "<p>The command was not run again: nothing on this page is proved.</p>\n".into();
    }
    let rows: Vec<Vec<String>> = report.verify.iter().map(row).collect();
    let notes: Vec<String> = report.verify.iter().filter_map(note).collect();
    format!(
        "<p>Each prediction was written down before the command ran again, from a cold cache, under a \
         real memory limit; the measured fills are the kernel&#39;s own count.</p>\n{}{}",
        table("runs", &HEADER, &[4], &rows),
        notes.concat()
    )
}

fn row(run: &Verified) -> Vec<String> {
    let mood = match run.held {
        Some(true) => "good",
        Some(false) => "bad",
        None => "open",
    };
    vec![
        limit(run),
        run.cache_bytes.to_string(),
        band(run),
        grouped(run.measured_fills),
        format!("<span class=\"{mood}\">{}</span>", verdict(run)),
        run.read_bytes.to_string(),
        run.written_bytes.to_string(),
        grouped(run.major_faults),
        format!("{:.2}", run.measured_seconds),
        format!("{:.2}", run.memory_pressure_seconds.max(run.io_pressure_seconds)),
    ]
}

/// What a row cannot say.
fn note(run: &Verified) -> Option<String> {
    let step = run.step_bytes?;
    Some(format!(
        "<p class=\"note\">{} lies on a step of the curve, at {step} of cache: a little less, and \
         the fills are those below the step.</p>\n",
        limit(run)
    ))
}
