//! Wake-ups as one page that needs nothing beside it: a sentence first, then every mechanism in every
//! placement with its histogram, all on one axis.
//!
//! Invariant: every text that comes from outside goes through `escape`.

use std::fmt::Write as _;

use nbuf::experiment::result::{PingDocument, PingJudged, PingOutcome, PingRow};

use super::super::html::{closing, document as html, table};
use super::super::markup::escape;
use super::histogram::RateAxis;
use super::{machine, notes, placements, rate, reasons, sentences, spread, uppercased, word};

const STYLE: &str = include_str!("style.css");

/// The words of the page that are not everybody's.
const WORDS: [(&str, &str); 4] = [
    ("round trip", "a message to the other thread and its answer: two wake-ups"),
    (
        "clean",
        "a sample of which the threads waited less than 1 % while somebody else had their processor",
    ),
    ("median", "the middle one of the clean samples, the line in each histogram"),
    ("unpinned", "the kernel chooses the processors, and chooses anew while the threads run"),
];

/// The whole page.
pub(crate) fn page(document: &PingDocument) -> String {
    let mood = if document.cautions.is_empty() { "good" } else { "open" };
    let mut body = format!(
        "<header><p class=\"eyebrow\">nbuf ping</p>\n<h1>{}</h1>\n",
        escape("How often a second threads wake each other")
    );
    let told = sentences(document);
    if !told.is_empty() {
        let told: Vec<String> = told.iter().map(|text| escape(&uppercased(text))).collect();
        let _ = writeln!(body, "<p class=\"answer {mood}\">{}.</p>", told.join(".<br/>"));
    }
    let _ = write!(
        body,
        "</header>\n<main>\n<section><h2>Round trips a second</h2>\n{}</section>\n\
         <section><h2>For comparison</h2>\n{}</section>\n\
         <section><h2>Machine</h2>\n<p>{}.</p></section>\n",
        section(document),
        references(document),
        escape(&machine(&document.machine))
    );
    body.push_str(&closing(&WORDS));
    html("nbuf ping: round trips a second", STYLE, &body)
}

/// What the page of `nbuf bench` has of it: the marks of the thread on `OpenVMS`, too.
pub(crate) fn inside(document: &PingDocument) -> String {
    section(document) + "<h3>For comparison</h3>\n" + &references(document)
}

/// The histograms, and what is to be said of them.
fn section(document: &PingDocument) -> String {
    let mut text = grid(document);
    text.push_str(
        "<p class=\"note\">Each histogram is of samples by their rate, all on one axis, which goes up in \
         equal ratios. Blue samples are clean, grey ones were disturbed; the line is the median.</p>\n",
    );
    let all: Vec<&PingRow> = document.rows.iter().collect();
    for said in reasons(&all).iter().chain(&notes(document)).chain(&document.cautions) {
        let _ = writeln!(text, "<p class=\"note\">{}.</p>", escape(said));
    }
    text
}

/// A line for each mechanism, a column for each placement.
fn grid(document: &PingDocument) -> String {
    let placements = placements(document);
    let axis = RateAxis::of(&document.rows);
    let mut names: Vec<&str> = Vec::new();
    for row in &document.rows {
        if !names.contains(&row.mechanism.as_str()) {
            names.push(&row.mechanism);
        }
    }
    let find = |name: &str, placement: &str| {
        document.rows.iter().find(|row| row.mechanism == name && row.placement == placement)
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for name in names {
        let mut cells = vec![escape(name)];
        let cell =
            |placement: &&str| find(name, placement).map_or(String::new(), |row| cell(row, &axis));
        cells.extend(placements.iter().map(cell));
        rows.push(cells);
    }
    let mut header = vec!["mechanism"];
    header.extend(placements.iter().copied());
    let left: Vec<usize> = (0..header.len()).collect();
    table("pings", &header, &left, &rows)
}

/// The number, what goes with it, and the histogram.
fn cell(row: &PingRow, axis: &RateAxis) -> String {
    let label = escape(&format!("{}, {}", row.mechanism, row.placement));
    let (Some(middle), PingOutcome::Measured) = (row.round_trips_per_second, row.outcome) else {
        let why = row.reason.as_deref().unwrap_or("nobody came to it");
        return format!(
            "<b class=\"faint\">{}</b><div class=\"faint\">{}</div>",
            word(row.outcome),
            escape(why)
        );
    };
    let mark = if row.judged == PingJudged::All { "~" } else { "" };
    format!(
        "<b>{mark}{}</b> <span class=\"faint\">{} · {}/{} clean</span>{}{}",
        rate(middle),
        spread(row),
        row.clean,
        row.samples,
        axis.picture(&row.histogram, Some(middle), &label),
        axis.scale()
    )
}

fn references(document: &PingDocument) -> String {
    let rows: Vec<Vec<String>> = document
        .references
        .iter()
        .map(|reference| {
            let rate = format!("{} {}", reference.is, rate(reference.round_trips_per_second));
            vec![escape(&reference.machine), escape(&reference.mechanism), escape(&rate)]
        })
        .collect();
    table("references", &["machine", "mechanism", "round trips a second"], &[0, 1], &rows)
}
