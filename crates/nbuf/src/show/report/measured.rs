//! The curve through measurements: what runs under limits filled, and between two of them the range
//! that a falling curve leaves. No model has a part in it.

use nbuf::experiment::result::{SearchGoal, SearchOutcome, SearchReport, SearchRun, SizeReport};
use nbuf::units::Bytes;

use super::super::chart::{Band, Chart, Dot, Kind, Look, Mark, Points};
use super::super::scale::Axis;
use super::super::text::grouped;
use super::search::table;

/// Room to the right of the largest limit.
const BEYOND: f64 = 1.10;

/// Fills by memory limit, of the runs of a search.
pub(super) fn chart(report: &SizeReport, search: &SearchReport) -> Chart {
    let other = report.memory.other_bytes();
    let limit = report.recommend.as_ref().map_or(Bytes(0), |it| it.limit_bytes);
    let mut runs: Vec<(f64, &SearchRun)> =
        search.runs.iter().filter_map(|run| Some((run.limit_bytes?.0 as f64, run))).collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shown = || runs.iter().map(|(at, _)| *at).chain([limit.0 as f64]);
    let high = shown().fold(1.0, f64::max) * BEYOND;
    let low = shown().chain([other.0.max(1) as f64]).fold(f64::MAX, f64::min) / BEYOND;
    let x = Axis::sizes("memory limit", low, high);
    let heights = search.runs.iter().map(|run| height(run, search.goal));
    let (y, title) = match search.goal {
        SearchGoal::Fills => {
            let fills = search.runs.iter().map(|run| run.fills);
            (Axis::counts("page fills", fills), "page fills by memory limit, measured")
        }
        SearchGoal::Seconds(_) => {
            (Axis::seconds("elapsed time", heights), "elapsed time by memory limit, measured")
        }
        SearchGoal::Stall(_) => {
            (Axis::seconds("waited", heights), "time waited for memory by memory limit, measured")
        }
    };
    let mut chart = Chart::new(title, x, y);
    // As the rows of the table: those without a limit first, then from the largest limit on.
    let unlimited = search.runs.iter().filter(|run| run.limit_bytes.is_none()).map(|_| high);
    chart.at = unlimited.chain(runs.iter().rev().map(|(at, _)| *at)).collect();
    let (low, high) = range(&runs, search, high);
    let name = if low.is_empty() { "" } else { "possible between the runs" }.to_owned();
    chart.bands = vec![Band { name, look: Look::Nth(0), low, high, has_edges: true }];
    chart.dots = runs.iter().map(|&(at, run)| dot(at, run, search.goal)).collect();
    chart.marks = vec![Mark { x: limit.0 as f64, label: format!("set {limit}"), is_chosen: true }];
    if chart.x.has(other.0 as f64) {
        let label = format!("other memory {other}");
        chart.marks.insert(0, Mark { x: other.0 as f64, label, is_chosen: false });
    }
    chart.table = table(search);
    chart
}

/// Between two runs that came to their end, the fills are between theirs; above the largest they are
/// between its and those without a limit. Both edges, in stairs.
fn range(runs: &[(f64, &SearchRun)], search: &SearchReport, end: f64) -> (Points, Points) {
    let has_ended = [
        SearchOutcome::Enough,
        SearchOutcome::TooManyFills,
        SearchOutcome::TooSlow,
        SearchOutcome::Stalled,
    ];
    let is_whole = |run: &SearchRun| has_ended.contains(&run.outcome);
    let height = |run: &SearchRun| height(run, search.goal);
    let unlimited = search.runs.iter().find(|run| run.limit_bytes.is_none());
    let whole = runs.iter().filter(|(_, run)| is_whole(run)).map(|&(at, run)| (at, height(run)));
    let end = unlimited.map(|run| (end, height(run)));
    let points: Points = whole.chain(end).collect();
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for pair in points.windows(2) {
        let [(from, above), (to, below)] = [pair[0], pair[1]];
        let (most, least) = (above.max(below), above.min(below));
        low.extend([(from, least), (to, least)]);
        high.extend([(from, most), (to, most)]);
    }
    (low, high)
}

/// What the goal looks at.
fn height(run: &SearchRun, goal: SearchGoal) -> f64 {
    match goal {
        SearchGoal::Fills => run.fills as f64,
        SearchGoal::Seconds(_) => run.seconds,
        SearchGoal::Stall(_) => run.memory_pressure_seconds,
    }
}

/// A disc for what was enough, a cross for what was not.
fn dot(at: f64, run: &SearchRun, goal: SearchGoal) -> Dot {
    let (kind, name) = match run.outcome {
        SearchOutcome::Enough => (Kind::Measured, "measured, enough"),
        _ => (Kind::Missed, "measured, too small"),
    };
    let stopped = if run.outcome == SearchOutcome::Stopped { " until it was stopped" } else { "" };
    let limit = run.limit_bytes.unwrap_or_default();
    let title =
        format!("limit {limit}: {} fills{stopped}, {:.2} s", grouped(run.fills), run.seconds);
    Dot { kind, x: at, y: height(run, goal), name, label: String::new(), title }
}
