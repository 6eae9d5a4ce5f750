//! The curve of a workload: page fills against cache size, with a band between two models of the
//! kernel's eviction, the three sizes, and what was measured. Terminal, picture and page show it.

use nbuf::experiment::result::{Advice, Cliff, Curve, Point, Recommend, SizeReport};
use nbuf::units::Bytes;

use super::super::chart::{Band, Chart, Dot, Kind, Line, Look, Mark, Points};
use super::super::page::picture_style;
use super::super::scale::Axis;
use super::super::table::{Table, number, text};
use super::super::text::grouped;
use super::super::{plot, svg};
use super::{dots, measured};

/// Least width at which there is a plot.
const WIDTH_MIN: usize = 16;
/// Room to the right of the last size, to show that nothing happens there.
const BEYOND: f64 = 1.10;
/// How much of a plateau on the left is worth its room: from a quarter of its end on.
const PLATEAU: f64 = 4.0;
/// Fills on that plateau, as a share of the worst.
const ALMOST_ALL: f64 = 0.95;
/// The part of the picture that the models must be apart to be seen.
const APART: f64 = 0.04;

/// The picture of a report on a terminal: the curve through measurements where runs found the size,
/// else the modelled one. Nothing where no page was touched.
pub(super) fn of(report: &SizeReport, width: usize, colour: bool) -> String {
    let curve = &report.detail.curve;
    match &report.search {
        Some(search) if width >= WIDTH_MIN && search.runs.len() > 1 => {
            let chart = measured::chart(report, search);
            plot::draw(&chart, width, plot::height(width), colour)
        }
        Some(_) => String::new(),
        None if curve.accesses == 0 || is_meaningless(report) => String::new(),
        None => modelled(report, width, colour),
    }
}

/// Whether the model saw too little for a curve.
fn is_meaningless(report: &SizeReport) -> bool {
    report.capture.is_mapped && report.recommend.is_none()
}

/// The modelled curve, its sizes, and the runs that verified it.
fn modelled(report: &SizeReport, width: usize, colour: bool) -> String {
    let (curve, recommend) = (&report.detail.curve, report.recommend.as_ref());
    let line = |text: &str| {
        let cut: String = text.chars().take(width).collect();
        cut.trim_end().to_owned() + "\n"
    };
    if curve.points.is_empty() {
        return line("no curve: no file was read");
    }
    let marks = |joined| recommend.map_or_else(Vec::new, |recommend| marks(recommend, joined));
    if width < WIDTH_MIN {
        return marks(false).iter().map(|mark| line(&mark.label)).collect();
    }
    let mut chart = fills(curve, recommend, dots::fills(report));
    let name = if is_band_visible(curve, &chart.y) { "LRU to active/inactive" } else { "" };
    name.clone_into(&mut chart.bands[0].name);
    let joined = plot::draw(&chart, width, plot::height(width), colour);
    if plot::has_room(&chart, width) {
        return joined;
    }
    // Labels apart are more, but shorter.
    chart.marks = marks(false);
    plot::draw(&chart, width, plot::height(width), colour)
}

/// The same as a picture for a README, which stands alone on a card of its own, with all runs.
pub(crate) fn picture(title: &str, report: &SizeReport) -> String {
    let drawn = match &report.search {
        Some(search) => measured::chart(report, search),
        None => fills(&report.detail.curve, report.recommend.as_ref(), dots::fills(report)),
    };
    svg::picture(&drawn, title, &picture_style())
}

/// Fills against size, under these dots.
pub(super) fn fills(curve: &Curve, recommend: Option<&Recommend>, dots: Vec<Dot>) -> Chart {
    let marks = recommend.map_or_else(Vec::new, |recommend| marks(recommend, true));
    let shown = marks.iter().map(|mark| mark.x);
    let runs = dots.iter().filter(|dot| dot.kind != Kind::Cliff);
    let x = sizes(curve, shown.chain(runs.map(|dot| dot.x)));
    let most = curve.points.iter().map(Point::fills_high);
    let y =
        Axis::counts("page fills", most.chain(dots.iter().map(|dot| nbuf::units::whole(dot.y))));
    let (first, band) = band_between(curve, &x);
    let name = if is_band_visible(curve, &y) {
        "predicted, from LRU to the kernel's active and inactive lists"
    } else {
        "predicted"
    };
    let mut chart = Chart::new("page fills by cache size", x, y);
    let (low, high) = (chart.x.low, chart.x.high);
    if first > low && !band.0.is_empty() {
        // Smaller sizes were not simulated: that the curve is level there is a guess.
        let guess = |edge: &[(f64, f64)]| {
            Line::new("", Look::Guess, vec![(low, edge[0].1), (first, edge[0].1)])
        };
        chart.lines = vec![guess(&band.0), guess(&band.1)];
    }
    let (look, has_edges) = (Look::Nth(0), true);
    chart.bands = vec![Band { name: name.to_owned(), look, low: band.0, high: band.1, has_edges }];
    (chart.marks, chart.dots) = (marks, dots);
    chart.dots.retain(|dot| chart.x.has(dot.x));
    let inside = |point: &&Point| (low..=high).contains(&(point.cache_bytes.0 as f64));
    let points = || curve.points.iter().filter(inside);
    chart.at = points().map(|point| point.cache_bytes.0 as f64).collect();
    chart.table = table(points());
    chart
}

