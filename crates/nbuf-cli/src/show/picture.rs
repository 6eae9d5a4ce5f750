//! The curve of a workload as a picture: an SVG of 860 by 420 for a page or a README.
//!
//! It says what the terminal plot says and stands alone: no script, no font, nothing fetched. It
//! lies on a card of its own, light or dark as the reader's system is, so that the page around it
//! does not matter; line styles tell apart what colours do.

use std::fmt::Write as _;

use nbuf::experiment::result::{Curve, Point, Recommend};
use nbuf::units::Bytes;

use super::axis::{CountAxis, Mark, SizeAxis, band, band_is_visible, marks, whole};
use super::labels::{Label, arrange, rows};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
/// The plot proper: its left, right and lower edge. The upper one depends on the labels.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 816.0;
const GROUND: f64 = 352.0;
/// Where the labels of the marks begin, and how far apart their rows are.
const LABELS_TOP: f64 = 48.0;
const LABELS_STEP: f64 = 20.0;
/// Width to allow a character of a label.
const CHARACTER: f64 = 7.4;

const STYLE: &str = "\
.card{fill:#fff;stroke:#d0d7de}text{fill:#1f2328;font:13px system-ui,sans-serif}\
.title{font-size:15px;font-weight:600}.faint{fill:#59636e}.grid{stroke:#d0d7de;stroke-width:1}\
.axis{stroke:#818b98;stroke-width:1}.band{fill:#0969da;fill-opacity:.22}\
.edge{fill:none;stroke:#0969da;stroke-width:2;stroke-linejoin:round}\
.mark{stroke:#818b98;stroke-width:1.5;stroke-dasharray:4 4}\
.knee{stroke:#bc4c00;stroke-width:2}text.knee{fill:#bc4c00;stroke:none;font-weight:600}\
.measured{fill:#1a7f37;stroke:#fff;stroke-width:1.5}\
@media(prefers-color-scheme:dark){.card{fill:#0d1117;stroke:#3d444d}text{fill:#f0f6fc}\
.faint{fill:#9198a1}.grid{stroke:#2a313c}.axis{stroke:#656c76}.band{fill:#4493f8}\
.edge{stroke:#4493f8}.mark{stroke:#9198a1}.knee{stroke:#f0883e}text.knee{fill:#f0883e}\
.measured{fill:#3fb950;stroke:#0d1117}}";

/// Draws `curve` under `title`, what is recommended of it, and what was measured: cache, fills.
pub(crate) fn svg(
    title: &str,
    curve: &Curve,
    recommend: Option<&Recommend>,
    verified: &[(Bytes, u64)],
) -> String {
    let marks = recommend.map_or_else(Vec::new, |recommend| marks(recommend, true));
    let shown = marks.iter().map(|mark| mark.cache_bytes);
    let sizes = SizeAxis::of(curve, shown.chain(verified.iter().map(|&(cache, _)| cache)));
    let fills = curve.points.iter().map(Point::fills_high);
    let counts = CountAxis::of(fills.chain(verified.iter().map(|&(_, fills)| fills)));
    let mut picture =
        Picture { sizes: &sizes, counts: &counts, top: LABELS_TOP + 8.0, body: String::new() };
    let labels = picture.labels(&marks);
    picture.axes();
    picture.band(curve);
    picture.marks(&marks, &labels);
    for &(cache, fills) in verified {
        let (x, y) = (picture.x(cache.0 as f64), picture.y(fills as f64));
        picture.add(format_args!(r#"<circle class="measured" cx="{x:.1}" cy="{y:.1}" r="5.5"/>"#));
    }
    picture.legend(band_is_visible(curve, &counts), !verified.is_empty());
    let title = escape(title);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>{title}: page fills by cache size</title>
<style>{STYLE}</style>
<rect class="card" x=".5" y=".5" width="{}" height="{}" rx="8"/>
<text class="title" x="20" y="29">{title}</text>
{}</svg>
"#,
        WIDTH - 1.0,
        HEIGHT - 1.0,
        picture.body
    )
}

/// Text as XML has it. What XML 1.0 cannot have at all becomes a replacement character.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A label in its place: the left end of its base line.
struct Placed {
    x: f64,
    y: f64,
}

struct Picture<'a> {
    sizes: &'a SizeAxis,
    counts: &'a CountAxis,
    top: f64,
    body: String,
}

