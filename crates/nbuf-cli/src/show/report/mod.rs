//! The report of `nbuf size` for people, section by section, so that each can be printed as soon
//! as it is known.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use nbuf::experiment::result::{Advice, Recommend, SizeReport, Verified};
use nbuf::units::Bytes;

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
    let lines = [
        format!("{} events, {lost}", grouped(capture.events)),
        format!(
            "{} page accesses to {} distinct pages ({}); {:.1} % mapped",
            grouped(capture.accesses),
            grouped(capture.distinct_pages),
            report.footprint_bytes,
            capture.mapped_share * 100.0
        ),
        format!(
            "memory beside the cache: {} anonymous, {} shared, {} kernel",
            memory.anonymous_bytes, memory.shmem_bytes, memory.kernel_bytes
        ),
    ];
    for line in lines {
        wrap(&mut text, &line, width);
    }
    if capture.shared_bytes > Bytes(0) {
        let shared = capture.shared_bytes;
        wrap(
            &mut text,
            &format!("{shared} of shared text and data is in use by others and charged to them"),
            width,
        );
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
    let room = width.saturating_sub(24).max(12);
    for file in &report.files {
        table.add_row([grouped(file.accesses), grouped(file.fills), tail(&file.name, room)]);
    }
    right(&mut table, &[0, 1]);
    indent(&table.to_string())
}

/// The three sizes and the reason.
pub(crate) fn recommendation(report: &SizeReport, width: usize) -> String {
    let Some(recommend) = &report.recommend else {
        return "No recommendation\n".into();
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
        Advice::NothingToGain => {
            let _ = writeln!(text, "Cache buys nothing: {} is enough", recommend.limit_bytes);
            wrap(&mut text, &parts, width);
            wrap(&mut text, &recommend.reason, width);
        }
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

/// The runs under limits, predicted beside measured.
pub(crate) fn verification(report: &SizeReport, width: usize) -> String {
    let mut table = plain();
    let wide = width >= 72;
    let mut header = vec!["limit", "predicted fills", "measured", ""];
    if wide {
        header.extend(["major", "read", "seconds", "waited"]);
    }
    table.set_header(header);
    for run in &report.verify {
        let mut row = vec![
            run.limit_bytes.map_or("none".into(), |limit| limit.to_string()),
            band(run),
            grouped(run.measured_fills),
            verdict(run),
        ];
        if wide {
            row.extend([
                grouped(run.major_faults),
                run.read_bytes.to_string(),
                format!("{:.2}", run.measured_seconds),
                format!("{:.2}", run.memory_pressure_seconds.max(run.io_pressure_seconds)),
            ]);
        }
        table.add_row(row);
    }
    right(&mut table, &[0, 1, 2, 4, 5, 6, 7]);
    let mut text = String::from("Verified\n");
    text.push_str(&indent(&table.to_string()));
    for note in notes(report) {
        wrap(&mut text, &note, width);
    }
    text
}

fn band(run: &Verified) -> String {
    let (low, high) = (run.predicted_fills_low, run.predicted_fills_high);
    if low == high { grouped(low) } else { format!("{}..{}", grouped(low), grouped(high)) }
}

fn verdict(run: &Verified) -> String {
    match run.held {
        _ if run.killed => "killed".into(),
        None => "ended early".into(),
        Some(true) if run.step_bytes.is_some() => "held (step)".into(),
        Some(true) => "held".into(),
        Some(false) => "NOT HELD".into(),
    }
}

/// What a row cannot say.
fn notes(report: &SizeReport) -> Vec<String> {
    let mut notes = Vec::new();
    for run in &report.verify {
        let Some(limit) = run.limit_bytes else { continue };
        if run.killed {
            notes.push(format!("killed at {limit}: below the floor"));
        }
        if let Some(step) = run.step_bytes {
            notes.push(format!(
                "{limit} lies on a step of the curve, at {step} of cache: a little less, and the \
                 fills are those below the step"
            ));
        }
        if run.lost_events > 0 {
            notes.push(format!("{limit}: {} fill events were lost", grouped(run.lost_events)));
        }
    }
    notes
}

/// Lines to paste.
pub(crate) fn paste(recommend: &Recommend) -> String {
    let mebibytes = recommend.limit_bytes.0 >> 20;
    format!(
        "To paste\n  docker run --memory={mebibytes}m --memory-swap={mebibytes}m ...\n  \
         kubernetes:  resources.limits.memory: {mebibytes}Mi\n  systemd:     MemoryMax={mebibytes}M\n"
    )
}

/// What the reader must be told.
pub(crate) fn cautions(report: &SizeReport, width: usize) -> String {
    let mut text = String::new();
    for caution in &report.cautions {
        wrap(&mut text, &format!("Caution: {caution}."), width);
    }
    text
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table
}

fn right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn indent(text: &str) -> String {
    text.lines().fold(String::new(), |out, line| out + " " + line.trim_end() + "\n")
}

/// Adds a paragraph, two columns in, broken at spaces.
pub(crate) fn wrap(out: &mut String, text: &str, width: usize) {
    let mut line = String::from(" ");
    for word in text.split(' ') {
        if line.trim_start() != "" && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(&line);
            out.push('\n');
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The end of a path that is too long, which tells more than its beginning.
fn tail(path: &str, room: usize) -> String {
    let clean: String = path.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let length = clean.chars().count();
    if length <= room {
        return clean;
    }
    let kept: String = clean.chars().skip(length - (room - 1)).collect();
    format!("…{kept}")
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
