//! Time against memory: how long the runs took, and how long others would take where that is
//! predicted. Nothing is drawn where nothing was timed.

use std::fmt::Write as _;

use nbuf::experiment::result::{Detail, SizeReport, Verified};

use super::super::axis::{CountAxis, SizeAxis, marks};
use super::super::chart::Drawing;
use super::curve::{FRAMES, dot};

pub(super) fn section(report: &SizeReport, detail: &Detail<'_>) -> String {
    let runs: Vec<&Verified> = report.verify.iter().filter(|run| run.held.is_some()).collect();
    if runs.is_empty() && detail.time.is_empty() {
        return String::new();
    }
    let marks = report.recommend.as_ref().map_or_else(Vec::new, |advice| marks(advice, true));
    let shown = marks.iter().map(|mark| mark.cache_bytes);
    let sizes = SizeAxis::of(detail.curve, shown.chain(runs.iter().map(|run| run.cache_bytes)));
    let measured = runs.iter().map(|run| run.measured_seconds);
    let seconds = CountAxis::of_seconds(
        measured.chain(detail.time.iter().flat_map(|at| [at.seconds_low, at.seconds_high])),
    );
    let mut out = String::from("<figure>\n");
    for (class, width, height, frame) in FRAMES {
        // Lower than the curve: there is less to tell apart.
        let ground = frame.ground - 100.0;
        let frame = super::super::chart::Frame { ground, labels_top: 22.0, ..frame };
        let mut drawing = Drawing::new(frame, &sizes, &seconds);
        drawing.axes("elapsed time");
        predicted(&mut drawing, detail);
        for run in &runs {
            dot(&mut drawing, run, run.measured_seconds);
        }
        limits(&mut drawing, &runs);
        let height = height - 100.0;
        let _ = write!(
            out,
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"elapsed time against cache size\">\n{}</svg>\n",
            drawing.body
        );
    }
    let _ = writeln!(out, "<figcaption>{}</figcaption></figure>", caption(&runs, detail));
    out
}

fn caption(runs: &[&Verified], detail: &Detail<'_>) -> String {
    let mut text = match runs.len() {
        0 => String::new(),
        1 => "The dot is a single run. ".to_owned(),
        _ => {
            "Each dot is a single run, marked with its memory limit: differences of a few percent \
              between single runs mean nothing. "
                .to_owned()
        }
    };
    if detail.time.is_empty() {
        text.push_str("How long other sizes would take is not predicted.");
    } else {
        text.push_str("The band is what was predicted.");
    }
    text
}

/// The band of predicted seconds.
fn predicted(drawing: &mut Drawing<'_>, detail: &Detail<'_>) {
    let place = |drawing: &Drawing<'_>, cache: f64, seconds: f64| {
        format!("{:.1} {:.1}", drawing.x(cache), drawing.y(seconds))
    };
    let edge = |high: bool| -> Vec<String> {
        let seconds = |at: &nbuf::experiment::result::TimePoint| {
            if high { at.seconds_high } else { at.seconds_low }
        };
        detail.time.iter().map(|at| place(drawing, at.cache_bytes.0 as f64, seconds(at))).collect()
    };
    let (low, mut high) = (edge(false), edge(true));
    if low.is_empty() {
        return;
    }
    let lines = format!("M{}M{}", low.join("L"), high.join("L"));
    high.reverse();
    let area = format!("M{}L{}Z", low.join("L"), high.join("L"));
    drawing.add(format_args!("<path class=\"band\" d=\"{area}\"/>"));
    drawing.add(format_args!("<path class=\"edge\" d=\"{lines}\"/>"));
}

/// The limit of each run over its dot, as far as they do not meet.
fn limits(drawing: &mut Drawing<'_>, runs: &[&Verified]) {
    const WIDE: f64 = 78.0;
    const HIGH: f64 = 17.0;
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let right = drawing.frame.right;
    let left = drawing.frame.left;
    // The dots are in the way of texts too.
    let dot = |run: &&Verified| {
        (drawing.x(run.cache_bytes.0 as f64), drawing.y(run.measured_seconds) + 4.0)
    };
    let dots: Vec<(f64, f64)> = runs.iter().map(dot).collect();
    for run in runs {
        let x = drawing.x(run.cache_bytes.0 as f64).clamp(left + WIDE / 2.0, right - WIDE / 2.0);
        let y = drawing.y(run.measured_seconds);
        let meets = |y: f64| {
            let near = |&(a, b): &(f64, f64), wide| (a - x).abs() < wide && (b - y).abs() < HIGH;
            let dot = |place: &(f64, f64)| near(place, WIDE / 2.0 + 6.0);
            taken.iter().any(|place| near(place, WIDE)) || dots.iter().any(dot)
        };
        let places = [y - 13.0, y + 22.0, y - 13.0 - HIGH, y + 22.0 + HIGH];
        let ground = drawing.frame.ground;
        let free = places.into_iter().find(|&y| y < ground - 4.0 && !meets(y));
        let Some(place) = free else { continue };
        taken.push((x, place));
        let text = run.limit_bytes.map_or("no limit".into(), |limit| limit.to_string());
        drawing.add(format_args!(
            "<text class=\"faint\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{place:.1}\">{text}</text>"
        ));
    }
}
