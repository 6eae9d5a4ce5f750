//! The nbuf experiment as one page that needs nothing beside it: the curve, the post's beside it, and
//! the tables.
//!
//! Invariant: every text that comes from outside goes through `escape`.

use std::fmt::Write as _;

use nbuf_pdp11::unix::result::SweepDocument;

use super::super::html::{document as html, table};
use super::super::markup::escape;
use super::{Sheet, meaning, sheets};

const STYLE: &str = ".curve{width:100%;height:auto}.curve path{fill:none;stroke-width:2}\n\
.curve .ours{stroke:var(--blue)}.curve .post{stroke:var(--axis);stroke-dasharray:5 4}\n\
.curve text{fill:var(--faint);font-size:12px}.curve line{stroke:var(--line)}\n";

const LEFT: f64 = 60.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 16.0;
const GROUND: f64 = 260.0;

/// The whole page.
pub(crate) fn page(document: &SweepDocument) -> String {
    let mut body = String::from(
        "<header><p class=\"eyebrow\">nbuf unix sweep</p>\n\
         <h1>First Edition Unix assembles its kernel, by buffers</h1>\n",
    );
    let _ = writeln!(
        body,
        "<p class=\"answer open\">{}.</p></header>\n<main>",
        escape(&answer(document))
    );
    let _ = write!(body, "<section><h2>Speed-up</h2>\n<figure>{}", curve(document));
    body.push_str("<figcaption>Against the first row: blue here, grey as the post has it.</figcaption></figure>\n</section>\n");
    for sheet in sheets(&document.rows) {
        section(&mut body, &sheet);
    }
    for refused in &document.refused {
        let machine: Vec<String> = refused.machine.lines().map(escape).collect();
        let _ = write!(
            body,
            "<section><h2>nbuf {}</h2>\n<p>{}.</p>\n<pre>{}</pre></section>\n",
            refused.nbuf,
            escape(&refused.why),
            machine.join("\n")
        );
    }
    for caution in &document.cautions {
        let _ = writeln!(body, "<p class=\"note\">{}.</p>", escape(caution));
    }
    let _ = write!(body, "</main>\n<footer>nbuf {}</footer>\n", env!("CARGO_PKG_VERSION"));
    html("nbuf unix: buffers of First Edition Unix", STYLE, &body)
}

fn answer(document: &SweepDocument) -> String {
    let gain = match (document.rows.first(), document.rows.last()) {
        (Some(first), Some(last)) if first.nbuf != last.nbuf => format!(
            "{} buffers instead of {}: {:.2} times as fast; ",
            last.nbuf, first.nbuf, last.speedup
        ),
        _ => String::new(),
    };
    format!("{gain}{}", meaning(document))
}

fn section(body: &mut String, sheet: &Sheet) {
    let _ = write!(
        body,
        "<section><h2>{}</h2>\n{}</section>\n",
        sheet.title,
        table("rows", sheet.header, &[], &sheet.lines)
    );
}

/// Speed-ups over buffers.
fn curve(document: &SweepDocument) -> String {
    let rows = &document.rows;
    let post_first = rows.first().and_then(|row| row.post_seconds);
    let ours: Vec<(u16, f64)> = rows.iter().map(|row| (row.nbuf, row.speedup)).collect();
    let post: Vec<(u16, f64)> =
        rows.iter().filter_map(|row| Some((row.nbuf, post_first? / row.post_seconds?))).collect();
    let most = ours.iter().chain(&post).map(|point| point.1).fold(1.0, f64::max).ceil();
    let x = |nbuf: u16| LEFT + (RIGHT - LEFT) * f64::from(nbuf) / 8.0;
    let y = |speedup: f64| GROUND - (GROUND - TOP) * speedup / most;
    let mut svg = String::from("<svg class=\"curve\" viewBox=\"0 0 660 300\" role=\"img\">\n");
    let mut tick = 0.0;
    while tick <= most {
        let at = y(tick);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"52\" y=\"{:.1}\" text-anchor=\"end\">{tick:.0}x</text>",
            at + 4.0
        );
        tick += (most / 5.0).ceil();
    }
    for (nbuf, _) in &ours {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"282\" text-anchor=\"middle\">{nbuf}</text>",
            x(*nbuf)
        );
    }
    for (class, points) in [("post", &post), ("ours", &ours)] {
        let mut path = String::new();
        for (at, &(nbuf, speedup)) in points.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", x(nbuf), y(speedup));
        }
        if !path.is_empty() {
            let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }
    svg + "</svg>"
}
