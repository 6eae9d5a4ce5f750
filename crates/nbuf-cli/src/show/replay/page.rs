//! A replay as one page that needs nothing beside it: what came of it, and where there are several sizes
//! the S of elapsed time, and the hit ratio below it.
//!
//! Invariant: every text that comes from outside goes through `escape`.

use std::fmt::Write as _;

use nbuf::experiment::result::{ReplayDocument, ReplaySize};

use super::super::axis::CountAxis;
use super::super::curve::page::sheet::{Look, Mark, Sheet, frames};
use super::super::figures;
use super::super::html::{closing, document as html, table};
use super::super::markup::escape;
use super::super::text::grouped;
use super::plot::size_ticks;
use super::words::{facts, percent, points, seconds, size, title};

/// The looks of the lines are those of curves; on a narrow page a size has a line of its own.
const STYLE: &str = concat!(
    include_str!("../curve/page/style.css"),
    "@media (max-width:640px){.sizes td:first-child{grid-column:1/-1;font-weight:600;text-align:left}\n",
    ".sizes td:first-child::before{content:none}}\n"
);

/// The words of the page that are not everybody's.
const WORDS: [(&str, &str); 4] = [
    ("elapsed", "virtual time from the first step of a process to the last"),
    ("busy", "share of that during which something was to be done"),
    ("response", "from asking to having, the queue of the disc and the work of the cache included"),
    ("worth it", "from this size on, every cache saves more than a hundredth of the time"),
];

/// The whole page.
pub(crate) fn page(document: &ReplayDocument) -> String {
    let (workload, behind) = title(document);
    let mut body = format!(
        "<header><p class=\"eyebrow\">nbuf replay</p>\n<h1>{}</h1>\n<p class=\"answer {}\">{}.</p>\n",
        escape(&workload),
        if document.cautions.is_empty() { "good" } else { "open" },
        escape(&behind)
    );
    for text in points(document) {
        let _ = writeln!(body, "<p class=\"note\">{}.</p>", escape(&text));
    }
    body.push_str("</header>\n<main>\n");
    if !document.sizes.is_empty() {
        let _ = write!(
            body,
            "<section><h2>By size</h2>\n{}{}</section>\n",
            curves(document),
            sizes(document)
        );
    }
    let at = size(document, document.size_units);
    let _ = write!(body, "<section><h2>{}</h2>\n{}", escape(&uppercased(&at)), kinds(document));
    for text in facts(document).iter().chain(&document.cautions) {
        let _ = writeln!(body, "<p class=\"note\">{}.</p>", escape(text));
    }
    body.push_str("</section>\n");
    body.push_str(&document.figures.as_ref().map(figures::sections).unwrap_or_default());
    body.push_str(&closing(&WORDS));
    html(&format!("nbuf replay: {workload}"), &(STYLE.to_owned() + figures::STYLE), &body)
}

fn uppercased(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().to_string() + letters.as_str())
}

fn kinds(document: &ReplayDocument) -> String {
    let row = |kind: &nbuf::experiment::result::ReplayKind| {
        let hits = percent(kind.hits as f64 / kind.count.max(1) as f64);
        vec![escape(&kind.kind), grouped(kind.count), hits]
    };
    let rows: Vec<_> = document.requests.iter().map(row).collect();
    table("kinds", &["requests", "count", "hits %"], &[0], &rows)
}

fn sizes(document: &ReplayDocument) -> String {
    let row = |row: &ReplaySize| {
        vec![
            escape(&size(document, row.size_units)),
            seconds(row.elapsed_seconds),
            percent(row.hit_ratio),
            percent(row.disc_utilisation),
            percent(row.cpu_utilisation),
            seconds(row.response_mean_seconds),
        ]
    };
    let rows: Vec<_> = document.sizes.iter().map(row).collect();
    let header = ["size", "elapsed", "hits %", "disc busy %", "CPU busy %", "response"];
    table("sizes", &header, &[0], &rows)
}

/// Two figures over the same axis.
fn curves(document: &ReplayDocument) -> String {
    let times = CountAxis::of_seconds(document.sizes.iter().map(|row| row.elapsed_seconds));
    let shares: Vec<(f64, String)> =
        (0..=4).map(|part| f64::from(part) / 4.0).map(|s| (s, percent(s))).collect();
    let elapsed = |row: &ReplaySize| times.position(row.elapsed_seconds);
    figure(document, "elapsed", &times.ticks(6), &elapsed, Look::of(0))
        + &figure(document, "hits %", &shares, &|row| row.hit_ratio, Look::of(1))
}

fn figure(
    document: &ReplayDocument,
    name: &str,
    ticks: &[(f64, String)],
    value: &dyn Fn(&ReplaySize) -> f64,
    look: Look,
) -> String {
    let most = document.sizes.iter().map(|row| row.size_units).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let position = |units: u64| units as f64 / most as f64;
    let mut out = String::from("<figure>\n");
    for frame in frames(300.0, 260.0) {
        let mut sheet = Sheet::new(frame, &marks(document, &position));
        sheet.upright(name, ticks);
        sheet.level("cache size", &size_ticks(most, document.unit_bytes, frame.ticks));
        let places: Vec<(f64, f64)> =
            document.sizes.iter().map(|row| (position(row.size_units), value(row))).collect();
        sheet.line(&look.line(), look.dash, &places);
        for &(x, y) in &places {
            let shape = look.shape(sheet.x(x), sheet.y(y));
            sheet.add(format_args!("{shape}"));
        }
        out.push_str(&sheet.svg(&format!("{name} against cache size"), None));
    }
    out + "</figure>\n"
}

/// The three points, those of one size together.
fn marks(document: &ReplayDocument, position: &dyn Fn(u64) -> f64) -> Vec<Mark> {
    let Some(points) = document.points else { return Vec::new() };
    let all = [
        ("worse than none", points.worse_to_units),
        ("worth it", points.worth_from_units),
        ("no more gain", points.enough_from_units),
    ];
    let known: Vec<(&str, u64)> =
        all.into_iter().filter_map(|(name, units)| Some((name, units?))).collect();
    let mark = |group: &[(&str, u64)]| {
        let names: Vec<&str> = group.iter().map(|(name, _)| *name).collect();
        let is_last = names.contains(&"no more gain");
        Mark {
            position: position(group[0].1),
            label: names.join(" = "),
            class: if is_last { "knee" } else { "mark" },
        }
    };
    known.chunk_by(|a, b| a.1 == b.1).map(mark).collect()
}
