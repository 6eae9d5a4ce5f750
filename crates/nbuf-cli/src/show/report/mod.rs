//! The report of `nbuf size` for people, section by section, so that each can be printed as soon
//! as it is known.

mod compare;
mod notes;
mod readahead;
mod runs;
mod samples;
pub(super) mod table;
mod target;
mod time;
mod traffic;

use std::fmt::Write as _;

use nbuf::experiment::result::{Advice, FileShare, Recommend, SizeReport, Verified};
use nbuf::units::Bytes;

use super::text::{count, grouped, tail, wrap};
pub(super) use time::estimate;
pub(crate) use time::time;

pub(crate) use compare::comparison;
pub(super) use notes::{BY_READS, cut_off};
pub(crate) use readahead::readahead;
pub(crate) use runs::verification;
pub(super) use samples::{medians, spread_of_fills, spread_of_seconds};
use table::{fits, indent, plain, right};
pub(crate) use target::aim;
use traffic::asked;

/// Least width at which what is to be pasted stands on a line each.
const PASTE_WIDTH_MIN: usize = 56;

/// What was seen: events, pages, memory, and the files that matter most.
pub(crate) fn workload(report: &SizeReport, width: usize) -> String {
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
            "memory beside the cache: {} anonymous, {} shared, {} kernel",
            memory.anonymous_bytes, memory.shmem_bytes, memory.kernel_bytes
        ),
    ];
    if report.traffic.written_pages > 0 {
        lines.insert(2, asked(&report.traffic));
    }
    if capture.shared_bytes > Bytes(0) {
        let shared = capture.shared_bytes;
        lines.push(format!(
            "{shared} of shared text and data is in use by others and charged to them"
        ));
    }
    for line in lines {
        wrap(&mut text, &line, width);
    }
    if !report.files.is_empty() {
        text.push('\n');
        text.push_str(&files(report, width));
    }
    text
}

fn files(report: &SizeReport, width: usize) -> String {
    let mut table = plain();
    table.set_header(["accesses", "fills", "file"]);
    let widest = |number: fn(&FileShare) -> u64, header: &str| {
        let widths = report.files.iter().map(|file| grouped(number(file)).len());
        widths.fold(header.len(), usize::max)
    };
    let numbers = widest(|file| file.accesses, "accesses") + widest(|file| file.fills, "fills");
    // A space on both sides of every column, and one before them all.
    let room = width.saturating_sub(numbers + 6).max(8);
    for file in &report.files {
        table.add_row([grouped(file.accesses), grouped(file.fills), tail(&file.name, room)]);
    }
    right(&mut table, &[0, 1]);
    indent(&table.to_string())
}

/// The three sizes and the reason.
pub(crate) fn recommendation(report: &SizeReport, width: usize) -> String {
    let Some(recommend) = &report.recommend else {
        let mut text = String::from("No recommendation\n");
        if let Some(target) = &report.target {
            wrap(&mut text, &aim(target), width);
        }
        return text;
    };
    let mut text = String::new();
    let parts = parts(recommend, report);
    match recommend.kind {
        Advice::Knee => {
            let _ = writeln!(text, "Recommendation: {}", recommend.limit_bytes);
            wrap(&mut text, &parts, width);
            wrap(&mut text, &recommend.reason, width);
            let (floor, ceiling) = (recommend.floor_bytes, recommend.ceiling_bytes);
            wrap(
                &mut text,
                &format!("below {floor} of cache: worse than useless, nothing is saved"),
                width,
            );
            wrap(&mut text, &format!("above {ceiling} of cache: nothing more is gained"), width);
        }
        Advice::Target => {
            let _ = writeln!(text, "Recommendation: {}", recommend.limit_bytes);
            wrap(&mut text, &parts, width);
        }
        Advice::NothingToGain => {
            let _ = writeln!(text, "Cache buys nothing: {} is enough", recommend.limit_bytes);
            wrap(&mut text, &parts, width);
            // The heading has said the first half.
            let why = recommend.reason.trim_start_matches("cache buys nothing: ");
            wrap(&mut text, why, width);
        }
    }
    if let Some(target) = &report.target {
        wrap(&mut text, &aim(target), width);
    }
    text
}

fn parts(recommend: &Recommend, report: &SizeReport) -> String {
    let memory = &report.memory;
    let mut parts = vec![format!("{} cache", recommend.cache_bytes)];
    for (amount, name) in [
        (memory.anonymous_bytes, "anonymous"),
        (memory.shmem_bytes, "shared"),
        (memory.kernel_bytes, "kernel"),
        (recommend.slack_bytes, "slack"),
    ] {
        if amount > Bytes(0) {
            parts.push(format!("{amount} {name}"));
        }
    }
    format!("= {}", parts.join(" + "))
}

pub(super) fn limit(run: &Verified) -> String {
    run.limit_bytes.map_or("none".into(), |limit| limit.to_string())
}

pub(super) fn band(run: &Verified) -> String {
    let (low, high) = (run.predicted_fills_low, run.predicted_fills_high);
    if low == high { grouped(low) } else { format!("{}..{}", grouped(low), grouped(high)) }
}

pub(super) fn verdict(run: &Verified) -> String {
    match run.held {
        _ if run.killed => "killed".into(),
        None if run.timed_out => "ended early".into(),
        None => "too few".into(),
        Some(true) if run.step_bytes.is_some() => "held, step".into(),
        Some(true) => "held".into(),
        Some(false) => "NOT HELD".into(),
    }
}

/// Lines to paste, none of them longer than fits.
pub(crate) fn paste(recommend: &Recommend, held: bool, width: usize) -> String {
    let limit = recommend.limit_bytes.0.div_ceil(1 << 20);
    let title = if held { "To paste" } else { "To paste (a prediction did not hold)" };
    if width < PASTE_WIDTH_MIN {
        return format!(
            "{title}\n  docker run --memory={limit}m \\\n    --memory-swap={limit}m ...\n  \
             kubernetes:\n    resources.limits.memory: {limit}Mi\n  systemd:\n    \
             MemoryMax={limit}M\n"
        );
    }
    format!(
        "{title}\n  docker run --memory={limit}m --memory-swap={limit}m ...\n  \
         kubernetes:  resources.limits.memory: {limit}Mi\n  systemd:     MemoryMax={limit}M\n"
    )
}

/// What the reader must be told.
pub(crate) fn cautions(cautions: &[String], width: usize) -> String {
    let mut text = String::new();
    for caution in cautions {
        wrap(&mut text, &format!("Caution: {caution}."), width);
    }
    text
}

#[cfg(test)]
mod tests;
