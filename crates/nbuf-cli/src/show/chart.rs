//! The curve drawn into a frame: axes, band, the three sizes, steps, and what was measured.
//!
//! One drawing serves the picture and the page, which differ in their frames and in what is around
//! them. What comes out are SVG elements whose classes the styles of both know.

use std::fmt::{Arguments, Write as _};

use nbuf::experiment::result::Curve;

use super::axis::{CountAxis, Mark, SizeAxis, band, whole};
use super::labels::{Label, arrange, rows};

/// Where the rows of labels begin below the top, and how far apart they are.
const LABELS_STEP: f64 = 20.0;
/// Width to allow a character of a label.
const CHARACTER: f64 = 7.4;

/// The plot proper, in the units of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) ground: f64,
    /// Where labels begin; the upper edge of the plot depends on how many rows they take.
    pub(super) labels_top: f64,
    /// Where the title of the upright axis begins.
    pub(super) edge: f64,
    /// Ticks at most.
    pub(super) ticks: usize,
}

/// A label in its place: the left end of its base line.
struct Placed {
    x: f64,
    y: f64,
}

/// What is drawn so far.
pub(super) struct Drawing<'a> {
    pub(super) frame: Frame,
    pub(super) sizes: &'a SizeAxis,
    pub(super) counts: &'a CountAxis,
    pub(super) top: f64,
    pub(super) body: String,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(frame: Frame, sizes: &'a SizeAxis, counts: &'a CountAxis) -> Self {
        Self { frame, sizes, counts, top: frame.labels_top + 8.0, body: String::new() }
    }

    pub(super) fn add(&mut self, element: Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes all");
    }

    pub(super) fn x(&self, size: f64) -> f64 {
        self.frame.left + self.sizes.position(size) * (self.frame.right - self.frame.left)
    }

    pub(super) fn y(&self, amount: f64) -> f64 {
        let Frame { ground, .. } = self.frame;
        ground - self.counts.position(amount) * (ground - self.top)
    }

    /// Axes, band and marks, under the title of the upright axis.
    pub(super) fn curve(&mut self, curve: &Curve, marks: &[Mark]) {
        let labels = self.labels(marks);
        self.axes("page fills");
        self.band(curve);
        self.marks(marks, &labels);
    }

    /// Places the labels above the plot and moves its top down for them. Where they do not fit
    /// there are none.
    fn labels(&mut self, marks: &[Mark]) -> Vec<Placed> {
        let Frame { left, right, labels_top, .. } = self.frame;
        let columns = |pixels: f64| usize::try_from(whole(pixels / CHARACTER)).unwrap_or(0);
        let column = |mark: &'_ Mark| columns(self.x(mark.cache_bytes.0 as f64) - left);
        let places: Vec<_> = marks.iter().map(column).collect();
        let labels: Vec<_> = marks
            .iter()
            .zip(&places)
            .map(|(mark, &column)| Label { column, text: &mark.label })
            .collect();
        let written = arrange(&labels, columns(right - left)).unwrap_or_default();
        self.top = labels_top + LABELS_STEP * rows(&written) as f64 + 8.0;
        let beside = written.iter().zip(marks).zip(places).map(|((written, mark), column)| {
            let line = self.x(mark.cache_bytes.0 as f64);
            let length = mark.label.chars().count() as f64 * CHARACTER;
            let right_of_it = written.column > column;
            Placed {
                x: if right_of_it { line + 7.0 } else { line - 7.0 - length },
                y: labels_top + LABELS_STEP * written.row as f64 + 14.0,
            }
        });
        beside.collect()
    }

    /// The axes, the upright one under its title.
    pub(super) fn axes(&mut self, title: &str) {
        let Frame { left, right, ground, edge, ticks, .. } = self.frame;
        for (position, text) in self.counts.ticks(6) {
            let y = ground - position * (ground - self.top);
            let x = left - 10.0;
            self.add(format_args!(
                r#"<path class="grid" d="M{left} {y:.1}H{right}"/><text class="faint" text-anchor="end" x="{x}" y="{:.1}">{text}</text>"#,
                y + 4.5
            ));
        }
        self.add(format_args!(r#"<path class="axis" d="M{left} {ground}H{right}"/>"#));
        for (position, text) in self.sizes.ticks(ticks) {
            let x = left + position * (right - left);
            self.add(format_args!(
                r#"<path class="axis" d="M{x:.1} {ground}v5"/><text class="faint" text-anchor="middle" x="{x:.1}" y="{}">{text}</text>"#,
                ground + 21.0
            ));
        }
        let above = self.top - 8.0;
        self.add(format_args!(r#"<text class="faint" x="{edge}" y="{above}">{title}</text>"#));
        self.add(format_args!(
            r#"<text class="faint" text-anchor="end" x="{right}" y="{}">cache size</text>"#,
            ground + 48.0
        ));
    }

    /// The band from the first size to the right edge. Smaller sizes were not simulated; that the
    /// curve is level there is a guess, and dashed.
    fn band(&mut self, curve: &Curve) {
        let (left, right) = (self.sizes.size(0.0), self.sizes.size(1.0));
        let points = curve.points.iter().map(|point| point.cache_bytes.0 as f64);
        let first = points.clone().next().unwrap_or(left).clamp(left, right);
        let inside = points.filter(|&size| first < size && size < right);
        let sizes: Vec<f64> = [first].into_iter().chain(inside).chain([right]).collect();
        let edge = |pick: fn((f64, f64)) -> f64| {
            let place =
                |&size: &f64| format!("{:.1} {:.1}", self.x(size), self.y(pick(band(curve, size))));
            sizes.iter().map(place).collect::<Vec<_>>()
        };
        let (low, mut high) = (edge(|edges| edges.0), edge(|edges| edges.1));
        let edges = format!("M{}M{}", low.join("L"), high.join("L"));
        let guess = format!("M{}H{:.1}M{}H{1:.1}", low[0], self.x(left), high[0]);
        high.reverse();
        let area = format!("M{}L{}Z", low.join("L"), high.join("L"));
        self.add(format_args!(r#"<path class="band" d="{area}"/>"#));
        self.add(format_args!(r#"<path class="edge" d="{edges}"/>"#));
        if first > left {
            self.add(format_args!(r#"<path class="edge guess" d="{guess}"/>"#));
        }
    }

    fn marks(&mut self, marks: &[Mark], labels: &[Placed]) {
        let ground = self.frame.ground;
        for (at, mark) in marks.iter().enumerate() {
            let class = if mark.knee { "knee" } else { "mark" };
            let line = self.x(mark.cache_bytes.0 as f64);
            let from = labels.get(at).map_or(self.top, |label| label.y - 13.0);
            self.add(format_args!(r#"<path class="{class}" d="M{line:.1} {from:.1}V{ground}"/>"#));
            let Some(Placed { x, y }) = labels.get(at) else { continue };
            let length = mark.label.chars().count() as f64 * CHARACTER;
            let (x, anchor) = if *x < line { (x + length, "end") } else { (*x, "start") };
            let (label, class) = (&mark.label, if mark.knee { "knee" } else { "faint" });
            self.add(format_args!(
                r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{label}</text>"#
            ));
        }
    }
}
