//! A map: places in rows, each of some kind and strength.
//!
//! Places of one look make one path of short strokes, which keeps the page small.

use std::fmt::Write as _;

use super::super::markup::escape;
use super::super::table::Table;

/// Strengths that a reader can distinguish.
const STRENGTHS: u64 = 4;

/// What a place holds: a kind, and a strength from 1 to 4.
pub(in crate::show) type Spot = Option<(usize, u64)>;

/// Places in rows from the top left.
pub(in crate::show) struct Map {
    pub(in crate::show) title: String,
    pub(in crate::show) columns: usize,
    pub(in crate::show) spots: Vec<Spot>,
    /// The names of the kinds.
    pub(in crate::show) kinds: Vec<&'static str>,
    /// Places from the first on that are shaded.
    pub(in crate::show) shaded: usize,
    /// Rows with a line above them.
    pub(in crate::show) lines: Vec<usize>,
    /// The names down the left, and the rows that each stands for.
    pub(in crate::show) sides: Vec<(String, usize)>,
    /// The names along the ground.
    pub(in crate::show) ends: Vec<String>,
    pub(in crate::show) caption: String,
    pub(in crate::show) table: Table,
}

impl Map {
    pub(super) fn html(&self) -> String {
        let columns = self.columns.max(1);
        let rows = self.spots.len().div_ceil(columns);
        let mut out = format!(
            "<svg class=\"places\" viewBox=\"0 0 {columns} {rows}\" preserveAspectRatio=\"none\" \
             role=\"img\" aria-label=\"{}\">\n",
            escape(&self.title)
        );
        let shaded = self.strokes(|at, _| at < self.shaded);
        if !shaded.is_empty() {
            let _ = writeln!(out, "<path class=\"shaded\" d=\"{shaded}\"/>");
        }
        let mut keys = String::new();
        for (kind, name) in self.kinds.iter().enumerate() {
            let before = out.len();
            for strength in 1..=STRENGTHS {
                let path = self.strokes(|_, spot| spot == Some((kind, strength)));
                if !path.is_empty() {
                    let _ = writeln!(out, "<path class=\"c{kind} s{strength}\" d=\"{path}\"/>");
                }
            }
            if out.len() > before && self.kinds.len() > 1 {
                let _ = write!(
                    keys,
                    "<li><svg class=\"key\" viewBox=\"0 0 30 12\" aria-hidden=\"true\"><path \
                     class=\"c{kind}\" d=\"M0 6h30\"/></svg>{}</li>",
                    escape(name)
                );
            }
        }
        for row in &self.lines {
            let _ = writeln!(out, "<path class=\"between\" d=\"M0 {row}H{columns}\"/>");
        }
        out.push_str("</svg>\n");
        if !self.sides.is_empty() {
            out = format!(
                "<div class=\"sided\"><div class=\"sides faint\">{}</div>{out}</div>\n",
                self.names()
            );
        }
        if !self.ends.is_empty() {
            let ends = self.ends.join("</span><span>");
            let _ = writeln!(out, "<p class=\"ends faint\"><span>{ends}</span></p>");
        }
        if !keys.is_empty() {
            let _ = writeln!(out, "<ul class=\"legend\">{keys}</ul>");
        }
        out
    }

    fn names(&self) -> String {
        let name = |(name, rows): &(String, usize)| {
            format!("<span style=\"flex:{rows}\">{}</span>", escape(name))
        };
        self.sides.iter().map(name).collect()
    }

    /// A stroke for each run of places in a row that are alike.
    fn strokes(&self, alike: impl Fn(usize, Spot) -> bool) -> String {
        let columns = self.columns.max(1);
        let mut path = String::new();
        for (y, row) in self.spots.chunks(columns).enumerate() {
            let is_alike: Vec<bool> =
                row.iter().enumerate().map(|(x, spot)| alike(y * columns + x, *spot)).collect();
            let mut x = 0;
            for run in is_alike.chunk_by(|a, b| a == b) {
                if run[0] {
                    let _ = write!(path, "M{x} {y}.5h{}", run.len());
                }
                x += run.len();
            }
        }
        path
    }
}
