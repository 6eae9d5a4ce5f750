//! A map: places in rows, each of some kind and strength.
//!
//! Places of one look make one path of short strokes, which keeps the page small. For the script, a
//! place is its count; the names of its row and column are there once.

use std::fmt::Write as _;

use super::super::markup::escape;
use super::super::svg::{Key, legend, lines, readable};
use super::super::table::Table;

/// Strengths that a reader can distinguish.
const STRENGTHS: u64 = 4;

/// What a place holds: a kind, a strength from 1 to 4, and a count.
pub(in crate::show) type Spot = Option<(usize, u64, u64)>;

/// Places in rows from the top left.
#[derive(Default)]
pub(in crate::show) struct Map {
    pub(in crate::show) title: String,
    /// The names of the columns.
    pub(in crate::show) columns: Vec<String>,
    /// The names of the rows.
    pub(in crate::show) rows: Vec<String>,
    pub(in crate::show) spots: Vec<Spot>,
    /// What is counted.
    pub(in crate::show) unit: &'static str,
    /// The names of the kinds.
    pub(in crate::show) kinds: Vec<&'static str>,
    /// Places from the first on that are shaded.
    pub(in crate::show) shaded: usize,
    /// Rows with a line above them.
    pub(in crate::show) lines: Vec<usize>,
    /// Names down the left, at the most.
    pub(in crate::show) sides: usize,
    /// The names along the ground.
    pub(in crate::show) ends: Vec<String>,
    pub(in crate::show) caption: String,
    pub(in crate::show) table: Table,
}

impl Map {
    pub(super) fn html(&self) -> String {
        let (columns, rows) = (self.columns.len(), self.rows.len());
        let mut body = String::new();
        let shaded = self.strokes(|at, _| at < self.shaded);
        if !shaded.is_empty() {
            let _ = writeln!(body, "<path class=\"shaded\" d=\"{shaded}\"/>");
        }
        let mut keys = Vec::new();
        for (kind, name) in self.kinds.iter().enumerate() {
            let before = body.len();
            for strength in 1..=STRENGTHS {
                let is_alike = |spot: (usize, u64, u64)| (spot.0, spot.1) == (kind, strength);
                let path = self.strokes(|_, spot| spot.is_some_and(is_alike));
                if !path.is_empty() {
                    let _ = writeln!(body, "<path class=\"c{kind} s{strength}\" d=\"{path}\"/>");
                }
            }
            if body.len() > before && self.kinds.len() > 1 {
                keys.push(Key::new(format!("<path class=\"c{kind}\" d=\"M0 6h30\"/>"), name));
            }
        }
        for row in &self.lines {
            let _ = writeln!(body, "<path class=\"between\" d=\"M0 {row}H{columns}\"/>");
        }
        let size = [columns as f64, rows as f64];
        let mut out = readable("places", size, &self.title, &self.data(), &body) + "\n";
        if self.sides > 0 {
            let name = |rows: &[String]| {
                format!("<span style=\"flex:{}\">{}</span>", rows.len(), escape(&rows[0]))
            };
            let every = rows.div_ceil(self.sides).max(1);
            let names: String = self.rows.chunks(every).map(name).collect();
            out = format!(
                "<div class=\"sided\"><div class=\"sides faint\">{names}</div>{out}</div>\n"
            );
        }
        if !self.ends.is_empty() {
            let ends = self.ends.join("</span><span>");
            let _ = writeln!(out, "<p class=\"ends faint\"><span>{ends}</span></p>");
        }
        out + &legend(&keys)
    }

    /// The counts of all places, each with its kind where there are several.
    fn data(&self) -> String {
        let are_several = self.kinds.len() > 1;
        let spot = |spot: &Spot| match spot {
            Some((kind, _, count)) if are_several => format!("{count}:{kind}"),
            // Most places of a large map are empty.
            spot => spot.map_or_else(String::new, |(_, _, count)| count.to_string()),
        };
        let spots: Vec<String> = self.spots.iter().map(spot).collect();
        format!(
            " preserveAspectRatio=\"none\" data-below=\"{}\" data-unit=\"{}\" \
             data-spots=\"{}\"{}{}{}",
            self.columns.len(),
            self.unit,
            spots.join(" "),
            lines("columns", &self.columns),
            lines("rows", &self.rows),
            lines("kinds", &self.kinds)
        )
    }

    /// A stroke for each run of places in a row that are alike.
    fn strokes(&self, alike: impl Fn(usize, Spot) -> bool) -> String {
        let columns = self.columns.len().max(1);
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
