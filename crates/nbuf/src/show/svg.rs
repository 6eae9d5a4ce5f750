//! A chart as SVG: classes for the style of pages and pictures, no colour of its own.
//!
//! Text that is scaled down with a picture cannot be read, so a page has each chart twice, for wide
//! and for narrow windows, and the style shows one.

mod boxes;
mod card;
mod legend;
mod look;
mod places;
mod spark;

use std::fmt::{Arguments, Write as _};

use super::chart::{Band, Chart, Dot, Line, Mark, Points};
use super::labels::{Label, Written, arrange, rows};
use super::markup::escape;
use super::scale::whole;
pub(super) use boxes::{Block, Boxes};
pub(super) use card::picture;
use legend::keys;
pub(super) use legend::{Key, legend};
pub(super) use places::{lines, readable};
pub(super) use spark::{Bin, spark, whisker};

/// How far apart rows of labels are.
const LABELS_STEP: f64 = 20.0;
/// Width to allow a character of a label.
const CHARACTER: f64 = 7.4;
/// Room below the ground for ticks and the name of the axis.
const BELOW: f64 = 56.0;
/// Shapes on a line, at most.
const SHAPES_MOST: usize = 18;
/// Ticks of the upright axis, at most.
const TICKS: usize = 6;
/// The part of a bar's place that is left free.
const GAP: f64 = 0.16;

/// A chart for a page, with its legend.
pub(super) fn figure(chart: &Chart) -> String {
    let wide = Sheet::of(chart, 860.0, 380.0, 10).svg("wide");
    let narrow = Sheet::of(chart, 360.0, 320.0, 4).svg("narrow");
    format!("{wide}{narrow}{}", legend(&keys(chart)))
}

/// What is drawn so far.
struct Sheet<'a> {
    chart: &'a Chart,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    body: String,
}

impl<'a> Sheet<'a> {
    fn of(chart: &'a Chart, width: f64, height: f64, ticks: usize) -> Self {
        let upright = chart.y.ticks(TICKS);
        let longest = upright.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let left = (CHARACTER * longest as f64 + 18.0).max(34.0);
        let body = String::new();
        let mut sheet = Self { chart, width, height, left, right: width - 26.0, top: 30.0, body };
        let written = sheet.arranged();
        sheet.top += LABELS_STEP * rows(&written) as f64;
        sheet.upright(&upright);
        sheet.level(ticks);
        sheet.bars();
        chart.bands.iter().for_each(|band| sheet.band(band));
        // The first line is drawn last, over the others.
        for (number, line) in chart.lines.iter().enumerate().rev() {
            sheet.line(number, line);
        }
        for (at, mark) in chart.marks.iter().enumerate() {
            sheet.mark(mark, written.get(at));
        }
        let mut taken = Vec::new();
        for dot in &chart.dots {
            let (x, y) = (sheet.x(dot.x), sheet.y(dot.y));
            let title = format!("<title>{}</title>", escape(&dot.title));
            sheet.add(format_args!("{}", dot.kind.drawn(x, y, &title)));
        }
        chart.dots.iter().for_each(|dot| sheet.label(dot, &mut taken));
        sheet
    }

    fn add(&mut self, element: Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes all");
    }

    fn ground(&self) -> f64 {
        self.height - BELOW
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.chart.x.position(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.at(self.chart.y.position(value))
    }

    fn at(&self, position: f64) -> f64 {
        self.ground() - position * (self.ground() - self.top)
    }

    /// The column of a mark, in characters.
    fn column(&self, mark: &Mark) -> usize {
        columns(self.x(mark.x) - self.left)
    }

    /// Where labels go above the plot, so that they meet nothing; none where they do not fit.
    fn arranged(&self) -> Vec<Written> {
        let marks = self.chart.marks.iter();
        let labels: Vec<Label<'_>> =
            marks.map(|mark| Label { column: self.column(mark), text: &mark.label }).collect();
        arrange(&labels, columns(self.right - self.left)).unwrap_or_default()
    }

    /// The upright axis, under its name.
    fn upright(&mut self, ticks: &[(f64, String)]) {
        let (left, right) = (self.left, self.right);
        for (position, text) in ticks {
            let (x, y) = (left - 10.0, self.at(*position));
            self.add(format_args!(
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right}\"/><text class=\"faint\" \
                 text-anchor=\"end\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y + 4.5,
                escape(text)
            ));
        }
        let (above, name) = (self.top - 14.0, escape(&self.chart.y.name));
        self.add(format_args!("<text class=\"faint\" x=\"2\" y=\"{above}\">{name}</text>"));
    }

    /// The axis along the ground, over its name.
    fn level(&mut self, most: usize) {
        let (left, right, ground) = (self.left, self.right, self.ground());
        self.add(format_args!("<path class=\"axis\" d=\"M{left:.1} {ground}H{right}\"/>"));
        let mut ticks = self.chart.x.ticks(most);
        let is_tight = |ticks: &[(f64, String)]| {
            let longest = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
            (CHARACTER * longest as f64 + 14.0) * ticks.len() as f64 > right - left + 40.0
        };
        for fewer in (2..most).rev() {
            if is_tight(&ticks) {
                ticks = self.chart.x.ticks(fewer);
            }
        }
        for (position, text) in &ticks {
            let x = left + position * (right - left);
            let half = CHARACTER * text.chars().count() as f64 / 2.0;
            let middle = x.min(self.width - half).max(half);
            self.add(format_args!(
                "<path class=\"axis\" d=\"M{x:.1} {ground}v5\"/><text class=\"faint\" \
                 text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{}\">{}</text>",
                ground + 21.0,
                escape(text)
            ));
        }
        let (below, name) = (ground + 44.0, escape(&self.chart.x.name));
        self.add(format_args!(
            "<text class=\"faint\" text-anchor=\"end\" x=\"{right}\" y=\"{below}\">{name}</text>"
        ));
    }

