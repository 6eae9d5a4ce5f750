//! When keys are used again, how long they live, and how large they are.

use nbuf::experiment::result::{ShapeHeat, ShapeHistogram, TraceShape};

use super::super::heat::Heat;
use super::super::table::{Cell, Table, number, text};
use super::super::text::grouped;
use super::sections::{Section, lacking};
use super::words::{bytes_between, ends, keys, percent, round, ticks};

/// The name of rows that nothing is in.
const GAP: &str = "…";

/// LRU stack distances over time.
pub(super) fn distances(shape: &TraceShape) -> Section {
    let mut lines = vec![format!(
        "The distance of an access is the smallest LRU cache that hits it, in {}s.",
        shape.unit
    )];
    let half = half(&shape.reuse_distance).map(grouped);
    lines.extend(half.map(|below| format!("Half of all reuses are below {below}.")));
    let name = format!("{}s", shape.unit);
    let heat = heat(&shape.reuse_distance, ("reuse distance by time", &name), &round);
    section("Reuse distance", lines, &shape.reuse_distance, heat)
}

/// Times between two uses over time.
pub(super) fn times(shape: &TraceShape) -> Section {
    let map = &shape.reuse_time;
    let clock = map.clock.as_str();
    let mut lines: Vec<String> = lacking(shape, "times").into_iter().collect();
    lines.extend(half(map).map(|below| match below {
        1 => "Half of all reuses or more have the time of the use before.".to_owned(),
        below => format!("Half of all reuses come after less than {}.", ends(clock, below)),
    }));
    let unit = if clock == "ns" { "times" } else { "accesses" };
    let heat = heat(map, ("reuse time by time", unit), &|number| moment(clock, number));
    section("Reuse time", lines, map, heat)
}

fn section(title: &'static str, lines: Vec<String>, map: &ShapeHeat, heat: Heat) -> Section {
    if map.rows.is_empty() {
        let lines = vec!["No key is used again.".to_owned()];
        return Section { title, lines, ..Section::default() };
    }
    Section { title, lines, heats: vec![heat], ..Section::default() }
}

/// The end of the row that has the middle reuse.
fn half(heat: &ShapeHeat) -> Option<u64> {
    let sums: Vec<(u64, u64)> =
        heat.rows.iter().map(|row| (row.below, row.counts.iter().sum())).collect();
    let all: u64 = sums.iter().map(|(_, count)| count).sum();
    let mut seen = 0;
    let (below, _) = sums.into_iter().find(|(_, count)| {
        seen += count;
        seen * 2 >= all
    })?;
    Some(below)
}

fn heat(map: &ShapeHeat, (title, of): (&str, &str), name: &dyn Fn(u64) -> String) -> Heat {
    let mut rows = vec![("first use".to_owned(), map.first_uses.clone())];
    for row in map.rows.iter().rev() {
        let is_empty = row.counts.iter().all(|&count| count == 0);
        // Rows that nothing is in become one: a clock may be coarse.
        if is_empty && rows.last().is_some_and(|(name, _)| name == GAP) {
            continue;
        }
        let name = if is_empty { GAP.to_owned() } else { name(row.from) };
        rows.push((name, row.counts.clone()));
    }
    let count = map.first_uses.len() as u64;
    let column = |at: u64| ends(&map.clock, map.column_width.saturating_mul(at));
    let all: u64 = rows.iter().flat_map(|(_, counts)| counts).sum();
    let columns = [text(format!("{of}, from")), number("accesses"), number("share")];
    let sums = rows.iter().filter(|(name, _)| name != GAP).map(|(name, counts)| {
        let sum: u64 = counts.iter().sum();
        let share = sum as f64 / all.max(1) as f64;
        [name.clone().into(), grouped(sum).into(), Cell::bar(percent(sum, all), share)]
    });
    let table = Table::new(format!("Accesses by {}", title.trim_end_matches(" by time")), columns);
    Heat {
        title: format!("{title}; rows begin at these {of}"),
        table: table.with(sums),
        rows,
        ends: ["0".to_owned(), column(count)],
        columns: (0..count).map(|at| format!("from {}", column(at))).collect(),
        caption: "Time goes right, each row is twice the one below, and first uses are on top."
            .to_owned(),
    }
}

/// The name of a row of reuse times.
fn moment(clock: &str, from: u64) -> String {
    if from == 0 { "same time".to_owned() } else { ticks(clock, from) }
}

/// Sizes of objects or of requests.
pub(super) fn sizes(shape: &TraceShape) -> Section {
    let title = "Sizes";
    let Some(sizes) = &shape.sizes else {
        let lines = lacking(shape, "sizes").into_iter().collect();
        return Section { title, lines, ..Section::default() };
    };
    let mean = nbuf::units::Bytes(sizes.bytes.mean);
    let each = if sizes.of == "object" {
        "Each key is counted once, with its last size."
    } else {
        "These are sizes of requests; an access is to a page."
    };
    let lines = vec![format!("The mean is {mean}. {each}")];
    let table = histogram(&sizes.bytes, &format!("{}s", sizes.of), &bytes_between);
    Section { title, lines, tables: vec![table], ..Section::default() }
}

/// From the first use to the last.
pub(super) fn lifetimes(shape: &TraceShape) -> Section {
    let title = "Lifetimes";
    let lifetimes = &shape.lifetimes;
    if lifetimes.count == 0 {
        let lines = vec!["No key is used twice.".to_owned()];
        return Section { title, lines, ..Section::default() };
    }
    let lines = vec![format!(
        "From its first use to its last, {} lived {} on average. Keys that are used once have no lifetime.",
        keys(shape, lifetimes.count),
        ends(&shape.clock, lifetimes.mean)
    )];
    let name = |from: u64, below: u64| match from {
        0 => "at one time".to_owned(),
        from => format!("{} to {}", ticks(&shape.clock, from), ticks(&shape.clock, below)),
    };
    let table = histogram(lifetimes, &format!("{}s", shape.unit), &name);
    Section { title, lines, tables: vec![table], ..Section::default() }
}

fn histogram(histogram: &ShapeHistogram, of: &str, name: &dyn Fn(u64, u64) -> String) -> Table {
    let columns = [text("from, to below"), number(of), number("share")];
    let rows = histogram.rows.iter().filter(|row| row.count > 0).map(|row| {
        let share = row.count as f64 / histogram.count.max(1) as f64;
        [
            name(row.from, row.below).into(),
            grouped(row.count).into(),
            Cell::bar(percent(row.count, histogram.count), share),
        ]
    });
    Table::new(format!("{} by powers of two", super::super::page::uppercased(of)), columns)
        .with(rows)
}
