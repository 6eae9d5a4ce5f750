//! Hit ratio against cache size: every policy, the bound of the optimum, and the corners.

use nbuf::experiment::result::{CurveDocument, CurvePoint, PolicyCurve};

use super::super::chart::{Band, Chart, Line, Look, Mark, Points, between};
use super::super::plot;
use super::super::scale::Axis;
use super::family::{Corner, Family, at, band_name, corners, edges, families, is_opt, policy_name};
use super::table::sizes;
use super::words::Unit;

/// Least width at which there is a plot.
const WIDTH_MIN: usize = 20;
/// Curves that a terminal can tell apart.
const CURVES: usize = 4;
/// Real policies that a page draws at once; where there are more, it draws the best, the worst and
/// the yardstick, and the others on demand.
const LOUD: usize = 5;
/// Steps of the shares of hits on a page, at most.
const STEPS: usize = 5;
/// How much longer a corner may make the axis at either end, as a part of its length.
const LONGER: f64 = 0.15;

/// A plot for each page size.
pub(crate) fn plot(document: &CurveDocument, width: usize, colour: bool) -> String {
    let families = families(document);
    let plots = families.iter().filter_map(|family| {
        let x = axis(family).filter(|_| has_accesses(family))?;
        if width < WIDTH_MIN {
            return Some(narrow(family, width));
        }
        let height = plot::height(width);
        let chart = terminal(family, x, height / 3, families.len() > 1);
        Some(plot::draw(&chart, width, height, colour))
    });
    plots.collect::<Vec<_>>().join("\n")
}

/// The one thing that fits anywhere.
fn narrow(family: &Family<'_>, width: usize) -> String {
    let knee = family.main().corners.map_or("no knee".into(), |c| family.unit.brief(c.knee_pages));
    let cut: String = format!("knee {knee}").chars().take(width).collect();
    cut.trim_end().to_owned() + "\n"
}

/// The few curves that a terminal has room for, and the knee.
fn terminal(family: &Family<'_>, x: Axis, steps: usize, several: bool) -> Chart {
    let curves = family.choice(CURVES);
    let percents = curves.iter().flat_map(|curve| seen(curve));
    let y = Axis::shares("", percents, steps);
    let mut chart = Chart::new(title(family, several), x, y);
    let left_out = family.curves.len() - curves.len();
    if left_out > 0 {
        chart.note = format!("{left_out} more in the table");
    }
    draw(&mut chart, family.unit, &curves);
    chart.marks = marks(family, &chart.x);
    chart.marks.retain(|mark| mark.is_chosen);
    if let (Some(mark), Some(corners)) = (chart.marks.first_mut(), family.main().corners) {
        mark.label = format!("knee {}", family.unit.brief(corners.knee_pages));
    }
    chart
}

/// What the picture shows.
fn title(family: &Family<'_>, several: bool) -> String {
    let policy = match family.curves.as_slice() {
        [curve] => format!("{} ", policy_name(curve)),
        _ => String::new(),
    };
    match family.unit.has_bytes() {
        true if several && family.unit.is_objects => {
            format!("{policy}requests that hit, in % of all, by cache size")
        }
        true if several => format!("{policy}hit %, {}", family.unit.title()),
        true => format!("{policy}hit % by cache size"),
        false => format!("{policy}hit % by cache size in keys"),
    }
}

/// The hits of objects by bytes, for a page; nothing for pages and keys.
pub(super) fn bytes(family: &Family<'_>) -> Option<Chart> {
    let x = axis(family).filter(|_| family.unit.is_objects && has_accesses(family))?;
    let share = |point: &CurvePoint| point.byte_hit_ratio().unwrap_or_default();
    let percents = family.curves.iter().flat_map(|curve| &curve.points);
    let y = Axis::shares("bytes that hit, %", percents.map(|point| 100.0 * share(point)), STEPS);
    let mut chart = Chart::new("bytes that hit, in % of all, by cache size", x, y);
    chart.lines.extend(family.curves.iter().enumerate().map(|(number, curve)| {
        let points = points(family.unit, &curve.points, share);
        Line::new(policy_name(curve), Look::Nth(number), points)
    }));
    chart.at = family.sizes().into_iter().map(|pages| size(family.unit, pages)).collect();
    chart.table = sizes(family, usize::MAX);
    Some(chart)
}

