//! The curve: the band of predicted fills, the three sizes, the steps, and the runs as dots.
//!
//! Text that is scaled down with a picture cannot be read, so the chart is drawn twice, for wide
//! and for narrow pages, and the style shows one.

use std::fmt::Write as _;

use nbuf::experiment::result::{Detail, Point, SizeReport, Verified};
use nbuf::units::Bytes;

use super::super::axis::{CountAxis, SizeAxis, band_is_visible, marks, whole};
use super::super::chart::{Drawing, Frame};
use super::super::markup::escape;
use super::super::text::grouped;

/// For wide and for narrow pages: class, width, height, frame.
pub(super) const FRAMES: [(&str, f64, f64, Frame); 2] = [
    (
        "wide",
        860.0,
        400.0,
        Frame { left: 62.0, right: 826.0, ground: 344.0, labels_top: 14.0, edge: 2.0, ticks: 10 },
    ),
    (
        "narrow",
        360.0,
        330.0,
        Frame { left: 52.0, right: 332.0, ground: 274.0, labels_top: 14.0, edge: 2.0, ticks: 5 },
    ),
];

pub(super) fn section(report: &SizeReport, detail: &Detail<'_>) -> String {
    let curve = detail.curve;
    if curve.accesses == 0 || curve.points.is_empty() {
        return String::new();
    }
    let marks = report.recommend.as_ref().map_or_else(Vec::new, |advice| marks(advice, true));
    let runs: Vec<&Verified> = report.verify.iter().filter(|run| run.held.is_some()).collect();
    let shown = marks.iter().map(|mark| mark.cache_bytes);
    let sizes = SizeAxis::of(curve, shown.chain(runs.iter().map(|run| run.cache_bytes)));
    let fills = curve.points.iter().map(Point::fills_high);
    let counts = CountAxis::of(fills.chain(runs.iter().map(|run| run.measured_fills)));
    let mut out = String::from("<figure>\n");
    for (class, width, height, frame) in FRAMES {
        let mut drawing = Drawing::new(frame, &sizes, &counts);
        drawing.curve(curve, &marks);
        steps(&mut drawing, detail);
        for run in &runs {
            dot(&mut drawing, run, run.measured_fills as f64);
        }
        let points = points(&drawing, &curve.points);
        let (top, ground) = (drawing.top, frame.ground);
        let _ = write!(
            out,
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"page fills against cache size\" data-points=\"{}\" \
             data-top=\"{top:.1}\" data-ground=\"{ground}\">\n{}\
             <path class=\"cursor\" d=\"\"/></svg>\n",
            escape(&points),
            drawing.body
        );
    }
    let _ = write!(
        out,
        "<p class=\"readout faint\">point at the curve to read it</p>\n{}\n\
         <figcaption>{}</figcaption></figure>\n",
        legend(detail, band_is_visible(curve, &counts), &runs),
        caption(report)
    );
    out
}

/// What the curve says in words.
fn caption(report: &SizeReport) -> String {
    let reason = report.recommend.as_ref().map_or_else(
        || "No size is recommended; see what was not seen, below".to_owned(),
        |recommend| recommend.reason.clone(),
    );
    let mut letters = reason.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!(
        "{}. Lower is better: a fill is a page that has to be read again, or for the first time.",
        escape(&(first + letters.as_str()))
    )
}

/// Small triangles on the ground, each at the foot of a step.
fn steps(drawing: &mut Drawing<'_>, detail: &Detail<'_>) {
    let ground = drawing.frame.ground;
    for step in detail.steps {
        let x = drawing.x(step.cache_bytes.0 as f64);
        drawing.add(format_args!(
            "<path class=\"step\" d=\"M{x:.1} {:.1}l5 9h-10z\"><title>step at {}: {} fills below, {} \
             above</title></path>",
            ground - 10.0,
            step.cache_bytes,
            grouped(step.fills_below),
            grouped(step.fills_above)
        ));
    }
}

/// A run that was made: a disc where what was predicted held, a cross where it did not.
pub(super) fn dot(drawing: &mut Drawing<'_>, run: &Verified, amount: f64) {
    let (x, y) = (drawing.x(run.cache_bytes.0 as f64), drawing.y(amount));
    let limit = run.limit_bytes.map_or("no limit".into(), |limit| format!("limit {limit}"));
    let title = format!(
        "{limit}: {} fills measured, {:.2} s",
        grouped(run.measured_fills),
        run.measured_seconds
    );
    if run.held == Some(true) {
        drawing.add(format_args!(
            "<circle class=\"measured\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.5\"><title>{title}</title>\
             </circle>"
        ));
    } else {
        drawing.add(format_args!(
            "<path class=\"missed\" d=\"M{:.1} {:.1}l10 10m0 -10l-10 10\"><title>{title}, NOT HELD\
             </title></path>",
            x - 5.0,
            y - 5.0
        ));
    }
}

/// Where each point lies in the picture, and what it says.
fn points(drawing: &Drawing<'_>, points: &[Point]) -> String {
    let (first, last) = (Bytes(whole(drawing.sizes.size(0.0))), Bytes(u64::MAX));
    let inside = points.iter().filter(|point| (first..=last).contains(&point.cache_bytes));
    let shown: Vec<String> = inside
        .map(|point| {
            let (low, high) = (grouped(point.fills_low()), grouped(point.fills_high()));
            let fills = if low == high { low } else { format!("{low} to {high}") };
            let about = if point.interpolated { " (between two simulated sizes)" } else { "" };
            let misses = grouped(point.lru_misses);
            format!(
                "[{:.1},\"{} of cache: {fills} fills, {misses} LRU misses{about}\"]",
                drawing.x(point.cache_bytes.0 as f64),
                point.cache_bytes
            )
        })
        .collect();
    format!("[{}]", shown.join(","))
}

fn legend(detail: &Detail<'_>, band: bool, runs: &[&Verified]) -> String {
    let key = |shape: &str, text: &str| {
        format!("<li><svg class=\"key\" viewBox=\"0 0 22 12\">{shape}</svg>{text}</li>")
    };
    let mut keys = Vec::new();
    if band {
        let shape = "<path class=\"band\" d=\"M0 1h22v10h-22z\"/><path class=\"edge\" d=\"M0 1h22M0 \
                     11h22\"/>";
        keys.push(key(shape, "predicted, from LRU to the kernel&#39;s two lists"));
    } else {
        keys.push(key("<path class=\"edge\" d=\"M0 6h22\"/>", "predicted"));
    }
    if runs.iter().any(|run| run.held == Some(true)) {
        let shape = "<circle class=\"measured\" cx=\"11\" cy=\"6\" r=\"5\"/>";
        keys.push(key(shape, "measured, held"));
    }
    if runs.iter().any(|run| run.held == Some(false)) {
        let shape = "<path class=\"missed\" d=\"M6 1l10 10m0 -10l-10 10\"/>";
        keys.push(key(shape, "measured, did not hold"));
    }
    if !detail.steps.is_empty() {
        keys.push(key("<path class=\"step\" d=\"M11 1l5 9h-10z\"/>", "step of the curve"));
    }
    format!("<ul class=\"legend\">{}</ul>", keys.concat())
}
