//! Hit ratio against cache size: every policy, what the optimum would hit more, and the corners.

use nbuf::experiment::result::{CurvePoint, PolicyCurve};

use super::super::super::markup::escape;
use super::super::family::{Family, at, between, edges, is_opt, policy_name};
use super::super::scale::Scale;
use super::super::shares::Shares;
use super::super::words::percent;
use super::sheet::{Look, Mark, Sheet, frames, key};

/// Shapes on a line, at most.
const SHAPES: usize = 18;

/// Lines that have shapes on them; where there are more, the others are thin.
const LOUD: usize = 8;

/// Steps of the shares of hits, at most.
const STEPS: usize = 5;

/// Both axes.
struct Axes {
    scale: Scale,
    shares: Shares,
}

/// The curves with their looks.
type Looks<'a> = Vec<(&'a PolicyCurve, Look)>;

/// The chart of a family, its legend, and what is read with a pointer.
pub(super) fn section(family: &Family<'_>) -> String {
    let has_accesses = family.main().points.iter().any(|point| point.accesses > 0);
    let Some(scale) = Scale::of(family).filter(|_| has_accesses) else { return String::new() };
    let looks = looks(family);
    let seen = family.curves.iter().flat_map(|curve| &curve.points).flat_map(|point| {
        let requests = point.request_hit_ratio().filter(|_| requests_apart(family).is_some());
        let (low, high) = edges(point);
        [low, high, point.hit_ratio(), requests.unwrap_or(low)]
    });
    let shares = Shares::of(seen, STEPS);
    let axes = Axes { scale, shares };
    let mut out = String::from("<figure>\n");
    for frame in frames(420.0, 340.0) {
        let mut sheet = Sheet::new(frame, &marks(family, &axes.scale));
        let ticks: Vec<_> =
            axes.shares.ticks().into_iter().map(|(at, text)| (at, format!("{text} %"))).collect();
        sheet.upright(if family.unit.has_bytes() { "page hits" } else { "hits" }, &ticks);
        let name = if family.unit.has_bytes() { "cache size" } else { "cache size in keys" };
        sheet.level(name, &axes.scale.ticks(frame.ticks));
        room(&mut sheet, &axes, family);
        for &(curve, look) in &looks {
            band(&mut sheet, &axes, curve, look);
        }
        for &(curve, look) in looks.iter().rev() {
            line(&mut sheet, &axes, curve, look);
        }
        if let Some(curve) = requests_apart(family) {
            let requests = places(&axes, &curve.points, |point| {
                point.request_hit_ratio().unwrap_or_else(|| point.hit_ratio())
            });
            sheet.line("thin c0", REQUESTS_DASH, &requests);
        }
        let points = points(&sheet, &axes.scale, family);
        out.push_str(&sheet.svg("hits against cache size", Some(&escape(&points))));
    }
    out.push_str("<p class=\"readout faint\">point at the chart to read it</p>\n");
    out.push_str(&legend(family, &looks));
    out + "</figure>\n"
}

fn looks<'a>(family: &Family<'a>) -> Looks<'a> {
    let mut number = 0..;
    // The yardstick has the same look on every page.
    let (main, own) = (family.main(), Look::of(number.next().unwrap_or_default()));
    let loud = family.choice(LOUD);
    let look = |&curve: &&'a PolicyCurve| match curve {
        curve if is_opt(curve) => (curve, Look::OPT),
        curve if std::ptr::eq(curve, main) => (curve, own),
        curve => {
            let look = Look::of(number.next().unwrap_or_default());
            let is_loud = loud.iter().any(|other| std::ptr::eq(*other, curve));
            (curve, if is_loud { look } else { look.quiet() })
        }
    };
    family.curves.iter().map(look).collect()
}

/// Floor, knee and ceiling; those that read the same share a line.
fn marks(family: &Family<'_>, scale: &Scale) -> Vec<Mark> {
    let Some(corners) = family.main().corners else { return Vec::new() };
    let all = [
        ("floor", corners.floor_pages),
        ("knee", corners.knee_pages),
        ("ceiling", corners.ceiling_pages),
    ];
    let brief = |pages: u64| family.unit.brief(pages);
    let mark = |group: &[(&str, u64)]| {
        let names: Vec<&str> = group.iter().map(|(name, _)| *name).collect();
        let is_knee = names.contains(&"knee");
        let pages = if is_knee { corners.knee_pages } else { group[0].1 };
        Mark {
            position: scale.position(pages as f64),
            label: format!("{} {}", names.join(" = "), brief(pages)),
            class: if is_knee { "knee" } else { "mark" },
        }
    };
    let all: Vec<_> = all.into_iter().filter(|&(_, pages)| scale.has(pages)).collect();
    all.chunk_by(|a, b| brief(a.1) == brief(b.1)).map(mark).collect()
}

