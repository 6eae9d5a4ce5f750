//! The two figures of 1969, and what a command costs, over memory: for terminal and page.

use std::fmt::Write as _;

use nbuf::experiment::result::{LoadCurve, LoadDocument, LoadLimit, LoadStep, LoadUse};

use nbuf::units::count;

use super::super::bench::page::tick;
use super::super::chart::{Chart, Line, Look, Mark, Points};
use super::super::page::{picture_style, uppercased};
use super::super::scale::Axis;
use super::super::{plot, scale, svg, table::Table};
use super::conditions::of_step;
use super::limits;

/// A figure of cost of a command.
type Figure = (&'static str, fn(&LoadUse) -> Option<f64>);

/// What a command costs.
const COSTS: [Figure; 4] = [
    ("CPU seconds", |used| Some(used.cpu_seconds_each)),
    ("page-seconds", |used| used.page_seconds_each),
    ("disc operations", |used| used.disc_operations_each),
    ("price", |used| used.price_per_thousand),
];
/// Room beyond the largest limit.
const BEYOND: f64 = 1.1;

/// All charts that have two points or more; none without limits.
pub(super) fn all(document: &LoadDocument) -> Vec<Chart> {
    let charts = [response(document), between(document), cost(document)];
    charts.into_iter().flatten().collect()
}

/// All charts as pictures that stand alone, one below the other; nothing where there is no chart.
pub(crate) fn pictures(document: &LoadDocument) -> Option<String> {
    const HEIGHT: usize = 424;
    const WIDTH: usize = 860;
    let charts = shown(document);
    let height = HEIGHT * charts.len();
    let mut drawn = String::new();
    for (at, chart) in charts.iter().enumerate() {
        // The style of the first holds for all.
        let style = if at == 0 { picture_style() } else { String::new() };
        let picture = svg::picture(chart, &uppercased(&chart.title), &style);
        let _ = writeln!(drawn, "<g transform=\"translate(0 {})\">{picture}</g>", HEIGHT * at);
    }
    (height > 0).then(|| {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n{drawn}</svg>\n"
        )
    })
}

/// The same on a terminal.
pub(super) fn plots(document: &LoadDocument, width: usize, colour: bool) -> String {
    let draw = |chart: &Chart| plot::draw(chart, width, plot::height(width), colour) + "\n";
    shown(document).iter().map(draw).collect()
}

/// The charts of the conditions; response against users where nothing was varied.
fn shown(document: &LoadDocument) -> Vec<Chart> {
    let charts = all(document);
    if charts.is_empty() { super::page::alone(document).into_iter().collect() } else { charts }
}

