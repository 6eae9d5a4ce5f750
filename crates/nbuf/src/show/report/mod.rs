//! The report of `nbuf size` for people, in sections.

mod answer;
mod chart;
mod compare;
mod dots;
mod measured;
mod notes;
pub(crate) mod page;
mod readahead;
mod runs;
mod samples;
mod search;
mod sections;
mod target;
mod time;
mod traffic;

use std::fmt::Display;

use nbuf::experiment::result::{FileShare, SizeReport, Verified};
use nbuf::units::Bytes;

use super::table::{Table, number, text as words};
use super::text::{count, grouped, tail, wrap_each};
pub(crate) use page::page;
use time::estimate;
use time::time;

pub(crate) use chart::picture;
pub(crate) use compare::comparison;
use readahead::readahead;
use runs::verification;
use samples::{medians, spread_of_fills, spread_of_seconds};
use search::search;
pub(crate) use sections::{Section, sections, whole};
use target::target_line;
use traffic::summary;

/// What was seen: events, pages, memory, and the files that matter most.
fn workload(report: &SizeReport, width: usize) -> String {
    let capture = &report.capture;
    let memory = &report.memory;
    let mut text = String::from("Workload\n");
    let lost = if capture.lost == 0 {
        "none lost".into()
    } else {
        format!("{} LOST", grouped(capture.lost))
    };
    let accesses = count(capture.accesses, "page access", "page accesses");
    let pages = count(capture.distinct_pages, "distinct page", "distinct pages");
    let mut lines = vec![
        format!("{}, {lost}", count(capture.events, "event", "events")),
        format!(
            "{accesses} to {pages} ({}); {:.1} % mapped",
            report.footprint_bytes,
            capture.mapped_share * 100.0
        ),
        format!(
            "other memory: {} anonymous, {} shared, {} kernel",
            memory.anonymous_bytes, memory.shmem_bytes, memory.kernel_bytes
        ),
    ];
    if report.traffic.written_pages > 0 {
        lines.insert(2, summary(&report.traffic));
    }
    lines.extend(shared_text(report));
    wrap_each(&mut text, lines, width);
    if !report.files.is_empty() {
        text.push('\n');
        text.push_str(&files(report, width));
    }
    text
}

/// What the limits include and the groups of the runs did not.
fn shared_text(report: &SizeReport) -> Option<String> {
    let shared = report.memory.shared_text_bytes;
    (shared > Bytes(0)).then(|| {
        let what = format!("shared text: {shared} stayed in memory for other programs");
        if report.verify.is_empty() && report.search.is_none() {
            return format!("{what}; a limit has to include it");
        }
        format!("{what}; every limit includes it, and the runs had it taken off")
    })
}

fn files(report: &SizeReport, width: usize) -> String {
    let widest = |number: fn(&FileShare) -> u64, header: &str| {
        let widths = report.files.iter().map(|file| grouped(number(file)).len());
        widths.fold(header.len(), usize::max)
    };
    let numbers = widest(|file| file.accesses, "accesses") + widest(|file| file.fills, "fills");
    // Two spaces before every column.
    let room = width.saturating_sub(numbers + 6).max(8);
    let columns = [number("accesses"), number("fills"), words("file")];
    let rows = report.files.iter();
    let rows = rows.map(|f| [grouped(f.accesses), grouped(f.fills), tail(&f.name, room)]);
    Table::new("Files", columns).with(rows).draw(width)
}

fn limit(run: &Verified) -> String {
    run.limit_bytes.map_or("none".into(), |limit| limit.to_string())
}

fn band(run: &Verified) -> String {
    let (low, high) = (run.predicted_fills_low, run.predicted_fills_high);
    if low == high { grouped(low) } else { format!("{}..{}", grouped(low), grouped(high)) }
}

fn verdict(run: &Verified) -> String {
    match run.within_band {
        _ if run.killed => "killed".into(),
        None if run.timed_out => "ended early".into(),
        None => "too few".into(),
        Some(true) if run.cliff_bytes.is_some() => "in band, cliff".into(),
        Some(true) => "in band".into(),
        Some(false) if run.is_undecided() => "undecided".into(),
        // What was counted is in the band, and the band is too wide to say anything.
        Some(false) if in_band(run) => "TOO WIDE".into(),
        Some(false) => "OUT OF BAND".into(),
    }
}

fn in_band(run: &Verified) -> bool {
    (run.predicted_fills_low..=run.predicted_fills_high).contains(&run.measured_fills)
}

/// Returns the warnings for the reader.
pub(crate) fn warnings(warnings: &[impl Display], width: usize) -> String {
    let mut text = String::new();
    let warnings = warnings.iter().map(|warning| format!("Warning: {warning}."));
    wrap_each(&mut text, warnings, width);
    text
}

#[cfg(test)]
mod tests;
