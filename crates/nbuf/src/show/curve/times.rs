//! Windows of time as charts: the hits of each at some sizes, and its knee.

use nbuf::experiment::result::{CurveWindow, PolicyCurve};

use super::super::chart::{Chart, Line, Look, Points};
use super::super::page::Part;
use super::super::scale::{Axis, trimmed};
use super::super::table::{Table, number};
use super::chart::{hits_at, size, sized};
use super::family::{Family, three_sizes};
use super::parts::{Starts, knee, windows_table};
use super::words::{moment, three_digits};

/// Steps of the shares of hits, at most.
const STEPS: usize = 4;

/// Both charts of a curve that has windows, or their table where there is one window.
pub(super) fn section(family: &Family<'_>, curve: &PolicyCurve) -> Vec<Part> {
    if curve.windows.len() < 2 {
        let table = windows_table(curve, family.unit, &three_sizes(curve), true, usize::MAX);
        return Part::table(table).into_iter().collect();
    }
    let across = Across::of(curve);
    let charts = [Some(hits(family, curve, &across)), knees(family, curve, &across)];
    charts.into_iter().flatten().map(Part::Chart).collect()
}

/// The axis of time, and where each window begins and ends.
struct Across {
    edges: Vec<f64>,
    axis: Axis,
}

impl Across {
    /// The last window is as long as those before it are on average.
    fn of(curve: &PolicyCurve) -> Self {
        let Starts { unit, numbers: starts } = Starts::of(curve);
        let last = starts.last().copied().unwrap_or(0.0);
        let longest = last + last / (starts.len().max(2) - 1) as f64;
        let first = curve.windows.first().and_then(|window| moment(window.from_ns));
        let name = match (unit, first) {
            (Some(unit), Some(first)) => format!("{unit} from {first}"),
            (Some(unit), None) => unit.to_owned(),
            (None, _) => "windows".to_owned(),
        };
        let text = |time: f64| trimmed(&three_digits(time)).to_owned();
        let edges = starts.into_iter().chain([longest]).collect();
        Self { edges, axis: Axis::numbers(&name, longest, text) }
    }

    /// The middle of each window.
    fn middles(&self) -> Vec<f64> {
        self.edges.windows(2).map(|edges| f64::midpoint(edges[0], edges[1])).collect()
    }

    /// Level stretches, one for each window that has a value, joined where windows follow. The
    /// first line has the name.
    fn steps(
        &self,
        curve: &PolicyCurve,
        (name, look): (String, Look),
        value: impl Fn(&CurveWindow) -> Option<f64>,
    ) -> Vec<Line> {
        let mut all: Vec<Points> = vec![Vec::new()];
        for (window, edges) in curve.windows.iter().zip(self.edges.windows(2)) {
            match (value(window), all.last_mut()) {
                (Some(value), Some(line)) => line.extend([(edges[0], value), (edges[1], value)]),
                _ => all.push(Vec::new()),
            }
        }
        let mut names = [name].into_iter();
        let all = all.into_iter().filter(|points| !points.is_empty());
        all.map(|points| Line::new(names.next().unwrap_or_default(), look, points)).collect()
    }
}

/// Hits over time, at the three sizes.
fn hits(family: &Family<'_>, curve: &PolicyCurve, across: &Across) -> Chart {
    let sizes = three_sizes(curve);
    let seen = sizes.iter().flat_map(|&pages| curve.windows.iter().map(move |w| (w, pages)));
    let percents = seen.filter_map(|(window, pages)| hits_at(&window.points, pages));
    let y = Axis::shares("hits, %", percents, STEPS);
    let mut chart = Chart::new("hits over time", across.axis.clone(), y);
    for (number, &pages) in sizes.iter().enumerate() {
        let key = (format!("with {}", family.unit.full(pages)), Look::Nth(number));
        chart.lines.extend(across.steps(curve, key, |window| hits_at(&window.points, pages)));
    }
    chart.at = across.middles();
    chart.table = windows_table(curve, family.unit, &sizes, true, usize::MAX);
    chart
}

/// The knee of each window, and the knee of the whole as a line; nothing where fewer than two
/// windows have one.
fn knees(family: &Family<'_>, curve: &PolicyCurve, across: &Across) -> Option<Chart> {
    let of = |window: &CurveWindow| Some(size(family.unit, window.corners?.knee_pages));
    if curve.windows.iter().filter_map(of).count() < 2 {
        return None;
    }
    let whole = curve.corners.map(|corners| corners.knee_pages);
    let sizes = curve.windows.iter().filter_map(of);
    let sizes = sizes.chain(whole.map(|pages| size(family.unit, pages)));
    let (low, high) = sizes.fold((f64::MAX, 0.0), |(a, b), s| (f64::min(a, s), f64::max(b, s)));
    // A doubling at the least from end to end.
    let more = (2.0 * low / high).max(1.0).sqrt();
    let y = sized(family.unit, "knee", low / more, high * more);
    let mut chart = Chart::new("knee over time", across.axis.clone(), y);
    let key = ("knee of each window; gaps have none".to_owned(), Look::Nth(0));
    chart.lines = across.steps(curve, key, of);
    chart.lines.extend(whole.map(|pages| {
        let (height, brief) = (size(family.unit, pages), family.unit.brief(pages));
        let points = vec![(0.0, height), (across.axis.high, height)];
        Line::new(format!("knee of the whole, {brief}"), Look::Bound, points)
    }));
    chart.at = across.middles();
    let starts = Starts::of(curve);
    chart.table = Table::of("Knee by window", curve.windows.iter().enumerate())
        .column(number(starts.title()), |(at, _)| starts.cell(at))
        .column(number("knee"), |(_, window)| knee(window.corners, family.unit))
        .done();
    Some(chart)
}
