//! The curve of a workload on a terminal: page fills against cache size.
//!
//! Both edges of the band are lines of braille dots; what lies between them is dotted, so that a
//! thin line says the models agree and a grey area says how far they do not. Floor, knee and
//! ceiling stand as lines with their sizes above; ● is a measurement. It needs no colour.
//!
//! No line is wider than asked for. Where the labels of the marks do not fit above the plot, they go
//! under it, and below [`WIDTH_MIN`] columns there is only text.

use nbuf::experiment::result::{Curve, Point, Recommend};
use nbuf::units::Bytes;

use super::axis::{CountAxis, Mark, SizeAxis, band, band_is_visible, marks, place};
use super::canvas::{CELL_DOTS_HIGH, CELL_DOTS_WIDE, Canvas, Ink};
use super::labels::{Label, Written, arrange, rows};

/// Least width at which there is a plot.
const WIDTH_MIN: usize = 16;
/// Columns a tick of the sizes needs, its distance from the next included.
const TICK_COLUMNS: usize = 10;
/// Rows from one tick of the counts to the next, at least.
const TICK_ROWS: usize = 3;
const TITLE: &str = "page fills by cache size";

/// Draws `curve`, what is recommended of it, and what runs under a limit measured: cache, fills.
pub(crate) fn curve(
    curve: &Curve,
    recommend: Option<&Recommend>,
    verified: &[(Bytes, u64)],
    width: usize,
    colour: bool,
) -> String {
    if curve.points.is_empty() {
        return line(width, "no curve: no file was read");
    }
    let marks = |joined| recommend.map_or_else(Vec::new, |recommend| marks(recommend, joined));
    if width < WIDTH_MIN {
        return marks(false).iter().map(|mark| line(width, &mark.label)).collect();
    }
    let shown = marks(true);
    let shown = shown.iter().map(|mark| mark.cache_bytes);
    let sizes = SizeAxis::of(curve, shown.chain(verified.iter().map(|&(cache, _)| cache)));
    let fills = curve.points.iter().map(Point::fills_high);
    let counts = CountAxis::of(fills.chain(verified.iter().map(|&(_, fills)| fills)));
    // Labels apart are more, but shorter.
    let joined = Plot::new(width, &sizes, &counts, marks(true));
    let plot = match joined.written {
        Some(_) => joined,
        None => Plot::new(width, &sizes, &counts, marks(false)),
    };
    plot.draw(curve, verified, colour)
}

/// One line of text, cut to the width.
fn line(width: usize, text: &str) -> String {
    let cut: String = text.chars().take(width).collect();
    cut.trim_end().to_owned() + "\n"
}

struct Plot<'a> {
    sizes: &'a SizeAxis,
    counts: &'a CountAxis,
    marks: Vec<Mark>,
    /// Where the labels of the marks are, if there is room.
    written: Option<Vec<Written>>,
    ticks: Vec<(f64, String)>,
    canvas: Canvas,
    /// First column right of the axis.
    left: usize,
    /// First row of the plot proper, and their number.
    top: usize,
    height: usize,
}

impl<'a> Plot<'a> {
    fn new(width: usize, sizes: &'a SizeAxis, counts: &'a CountAxis, marks: Vec<Mark>) -> Self {
        let height = (width / 8 + 5).clamp(6, 18);
        let ticks = counts.ticks(height / TICK_ROWS + 1);
        let longest = ticks.iter().map(|(_, text)| text.chars().count()).max();
        let left = longest.unwrap_or(0) + 2;
        let across = width.saturating_sub(left);
        let label =
            |mark: &'_ Mark| left + place(sizes.position(mark.cache_bytes.0 as f64), across);
        let columns = marks.iter().map(label);
        let labels: Vec<_> = marks
            .iter()
            .zip(columns)
            .map(|(mark, column)| Label { column, text: &mark.label })
            .collect();
        let written = arrange(&labels, width);
        let above = written.as_deref().map_or(0, rows) + 1;
        let below = 3 + if written.is_none() { marks.len() } else { 0 };
        Self {
            sizes,
            counts,
            marks,
            written,
            ticks,
            canvas: Canvas::new(width, above + height + below),
            left,
            top: above,
            height,
        }
    }

    fn draw(mut self, curve: &Curve, verified: &[(Bytes, u64)], colour: bool) -> String {
        self.canvas.write(0, 0, TITLE, Ink::Plain);
        self.draw_axes();
        self.draw_band(curve);
        for &(cache, fills) in verified {
            let column = self.left + place(self.sizes.position(cache.0 as f64), self.across());
            let height = self.counts.position(fills as f64);
            let row = self.top + place(1.0 - height, self.height);
            self.canvas.put(column, row, '●', Ink::Measured);
        }
        self.draw_marks();
        let mut legend = Vec::new();
        if band_is_visible(curve, self.counts) {
            legend.push(("⢕⢕ LRU to two lists", Ink::Curve));
        }
        if !verified.is_empty() {
            legend.push(("● measured", Ink::Measured));
        }
        self.draw_legend(&legend);
        let drawn = self.canvas.render(colour);
        drawn.trim_end_matches('\n').to_owned() + "\n"
    }