fn table<'a>(points: impl Iterator<Item = &'a Point>) -> Table {
    let columns = [number("cache"), number("fills"), number("LRU misses"), text("").label("how")];
    Table::new("Page fills by cache size", columns).with(points.map(|point| {
        let (low, high) = (grouped(point.fills_low()), grouped(point.fills_high()));
        let fills = if low == high { low } else { format!("{low} to {high}") };
        let how = if point.interpolated { "between two simulated sizes" } else { "simulated" };
        [point.cache_bytes.to_string(), fills, grouped(point.lru_misses), how.to_owned()]
    }))
}

/// Triangles on the ground, each at the foot of a cliff.
pub(super) fn cliff(cliff: &Cliff) -> Dot {
    let (below, above) = (grouped(cliff.fills_below), grouped(cliff.fills_above));
    Dot {
        kind: Kind::Cliff,
        x: cliff.cache_bytes.0 as f64,
        y: 0.0,
        name: "cliff of the curve",
        label: String::new(),
        title: format!("cliff at {}: {below} fills below, {above} above", cliff.cache_bytes),
    }
}

/// The axis of sizes, wide enough for the curve and for `shown`.
pub(super) fn sizes(curve: &Curve, shown: impl Iterator<Item = f64>) -> Axis {
    let size = |bytes: Bytes| (bytes.0 as f64).max(1.0);
    let shown: Vec<f64> = shown.map(|size| size.max(1.0)).collect();
    let high = shown.iter().copied().fold(1.0, f64::max);
    let high = curve.points.last().map_or(high, |p| (BEYOND * size(p.cache_bytes)).max(high));
    let most = curve.points.iter().map(Point::fills_high).max().unwrap_or(0);
    let is_flat = |low: u64| low as f64 >= ALMOST_ALL * most as f64;
    let plateau = curve.points.iter().take_while(|p| is_flat(p.fills_low())).last();
    let first = curve.points.first().map_or(1.0, |p| size(p.cache_bytes));
    let low = plateau.map_or(first, |p| first.max(size(p.cache_bytes) / PLATEAU));
    let low = shown.into_iter().fold(low, f64::min);
    Axis::sizes("cache size", low, high)
}

/// The first size of the curve, and both edges of the band from there to the end of the axis.
fn band_between(curve: &Curve, x: &Axis) -> (f64, (Points, Points)) {
    let points = curve.points.iter().map(|point| point.cache_bytes.0 as f64);
    let Some(first) = points.clone().next() else { return (0.0, Default::default()) };
    let first = first.clamp(x.low, x.high);
    let inside = points.filter(|&size| first < size && size < x.high);
    let places = [first].into_iter().chain(inside).chain([x.high]);
    let edges = places.map(|size| {
        let (low, high) = band(curve, size);
        ((size, low), (size, high))
    });
    (first, edges.unzip())
}

/// The band at a size, straight between points and level beyond them: low, high.
fn band(curve: &Curve, size: f64) -> (f64, f64) {
    let bytes = |at: usize| curve.points[at].cache_bytes.0 as f64;
    let edges = |at: usize| {
        let point = &curve.points[at];
        (point.fills_low() as f64, point.fills_high() as f64)
    };
    let after = curve.points.partition_point(|p| (p.cache_bytes.0 as f64) < size);
    if after == 0 || after == curve.points.len() {
        return edges(after.saturating_sub(usize::from(after > 0)));
    }
    let (before, beyond) = (edges(after - 1), edges(after));
    let share = (size - bytes(after - 1)) / (bytes(after) - bytes(after - 1));
    let between = |from: f64, to: f64| from + (to - from) * share;
    (between(before.0, beyond.0), between(before.1, beyond.1))
}

/// Whether the two models part anywhere by enough to be seen.
fn is_band_visible(curve: &Curve, counts: &Axis) -> bool {
    let height = |fills: u64| counts.position(fills as f64);
    curve.points.iter().any(|p| height(p.fills_high()) - height(p.fills_low()) > APART)
}

/// The marks of a recommendation, ascending. Sizes that read the same share a mark, at the knee if
/// that is one of them, where they may be `joined`.
pub(super) fn marks(recommend: &Recommend, joined: bool) -> Vec<Mark> {
    let chosen = match recommend.kind {
        Advice::Knee => "knee",
        Advice::Target => "target",
        Advice::Measured | Advice::NothingToGain => {
            let size = recommend.cache_bytes;
            let label = format!("enough {size}");
            return vec![Mark { x: size.0 as f64, label, is_chosen: true }];
        }
    };
    let mut all = vec![
        ("floor", recommend.floor_bytes),
        (chosen, recommend.cache_bytes),
        ("ceiling", recommend.ceiling_bytes),
    ];
    if recommend.kind == Advice::Target {
        all.insert(1, ("knee", recommend.knee_bytes));
        // The target may be anywhere.
        all.sort_by_key(|&(_, size)| size);
    }
    let groups = all.chunk_by(|a, b| joined && a.1.to_string() == b.1.to_string());
    let mark = |group: &[(&str, Bytes)]| {
        let names: Vec<_> = group.iter().map(|(name, _)| *name).collect();
        let recommended = group.iter().find(|(name, _)| *name == chosen);
        let size = recommended.unwrap_or(&group[0]).1;
        let label = format!("{} {size}", names.join(" = "));
        Mark { x: size.0 as f64, label, is_chosen: recommended.is_some() }
    };
    groups.map(mark).collect()
}

#[cfg(test)]
mod tests;
