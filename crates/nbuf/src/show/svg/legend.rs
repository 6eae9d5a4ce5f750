//! The legend of a chart.

use super::super::chart::{Chart, Kind};
use super::super::markup::escape;

/// A line of a legend.
pub(in crate::show) struct Key<'a> {
    pub(super) drawn: String,
    pub(super) name: &'a str,
    /// The number of a line that is drawn on demand.
    rest: Option<usize>,
}

impl<'a> Key<'a> {
    pub(in crate::show) fn new(drawn: String, name: &'a str) -> Self {
        Self { drawn, name, rest: None }
    }

    fn item(&self) -> String {
        let (drawn, name) = (&self.drawn, escape(self.name));
        let svg = format!(
            "<svg class=\"key\" viewBox=\"0 0 30 12\" aria-hidden=\"true\">{drawn}</svg>{name}"
        );
        match self.rest {
            Some(number) => format!(
                "<li><button type=\"button\" aria-pressed=\"false\" data-rest=\"{number}\">{svg}\
                 </button></li>"
            ),
            None => format!("<li>{svg}</li>"),
        }
    }
}

/// The legend of a picture on a page; nothing without keys.
pub(in crate::show) fn legend(keys: &[Key<'_>]) -> String {
    let items: String = keys.iter().map(Key::item).collect();
    if items.is_empty() { items } else { format!("<ul class=\"legend\">{items}</ul>\n") }
}

/// What the signs of a chart mean.
pub(super) fn keys(chart: &Chart) -> Vec<Key<'_>> {
    let mut keys = Vec::new();
    for (number, line) in chart.lines.iter().enumerate().filter(|(_, line)| !line.name.is_empty()) {
        let drawn = line.look.line("M0 6h30") + &line.look.point(15.0, 6.0);
        keys.push(Key { rest: line.is_rest.then_some(number), ..Key::new(drawn, &line.name) });
    }
    for band in chart.bands.iter().filter(|band| !band.name.is_empty()) {
        let class = band.look.class();
        let edges = if band.has_edges { band.look.line("M0 1h30M0 11h30") } else { String::new() };
        let drawn = format!("<path class=\"band {class}\" d=\"M0 1h30v10h-30z\"/>{edges}");
        keys.push(Key::new(drawn, &band.name));
    }
    let mut seen: Vec<Kind> = Vec::new();
    for dot in &chart.dots {
        if !seen.contains(&dot.kind) && !dot.name.is_empty() {
            seen.push(dot.kind);
            let y = if dot.kind == Kind::Cliff { 11.0 } else { 6.0 };
            keys.push(Key::new(dot.kind.drawn(15.0, y, ""), dot.name));
        }
    }
    keys
}