    fn bars(&mut self) {
        let Some(first) = self.chart.bars.first() else { return };
        let wide = (self.x(first.to) - self.x(first.from)) * (1.0 - GAP);
        let ground = self.ground();
        let path = self.chart.bars.iter().filter(|bar| bar.height > 0.0).fold(
            String::new(),
            |mut path, bar| {
                let x = self.x(f64::midpoint(bar.from, bar.to));
                // A bar of anything is seen.
                let y = self.y(bar.height).min(ground - 1.0);
                let _ = write!(path, "M{x:.1} {ground}V{y:.1}");
                path
            },
        );
        self.add(format_args!("<path class=\"bars\" stroke-width=\"{wide:.2}\" d=\"{path}\"/>"));
    }

    fn band(&mut self, band: &Band) {
        if band.low.is_empty() {
            return;
        }
        let back: Points = band.high.iter().rev().copied().collect();
        let (low, high) = (self.path(&band.low), self.path(&back));
        let class = band.look.class();
        self.add(format_args!("<path class=\"band {class}\" d=\"M{low}L{high}Z\"/>"));
        if band.has_edges {
            self.add(format_args!("{}", band.look.line(&format!("M{low}M{high}"))));
        }
    }

    fn line(&mut self, number: usize, line: &Line) {
        if line.points.is_empty() {
            return;
        }
        let mut drawn = line.look.line(&format!("M{}", self.path(&line.points)));
        let every = line.points.len().div_ceil(SHAPES_MOST).max(1);
        let (shapes, every) = line.shapes.as_ref().map_or((&line.points, every), |at| (at, 1));
        for &(x, y) in shapes.iter().step_by(every) {
            drawn += &line.look.point(self.x(x), self.y(y));
        }
        if line.is_rest {
            drawn = format!("<g class=\"rest\" data-rest=\"{number}\">{drawn}</g>");
        }
        self.add(format_args!("{drawn}"));
    }

    fn path(&self, points: &Points) -> String {
        let place = |&(x, y): &(f64, f64)| format!("{:.1} {:.1}", self.x(x), self.y(y));
        points.iter().map(place).collect::<Vec<_>>().join("L")
    }

    fn mark(&mut self, mark: &Mark, written: Option<&Written>) {
        let (x, ground) = (self.x(mark.x), self.ground());
        let (line, text) = if mark.is_chosen { ("knee", "knee") } else { ("mark", "faint") };
        let from = written.map_or(self.top, |written| 4.0 + LABELS_STEP * written.row as f64);
        self.add(format_args!("<path class=\"{line}\" d=\"M{x:.1} {from:.1}V{ground}\"/>"));
        let Some(written) = written else { return };
        let is_right = written.column > self.column(mark);
        let (gap, anchor) = if is_right { (7.0, "start") } else { (-7.0, "end") };
        self.add(format_args!(
            "<text class=\"{text}\" text-anchor=\"{anchor}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + gap,
            from + 13.0,
            escape(&mark.label)
        ));
    }

    /// The label of a dot in the first place where it meets neither a dot nor another label.
    fn label(&mut self, dot: &Dot, taken: &mut Vec<(f64, f64, f64)>) {
        const HIGH: f64 = 17.0;
        if dot.label.is_empty() {
            return;
        }
        let (x, y) = (self.x(dot.x), self.y(dot.y));
        let half = CHARACTER * dot.label.chars().count() as f64 / 2.0;
        let meets = |at: f64, line: f64| {
            let near = |(a, b): (f64, f64), room: f64| {
                (a - at).abs() < room + half + 6.0 && (b - line).abs() < HIGH
            };
            let mut dots = self.chart.dots.iter().map(|dot| (self.x(dot.x), self.y(dot.y) + 4.0));
            dots.any(|dot| near(dot, 0.0)) || taken.iter().any(|&(a, b, room)| near((a, b), room))
        };
        let middle = x.clamp(self.left + half, self.right - half);
        let beside = half + 11.0;
        let places = [
            (middle, y - 13.0),
            (x + beside, y + 4.0),
            (x - beside, y + 4.0),
            (middle, y + 26.0),
            (middle, y - 13.0 - HIGH),
        ];
        let inside = |at: f64, line: f64| {
            (self.left + half..=self.right - half + 1.0).contains(&at)
                && (self.top - 4.0..self.ground() - 4.0).contains(&line)
        };
        let free = places.into_iter().find(|&(at, line)| inside(at, line) && !meets(at, line));
        let Some((at, line)) = free else { return };
        taken.push((at, line, half));
        let label = escape(&dot.label);
        self.add(format_args!(
            "<text class=\"faint halo\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{line:.1}\">{label}</text>"
        ));
    }

    /// The picture, with the places that a pointer or a key goes to.
    fn svg(self, class: &str) -> String {
        let Self { chart, width, height, top, .. } = self;
        let line = |&at: &f64| vec![[self.x(at), top, 0.0, self.ground() - top]];
        let data = places::rows(&chart.at.iter().map(line).collect::<Vec<_>>());
        let class = format!("{class} chart");
        readable(&class, [width, height], &chart.title, &data, &self.body) + "\n"
    }
}

fn columns(pixels: f64) -> usize {
    usize::try_from(whole(pixels / CHARACTER)).unwrap_or(0)
}
