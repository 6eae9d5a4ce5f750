//! A chart on a terminal, in braille. It needs no colour.
//!
//! A band is dotted between its edges; marks on curves distinguish them; ● and × are measurements; labels
//! of marks stand above, or below where they do not fit. No line is wider than asked for.

mod legend;

use super::canvas::{CELL_DOTS_HIGH, CELL_DOTS_WIDE, Canvas, Ink};
use super::chart::{Band, Chart, Kind, Line, Look, Points, between};
use super::labels::{Label, Written, arrange, rows};
use super::scale::{place, whole};
use legend::legend;

/// Columns a tick of the level axis needs, its distance from the next included.
const TICK_COLUMNS: usize = 10;
/// Rows from one tick of the upright axis to the next, at least.
const TICK_ROWS: usize = 3;
/// Columns from one mark on a curve to the next.
const MARK_COLUMNS: usize = 16;
/// Dots of a dash, and of the gap behind it.
const DASH: usize = 4;
/// The height of a plot of this width.
pub(super) fn height(width: usize) -> usize {
    (width / 8 + 5).clamp(6, 18)
}

/// Whether the labels of its marks fit above a chart of this width.
pub(super) fn has_room(chart: &Chart, width: usize) -> bool {
    Plot::new(chart, width, height(width)).written.is_some()
}

/// Draws `chart` on `width` columns, `height` rows between its axes.
pub(super) fn draw(chart: &Chart, width: usize, height: usize, colour: bool) -> String {
    let mut plot = Plot::new(chart, width, height);
    plot.canvas.write(0, 0, &chart.title, Ink::Plain);
    plot.axes();
    chart.bands.iter().for_each(|band| plot.band(band));
    // The first curve is drawn last, over the others.
    chart.lines.iter().rev().for_each(|line| plot.line(line));
    (0..chart.lines.len()).rev().for_each(|number| plot.signs(number));
    plot.dots();
    plot.marks();
    plot.legend();
    plot.canvas.render(colour).trim_end_matches('\n').to_owned() + "\n"
}

struct Plot<'a> {
    chart: &'a Chart,
    /// Where the labels of the marks are, if there is room.
    written: Option<Vec<Written>>,
    legend: Vec<(String, Ink)>,
    ticks: Vec<(f64, String)>,
    canvas: Canvas,
    /// First column right of the axis.
    left: usize,
    /// First row of the plot proper, and their number.
    top: usize,
    height: usize,
}

impl<'a> Plot<'a> {
    fn new(chart: &'a Chart, width: usize, height: usize) -> Self {
        let ticks = chart.y.ticks(height / TICK_ROWS + 1);
        let longest = ticks.iter().map(|(_, text)| text.chars().count()).max();
        let left = longest.unwrap_or(0).max(3) + 2;
        let across = width.saturating_sub(left);
        let column = |x: f64| left + place(chart.x.position(x), across);
        let labels: Vec<_> = chart
            .marks
            .iter()
            .filter(|mark| !mark.label.is_empty())
            .map(|mark| Label { column: column(mark.x), text: &mark.label })
            .collect();
        let written = arrange(&labels, width);
        let top = written.as_deref().map_or(0, rows) + 1;
        let legend = legend(chart);
        // Each may need a row of its own.
        let below = 3 + legend.len() + if written.is_none() { labels.len() } else { 0 };
        let canvas = Canvas::new(width, top + height + below);
        Self { chart, written, legend, ticks, canvas, left, top, height }
    }

    /// Columns of the plot proper.
    fn across(&self) -> usize {
        self.canvas.width.saturating_sub(self.left)
    }

    fn ground(&self) -> usize {
        self.top + self.height
    }

    fn column(&self, x: f64) -> usize {
        self.left + place(self.chart.x.position(x), self.across())
    }

    /// The dot of a height.
    fn dot(&self, y: f64) -> usize {
        let high = self.height * CELL_DOTS_HIGH;
        self.top * CELL_DOTS_HIGH + place(1.0 - self.chart.y.position(y), high)
    }

    fn axes(&mut self) {
        let (left, ground) = (self.left, self.ground());
        for row in self.top..ground {
            self.canvas.put(left - 1, row, '│', Ink::Faint);
        }
        for column in left - 1..self.canvas.width {
            self.canvas.put(column, ground, '─', Ink::Faint);
        }
        self.canvas.put(left - 1, ground, '└', Ink::Faint);
        for (position, text) in &self.ticks {
            let is_ground = *position <= 0.0;
            let row =
                if is_ground { ground } else { self.top + place(1.0 - position, self.height) };
            let column = (left - 2).saturating_sub(text.chars().count());
            self.canvas.write(column, row, text, Ink::Plain);
            self.canvas.put(left - 1, row, if is_ground { '└' } else { '┤' }, Ink::Faint);
        }
        let (across, width) = (self.across(), self.canvas.width);
        let mut free = 0;
        for (position, text) in self.chart.x.ticks(across / TICK_COLUMNS) {
            let column = left + place(position, across);
            let length = text.chars().count();
            let begin = (column - length.min(column) / 2).min(width.saturating_sub(length));
            if begin >= free {
                self.canvas.put(column, ground, '┬', Ink::Faint);
                self.canvas.write(begin, ground + 1, &text, Ink::Plain);
                free = begin + length + 1;
            }
        }
    }

    /// The heights of a curve in each column of dots, where it has any.
    fn heights(&self, points: &Points) -> Vec<Option<usize>> {
        let wide = self.across() * CELL_DOTS_WIDE;
        let at = |dot: usize| {
            let value = self.chart.x.value(dot as f64 / (wide - 1).max(1) as f64);
            between(points, &self.chart.x, value).map(|y| self.dot(y))
        };
        let mut heights: Vec<_> = (0..wide).map(at).collect();
        if let [(x, y)] = points.as_slice() {
            // It is between two dots.
            heights[place(self.chart.x.position(*x), wide)] = Some(self.dot(*y));
        }
        heights
    }