/// All curves, for a page; nothing where nothing is hit or missed.
pub(super) fn page(family: &Family<'_>) -> Option<Chart> {
    let x = axis(family).filter(|_| has_accesses(family))?;
    let requests = requests_apart(family);
    let shares = requests.iter().flat_map(|curve| &curve.points);
    let shares = shares.filter_map(CurvePoint::request_hit_ratio).map(|share| 100.0 * share);
    let percents = family.curves.iter().flat_map(|curve| seen(curve)).chain(shares);
    let name = if family.unit.has_pages() { "page hits, %" } else { "hits, %" };
    let y = Axis::shares(name, percents, STEPS);
    let mut chart = Chart::new(title(family, true), x, y);
    chart.bands.extend(head_room(family));
    draw(&mut chart, family.unit, &family.curves);
    let loud = family.loud(LOUD);
    for (line, curve) in chart.lines.iter_mut().zip(&family.curves) {
        line.is_rest = !loud.iter().any(|other| std::ptr::eq(*other, *curve));
    }
    if chart.lines.iter().any(|line| line.is_rest) {
        chart.caption = String::from(
            "Drawn are the yardstick, the best, the worst and the bound; the names of the others in the legend \
             draw them.",
        );
    }
    chart.lines.extend(requests.map(|curve| {
        let hits = |p: &CurvePoint| p.request_hit_ratio().unwrap_or_else(|| p.hit_ratio());
        let points = points(family.unit, &curve.points, hits);
        Line::new("requests of which every page hits", Look::Thin, points)
    }));
    chart.marks = marks(family, &chart.x);
    chart.at = family.sizes().into_iter().map(|pages| size(family.unit, pages)).collect();
    chart.table = sizes(family, usize::MAX);
    Some(chart)
}

/// The lines of these curves, and the bands of those that are estimates.
fn draw(chart: &mut Chart, unit: Unit, curves: &[&PolicyCurve]) {
    let mut number = 0..;
    for curve in curves {
        let look =
            if is_opt(curve) { Look::Bound } else { Look::Nth(number.next().unwrap_or_default()) };
        let points = |value: fn(&CurvePoint) -> f64| points(unit, &curve.points, value);
        if curve.points.iter().any(|point| point.misses_low.is_some()) {
            let is_first = chart.bands.is_empty();
            let name = if is_first { band_name(curve).to_owned() } else { String::new() };
            let (low, high) = (points(|p| edges(p).0), points(|p| edges(p).1));
            chart.bands.push(Band { name, look, low, high, has_edges: false });
        }
        let points = points(CurvePoint::hit_ratio);
        chart.lines.push(Line::new(policy_name(curve), look, points));
    }
}

/// What the optimum would hit more than the best of those that can be had.
fn head_room(family: &Family<'_>) -> Option<Band> {
    let opt =
        family.curves.iter().find(|curve| is_opt(curve)).filter(|_| family.real().count() > 0)?;
    let x = axis(family)?;
    let of = |curve: &PolicyCurve| points(family.unit, &curve.points, CurvePoint::hit_ratio);
    let bound = of(opt);
    let real: Vec<Points> = family.real().map(of).collect();
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for pages in family.sizes() {
        let size = size(family.unit, pages);
        let best = real.iter().filter_map(|points| between(points, &x, size)).reduce(f64::max);
        if let (Some(best), Some(bound)) = (best, between(&bound, &x, size)) {
            low.push((size, best));
            high.push((size, bound.max(best)));
        }
    }
    let name = "head-room: what the optimum would hit more".to_owned();
    Some(Band { name, look: Look::Grey, low, high, has_edges: false })
}

