//! The table of runs: as many of the meters as there is room for, and the rest in lines.

use nbuf::experiment::result::{SizeReport, Verified};

use super::super::table::{Table, fits, number, text as words};
use super::super::text::{grouped, wrap, wrap_each};
use super::notes::{meter, notes};
use super::samples::{medians, spread_of_fills, spread_of_seconds};
use super::time::estimate;
use super::traffic::writes;
use super::{band, limit, verdict};

/// A column: what stands over it, and what it has of a run.
type Column = (&'static str, fn(&Verified) -> String);

const FIRST: [Column; 4] = [
    ("limit", limit),
    ("predicted", band),
    ("measured", |run| grouped(run.measured_fills)),
    ("", verdict),
];
const FILLS: Column = ("from..to", |run| spread_of_fills(run).unwrap_or_default());
const SECONDS: Column = ("seconds", |run| format!("{:.2}", run.measured_seconds));
const SECONDS_SPREAD: Column = ("from..to", |run| spread_of_seconds(run).unwrap_or_default());
const METERS: [Column; 2] =
    [("major", |run| grouped(run.major_faults)), ("read", |run| run.read_bytes.to_string())];
const WRITTEN: Column = ("written", |run| run.written_bytes.to_string());
const WAITED: Column =
    ("waited", |run| format!("{:.2}", run.memory_pressure_seconds.max(run.io_pressure_seconds)));
/// It replaces the waits, because the table has no room for both.
const ESTIMATE: Column = ("estimate", estimate);

/// What a table has room for.
#[derive(Clone, Copy)]
struct Room {
    spreads: bool,
    /// The number of meters besides the seconds; without it no seconds either.
    meters: Option<usize>,
    written: bool,
    gap: usize,
}

/// From the widest table to the narrowest.
const ROOMS: [Room; 7] = [
    Room { spreads: true, meters: ALL, written: true, gap: 2 },
    Room { spreads: false, meters: ALL, written: true, gap: 2 },
    Room { spreads: false, meters: ALL, written: true, gap: 1 },
    Room { spreads: false, meters: ALL, written: false, gap: 1 },
    Room { spreads: false, meters: Some(1), written: false, gap: 1 },
    Room { spreads: false, meters: Some(0), written: false, gap: 1 },
    Room { spreads: true, meters: None, written: false, gap: 2 },
];
const ALL: Option<usize> = Some(METERS.len());

/// The runs under limits, predicted next to measured.
pub(super) fn verification(report: &SizeReport, width: usize) -> String {
    let meter = meter(report);
    let what = if meter.is_some() { "read from discs" } else { "filled" };
    let mut text = format!("Verified: pages {what}{}\n", medians(report));
    if text.len() > width + 1 {
        text = text.replacen(", ", ",\n  ", 1);
    }
    let several = report.verify.iter().any(|run| run.samples.len() > 1);
    let of = |room| table(report, room, &columns(report, room, several));
    // The meters of several runs have a table of their own before they lose any.
    let whole = |room: &Room| !several || matches!(room.meters, ALL | None);
    let mut tables = ROOMS.into_iter().filter(whole).map(|room| (room, of(room)));
    let found = tables.find(|(_, table)| fits(table, width));
    match &found {
        Some((_, table)) => text.push_str(table),
        None => report.verify.iter().for_each(|run| lines(&mut text, run, width)),
    }
    let all = ROOMS[0];
    let mut beside = vec![FIRST[0]];
    beside.extend(meters(report, all, several));
    let beside = table(report, all, &beside);
    let has = |of: fn(&Room) -> bool| found.as_ref().is_some_and(|(room, _)| of(room));
    let mut has_written = has(|room| room.written && room.meters.is_some());
    if several && !has(|room| room.meters.is_some()) && fits(&beside, width) {
        text.push('\n');
        text.push_str(&beside);
        has_written = all.written;
    } else if several && found.is_some() && !has(|room| room.spreads) {
        for run in &report.verify {
            if let (Some(fills), Some(seconds)) = (spread_of_fills(run), spread_of_seconds(run)) {
                wrap(&mut text, &format!("{}: {fills} fills, {seconds} s", limit(run)), width);
            }
        }
    }
    if report.verify.iter().any(writes) && !has_written {
        let written = |run: &Verified| format!("{} at {}", run.written_bytes, limit(run));
        let written: Vec<String> = report.verify.iter().map(written).collect();
        wrap(&mut text, &format!("written: {}", written.join(", ")), width);
    }
    wrap_each(&mut text, meter.map(str::to_owned).into_iter().chain(notes(report)), width);
    text
}

/// Returns the columns of the fills and of the other meters.
fn columns(report: &SizeReport, room: Room, several: bool) -> Vec<Column> {
    let mut columns = FIRST.to_vec();
    columns.extend((several && room.spreads).then_some(FILLS));
    columns.extend(meters(report, room, several));
    columns
}

fn meters(report: &SizeReport, room: Room, several: bool) -> Vec<Column> {
    let Some(count) = room.meters else { return Vec::new() };
    let mut columns = METERS[METERS.len() - count..].to_vec();
    let written = room.written && report.verify.iter().any(writes);
    columns.extend(written.then_some(WRITTEN));
    columns.push(SECONDS);
    columns.extend((several && room.spreads).then_some(SECONDS_SPREAD));
    let estimated = report.verify.iter().any(|run| run.predicted_seconds_low.is_some());
    columns.push(if estimated { ESTIMATE } else { WAITED });
    columns
}

fn table(report: &SizeReport, room: Room, columns: &[Column]) -> String {
    let kind = |name: &'static str| if name.is_empty() { words(name) } else { number(name) };
    let rows = report.verify.iter().map(|run| columns.iter().map(|(_, cell)| cell(run)));
    Table::new("Runs", columns.iter().map(|(name, _)| kind(name))).with(rows).whole(room.gap)
}

/// A run without a table.
fn lines(text: &mut String, run: &Verified, width: usize) {
    wrap(text, &format!("{}: {}", limit(run), verdict(run)), width);
    let (band, measured) = (band(run), grouped(run.measured_fills));
    let spread = spread_of_fills(run).map_or(String::new(), |spread| format!(" ({spread})"));
    wrap(text, &format!("  {measured} fills{spread}, predicted {band}"), width);
}
