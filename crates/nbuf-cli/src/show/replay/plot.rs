//! Elapsed time and hit ratio against size on a terminal, one above the other, in braille.
//!
//! No line is wider than asked for, and below [`WIDTH_MIN`] columns there is no plot.

use nbuf::experiment::result::{ReplayDocument, ReplaySize};
use nbuf::units::Bytes;

use super::super::axis::{CountAxis, place, round_size, whole};
use super::super::canvas::{CELL_DOTS_HIGH, CELL_DOTS_WIDE, Canvas, Ink};

/// Least width at which there is a plot.
const WIDTH_MIN: usize = 20;
/// Columns a tick of the sizes needs, its distance from the next included.
const TICK_COLUMNS: usize = 10;
/// Rows from one tick on the left to the next, at least.
const TICK_ROWS: usize = 3;

/// Both plots.
pub(super) fn plots(document: &ReplayDocument, width: usize, colour: bool) -> String {
    let most = document.sizes.iter().map(|row| row.size_units).max().unwrap_or(0);
    if width < WIDTH_MIN || most == 0 {
        return String::new();
    }
    let times = CountAxis::of_seconds(document.sizes.iter().map(|row| row.elapsed_seconds));
    let height = (width / 12 + 3).clamp(5, 11);
    let elapsed = Plot {
        title: "elapsed by cache size",
        ticks: times.ticks(height / TICK_ROWS + 1),
        value: &|row| times.position(row.elapsed_seconds),
    };
    let hits = Plot {
        title: "hit % by cache size",
        ticks: [0.0, 0.5, 1.0].map(|share| (share, format!("{:.0}", share * 100.0))).to_vec(),
        value: &|row| row.hit_ratio,
    };
    let draw = |plot: &Plot<'_>| plot.draw(document, most, width, height, colour);
    format!("{}\n{}", draw(&elapsed), draw(&hits))
}

struct Plot<'a> {
    title: &'a str,
    ticks: Vec<(f64, String)>,
    /// Where a size lies on the upright axis, from 0 to 1.
    value: &'a dyn Fn(&ReplaySize) -> f64,
}

/// Round sizes and where they lie: whole multiples of a power of two.
pub(super) fn size_ticks(most: u64, unit_bytes: u64, count: usize) -> Vec<(f64, String)> {
    let most_bytes = most.saturating_mul(unit_bytes);
    let mut step = unit_bytes.next_power_of_two();
    while most_bytes / step >= count.max(2) as u64 && step < 1 << 62 {
        step *= 2;
    }
    let sizes = (0..=most_bytes / step).map(|number| number * step);
    let place = |bytes: u64| bytes as f64 / most_bytes.max(1) as f64;
    sizes.map(|bytes| (place(bytes), round_size(Bytes(bytes).0 as f64))).collect()
}

impl Plot<'_> {
    fn draw(
        &self,
        document: &ReplayDocument,
        most: u64,
        width: usize,
        height: usize,
        colour: bool,
    ) -> String {
        let longest = self.ticks.iter().map(|(_, text)| text.chars().count()).max();
        let left = longest.unwrap_or(0) + 2;
        let (top, ground) = (1, 1 + height);
        let mut canvas = Canvas::new(width, ground + 2);
        canvas.write(0, 0, self.title, Ink::Plain);
        self.axes(&mut canvas, left, top, ground);
        let across = width.saturating_sub(left);
        let mut free = 0;
        for (position, text) in size_ticks(most, document.unit_bytes, across / TICK_COLUMNS) {
            let column = left + place(position, across);
            let length = text.chars().count();
            let begin = (column - length.min(column) / 2).min(width.saturating_sub(length));
            if begin >= free {
                canvas.put(column, ground, '┬', Ink::Faint);
                canvas.write(begin, ground + 1, &text, Ink::Plain);
                free = begin + length + 1;
            }
        }
        self.line(&mut canvas, document, most, [left, top, across, height]);
        if let Some(units) = document.points.and_then(|points| points.enough_from_units) {
            let column = left + place(units as f64 / most as f64, across);
            for row in top..ground {
                canvas.put_under(column, row, '│', Ink::Mark);
            }
        }
        canvas.render(colour).trim_end_matches('\n').to_owned() + "\n"
    }

    fn axes(&self, canvas: &mut Canvas, left: usize, top: usize, ground: usize) {
        for row in top..ground {
            canvas.put(left - 1, row, '│', Ink::Faint);
        }
        for column in left - 1..canvas.width() {
            canvas.put(column, ground, '─', Ink::Faint);
        }
        for (position, text) in &self.ticks {
            let is_ground = *position <= 0.0;
            let row = if is_ground { ground } else { top + place(1.0 - position, ground - top) };
            let column = (left - 2).saturating_sub(text.chars().count());
            canvas.write(column, row, text, Ink::Plain);
            canvas.put(left - 1, row, if is_ground { '└' } else { '┤' }, Ink::Faint);
        }
    }

    /// Straight from size to size.
    fn line(
        &self,
        canvas: &mut Canvas,
        document: &ReplayDocument,
        most: u64,
        [left, top, across, height]: [usize; 4],
    ) {
        let (wide, high) = (across * CELL_DOTS_WIDE, height * CELL_DOTS_HIGH);
        let dots: Vec<(usize, usize)> = document
            .sizes
            .iter()
            .map(|row| {
                let x = place(row.size_units as f64 / most as f64, wide);
                (x, place(1.0 - (self.value)(row).clamp(0.0, 1.0), high))
            })
            .collect();
        let mut before: Option<(usize, usize)> = None;
        for &(x, y) in &dots {
            let (from_x, from_y) = before.unwrap_or((x, y));
            let steps = (x - from_x).max(from_y.abs_diff(y)).max(1);
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let between = |from: usize, to: usize| {
                    let at = from as f64 + (to as f64 - from as f64) * share;
                    usize::try_from(whole(at)).unwrap_or(0)
                };
                let (dot_x, dot_y) = (between(from_x, x), between(from_y, y));
                canvas.dot(left * CELL_DOTS_WIDE + dot_x, top * CELL_DOTS_HIGH + dot_y);
            }
            before = Some((x, y));
        }
    }
}
