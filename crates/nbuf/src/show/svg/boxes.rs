//! Boxes in lines, each as wide as its share of the whole: a flame graph, or the parts of a time.

use std::fmt::Write as _;

use super::super::chart::Look;
use super::super::markup::escape;
use super::super::page::shortened;
use super::super::table::Table;
use super::legend::{Key, legend};
use super::{columns, places};

/// The height of a line.
const LINE: f64 = 20.0;
/// Fewer characters of a label say nothing.
const LABEL_MIN: usize = 3;

/// Boxes under a title, with the numbers behind them.
pub(in crate::show) struct Boxes {
    pub(in crate::show) title: String,
    pub(in crate::show) blocks: Vec<Block>,
    /// The meaning of each colour.
    pub(in crate::show) keys: Vec<(Look, &'static str)>,
    pub(in crate::show) table: Table,
}

/// A box, from a share of the width to another.
pub(in crate::show) struct Block {
    /// The line, counted from the top.
    pub(in crate::show) line: usize,
    pub(in crate::show) from: f64,
    pub(in crate::show) to: f64,
    pub(in crate::show) label: String,
    /// The colour, and the row of the table with the numbers; a heading has neither.
    pub(in crate::show) row: Option<(Look, usize)>,
}

impl Boxes {
    /// The picture for wide and for narrow windows, with its legend.
    pub(in crate::show) fn figure(&self) -> String {
        let key = |&(look, name): &(Look, &'static str)| {
            let class = look.class();
            Key::new(format!("<path class=\"block {class}\" d=\"M0 0h30v12h-30z\"/>"), name)
        };
        let keys: Vec<Key<'_>> = self.keys.iter().map(key).collect();
        format!("{}{}{}", self.svg("wide", 860.0), self.svg("narrow", 360.0), legend(&keys))
    }

    fn svg(&self, class: &str, width: f64) -> String {
        let lines = self.blocks.iter().map(|block| block.line + 1).max().unwrap_or(0);
        let mut frames = vec![Vec::new(); self.table.len()];
        let mut body = String::new();
        for Block { line, from, to, label, row } in &self.blocks {
            let (x, y, wide) = (from * width, *line as f64 * LINE, (to - from) * width);
            if let Some((look, row)) = row {
                let class = look.class();
                let _ = writeln!(
                    body,
                    "<path class=\"block {class}\" d=\"M{x:.1} {y}h{wide:.1}v{LINE}h-{wide:.1}z\"/>"
                );
                frames[*row].push([x, y, wide, LINE]);
            }
            let room = columns(wide - 6.0);
            if room >= LABEL_MIN {
                let (left, base, label) = (x + 3.0, y + 14.5, escape(&shortened(label, room)));
                let _ = writeln!(body, "<text x=\"{left:.1}\" y=\"{base}\">{label}</text>");
            }
        }
        let data = places::rows(&frames) + " data-below=\"1\"";
        let size = [width, lines as f64 * LINE];
        places::readable(&format!("{class} chart"), size, &self.title, &data, &body) + "\n"
    }
}