impl Picture<'_> {
    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes all");
    }

    fn x(&self, size: f64) -> f64 {
        LEFT + self.sizes.position(size) * (RIGHT - LEFT)
    }

    fn y(&self, fills: f64) -> f64 {
        GROUND - self.counts.position(fills) * (GROUND - self.top)
    }

    /// Places the labels above the plot and moves its top down for them.
    fn labels(&mut self, marks: &[Mark]) -> Vec<Placed> {
        let columns = |pixels: f64| usize::try_from(whole(pixels / CHARACTER)).unwrap_or(0);
        let label = |mark: &'_ Mark| columns(self.x(mark.cache_bytes.0 as f64) - LEFT);
        let places: Vec<_> = marks.iter().map(label).collect();
        let labels: Vec<_> = marks
            .iter()
            .zip(&places)
            .map(|(mark, &column)| Label { column, text: &mark.label })
            .collect();
        // Three short labels fit 100 columns however they lie.
        let written = arrange(&labels, columns(RIGHT - LEFT)).unwrap_or_default();
        let lines = rows(&written);
        self.top = LABELS_TOP + LABELS_STEP * lines as f64 + 8.0;
        let beside = written.iter().zip(marks).zip(places).map(|((written, mark), column)| {
            let line = self.x(mark.cache_bytes.0 as f64);
            let length = mark.label.chars().count() as f64 * CHARACTER;
            let right_of_it = written.column > column;
            Placed {
                x: if right_of_it { line + 7.0 } else { line - 7.0 - length },
                y: LABELS_TOP + LABELS_STEP * written.row as f64 + 14.0,
            }
        });
        beside.collect()
    }

    fn axes(&mut self) {
        for (position, text) in self.counts.ticks(6) {
            let y = GROUND - position * (GROUND - self.top);
            let x = LEFT - 10.0;
            self.add(format_args!(
                r#"<path class="grid" d="M{LEFT} {y:.1}H{RIGHT}"/><text class="faint" text-anchor="end" x="{x}" y="{:.1}">{text}</text>"#,
                y + 4.5
            ));
        }
        self.add(format_args!(r#"<path class="axis" d="M{LEFT} {GROUND}H{RIGHT}"/>"#));
        for (position, text) in self.sizes.ticks(10) {
            let x = LEFT + position * (RIGHT - LEFT);
            self.add(format_args!(
                r#"<path class="axis" d="M{x:.1} {GROUND}v5"/><text class="faint" text-anchor="middle" x="{x:.1}" y="{}">{text}</text>"#,
                GROUND + 21.0
            ));
        }
        let above = self.top - 8.0;
        self.add(format_args!(r#"<text class="faint" x="20" y="{above}">page fills</text>"#));
        self.add(format_args!(
            r#"<text class="faint" text-anchor="end" x="{RIGHT}" y="{}">cache size</text>"#,
            GROUND + 48.0
        ));
    }

    fn band(&mut self, curve: &Curve) {
        let (first, last) = (self.sizes.size(0.0), self.sizes.size(1.0));
        let points = curve.points.iter().map(|point| point.cache_bytes.0 as f64);
        let inside = points.filter(|&size| first < size && size < last);
        let sizes: Vec<f64> = [first].into_iter().chain(inside).chain([last]).collect();
        let edge = |pick: fn((f64, f64)) -> f64| {
            let place =
                |&size: &f64| format!("{:.1} {:.1}", self.x(size), self.y(pick(band(curve, size))));
            sizes.iter().map(place).collect::<Vec<_>>()
        };
        let (low, mut high) = (edge(|edges| edges.0), edge(|edges| edges.1));
        let edges = format!("M{}M{}", low.join("L"), high.join("L"));
        high.reverse();
        let area = format!("M{}L{}Z", low.join("L"), high.join("L"));
        self.add(format_args!(r#"<path class="band" d="{area}"/>"#));
        self.add(format_args!(r#"<path class="edge" d="{edges}"/>"#));
    }

    fn marks(&mut self, marks: &[Mark], labels: &[Placed]) {
        for (mark, Placed { x, y }) in marks.iter().zip(labels) {
            let class = if mark.knee { "knee" } else { "mark" };
            let line = self.x(mark.cache_bytes.0 as f64);
            let from = y - 13.0;
            self.add(format_args!(r#"<path class="{class}" d="M{line:.1} {from:.1}V{GROUND}"/>"#));
            let length = mark.label.chars().count() as f64 * CHARACTER;
            let (x, anchor) = if *x < line { (x + length, "end") } else { (*x, "start") };
            let (label, class) = (&mark.label, if mark.knee { "knee" } else { "faint" });
            self.add(format_args!(
                r#"<text class="{class}" text-anchor="{anchor}" x="{x:.1}" y="{y:.1}">{label}</text>"#
            ));
        }
    }

    fn legend(&mut self, band: bool, measured: bool) {
        let y = GROUND + 48.0;
        let mut x = LEFT;
        let top = y - 10.0;
        let (edges, text, wide) = if band {
            self.add(format_args!(
                r#"<rect class="band" x="{x}" y="{top}" width="22" height="11"/>"#
            ));
            ("h22m-22 11h22", "predicted, from LRU to two lists", 250.0)
        } else {
            ("m0 5.5h22", "predicted", 110.0)
        };
        self.add(format_args!(
            r#"<path class="edge" d="M{x} {top}{edges}"/><text x="{}" y="{y}">{text}</text>"#,
            x + 30.0
        ));
        x += wide;
        if measured {
            self.add(format_args!(
                r#"<circle class="measured" cx="{}" cy="{}" r="5.5"/><text x="{}" y="{y}">measured under that limit</text>"#,
                x + 6.0,
                y - 4.5,
                x + 18.0
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::recommend::recommend;

    use super::*;
    use crate::show::sample;

    #[test]
    fn every_picture_is_whole_and_within_its_card() {
        let curves = [
            ("cliff", sample::cliff()),
            ("staircase", sample::staircase()),
            ("smooth", sample::smooth()),
            ("level", sample::level()),
            ("empty", Curve::default()),
        ];
        for (name, curve) in curves {
            let advice = recommend(&curve, &sample::MEMORY, Bytes(128 << 10)).unwrap();
            let verified = sample::cliff_verified();
            let verified = if name == "cliff" { verified.as_slice() } else { &[] };
            let drawn = svg("grep -r <word> src && true", &curve, Some(&advice), verified);
            assert!(drawn.contains("grep -r &lt;word&gt; src &amp;&amp; true"), "{name}");
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{name}: {drawn}");
            for mark in marks(&advice, true) {
                assert!(drawn.contains(&mark.label), "{name}: {}", mark.label);
            }
            // For a look at them all.
            if let Ok(folder) = std::env::var("NBUF_PICTURES") {
                std::fs::write(format!("{folder}/{name}.svg"), drawn).unwrap();
            }
        }
    }
}