/// Where a value of each point lies.
fn places(
    axes: &Axes,
    points: &[CurvePoint],
    value: impl Fn(&CurvePoint) -> f64,
) -> Vec<(f64, f64)> {
    let place = |point: &CurvePoint| {
        (axes.scale.position(point.pages as f64), axes.shares.position(value(point)))
    };
    points.iter().map(place).collect()
}

/// What the optimum would hit more than the best of those that can be had.
fn room(sheet: &mut Sheet, axes: &Axes, family: &Family<'_>) {
    let Some(opt) = family.curves.iter().find(|curve| is_opt(curve)) else { return };
    let hits = |curve: &PolicyCurve, pages: u64| {
        between(&curve.points, pages as f64, CurvePoint::hit_ratio)
    };
    let mut low = Vec::new();
    let mut high = Vec::new();
    for pages in family.sizes() {
        let best = family
            .real()
            .filter_map(|curve| hits(curve, pages))
            .fold(None, |best, hits| Some(f64::max(best.unwrap_or(0.0), hits)));
        if let (Some(best), Some(bound)) = (best, hits(opt, pages)) {
            let x = axes.scale.position(pages as f64);
            low.push((x, axes.shares.position(best)));
            high.push((x, axes.shares.position(bound.max(best))));
        }
    }
    sheet.area("room", &low, &high);
}

fn band(sheet: &mut Sheet, axes: &Axes, curve: &PolicyCurve, look: Look) {
    if has_band(curve) {
        let low = places(axes, &curve.points, |point| edges(point).0);
        let high = places(axes, &curve.points, |point| edges(point).1);
        sheet.area(&format!("sample {}", look.class), &low, &high);
    }
}

fn line(sheet: &mut Sheet, axes: &Axes, curve: &PolicyCurve, look: Look) {
    let hits = places(axes, &curve.points, CurvePoint::hit_ratio);
    sheet.line(&look.line(), look.dash, &hits);
    for &(x, y) in hits.iter().step_by(hits.len().div_ceil(SHAPES).max(1)) {
        let shape = look.shape(sheet.x(x), sheet.y(y));
        sheet.add(format_args!("{shape}"));
    }
}

const REQUESTS_DASH: &str = "3 3";

/// The only curve, if its requests are worth a line of their own because they hit less.
fn requests_apart<'a>(family: &Family<'a>) -> Option<&'a PolicyCurve> {
    let [curve] = family.curves.as_slice() else { return None };
    let apart = |point: &CurvePoint| {
        point.request_hit_ratio().is_some_and(|hits| (hits - point.hit_ratio()).abs() > 0.005)
    };
    curve.points.iter().any(apart).then_some(*curve)
}

fn has_band(curve: &PolicyCurve) -> bool {
    curve.points.iter().any(|point| point.misses_low.is_some())
}

/// Where each size lies in the picture, and what every policy hits there.
fn points(sheet: &Sheet, scale: &Scale, family: &Family<'_>) -> String {
    let shown = family.sizes().into_iter().map(|pages| {
        let hits = family.curves.iter().filter_map(|curve| {
            let point = at(&curve.points, pages)?;
            Some(format!("{} {} %", policy_name(curve), percent(point.hit_ratio())))
        });
        let text = format!("{}: {}", family.unit.full(pages), hits.collect::<Vec<_>>().join(", "));
        // The text is JSON in an attribute; a name may have a quote in it.
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        format!("[{:.1},\"{text}\"]", sheet.x(scale.position(pages as f64)))
    });
    format!("[{}]", shown.collect::<Vec<_>>().join(","))
}

fn legend(family: &Family<'_>, looks: &Looks<'_>) -> String {
    let mut keys: Vec<String> =
        looks.iter().map(|(curve, look)| look.key(&escape(&policy_name(curve)))).collect();
    if requests_apart(family).is_some() {
        let drawn = format!(
            "<path class=\"line thin c0\" stroke-dasharray=\"{REQUESTS_DASH}\" d=\"M0 6h30\"/>"
        );
        keys.push(key(&drawn, "requests of which every page hits"));
    }
    if looks.iter().any(|(curve, _)| has_band(curve)) {
        keys.push(key(
            "<path class=\"sample c0\" d=\"M0 1h30v10h-30z\"/>",
            "95 % band of the sample",
        ));
    }
    if family.curves.len() > 1 && family.curves.iter().any(|curve| is_opt(curve)) {
        keys.push(key(
            "<path class=\"room\" d=\"M0 1h30v10h-30z\"/>",
            "head-room: what the optimum would hit more",
        ));
    }
    format!("<ul class=\"legend\">{}</ul>\n", keys.concat())
}
