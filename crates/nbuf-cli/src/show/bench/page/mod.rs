//! The report of `nbuf bench` as one page that needs nothing beside it: a sentence first, then the
//! grid, what differs, the lines, and the proof.
//!
//! Invariant: every text that comes from outside goes through `escape`; the page fetches nothing and
//! its policy forbids it to.

mod grid;
mod line;
mod versus;

use std::fmt::Write as _;

use nbuf::experiment::result::{BenchDocument, BenchRow, PingDocument};

use super::super::html::{closing, document as html, table};
use super::super::markup::escape;
use super::super::ping::{self, uppercased};
use super::model::{half, odd, without};
use super::words::{percent, rate, time};

const STYLE: &str = concat!(
    include_str!("../../curve/page/style.css"),
    include_str!("../../ping/style.css"),
    include_str!("style.css")
);

/// The words of the page that are not everybody's.
const WORDS: [(&str, &str); 6] = [
    ("clean", "a sample of a few milliseconds in which nothing else had the processor"),
    ("hot, cold", "all of the file in memory before a sample; none of it, and proven so"),
    (
        "noise floor",
        "how far apart two measurements of the same thing came out in this run, nineteen times of \
         twenty; smaller differences are not called differences",
    ),
    (
        "half bandwidth",
        "the block with which half of the time is for the call and half for the bytes",
    ),
    ("proof", "what the kernel says was done, held against the name of the row"),
    ("iMac 2011, ThinkPad 2007", "the machines of the CS61 course's table, both with hard discs"),
];

/// The whole page, with wake-ups if there are any beside it.
pub(crate) fn page(document: &BenchDocument, pings: Option<&PingDocument>) -> String {
    let machine = &document.machine;
    let mut body = format!(
        "<header><p class=\"eyebrow\">nbuf bench</p>\n<h1>{}, Linux {}, {}</h1>\n{}{}</header>\n<main>\n",
        escape(&machine.processor),
        escape(&machine.kernel),
        escape(&machine.filesystem),
        answer(document),
        figures(document),
    );
    let (course, others): (Vec<&BenchRow>, Vec<&BenchRow>) =
        document.rows.iter().partition(|row| row.imac_2011.is_some());
    let sections = [
        ("The tests of the CS61 course", grid::course(&course)),
        ("The ways that have come since", grid::others(&others)),
        ("What differs", versus::section(document)),
        ("Time of an operation against its block", line::section(document)),
        ("Lines through the times", models(document)),
        ("How often threads wake each other", pings.map(ping::inside).unwrap_or_default()),
        ("Proof", proof(document)),
        ("Without a number", refused(document)),
        ("Machine and cautions", facts(document)),
    ];
    for (title, section) in sections {
        if !section.is_empty() {
            let _ = write!(body, "<section><h2>{title}</h2>\n{section}</section>\n");
        }
    }
    body.push_str(&closing(&WORDS));
    html("nbuf bench: the I/O paths of a machine", STYLE, &body)
}

/// The sentence: what was measured, and whether all of it was what it says.
fn answer(document: &BenchDocument) -> String {
    let false_rows = document.refused.iter().filter(|refused| refused.is_contradiction).count();
    let (mood, said) = match (false_rows, document.is_complete) {
        (0, true) => ("good", "Every row did what its name says.".to_owned()),
        (0, false) if !document.not_reached.is_empty() => {
            let count = document.not_reached.len();
            ("open", format!("The time was over before {count} parts were measured."))
        }
        (0, false) => ("open", "Interrupted: only what was measured before is here.".to_owned()),
        (count, _) => ("bad", format!("{count} rows did not do what their names say.")),
    };
    let best = |is_course: bool| {
        document
            .rows
            .iter()
            .filter(|row| row.direction == "read" && row.path != "null")
            .filter(|row| row.imac_2011.is_some() == is_course)
            .max_by(|a, b| a.bytes_per_second.total_cmp(&b.bytes_per_second))
    };
    let fastest = best(true).or_else(|| best(false)).map_or_else(String::new, |row| {
        format!(" The fastest way to read: {}, {} bytes/s.", row.test, rate(row.bytes_per_second))
    });
    format!("<p class=\"answer {mood}\">{}{}</p>\n", escape(&said), escape(&fastest))
}

