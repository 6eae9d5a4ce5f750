//! What changes over time: the working set, and reads against writes.

use nbuf::experiment::result::{ShapeSeries, TraceShape};

use super::super::chart::{Chart, Line, Look, Points};
use super::super::scale::{Axis, trimmed};
use super::super::table::{Table, number};
use super::super::text::grouped;
use super::sections::Section;
use super::words::{end, ends, keys, share, ticks};

/// Distinct keys of each column.
pub(super) fn working_set(shape: &TraceShape) -> Section {
    let title = "Working set";
    let series = &shape.working_set;
    let values = &series.values;
    let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
    let from = least.filter(|_| least != most).map(|least| format!("{} to ", grouped(least)));
    let lines = vec![format!(
        "In each {}, the trace asks for {}{}.",
        ends(&series.clock, series.column_width),
        from.unwrap_or_default(),
        keys(shape, most.unwrap_or(0))
    )];
    let y = Axis::counts(&format!("{}s", shape.unit), values.iter().copied());
    let points = points(series, |at| values[at] as f64);
    let name = format!("distinct {}s in a column", shape.unit);
    let chart =
        chart(series, "working set over time", (y, &name, points), |at| grouped(values[at]));
    Section { title, lines, charts: chart.into_iter().collect(), ..Section::default() }
}

/// The share of writes of each column.
pub(super) fn mix(shape: &TraceShape) -> Section {
    let title = "Reads and writes";
    let (reads, writes) = (&shape.reads.values, &shape.writes.values);
    let (read, written): (u64, u64) = (reads.iter().sum(), writes.iter().sum());
    let all = (read + written).max(1) as f64;
    let mut lines = vec![format!(
        "{} of accesses read, {} write.",
        share(read as f64 / all),
        share(written as f64 / all)
    )];
    if read == 0 || written == 0 {
        return Section { title, lines, ..Section::default() };
    }
    let percent = |at: usize| {
        let both = reads[at] + writes[at];
        100.0 * writes[at] as f64 / both.max(1) as f64
    };
    let used: Vec<usize> = (0..reads.len()).filter(|&at| reads[at] + writes[at] > 0).collect();
    let ends = used
        .iter()
        .map(|&at| percent(at))
        .fold((100.0, 0.0), |(low, high): (f64, f64), p| (low.min(p), high.max(p)));
    lines.push(format!("The share of writes goes from {:.1} to {:.1} %.", ends.0, ends.1));
    let y = Axis::shares("writes in %", used.iter().map(|&at| percent(at)), 5);
    let points = points(&shape.reads, percent);
    let chart = chart(&shape.reads, "writes over time", (y, "share of writes", points), |at| {
        format!("{:.1}", percent(at))
    });
    Section { title, lines, charts: chart.into_iter().collect(), ..Section::default() }
}

/// The middle of each column, in seconds or accesses.
fn points(series: &ShapeSeries, of: impl Fn(usize) -> f64) -> Points {
    (0..series.values.len()).map(|at| (middle(series, at), of(at))).collect()
}

fn middle(series: &ShapeSeries, at: usize) -> f64 {
    let scale = if series.clock == "ns" { 1e9 } else { 1.0 };
    (at as f64 + 0.5) * series.column_width as f64 / scale
}

/// A line over time; none for one column.
fn chart(
    series: &ShapeSeries,
    title: &str,
    (y, name, points): (Axis, &str, Points),
    cell: impl Fn(usize) -> String,
) -> Option<Chart> {
    let columns = series.values.len();
    if columns < 2 {
        return None;
    }
    let (unit, text): (&str, fn(f64) -> String) = if series.clock == "ns" {
        ("seconds", |seconds| trimmed(&format!("{seconds:.3}")).to_owned())
    } else {
        ("accesses", |count| super::words::round(super::super::scale::whole(count)))
    };
    let x = Axis::numbers(unit, middle(series, columns - 1) + middle(series, 0), text);
    let mut chart = Chart::new(title, x, y);
    chart.lines = vec![Line::new(name, Look::Nth(0), points)];
    let header = [number("from"), number(name)];
    let from = |at: usize| ticks(&series.clock, series.column_width.saturating_mul(at as u64));
    let rows = (0..columns).map(|at| [from(at), cell(at)]);
    chart.table = Table::new(super::super::page::uppercased(title), header).with(rows);
    chart.at = (0..columns).map(|at| middle(series, at)).collect();
    let width = ends(&series.clock, series.column_width);
    chart.caption = format!("Columns of {width} up to {}.", end(series));
    Some(chart)
}
