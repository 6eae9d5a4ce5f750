//! Time against memory: how long the runs took, and how long others would take where that is
//! predicted. Nothing is drawn where nothing was timed.

use std::fmt::Write as _;

use nbuf::experiment::result::{Detail, SizeReport, TimePoint, Verified};

use super::super::axis::{CountAxis, SizeAxis, marks};
use super::super::chart::{Drawing, Frame};
use super::super::report::medians;
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
        let frame = Frame { ground, labels_top: 22.0, ..frame };
        let mut drawing = Drawing::new(frame, &sizes, &seconds);
        drawing.axes("elapsed time");
        predicted(&mut drawing, detail);
        for run in &runs {
            dot(&mut drawing, run, run.measured_seconds);
        }
        limits(&mut drawing, &runs, detail);
        let height = height - 100.0;
        let _ = write!(
            out,
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"elapsed time against cache size\">\n{}</svg>\n",
            drawing.body
        );
    }
    let _ = writeln!(out, "<figcaption>{}</figcaption></figure>", caption(report, &runs, detail));
    out
}

fn caption(report: &SizeReport, runs: &[&Verified], detail: &Detail<'_>) -> String {
    let medians = medians(report);
    let mut text = match (runs.len(), medians.strip_prefix(", medians of ")) {
        (0, _) => String::new(),
        (1, None) => "The dot is a single run. ".to_owned(),
        (1, Some(samples)) => format!("The dot is the median of {samples}. "),
        (_, None) => {
            "Each dot is a single run, marked with its memory limit: differences of a few percent \
              between single runs mean nothing. "
                .to_owned()
        }
        (_, Some(samples)) => {
            format!("Each dot is the median of {samples}, marked with its memory limit. ")
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
        let seconds = |at: &TimePoint| {
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

/// The limit of each run at its dot, as far as they meet neither each other nor the band.
fn limits(drawing: &mut Drawing<'_>, runs: &[&Verified], detail: &Detail<'_>) {
    const HIGH: f64 = 17.0;
    const CHARACTER: f64 = 7.4;
    let Frame { left, right, ground, .. } = drawing.frame;
    let place =
        |run: &&Verified| (drawing.x(run.cache_bytes.0 as f64), drawing.y(run.measured_seconds));
    let dots: Vec<(f64, f64)> = runs.iter().map(place).collect();
    let band: Vec<Slice> = detail.time.iter().map(|at| Slice::of(at, drawing)).collect();
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for (run, &(x, y)) in runs.iter().zip(&dots) {
        let text = run.limit_bytes.map_or("no limit".into(), |limit| limit.to_string());
        let wide = text.len() as f64 * CHARACTER;
        let meets = |at: f64, line: f64| {
            let text = |&(a, b, width): &(f64, f64, f64)| {
                (a - at).abs() < f64::midpoint(width, wide) + 6.0 && (b - line).abs() < HIGH
            };
            // The dots are in the way of texts too.
            let dot = |&(a, b): &(f64, f64)| {
                (a - at).abs() < wide / 2.0 + 6.0 && (b + 4.0 - line).abs() < HIGH
            };
            let ends = (at - wide / 2.0, at + wide / 2.0);
            let crossed = |pair: &[Slice]| pair[0].meets(&pair[1], ends, (line - 14.0, line + 6.0));
            taken.iter().any(text) || dots.iter().any(dot) || band.windows(2).any(crossed)
        };
        let middle = x.clamp(left + wide / 2.0, right - wide / 2.0);
        let beside = wide / 2.0 + 11.0;
        let places = [
            (middle, y - 13.0),
            (middle, y + 22.0),
            (x + beside, y + 4.0),
            (x - beside, y + 4.0),
            (middle, y - 13.0 - HIGH),
            (middle, y + 22.0 + HIGH),
        ];
        let inside = |at: f64, line: f64| {
            (left..=right - wide / 2.0).contains(&at) && (drawing.top..ground - 4.0).contains(&line)
        };
        let free = places.into_iter().find(|&(at, line)| inside(at, line) && !meets(at, line));
        let Some((at, line)) = free else { continue };
        taken.push((at, line, wide));
        drawing.add(format_args!(
            "<text class=\"faint\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{line:.1}\">{text}</text>"
        ));
    }
}

/// The band at a size, in the drawing: where, and its upper and lower edge.
struct Slice {
    x: f64,
    upper: f64,
    lower: f64,
}

impl Slice {
    fn of(at: &TimePoint, drawing: &Drawing<'_>) -> Self {
        Self {
            x: drawing.x(at.cache_bytes.0 as f64),
            upper: drawing.y(at.seconds_high),
            lower: drawing.y(at.seconds_low),
        }
    }

    /// Whether what is between this and the next passes through a box.
    fn meets(&self, next: &Self, (left, right): (f64, f64), (top, bottom): (f64, f64)) -> bool {
        if next.x < left || self.x > right {
            return false;
        }
        let length = (next.x - self.x).max(0.01);
        let share = |x: f64| ((x - self.x) / length).clamp(0.0, 1.0);
        let (from, to) = (share(left), share(right));
        let at = |from: f64, to: f64, share: f64| from + (to - from) * share;
        let upper = |share| at(self.upper, next.upper, share);
        let lower = |share| at(self.lower, next.lower, share);
        upper(from).min(upper(to)) < bottom && lower(from).max(lower(to)) > top
    }
}

#[cfg(test)]
mod tests {
    use super::Slice;

    #[test]
    fn a_band_meets_what_it_passes_through() {
        let slice = |x: f64, upper: f64| Slice { x, upper, lower: upper + 10.0 };
        let (from, to) = (slice(0.0, 0.0), slice(100.0, 100.0));
        for (ends, heights, want) in [
            ((40.0, 60.0), (50.0, 60.0), true),
            ((40.0, 60.0), (20.0, 39.0), false),
            ((40.0, 60.0), (71.0, 90.0), false),
            ((101.0, 120.0), (90.0, 110.0), false),
        ] {
            assert_eq!(from.meets(&to, ends, heights), want, "{ends:?}, {heights:?}");
        }
    }
}