/// A size on the axis, in bytes or keys.
pub(super) fn size(unit: Unit, pages: u64) -> f64 {
    pages.max(1) as f64 * unit.page_bytes.max(1) as f64
}

/// Shares in percent over sizes.
fn points(unit: Unit, points: &[CurvePoint], share: impl Fn(&CurvePoint) -> f64) -> Points {
    points.iter().map(|point| (size(unit, point.pages), 100.0 * share(point))).collect()
}

/// The axis of sizes, wide enough for every point, and for corners of the main curve that are near;
/// nothing without a point. The text says where the other corners are.
fn axis(family: &Family<'_>) -> Option<Axis> {
    let sizes = family.sizes();
    let size = |pages: u64| size(family.unit, pages);
    let (low, high) = (size(*sizes.first()?), size(*sizes.last()?));
    // A single size is in the middle.
    let (low, high) = if low < high { (low, high) } else { (high / 2.0, high * 2.0) };
    let reach = (high / low).powf(LONGER);
    let near = corners(family.main()).into_iter().flatten().map(|(_, pages, _)| size(pages));
    let near = near.filter(|&size| size >= low / reach && size <= high * reach);
    let (low, high) = near.fold((low, high), |(a, b), size| (a.min(size), b.max(size)));
    Some(sized(family.unit, "cache size", low, high))
}

/// A logarithmic axis of sizes.
pub(super) fn sized(unit: Unit, name: &str, low: f64, high: f64) -> Axis {
    if unit.has_bytes() {
        Axis::log_sizes(name, low, high)
    } else {
        Axis::log_keys(&format!("{name} in keys"), low, high)
    }
}

/// Floor, knee and ceiling as far as they are on the axis; those that read the same share a line.
fn marks(family: &Family<'_>, x: &Axis) -> Vec<Mark> {
    let Some(all) = corners(family.main()) else { return Vec::new() };
    let brief = |pages: u64| family.unit.brief(pages);
    let [_, (_, knee, _), _] = all;
    let mark = |group: &[Corner]| {
        let names: Vec<&str> = group.iter().map(|(name, ..)| *name).collect();
        let is_chosen = names.contains(&"knee");
        let pages = if is_chosen { knee } else { group[0].1 };
        let label = format!("{} {}", names.join(" = "), brief(pages));
        Mark { x: size(family.unit, pages), label, is_chosen }
    };
    let all: Vec<_> = all.into_iter().filter(|&(_, p, _)| x.has(size(family.unit, p))).collect();
    all.chunk_by(|a, b| brief(a.1) == brief(b.1)).map(mark).collect()
}

/// The only curve, if its requests are worth a line of their own because they hit less.
fn requests_apart<'a>(family: &Family<'a>) -> Option<&'a PolicyCurve> {
    let [curve] = family.curves.as_slice() else { return None };
    let apart = |point: &CurvePoint| {
        point.request_hit_ratio().is_some_and(|hits| (hits - point.hit_ratio()).abs() > 0.005)
    };
    curve.points.iter().any(apart).then_some(*curve)
}

/// Whether there is anything to be hit or missed.
fn has_accesses(family: &Family<'_>) -> bool {
    family.main().points.iter().any(|point| point.accesses > 0)
}

/// The shares of hits that are drawn of a curve, in percent.
fn seen(curve: &PolicyCurve) -> impl Iterator<Item = f64> + '_ {
    let shares = |point: &CurvePoint| [edges(point).0, point.hit_ratio(), edges(point).1];
    curve.points.iter().flat_map(shares).map(|share| 100.0 * share)
}

/// The hits at a size in a window, in percent.
pub(super) fn hits_at(points: &[CurvePoint], pages: u64) -> Option<f64> {
    let point = at(points, pages).filter(|point| point.accesses > 0)?;
    Some(100.0 * point.hit_ratio())
}
