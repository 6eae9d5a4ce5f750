//! Windows of time and groups of requests, as tables.

use nbuf::experiment::result::{CurveGroup, CurvePoint, CurveWindow, PolicyCurve};

use super::super::table::{Table, number, text as words};
use super::super::text::{flush, grouped, tail};
use super::family::{at, knee_size, policy_name, three_sizes};
use super::words::{Unit, moment, percent, three_digits, time_unit};

/// Rows of either table on a terminal; the page and the document have all.
const ROWS: usize = 20;
/// Columns that a name is not cut below.
const NAME_MIN: usize = 8;

/// Where a part has its own knee.
pub(super) fn knee(corners: Option<nbuf::experiment::result::CurveCorners>, unit: Unit) -> String {
    corners.map_or("none".into(), |corners| unit.brief(corners.knee_pages))
}

/// Hits in percent at a size, of a part that may have no access at all.
pub(super) fn hits(points: &[CurvePoint], pages: u64) -> String {
    match at(points, pages) {
        Some(point) if point.accesses > 0 => percent(point.hit_ratio()),
        _ => String::new(),
    }
}

/// When each window begins: after the first of them, in the unit that suits the longest, or, where
/// the format has no times, by its number.
pub(super) struct Starts {
    /// The unit of the numbers, where they are times.
    pub(super) unit: Option<&'static str>,
    pub(super) numbers: Vec<f64>,
}

impl Starts {
    pub(super) fn of(curve: &PolicyCurve) -> Self {
        let first = curve.windows.first().map_or(0, |window| window.from_ns);
        let since = |window: &CurveWindow| window.from_ns.saturating_sub(first) as f64;
        let times: Vec<f64> = curve.windows.iter().map(since).collect();
        let longest = times.last().copied().unwrap_or(0.0);
        if longest <= 0.0 || !times.is_sorted() {
            let numbers = (0..times.len()).map(|number| number as f64).collect();
            return Self { unit: None, numbers };
        }
        let (name, unit) = time_unit(longest);
        Self { unit: Some(name), numbers: times.into_iter().map(|time| time / unit).collect() }
    }

    /// The name of the column.
    pub(super) fn title(&self) -> String {
        self.unit.map_or("window".into(), |unit| format!("from, {unit}"))
    }

    /// The cell of a row.
    pub(super) fn cell(&self, at: usize) -> String {
        let number = self.numbers.get(at).copied().unwrap_or(0.0);
        if self.unit.is_some() { three_digits(number) } else { format!("{:.0}", number + 1.0) }
    }
}

/// What a table of parts is called.
pub(super) fn windows_title(curve: &PolicyCurve) -> String {
    let first = curve.windows.first().and_then(|window| moment(window.from_ns));
    let since = first.map_or(String::new(), |first| format!(", from {first}"));
    format!("Over time, {}{since}", policy_name(curve))
}

/// The curve of each window of time, with as many sizes as there is room for.
pub(super) fn windows(curve: &PolicyCurve, unit: Unit, width: usize) -> String {
    if curve.windows.is_empty() {
        return String::new();
    }
    let three = three_sizes(curve);
    let knee_alone: Vec<u64> = knee_size(curve).into_iter().collect();
    let title = format!("{}: hits in % of accesses at some sizes", windows_title(curve));
    let table = |(sizes, has_requests): (&[u64], bool)| {
        windows_table(curve, unit, sizes, has_requests, ROWS)
    };
    let choices = [(&*three, true), (&*three, false), (&*knee_alone, true)];
    let fitting = choices.into_iter().find_map(|choice| table(choice).fitting(width));
    let fitting = fitting.unwrap_or_else(|| table((&knee_alone, false)).draw(width));
    flush(&title, width) + &fitting + &more(curve.windows.len())
}

/// A row for each of the first windows: its hits at these sizes, and its knee.
pub(super) fn windows_table(
    curve: &PolicyCurve,
    unit: Unit,
    sizes: &[u64],
    has_requests: bool,
    most: usize,
) -> Table {
    let starts = Starts::of(curve);
    let title = format!("{}: hits in % of accesses at some sizes", windows_title(curve));
    Table::of(title, curve.windows.iter().enumerate().take(most))
        .column(number(starts.title()), |(at, _)| starts.cell(at))
        .column_if(has_requests, number("requests"), |(_, window)| grouped(window.requests))
        .columns(sizes.iter().map(|&pages| number(unit.brief(pages))), |(_, window)| {
            sizes.iter().map(move |&pages| hits(&window.points, pages))
        })
        .column(number("knee"), |(_, window)| knee(window.corners, unit))
        .done()
}

/// The curve of each file, task or operation.
pub(super) fn groups(curve: &PolicyCurve, unit: Unit, width: usize) -> String {
    let Some(size) = knee_size(curve).filter(|_| !curve.groups.is_empty()) else {
        return String::new();
    };
    let all = curve.points.first().map_or(0, |point| point.accesses);
    let table = |room: usize, with_accesses: bool| {
        Table::of("", curve.groups.iter().take(ROWS))
            .column_if(with_accesses, number("accesses"), |group| grouped(accesses(group)))
            .column(number("share %"), |group| share(group, all))
            .column(number("hit %"), |group| hits(&group.points, size))
            .column(number("knee"), |group| knee(group.corners, unit))
            .column(words(""), |group| tail(&group.name, room))
            .done()
    };
    // Names are cut to what the numbers leave.
    let fitted = |with_accesses: bool| {
        let numbers = table(1, with_accesses).whole(2);
        let numbers = numbers.lines().map(console::measure_text_width).max().unwrap_or(0);
        table(width.saturating_sub(numbers).max(NAME_MIN), with_accesses)
    };
    let drawn = fitted(true).fitting(width).unwrap_or_else(|| fitted(false).draw(width));
    let title = format!("Parts, {}: hits in % at {}", policy_name(curve), unit.size(size));
    flush(&title, width) + &drawn + &more(curve.groups.len())
}

/// Accesses of a part, which are as many at every size.
pub(super) fn accesses(group: &CurveGroup) -> u64 {
    group.points.first().map_or(0, |point| point.accesses)
}

/// What a part has of all accesses, in percent.
pub(super) fn share(group: &CurveGroup, all: u64) -> String {
    percent(accesses(group) as f64 / all.max(1) as f64)
}

/// That there are more rows than are shown.
fn more(rows: usize) -> String {
    match rows.saturating_sub(ROWS) {
        0 => String::new(),
        some => format!("  and {} more\n", grouped(some as u64)),
    }
}