/// Response against users, a line for each condition.
fn response(document: &LoadDocument) -> Option<Chart> {
    let conditions = super::conditions(document);
    if conditions.is_empty() {
        return None;
    }
    let points = |steps: &[LoadStep]| -> Points {
        let point = |step: &LoadStep| Some((f64::from(step.users), step.response?.mean_seconds));
        let mut points: Points = steps.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let lines: Vec<Line> = document
        .steps
        .chunk_by(|a, b| of_step(a) == of_step(b))
        .enumerate()
        .map(|(at, steps)| {
            Line::new(conditions.name(&of_step(&steps[0])), Look::Nth(at), points(steps))
        })
        .collect();
    let places = sorted(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    if places.len() < 2 {
        return None;
    }
    let title = format!("mean response by users, a line for each {}", conditions.kind());
    let x = Axis::counts("users", places.iter().map(|&users| scale::whole(users)));
    let highest = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let y = Axis::seconds("seconds", highest);
    let mut chart = Chart::new(title, x, y);
    chart.lines = lines;
    chart.marks = knees(document, &chart.x);
    chart.at = document.steps.iter().map(|step| f64::from(step.users)).collect();
    chart.table = super::sheet(document);
    Some(chart)
}

/// N* of each condition, where it is on the axis.
fn knees(document: &LoadDocument, x: &Axis) -> Vec<Mark> {
    let names = super::conditions(document);
    let mark = |curve: &LoadCurve| {
        let users = curve.knee.as_ref()?.users;
        let label = format!("N* {}", names.name(curve));
        x.has(users).then_some(Mark { x: users, label, is_chosen: false })
    };
    document.curves.iter().filter(|_| document.thinks).filter_map(mark).collect()
}

/// Running time between page faults against memory.
fn between(document: &LoadDocument) -> Option<Chart> {
    let of = |of: fn(&LoadUse) -> Option<f64>| {
        over_memory(document, |used| Some(of(used)? * 1e9).filter(|&ns| ns > 0.0))
    };
    let (faults, fills) =
        (of(|used| used.seconds_between_faults), of(|used| used.seconds_between_fills));
    let shown = || faults.iter().chain(&fills).map(|point| point.1);
    // Room for the highest.
    let low = shown().fold(f64::INFINITY, f64::min) / 1.5;
    let high = shown().fold(0.0, f64::max) * 1.5;
    let y = Axis::decades("running time", [low.max(1e3), high].into_iter(), tick)?;
    let mut chart =
        Chart::new("running time between page faults by memory limit", memory(document)?, y);
    let lines = [("between major faults", faults), ("between fills", fills)];
    chart.lines = lines
        .into_iter()
        .enumerate()
        .filter(|(_, (_, points))| !points.is_empty())
        .map(|(at, (name, points))| Line::new(name, Look::Nth(at), points))
        .collect();
    Some(with_table(chart, document))
}

/// The mean response of the most users that all limits answered, each limit under its first condition.
fn response_over_memory(document: &LoadDocument) -> Option<(String, Points)> {
    let answers = |limit: &LoadLimit| -> Vec<(u32, f64)> {
        let own = document.steps.iter().filter(|step| step.limit_bytes == Some(limit.limit_bytes));
        let first = own.clone().next().map(of_step);
        own.filter(|step| Some(of_step(step)) == first)
            .filter_map(|step| Some((step.users, step.response?.mean_seconds)))
            .collect()
    };
    let under = document.limits.iter().map(|limit| (limit.limit_bytes.0 as f64, answers(limit)));
    let under: Vec<_> = under.filter(|(_, answers)| !answers.is_empty()).collect();
    let of = |answers: &[(u32, f64)], users| {
        answers.iter().find(|answer| answer.0 == users).map(|answer| answer.1)
    };
    let by_all = |users: &u32| under.iter().all(|(_, answers)| of(answers, *users).is_some());
    let users = under.first()?.1.iter().map(|answer| answer.0).filter(by_all).max()?;
    let mut points: Points =
        under.iter().filter_map(|(limit, answers)| Some((*limit, of(answers, users)?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some((format!("response, {}", count(users.into(), "user", "users")), points))
}

/// Each figure of cost, and the response, as a share of its largest, with the limits of the smallest marked.
fn cost(document: &LoadDocument) -> Option<Chart> {
    let y = Axis::numbers("percent of the largest", 105.0, |percent| format!("{percent:.0} %"));
    let title = "cost of a command by memory limit, and response, each minimum marked";
    let mut chart = Chart::new(title, memory(document)?, y);
    let costs = COSTS.into_iter().map(|(name, of)| (name.to_owned(), over_memory(document, of)));
    let figures: Vec<_> = costs.chain(response_over_memory(document)).collect();
    let mut least: Vec<(f64, Vec<&str>)> = Vec::new();
    for (at, (name, points)) in figures.iter().enumerate() {
        let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let Some(lowest) = points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            continue;
        };
        if most <= 0.0 {
            continue;
        }
        match least.iter_mut().find(|(x, _)| x.total_cmp(&lowest.0).is_eq()) {
            Some((_, names)) => names.push(name),
            None => least.push((lowest.0, vec![name.as_str()])),
        }
        let shares = points.iter().map(|(x, value)| (*x, 100.0 * value / most)).collect();
        chart.lines.push(Line::new(name.clone(), Look::Nth(at), shares));
    }
    let mark = |(x, names): (f64, Vec<&str>)| {
        let is_chosen = names.contains(&"price");
        Mark { x, label: format!("least {}", names.join(", ")), is_chosen }
    };
    chart.marks = least.into_iter().map(mark).collect();
    (!chart.lines.is_empty()).then(|| with_table(chart, document))
}

fn with_table(chart: Chart, document: &LoadDocument) -> Chart {
    let table: Table = limits::totals(document);
    Chart { at: places(document).collect(), table, ..chart }
}

/// A figure over the limits, from the smallest.
fn over_memory(document: &LoadDocument, of: impl Fn(&LoadUse) -> Option<f64>) -> Points {
    let point = |limit: &LoadLimit| Some((limit.limit_bytes.0 as f64, of(limit.used.as_ref()?)?));
    let mut points: Points = document.limits.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The limits of which there are figures.
fn places(document: &LoadDocument) -> impl Iterator<Item = f64> {
    let measured = document.limits.iter().filter(|limit| limit.used.is_some());
    measured.map(|limit| limit.limit_bytes.0 as f64)
}

/// Their axis; nothing for one limit.
fn memory(document: &LoadDocument) -> Option<Axis> {
    let all = sorted(places(document));
    let (low, high) = (all.first()?, all.last()?);
    (all.len() > 1).then(|| Axis::sizes("memory limit", low / BEYOND, high * BEYOND))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| a.total_cmp(b).is_eq());
    values
}
