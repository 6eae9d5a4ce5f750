//! The runs that were made to prove it: what was predicted beside what the kernel counted.

use nbuf::experiment::result::{Meter, SizeReport, Verified};

use super::super::markup::escape;
use super::super::report::{
    BY_READS, band, cut_off, estimate, limit, medians, spread_of_fills, spread_of_seconds, verdict,
};
use super::super::text::grouped;
use super::table;

const HEADER: [&str; 11] = [
    "memory limit",
    "cache in it",
    "fills predicted",
    "fills measured",
    "verdict",
    "read",
    "written",
    "major faults",
    "seconds",
    "estimated",
    "waited",
];

pub(super) fn section(report: &SizeReport) -> String {
    if report.verify.is_empty() {
        return "<p>The command was not run again: nothing on this page is proved.</p>\n".into();
    }
    let rows: Vec<Vec<String>> = report.verify.iter().map(row).collect();
    let notes: Vec<String> = report.verify.iter().filter_map(note).collect();
    let medians = match medians(report) {
        single if single.is_empty() => String::new(),
        medians => format!(
            " The figures are{}, made in random order; the least and the most stand beside them.",
            medians.trim_start_matches(',')
        ),
    };
    let count = if report.verify.iter().any(|run| run.meter == Meter::BytesRead) {
        escape(BY_READS)
    } else {
        "the measured fills are the kernel&#39;s own count".into()
    };
    format!(
        "<p>Each prediction was written down before the command ran again, from a cold cache, under a \
         real memory limit; {count}.{medians}</p>\n{}{}",
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
        whole(&limit(run)),
        whole(&run.cache_bytes.to_string()),
        range(&band(run)),
        with(grouped(run.measured_fills), spread_of_fills(run)),
        format!("<span class=\"{mood}\">{}</span>", verdict(run)),
        whole(&run.read_bytes.to_string()),
        whole(&run.written_bytes.to_string()),
        grouped(run.major_faults),
        with(format!("{:.2}", run.measured_seconds), spread_of_seconds(run)),
        range(&estimate(run)),
        format!("{:.2}", run.memory_pressure_seconds.max(run.io_pressure_seconds)),
    ]
}

/// A median, and from where to where the runs lie: one thing beside the label of a narrow page.
fn with(median: String, spread: Option<String>) -> String {
    match spread {
        Some(spread) => {
            format!("<span>{median} <span class=\"faint\">{}</span></span>", range(&spread))
        }
        None => median,
    }
}

/// A range that may end its line in the middle, where the table has no room for it.
fn range(text: &str) -> String {
    text.replace("..", "..<wbr/>")
}

/// A size that stays on one line with its unit.
fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// What a row cannot say.
fn note(run: &Verified) -> Option<String> {
    if let Some(cut) = cut_off(run) {
        return Some(format!("<p class=\"note\">{}.</p>\n", escape(&cut)));
    }
    let step = run.step_bytes?;
    Some(format!(
        "<p class=\"note\">{} lies on a step of the curve, at {step} of cache: a little less, and \
         the fills are those below the step.</p>\n",
        limit(run)
    ))
}
