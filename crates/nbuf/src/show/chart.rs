//! A chart as data: what `plot` draws on a terminal and `svg` on a page.
//!
//! Values are in the units of the axes. Nothing here knows about columns or pixels.

use super::scale::Axis;
use super::table::Table;

/// Values over an axis.
pub(super) type Points = Vec<(f64, f64)>;

/// Two axes, and what is between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) bands: Vec<Band>,
    pub(super) lines: Vec<Line>,
    pub(super) bars: Vec<Bar>,
    pub(super) dots: Vec<Dot>,
    pub(super) marks: Vec<Mark>,
    /// More of a legend.
    pub(super) note: String,
    pub(super) caption: String,
    /// The numbers behind the picture, a row for each of the places in `at`.
    pub(super) table: Table,
    pub(super) at: Vec<f64>,
}

impl Chart {
    pub(super) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, ..Self::default() }
    }
}

/// The range between two lines.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// The name in the legend; nothing where the band needs none.
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) low: Points,
    pub(super) high: Points,
    /// Whether its edges are lines.
    pub(super) has_edges: bool,
}

/// A curve.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) points: Points,
    /// Where its shapes are, if not on the line.
    pub(super) shapes: Option<Points>,
    /// Drawn on demand.
    pub(super) is_rest: bool,
}

impl Line {
    pub(super) fn new(name: impl Into<String>, look: Look, points: Points) -> Self {
        Self { name: name.into(), look, points, shapes: None, is_rest: false }
    }
}

/// A bar from the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) height: f64,
}

/// What a dot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A measurement.
    Measured,
    /// A measurement that a prediction missed.
    Missed,
    /// The foot of a cliff.
    Cliff,
    /// A ring around another point.
    Odd,
}

/// A place of its own.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    pub(super) kind: Kind,
    pub(super) x: f64,
    pub(super) y: f64,
    /// The name of its kind in the legend.
    pub(super) name: &'static str,
    /// What stands next to it.
    pub(super) label: String,
    /// What it says to a pointer.
    pub(super) title: String,
}

/// An upright line with a label above it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) label: String,
    pub(super) is_chosen: bool,
}

/// The looks of lines, which a reader can distinguish in colour, in grey, and with few colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// By number: each has a colour, a dash and a shape.
    Nth(usize),
    /// A bound: dashed, in the background.
    Bound,
    /// A companion of the first: thin, dashed, without a shape.
    Thin,
    /// A guess: dashed, as the first.
    Guess,
    /// In grey.
    Grey,
}

/// Places of a curve at a value, straight between two points by their positions; nothing beyond
/// its ends.
pub(super) fn between(points: &[(f64, f64)], x: &Axis, at: f64) -> Option<f64> {
    /// Places on a screen are not exact.
    const SLACK: f64 = 1e-9;
    let after = points.partition_point(|point| point.0 < at);
    let before = after.checked_sub(1).map(|before| points[before]);
    match (before, points.get(after).copied()) {
        (Some(before), Some(beyond)) => {
            let share = if x.is_log {
                (at / before.0).ln() / (beyond.0 / before.0).ln()
            } else {
                (at - before.0) / (beyond.0 - before.0)
            };
            Some(before.1 + (beyond.1 - before.1) * share)
        }
        (None, Some(end)) => (end.0 <= at * (1.0 + SLACK)).then_some(end.1),
        (Some(end), None) => (end.0 >= at * (1.0 - SLACK)).then_some(end.1),
        (None, None) => None,
    }
}
