//! A frame with axes, in the units of an SVG picture, for what the page draws.

use std::fmt::{Arguments, Write as _};

use super::super::super::axis::whole;
use super::super::super::labels::{Label, arrange, rows};

/// How far apart rows of labels are.
const LABELS_STEP: f64 = 20.0;
/// Width to allow a character of a label.
const CHARACTER: f64 = 7.4;

/// A picture for wide or for narrow pages: text that is scaled down with a picture cannot be read, so
/// each is drawn twice, and the style shows one.
#[derive(Clone, Copy, Debug)]
pub(in crate::show) struct Frame {
    pub(in crate::show) class: &'static str,
    pub(in crate::show) width: f64,
    pub(in crate::show) height: f64,
    pub(in crate::show) left: f64,
    pub(in crate::show) right: f64,
    pub(in crate::show) ticks: usize,
}

/// Frames of two heights.
pub(in crate::show) fn frames(wide_height: f64, narrow_height: f64) -> [Frame; 2] {
    [
        Frame {
            class: "wide",
            width: 860.0,
            height: wide_height,
            left: 66.0,
            right: 826.0,
            ticks: 10,
        },
        Frame {
            class: "narrow",
            width: 360.0,
            height: narrow_height,
            left: 66.0,
            right: 336.0,
            ticks: 5,
        },
    ]
}

/// Room below the ground for ticks and the name of the axis.
const BELOW: f64 = 56.0;

/// What is drawn so far. Positions on either axis run from 0 to 1.
pub(in crate::show) struct Sheet {
    pub(in crate::show) frame: Frame,
    pub(in crate::show) top: f64,
    body: String,
}

/// An upright line with a name above it.
pub(in crate::show) struct Mark {
    pub(in crate::show) position: f64,
    pub(in crate::show) label: String,
    pub(in crate::show) class: &'static str,
}

impl Sheet {
    /// A sheet with room above for the labels of `marks`, which are drawn.
    pub(in crate::show) fn new(frame: Frame, marks: &[Mark]) -> Self {
        let mut sheet = Self { frame, top: 30.0, body: String::new() };
        sheet.marks(marks);
        sheet
    }

    pub(in crate::show) fn add(&mut self, element: Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes all");
    }

    pub(in crate::show) fn x(&self, position: f64) -> f64 {
        self.frame.left + position * (self.frame.right - self.frame.left)
    }

    pub(in crate::show) fn y(&self, position: f64) -> f64 {
        self.ground() - position * (self.ground() - self.top)
    }

    pub(in crate::show) fn ground(&self) -> f64 {
        self.frame.height - BELOW
    }