/// The figures that all others are read by.
fn figures(document: &BenchDocument) -> String {
    let tile = |name: &str, value: String, note: &str| {
        format!("<div><dt>{name}</dt><dd>{value}</dd><dd class=\"faint\">{note}</dd></div>")
    };
    let mut tiles = Vec::new();
    if let Some(floor) = &document.noise_floor {
        let note = format!("{} comparisons of a test with itself", floor.comparisons);
        tiles.push(tile("noise floor", percent(floor.percent), &note));
    }
    if let Some(floor) = &document.noise_floor_device {
        tiles.push(tile(
            "noise floor, device",
            percent(floor.percent),
            "of what waits for the disc",
        ));
    }
    let samples: u64 = document.rows.iter().map(|row| row.samples).sum();
    let clean: u64 = document.rows.iter().map(|row| row.clean).sum();
    if samples > 0 {
        let part = 100.0 * clean as f64 / samples as f64;
        tiles.push(tile("clean samples", percent(part), &format!("{clean} of {samples}")));
    }
    if let Some(pressure) = document.machine.processor_pressure_percent {
        tiles.push(tile("machine busy", percent(pressure), "tasks waited for a processor"));
    }
    format!("<dl class=\"figures\">{}</dl>\n", tiles.concat())
}

fn models(document: &BenchDocument) -> String {
    let row = |model: &nbuf::experiment::result::BenchModel| {
        vec![
            format!("{} {}", escape(&model.path), escape(&model.direction)),
            model.state.name().to_owned(),
            time(model.base_ns),
            time(model.byte_ns * 1024.0),
            half(model),
            odd(model),
        ]
    };
    let rows: Vec<Vec<String>> = document.models.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["path", "state", "a call", "a KiB", "half bandwidth", "off by more than 15 %"];
    let note = format!("<p class=\"note\">{}.</p>\n", escape(&uppercased(&without(document))));
    table("models", &header, &[0, 1, 5], &rows) + &note
}

/// What the kernel counted, row by row.
fn proof(document: &BenchDocument) -> String {
    let row = |row: &BenchRow| {
        let proof = &row.proof;
        let each = |number: f64| {
            if number == 0.0 { "0".to_owned() } else { format!("{number:.3}") }
        };
        let bytes = proof.bytes.max(1) as f64;
        let device = (proof.device_read_bytes + proof.device_written_bytes) as f64 / bytes;
        vec![
            escape(&row.test),
            each(proof.calls_per_operation),
            each(proof.faults_minor_per_operation + proof.faults_major_per_operation),
            each(proof.waits_per_operation),
            proof.completions_per_operation.map_or("-".into(), each),
            each(device),
            percent(proof.resident_before_least * 100.0),
            percent(proof.resident_after * 100.0),
        ]
    };
    let rows: Vec<Vec<String>> = document.rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = [
        "test",
        "calls",
        "faults",
        "waits",
        "rung",
        "device bytes a byte",
        "in memory before",
        "after",
    ];
    let note = "<p class=\"note\">For each operation: calls that read or write, faults, times it slept, \
                completions through a ring; bytes to or from a device for each byte moved; the least part of the \
                file in memory before a sample, and the part after the last.</p>\n";
    table("proof", &header, &[0], &rows) + note
}

fn refused(document: &BenchDocument) -> String {
    let row = |refused: &nbuf::experiment::result::Refused| {
        let what = if refused.is_contradiction { "failed" } else { "refused" };
        vec![escape(&refused.test), what.to_owned(), escape(&refused.reason)]
    };
    let rows: Vec<Vec<String>> = document.refused.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    table("refused", &["test", "", "why"], &[0, 1, 2], &rows)
}

fn facts(document: &BenchDocument) -> String {
    let lines = super::machine(document).into_iter().chain(document.cautions.iter().cloned());
    lines.fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "<p>{}.</p>", escape(&line));
        out
    })
}

#[cfg(test)]
mod tests;