    /// Columns of the plot proper.
    fn across(&self) -> usize {
        self.canvas.width().saturating_sub(self.left)
    }

    fn draw_axes(&mut self) {
        let ground = self.top + self.height;
        for row in self.top..ground {
            self.canvas.put(self.left - 1, row, '│', Ink::Faint);
        }
        for column in self.left - 1..self.canvas.width() {
            self.canvas.put(column, ground, '─', Ink::Faint);
        }
        self.canvas.put(self.left - 1, ground, '└', Ink::Faint);
        for (position, text) in &self.ticks {
            let row = if *position == 0.0 {
                ground
            } else {
                self.top + place(1.0 - position, self.height)
            };
            let column = (self.left - 2).saturating_sub(text.chars().count());
            self.canvas.write(column, row, text, Ink::Plain);
            let joint = if *position == 0.0 { '└' } else { '┤' };
            self.canvas.put(self.left - 1, row, joint, Ink::Faint);
        }
        let across = self.across();
        let mut free = 0;
        for (position, text) in self.sizes.ticks(across / TICK_COLUMNS) {
            let column = self.left + place(position, across);
            let length = text.chars().count();
            let begin = (column - length.min(column) / 2).min(self.canvas.width() - length);
            if begin >= free {
                self.canvas.put(column, ground, '┬', Ink::Faint);
                self.canvas.write(begin, ground + 1, &text, Ink::Plain);
                free = begin + length + 1;
            }
        }
    }

    fn draw_band(&mut self, curve: &Curve) {
        let (wide, high) = (self.across() * CELL_DOTS_WIDE, self.height * CELL_DOTS_HIGH);
        let (x0, y0) = (self.left * CELL_DOTS_WIDE, self.top * CELL_DOTS_HIGH);
        let dot = |fills: f64| place(1.0 - self.counts.position(fills), high);
        let mut before: Option<[usize; 2]> = None;
        for x in 0..wide {
            let position = x as f64 / (wide - 1).max(1) as f64;
            let (low, high) = band(curve, self.sizes.size(position));
            let edges = [dot(high), dot(low)];
            for y in edges[0]..=edges[1] {
                if (x + y).is_multiple_of(2) {
                    self.canvas.dot(x0 + x, y0 + y);
                }
            }
            for (edge, &now) in edges.iter().enumerate() {
                // Down from where the line was, so that a cliff is not a gap.
                let was = before.map_or(now, |before| before[edge]);
                let from = if was < now { was + 1 } else { now };
                let to = if was > now { was - 1 } else { now };
                for y in from..=to.max(from) {
                    self.canvas.dot(x0 + x, y0 + y);
                }
            }
            before = Some(edges);
        }
    }

    fn draw_marks(&mut self) {
        let ground = self.top + self.height;
        // The knee first: its line is the one to see where marks share a column.
        let mut order: Vec<_> = self.marks.iter().enumerate().collect();
        order.sort_by_key(|(_, mark)| !mark.knee);
        for (at, mark) in order {
            let column =
                self.left + place(self.sizes.position(mark.cache_bytes.0 as f64), self.across());
            let line = if mark.knee { '│' } else { '┊' };
            let from = if let Some(written) = &self.written {
                let Written { row, column } = written[at];
                self.canvas.write(column, row + 1, &mark.label, Ink::Mark);
                row + 1
            } else {
                let row = ground + 3 + at;
                self.canvas.write(0, row, &mark.label, Ink::Mark);
                self.top
            };
            for row in from..ground {
                self.canvas.put_under(column, row, line, Ink::Mark);
            }
            self.canvas.put(column, ground, '┴', Ink::Mark);
        }
    }

    fn draw_legend(&mut self, legend: &[(&str, Ink)]) {
        let row = self.top + self.height + 2;
        let mut column = self.left;
        for (text, ink) in legend {
            self.canvas.write(column, row, text, *ink);
            column += text.chars().count() + 3;
        }
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "as expect-test writes them")]
mod tests {
    use expect_test::{Expect, expect};
    use nbuf::experiment::recommend::recommend;

    use super::*;
    use crate::show::sample;

