//! Hit ratio against cache size on a terminal, in braille.
//!
//! Four curves at most are told apart by marks on them, so that it needs no colour; the optimum is
//! dashed, because nobody can have it. Where a curve was sampled, its band is dotted.
//!
//! No line is wider than asked for, and below [`WIDTH_MIN`] columns there is only text.

use nbuf::experiment::result::{CurveDocument, CurvePoint, PolicyCurve};

use super::super::axis::place;
use super::super::canvas::{CELL_DOTS_HIGH, CELL_DOTS_WIDE, Canvas, Ink};
use super::family::{Family, between, edges, families, is_opt, policy_name};
use super::scale::Scale;
use super::shares::Shares;

/// Least width at which there is a plot.
const WIDTH_MIN: usize = 20;
/// Columns a tick of the sizes needs, its distance from the next included.
const TICK_COLUMNS: usize = 10;
/// Columns left of the plot: a number, a space and the axis.
const LEFT: usize = 5;
/// Rows above the plot: the title and the label of the knee.
const TOP: usize = 2;
/// Curves that can be told apart.
const CURVES: usize = 4;
/// Columns from one mark on a curve to the next.
const MARK_COLUMNS: usize = 16;
/// Dots of a dash, and of the gap behind it.
const DASH: usize = 4;
const LOOKS: [(char, Ink); CURVES] =
    [('●', Ink::Curve), ('▲', Ink::Second), ('■', Ink::Third), ('◆', Ink::Fourth)];
/// The optimum.
const OPT_LOOK: (char, Ink) = ('◇', Ink::Faint);

/// A plot for each page size.
pub(crate) fn plot(document: &CurveDocument, width: usize, colour: bool) -> String {
    let families = families(document);
    let plots = families.iter().filter_map(|family| {
        let scale = Scale::of(family).filter(|_| has_accesses(family))?;
        let title = title(family, families.len() > 1);
        if width < WIDTH_MIN {
            return Some(narrow(family, width));
        }
        Some(Plot::new(family, &scale, width).draw(&title, colour))
    });
    plots.collect::<Vec<_>>().join("\n")
}

/// What the picture shows.
fn title(family: &Family<'_>, several: bool) -> String {
    let policy = match family.curves.as_slice() {
        [curve] => format!("{} ", policy_name(curve)),
        _ => String::new(),
    };
    match family.unit.has_bytes() {
        true if several => format!("{policy}hit %, {}", family.unit.title()),
        true => format!("{policy}hit % by cache size"),
        false => format!("{policy}hit % by cache size in keys"),
    }
}

/// The one thing that fits anywhere.
fn narrow(family: &Family<'_>, width: usize) -> String {
    let knee = family.main().corners.map_or("no knee".into(), |c| family.unit.brief(c.knee_pages));
    let cut: String = format!("knee {knee}").chars().take(width).collect();
    cut.trim_end().to_owned() + "\n"
}

struct Plot<'a> {
    family: &'a Family<'a>,
    scale: &'a Scale,
    shares: Shares,
    /// The curves that are drawn, and how.
    curves: Vec<(&'a PolicyCurve, char, Ink)>,
    legend: Vec<(String, Ink)>,
    canvas: Canvas,
    height: usize,
}

impl<'a> Plot<'a> {
    fn new(family: &'a Family<'a>, scale: &'a Scale, width: usize) -> Self {
        let mut looks = LOOKS.into_iter();
        let look = |curve| {
            let look = if is_opt(curve) { Some(OPT_LOOK) } else { looks.next() };
            let (mark, ink) = look.unwrap_or(OPT_LOOK);
            (curve, mark, ink)
        };
        let curves: Vec<_> = family.choice(CURVES).into_iter().map(look).collect();
        let mut legend = Vec::new();
        if curves.len() > 1 {
            let key = |&(curve, mark, ink): &(&PolicyCurve, char, Ink)| {
                (format!("{mark} {}", policy_name(curve)), ink)
            };
            legend.extend(curves.iter().map(key));
        }
        if curves.iter().any(|(curve, ..)| has_band(curve)) {
            legend.push(("⢕⢕ 95 % band".to_owned(), Ink::Curve));
        }
        let left_out = family.curves.len() - curves.len();
        if left_out > 0 {
            legend.push((format!("{left_out} more in the table"), Ink::Plain));
        }
        let height = (width / 8 + 5).clamp(6, 18);
        let shares = Shares::of(curves.iter().flat_map(|(curve, ..)| seen(curve)), height / 3);
        // Each may need a row of its own.
        let canvas = Canvas::new(width, TOP + height + 2 + legend.len());
        Self { family, scale, shares, curves, legend, canvas, height }
    }