    /// Lines with labels that meet nothing; where they do not fit there are lines alone.
    fn marks(&mut self, marks: &[Mark]) {
        let Frame { left, right, .. } = self.frame;
        let columns = |pixels: f64| usize::try_from(whole(pixels / CHARACTER)).unwrap_or(0);
        let column = |mark: &Mark| columns(mark.position * (right - left));
        let labels: Vec<Label<'_>> =
            marks.iter().map(|mark| Label { column: column(mark), text: &mark.label }).collect();
        let written = arrange(&labels, columns(right - left)).unwrap_or_default();
        self.top += LABELS_STEP * rows(&written) as f64;
        let ground = self.ground();
        for (at, mark) in marks.iter().enumerate() {
            let (x, class) = (self.x(mark.position), mark.class);
            let place = written.get(at);
            let from = place.map_or(self.top, |place| 4.0 + LABELS_STEP * place.row as f64);
            self.add(format_args!(r#"<path class="{class}" d="M{x:.1} {from:.1}V{ground}"/>"#));
            let Some(place) = place else { continue };
            let is_right = place.column > column(mark);
            let (gap, anchor) = if is_right { (7.0, "start") } else { (-7.0, "end") };
            let text = if class == "knee" { "knee" } else { "faint" };
            self.add(format_args!(
                r#"<text class="{text}" text-anchor="{anchor}" x="{:.1}" y="{:.1}">{}</text>"#,
                x + gap,
                from + 13.0,
                mark.label
            ));
        }
    }

    /// The upright axis, under its name.
    pub(in crate::show) fn upright(&mut self, name: &str, ticks: &[(f64, String)]) {
        let Frame { left, right, .. } = self.frame;
        for (position, text) in ticks {
            let (x, y) = (left - 10.0, self.y(*position));
            self.add(format_args!(
                r#"<path class="grid" d="M{left} {y:.1}H{right}"/><text class="faint" text-anchor="end" x="{x}" y="{:.1}">{text}</text>"#,
                y + 4.5
            ));
        }
        let above = self.top - 14.0;
        self.add(format_args!(r#"<text class="faint" x="2" y="{above}">{name}</text>"#));
    }

    /// The axis along the ground, over its name.
    pub(in crate::show) fn level(&mut self, name: &str, ticks: &[(f64, String)]) {
        let Frame { left, right, .. } = self.frame;
        let ground = self.ground();
        self.add(format_args!(r#"<path class="axis" d="M{left} {ground}H{right}"/>"#));
        for (position, text) in ticks {
            let x = self.x(*position);
            self.add(format_args!(
                r#"<path class="axis" d="M{x:.1} {ground}v5"/><text class="faint" text-anchor="middle" x="{x:.1}" y="{}">{text}</text>"#,
                ground + 21.0
            ));
        }
        self.add(format_args!(
            r#"<text class="faint" text-anchor="end" x="{right}" y="{}">{name}</text>"#,
            ground + 44.0
        ));
    }

    /// A line through places.
    pub(in crate::show) fn line(&mut self, class: &str, dash: &str, places: &[(f64, f64)]) {
        if !places.is_empty() {
            let path = self.path(places);
            self.add(format_args!(r#"<path class="line {class}"{} d="M{path}"/>"#, dash_of(dash)));
        }
    }

    /// What lies between two lines.
    pub(in crate::show) fn area(&mut self, class: &str, low: &[(f64, f64)], high: &[(f64, f64)]) {
        if !low.is_empty() {
            let back: Vec<(f64, f64)> = high.iter().rev().copied().collect();
            let (low, high) = (self.path(low), self.path(&back));
            self.add(format_args!(r#"<path class="{class}" d="M{low}L{high}Z"/>"#));
        }
    }

    fn path(&self, places: &[(f64, f64)]) -> String {
        let place = |&(x, y): &(f64, f64)| format!("{:.1} {:.1}", self.x(x), self.y(y));
        places.iter().map(place).collect::<Vec<_>>().join("L")
    }

    /// The picture. `points` is what a pointer reads, where there is something to read.
    pub(in crate::show) fn svg(&self, name: &str, points: Option<&str>) -> String {
        let Frame { class, width, height, .. } = self.frame;
        let (top, ground) = (self.top, self.ground());
        let (data, cursor) = points.map_or((String::new(), ""), |points| {
            let data =
                format!(" data-points=\"{points}\" data-top=\"{top:.1}\" data-ground=\"{ground}\"");
            (data, "<path class=\"cursor\" d=\"\"/>")
        });
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{name}\"{data}>\n{}{cursor}</svg>\n",
            self.body
        )
    }
}

/// The attribute of a dashed line.
fn dash_of(dash: &str) -> String {
    if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") }
}

/// A look that can be told from others in colour, in grey, and by those who see few colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::show) struct Look {
    pub(in crate::show) class: &'static str,
    pub(in crate::show) dash: &'static str,
    shape: Option<usize>,
}

const CLASSES: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
/// Lines of the same shape differ in these; the first are whole, so that few lines look plain.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
/// Around the point: disc, square, triangle, diamond, triangle upside down.
const SHAPES: [&str; 5] = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.7-3.7h7.4v7.4h-7.4z",
    "m0-5l4.8 8.4h-9.6z",
    "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
    "m0 5l4.8-8.4h-9.6z",
];

impl Look {
    /// The look of a line by its number.
    pub(in crate::show) fn of(number: usize) -> Self {
        Self {
            class: CLASSES[number % CLASSES.len()],
            dash: DASHES[number / SHAPES.len() % DASHES.len()],
            shape: Some(number % SHAPES.len()),
        }
    }

    /// The bound that nobody reaches.
    pub(in crate::show) const OPT: Self = Self { class: "opt", dash: "5 4", shape: Some(3) };

    /// The same without a shape, for a line among many.
    pub(in crate::show) fn quiet(self) -> Self {
        Self { shape: None, ..self }
    }

    /// The classes of the line.
    pub(in crate::show) fn line(self) -> String {
        format!("{}{}", if self.shape.is_none() { "thin " } else { "" }, self.class)
    }

    pub(in crate::show) fn shape(self, x: f64, y: f64) -> String {
        let Some(shape) = self.shape else { return String::new() };
        format!("<path class=\"shape {}\" d=\"M{x:.1} {y:.1}{}\"/>", self.class, SHAPES[shape])
    }

    /// The line and the shape, beside their name in a legend.
    pub(in crate::show) fn key(self, name: &str) -> String {
        let (dash, class) = (dash_of(self.dash), self.line());
        let shape = self.shape(15.0, 6.0);
        key(&format!("<path class=\"line {class}\"{dash} d=\"M0 6h30\"/>{shape}"), name)
    }
}

/// A line of a legend.
pub(in crate::show) fn key(drawn: &str, name: &str) -> String {
    format!("<li><svg class=\"key\" viewBox=\"0 0 30 12\">{drawn}</svg>{name}</li>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_lines_are_told_apart_without_colour() {
        let looks: Vec<Look> = (0..20).map(Look::of).chain([Look::OPT]).collect();
        for (at, a) in looks.iter().enumerate() {
            for b in &looks[..at] {
                assert!((a.dash, a.shape) != (b.dash, b.shape), "{a:?} {b:?}");
            }
        }
    }
}