    fn check(curve: &Curve, verified: &[(Bytes, u64)], narrow: &Expect, wide: &Expect) {
        let advice = recommend(curve, &sample::MEMORY, Bytes(128 << 10)).unwrap();
        for width in 0..200 {
            let drawn = super::curve(curve, Some(&advice), verified, width, false);
            for line in drawn.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert!(!line.ends_with(' '), "{width}: {line}");
            }
            // Every label is whole, and colour changes nothing but colour.
            if width >= 40 {
                let whole = |mark: &Mark| drawn.contains(&mark.label);
                let any = [true, false].map(|joined| marks(&advice, joined).iter().all(whole));
                assert!(any.contains(&true), "{width}:\n{drawn}");
            }
            let coloured = super::curve(curve, Some(&advice), verified, width, true);
            assert_eq!(sample::without_escapes(&coloured), drawn);
        }
        let drawn = |width| super::curve(curve, Some(&advice), verified, width, false);
        narrow.assert_eq(&drawn(40));
        wide.assert_eq(&drawn(80));
    }

    #[test]
    fn a_loop_is_a_cliff() {
        check(
            &sample::cliff(),
            &sample::cliff_verified(),
            &expect![[r#"
                page fills by cache size
                                      ┊ ceiling 67.3 MiB
                                      │ knee 67.3 MiB
                                      │ floor 66.0 MiB
                      │⠉⠉⠉⠉⠉⠉⠉⠉⢻⢝⢝⢝⢝⢝⢝⡆
                300 k ┤         ⢳⢕⢕⢕⢕⢕⡇
                      │          ⠳⣕⢕⢕⢕⡇
                      │           ●⢕⢕⢕⡇
                200 k ┤           ⠈⣗⢕⢕⡇
                      │            ⠸●⢕⡇
                100 k ┤             ⢳⢕⡇
                      │             ⠈⣗⡇
                      │              ⠸●⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀●⣀⣀⣀
                      │               │
                    0 └┬─────────────┬┴────────────┬────
                       0          64 MiB        128 MiB
                       ⢕⢕ LRU to two lists   ● measured
            "#]],
            &expect![[r#"
                page fills by cache size
                                                        │ knee = ceiling 67.3 MiB
                                                        │ floor 66.0 MiB
                      │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠙⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⡆
                      │                   ⠳⣕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⡇
                300 k ┤                    ⠈⢗⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⡇
                      │                      ⠑⣕⢕⢕⢕⢕⢕⢕⢕⢕⢕⡇
                      │                       ⠈⢳●⢕⢕⢕⢕⢕⢕⢕⡇
                      │                         ⢳⢕⢕⢕⢕⢕⢕⢕⡇
                200 k ┤                          ⢳⢕⢕⢕⢕⢕⢕⡇
                      │                           ⢳⢕⢕⢕⢕⢕⡇
                      │                            ⢳●⢕⢕⢕⡇
                      │                             ⢳⢕⢕⢕⡇
                100 k ┤                              ⢳⢕⢕⡇
                      │                               ⢳⢕⡇
                      │                                ⢗⡇
                      │                                ⠈●⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒●⠒⠒⠒⠒⠒⠒⠒
                      │                                 │
                    0 └┬───────────────┬───────────────┬┴──────────────┬──────────────┬─────────
                       0            32 MiB          64 MiB          96 MiB         128 MiB
                       ⢕⢕ LRU to two lists   ● measured
            "#]],
        );
    }

    #[test]
    fn two_loops_are_a_staircase() {
        check(
            &sample::staircase(),
            &[],
            &expect![[r#"
                page fills by cache size
                               knee = ceiling 156 MiB │
                                   ┊ floor 15.6 MiB   │
                      │⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⡆                  │
                      │            ⡇                  │
                600 k ┤            ⡇                  │
                      │            ⡇                  │
                400 k ┤            ⡇                  │
                      │            ⠷⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⡄
                      │            ┊                  │⡇
                200 k ┤            ┊                  │⡇
                      │            ┊                  │⡇
                      │            ┊                  │⠓
                    0 └┬───────────┴───────────┬──────┴─
                     4 MiB      16 MiB      64 MiB
            "#]],
            &expect![[r#"
                page fills by cache size
                                                 ┊ floor 15.6 MiB     knee = ceiling 156 MiB │
                      │⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⡆                                          │
                      │                          ┊⡇                                          │
                      │                          ┊⡇                                          │
                600 k ┤                          ┊⡇                                          │
                      │                          ┊⡇                                          │
                      │                          ┊⡇                                          │
                400 k ┤                          ┊⡇                                          │
                      │                          ┊⡇                                          │
                      │                          ┊⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⡆
                      │                          ┊                                           │⡇
                200 k ┤                          ┊                                           │⡇
                      │                          ┊                                           │⡇
                      │                          ┊                                           │⡇
                      │                          ┊                                           │⡇
                      │                          ┊                                           │⠉⠉
                    0 └┬─────────────┬───────────┴┬────────────┬────────────┬────────────┬───┴──
                     4 MiB         8 MiB       16 MiB       32 MiB       64 MiB       128 MiB
            "#]],
        );
    }

    #[test]
    fn many_files_are_a_smooth_curve() {
        check(
            &sample::smooth(),
            &[],
            &expect![[r#"
                page fills by cache size
                                       ceiling 391 MiB ┊
                                        knee 190 MiB │ ┊
                          ┊ floor 24.0 KiB           │ ┊
                    │⢝⢖⢄⡀ ┊                          │ ┊
                2 M ┤⠓⠵⣕⢝⢕⢦⢄                         │ ┊
                    │   ⠉⠓⠵⣕⢝⢖⢤⣀                     │ ┊
                    │     ┊ ⠉⠓⠵⢕⣝⢖⢄⡀                 │ ┊
                    │     ┊     ⠈⠑⠳⢝⣕⢦⢄⡀             │ ┊
                1 M ┤     ┊         ⠈⠑⠳⠽⣖⢤⣀          │ ┊
                    │     ┊              ⠉⠓⠽⣖⢄⡀      │ ┊
                    │     ┊                  ⠉⠛⠵⢦⣄   │ ┊
                    │     ┊                      ⠈⠙⠲⢤⣀ ┊
                    │     ┊                          ⠈⠙⠒
                  0 └─────┴┬─────────┬─────────┬─────┴─┴
                        32 KiB     1 MiB    32 MiB
                     ⢕⢕ LRU to two lists
            "#]],
            &expect![[r#"
                page fills by cache size
                                  ┊ floor 24.0 KiB                            ceiling 391 MiB ┊
                                  ┊                                          knee 190 MiB │   ┊
                      │⢝⢖⢦⢄⣀      ┊                                                       │   ┊
                      │⢕⢕⢕⢕⢕⢝⢖⢦⢄⣀ ┊                                                       │   ┊
                  2 M ┤⠉⠉⠓⠵⢕⣕⢕⢕⢕⢕⢝⢖⢦⢤⣀                                                    │   ┊
                      │      ⠉⠑⠓⠵⢕⣕⢕⢕⢕⢝⢕⢦⢤⣀                                               │   ┊
                      │           ┊⠉⠑⠓⠵⣕⣕⢕⢕⢝⢕⢖⢤⣀⡀                                         │   ┊
                1.5 M ┤           ┊      ⠉⠓⠳⠵⣕⣕⢕⢝⢕⢖⢤⣀⡀                                    │   ┊
                      │           ┊           ⠈⠉⠓⠳⠵⣕⣕⢝⢝⢖⢤⢄⡀                               │   ┊
                      │           ┊                 ⠈⠉⠓⠳⠵⣕⣝⢝⢖⢤⢄⡀                          │   ┊
                  1 M ┤           ┊                       ⠈⠉⠓⠳⠵⣝⣝⢖⢦⢄⣀                     │   ┊
                      │           ┊                             ⠈⠉⠓⠵⠵⣝⣖⢦⢄⣀                │   ┊
                      │           ┊                                   ⠈⠑⠓⠵⢝⣖⢦⢄⣀           │   ┊
                500 k ┤           ┊                                         ⠉⠑⠓⠽⢖⣦⢄⣀      │   ┊
                      │           ┊                                               ⠉⠑⠛⠶⢦⣄⣀ │   ┊
                      │           ┊                                                     ⠉⠙⠒⠦⢄⣀┊
                      │           ┊                                                       │   ⠉⠉
                    0 └───────────┴─┬────────────────────┬─────────────────────┬──────────┴───┴─
                                 32 KiB                1 MiB                32 MiB
                       ⢕⢕ LRU to two lists
            "#]],
        );
    }

    #[test]
    fn nothing_to_gain_is_a_level() {
        check(
            &sample::level(),
            &[],
            &expect![[r#"
                page fills by cache size
                         │ enough 4.00 MiB
                10 k ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                     │   │
                     │   │
                     │   │
                     │   │
                5000 ┤   │
                     │   │
                     │   │
                     │   │
                     │   │
                   0 └┬──┴────────┬────────────┬────────
                      0        16 MiB       32 MiB
            "#]],
            &expect![[r#"
                page fills by cache size
                             │ enough 4.00 MiB
                10 k ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                     │       │
                     │       │
                8000 ┤       │
                     │       │
                     │       │
                6000 ┤       │
                     │       │
                4000 ┤       │
                     │       │
                     │       │
                2000 ┤       │
                     │       │
                     │       │
                     │       │
                   0 └┬──────┴──────┬────────────┬─────────────┬────────────┬─────────────┬─────
                      0           8 MiB       16 MiB        24 MiB       32 MiB        40 MiB
            "#]],
        );
    }

    #[test]
    fn no_curve_is_said_to_be_none() {
        let drawn = super::curve(&Curve::default(), None, &[], 80, true);
        assert_eq!(drawn, "no curve: no file was read\n");
    }
}