    fn draw(mut self, title: &str, colour: bool) -> String {
        self.canvas.write(0, 0, title, Ink::Plain);
        self.axes();
        for &(curve, ..) in &self.curves.clone() {
            self.band(curve);
        }
        // The main curve is drawn last, over the others.
        for &(curve, _, ink) in self.curves.clone().iter().rev() {
            self.line(curve, ink);
        }
        for number in (0..self.curves.len()).rev() {
            self.marks(number);
        }
        self.knee();
        self.legend();
        self.canvas.render(colour).trim_end_matches('\n').to_owned() + "\n"
    }

    fn across(&self) -> usize {
        self.canvas.width() - LEFT
    }

    fn ground(&self) -> usize {
        TOP + self.height
    }

    fn axes(&mut self) {
        let ground = self.ground();
        for row in TOP..ground {
            self.canvas.put(LEFT - 1, row, '│', Ink::Faint);
        }
        for column in LEFT - 1..self.canvas.width() {
            self.canvas.put(column, ground, '─', Ink::Faint);
        }
        self.canvas.put(LEFT - 1, ground, '└', Ink::Faint);
        for (position, text) in self.shares.ticks() {
            let is_ground = position <= 0.0;
            let row = if is_ground { ground } else { TOP + place(1.0 - position, self.height) };
            self.canvas.write(0, row, &format!("{text:>3}"), Ink::Plain);
            let joint = if is_ground { '└' } else { '┤' };
            self.canvas.put(LEFT - 1, row, joint, Ink::Faint);
        }
        let mut free = 0;
        for (position, text) in self.scale.ticks(self.across() / TICK_COLUMNS) {
            let column = LEFT + place(position, self.across());
            let length = text.chars().count();
            let begin = (column - length.min(column) / 2).min(self.canvas.width() - length);
            if begin >= free {
                self.canvas.put(column, ground, '┬', Ink::Faint);
                self.canvas.write(begin, ground + 1, &text, Ink::Plain);
                free = begin + length + 1;
            }
        }
    }

    /// Dots of the plot proper, from its left: what `value` of a curve lies at each.
    fn heights(
        &self,
        curve: &PolicyCurve,
        value: impl Fn(&CurvePoint) -> f64,
    ) -> Vec<Option<usize>> {
        let wide = self.across() * CELL_DOTS_WIDE;
        let high = self.height * CELL_DOTS_HIGH;
        let height =
            |share: f64| TOP * CELL_DOTS_HIGH + place(1.0 - self.shares.position(share), high);
        let at = |x: usize| {
            let pages = self.scale.pages(x as f64 / (wide - 1).max(1) as f64);
            between(&curve.points, pages, &value).map(height)
        };
        let mut heights: Vec<_> = (0..wide).map(at).collect();
        if let [only] = curve.points.as_slice() {
            // It lies between two dots.
            let x = place(self.scale.position(only.pages as f64), wide);
            heights[x] = Some(height(value(only)));
        }
        heights
    }

    fn band(&mut self, curve: &PolicyCurve) {
        if !has_band(curve) {
            return;
        }
        let low = self.heights(curve, |point| edges(point).0);
        let high = self.heights(curve, |point| edges(point).1);
        for (x, (low, high)) in low.into_iter().zip(high).enumerate() {
            let (Some(low), Some(high)) = (low, high) else { continue };
            for y in (high..=low).filter(|y| (x + y).is_multiple_of(2)) {
                self.canvas.dot(LEFT * CELL_DOTS_WIDE + x, y);
            }
        }
    }