    fn band(&mut self, band: &Band) {
        let x0 = self.left * CELL_DOTS_WIDE;
        let edges = [&band.low, &band.high].map(|edge| self.heights(edge));
        for (x, (low, high)) in edges[0].iter().zip(&edges[1]).enumerate() {
            let (Some(low), Some(high)) = (*low, *high) else { continue };
            for y in (high..=low).filter(|y| (x + y).is_multiple_of(2)) {
                self.canvas.dot(x0 + x, y, Ink::Curve);
            }
        }
        if band.has_edges {
            for edge in &edges {
                self.columns(edge, false, Ink::Curve);
            }
        }
    }

    /// Dots at these heights, down from where the line was, so that a cliff is not a gap.
    fn columns(&mut self, heights: &[Option<usize>], is_dashed: bool, ink: Ink) {
        let mut before = None;
        for (x, now) in heights.iter().enumerate() {
            let Some(now) = *now else { continue };
            let was = before.unwrap_or(now);
            let from = if was < now { was + 1 } else { now };
            let to = if was > now { was - 1 } else { now };
            for y in from..=to.max(from) {
                if !(is_dashed && (x / DASH).is_multiple_of(2)) {
                    self.canvas.dot(self.left * CELL_DOTS_WIDE + x, y, ink);
                }
            }
            before = Some(now);
        }
    }

    fn line(&mut self, line: &Line) {
        let ink = line.look.mark().1;
        if self.chart.x.is_log {
            let heights = self.heights(&line.points);
            let is_alone = heights.iter().flatten().count() <= 1;
            self.columns(&heights, line.look == Look::Bound && !is_alone, ink);
        } else {
            self.straight(&line.points, ink);
        }
    }

    /// Straight from point to point.
    fn straight(&mut self, points: &Points, ink: Ink) {
        let wide = self.across() * CELL_DOTS_WIDE;
        let mut before: Option<(usize, usize)> = None;
        for &(x, y) in points {
            let (x, y) = (place(self.chart.x.position(x), wide), self.dot(y));
            let (from_x, from_y) = before.unwrap_or((x, y));
            let steps = x.abs_diff(from_x).max(from_y.abs_diff(y)).max(1);
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let between = |from: usize, to: usize| {
                    let at = from as f64 + (to as f64 - from as f64) * share;
                    usize::try_from(whole(at)).unwrap_or(0)
                };
                let x = self.left * CELL_DOTS_WIDE + between(from_x, x);
                self.canvas.dot(x, between(from_y, y), ink);
            }
            before = Some((x, y));
        }
    }

    /// Signs on one of several curves, not in the columns where the others have theirs.
    fn signs(&mut self, number: usize) {
        let (count, line) = (self.chart.lines.len(), &self.chart.lines[number]);
        if count == 1 || line.name.is_empty() {
            return;
        }
        let (sign, ink) = line.look.mark();
        let heights = self.heights(&line.points);
        let first = 2 + number * MARK_COLUMNS / count;
        let mut columns: Vec<usize> = (first..self.across()).step_by(MARK_COLUMNS).collect();
        columns.retain(|column| heights[column * CELL_DOTS_WIDE].is_some());
        if columns.is_empty() {
            // A curve of few points is between them.
            columns.extend(heights.iter().position(Option::is_some).map(|x| x / CELL_DOTS_WIDE));
        }
        for column in columns {
            let dots = heights[column * CELL_DOTS_WIDE..].iter().take(CELL_DOTS_WIDE);
            if let Some(&y) = dots.flatten().next() {
                self.canvas.put(self.left + column, y / CELL_DOTS_HIGH, sign, ink);
            }
        }
    }

    fn dots(&mut self) {
        for dot in self.chart.dots.iter().filter(|dot| dot.kind <= Kind::Missed) {
            let row = self.top + place(1.0 - self.chart.y.position(dot.y), self.height);
            let sign = if dot.kind == Kind::Missed { '×' } else { '●' };
            self.canvas.put(self.column(dot.x), row, sign, Ink::Measured);
        }
    }

    fn marks(&mut self) {
        let (chart, ground) = (self.chart, self.ground());
        let mut order: Vec<_> = chart.marks.iter().enumerate().collect();
        // The chosen first: its line is the one to see where marks share a column.
        order.sort_by_key(|(_, mark)| !mark.is_chosen);
        for (at, mark) in order {
            let column = self.column(mark.x);
            let written = self.written.as_ref().and_then(|written| written.get(at)).copied();
            let from = written.map_or(self.top, |written| written.row + 1);
            let line = if mark.is_chosen { '│' } else { '┊' };
            for row in from..ground {
                self.canvas.put_under(column, row, line, Ink::Mark);
            }
            if mark.label.is_empty() {
                continue;
            }
            self.canvas.put(column, ground, '┴', Ink::Mark);
            let below = Written { row: ground + 1 + self.legend.len() + at, column: 0 };
            let Written { row, column } = written.unwrap_or(below);
            self.canvas.write(column, row + 1, &mark.label, Ink::Mark);
        }
    }

    fn legend(&mut self) {
        let (mut row, mut column) = (self.ground() + 2, self.left);
        for (text, ink) in &self.legend {
            let length = text.chars().count();
            if column > self.left && column + length > self.canvas.width {
                (row, column) = (row + 1, self.left);
            }
            self.canvas.write(column, row, text, *ink);
            column += length + 3;
        }
    }
}