    fn line(&mut self, curve: &PolicyCurve, ink: Ink) {
        let heights = self.heights(curve, CurvePoint::hit_ratio);
        let is_alone = heights.iter().flatten().count() <= 1;
        let dashed = is_opt(curve);
        let mut before = None;
        for (x, now) in heights.into_iter().enumerate() {
            let Some(now) = now else { continue };
            // From where the line was, so that a cliff is not a gap.
            let was = before.unwrap_or(now);
            let from = if was < now { was + 1 } else { now };
            let to = if was > now { was - 1 } else { now };
            for y in from..=to.max(from) {
                if !(dashed && (x / DASH).is_multiple_of(2)) || is_alone {
                    self.canvas.dot_in(LEFT * CELL_DOTS_WIDE + x, y, ink);
                }
            }
            before = Some(now);
        }
    }

    /// Marks on one of several curves, not in the columns where the others have theirs.
    fn marks(&mut self, number: usize) {
        if self.curves.len() == 1 {
            return;
        }
        let (curve, mark, ink) = self.curves[number];
        let heights = self.heights(curve, CurvePoint::hit_ratio);
        let first = 2 + number * MARK_COLUMNS / self.curves.len();
        let mut columns: Vec<usize> = (first..self.across()).step_by(MARK_COLUMNS).collect();
        let on_curve = |column: &usize| heights[column * CELL_DOTS_WIDE].is_some();
        columns.retain(on_curve);
        if columns.is_empty() {
            // A curve of few points lies between.
            columns.extend(heights.iter().position(Option::is_some).map(|x| x / CELL_DOTS_WIDE));
        }
        for column in columns {
            let dots = heights[column * CELL_DOTS_WIDE..].iter().take(CELL_DOTS_WIDE);
            if let Some(&y) = dots.flatten().next() {
                self.canvas.put(LEFT + column, y / CELL_DOTS_HIGH, mark, ink);
            }
        }
    }

    fn knee(&mut self) {
        let Some(corners) = self.family.main().corners else { return };
        if !self.scale.has(corners.knee_pages) {
            return;
        }
        let column = LEFT + place(self.scale.position(corners.knee_pages as f64), self.across());
        for row in TOP - 1..self.ground() {
            self.canvas.put_under(column, row, '│', Ink::Mark);
        }
        self.canvas.put(column, self.ground(), '┴', Ink::Mark);
        let label = format!("knee {}", self.family.unit.brief(corners.knee_pages));
        let length = label.chars().count();
        let right = column + 2;
        let begin = if right + length <= self.canvas.width() {
            right
        } else {
            column.saturating_sub(length + 1)
        };
        self.canvas.write(begin, TOP - 1, &label, Ink::Mark);
    }

    fn legend(&mut self) {
        let (mut row, mut column) = (self.ground() + 2, LEFT);
        for (text, ink) in self.legend.clone() {
            let length = text.chars().count();
            if column > LEFT && column + length > self.canvas.width() {
                (row, column) = (row + 1, LEFT);
            }
            self.canvas.write(column, row, &text, ink);
            column += length + 3;
        }
    }
}

/// Whether there is anything to be hit or missed.
fn has_accesses(family: &Family<'_>) -> bool {
    family.main().points.iter().any(|point| point.accesses > 0)
}

/// The shares of hits that are drawn of a curve.
fn seen(curve: &PolicyCurve) -> impl Iterator<Item = f64> + '_ {
    curve.points.iter().flat_map(|point| [edges(point).0, point.hit_ratio(), edges(point).1])
}

/// Whether a curve is an estimate.
fn has_band(curve: &PolicyCurve) -> bool {
    curve.points.iter().any(|point| point.misses_low.is_some())
}
