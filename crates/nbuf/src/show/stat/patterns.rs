//! Scans and loops that were found.

use nbuf::experiment::result::{ShapeRuns, TraceShape};

use super::super::table::{Table, number, text};
use super::super::text::grouped;
use super::sections::{Section, lacking};
use super::words::percent;

pub(super) fn section(shape: &TraceShape) -> Section {
    let title = "Scans and loops";
    let (Some(scans), Some(first), Some(loops)) = (shape.scans, shape.first_uses, &shape.loops)
    else {
        let lines = lacking(shape, "patterns").into_iter().collect();
        return Section { title, lines, ..Section::default() };
    };
    let mut lines = Vec::new();
    lines.push(match loops.first() {
        Some(largest) => format!(
            "The loop with the most accesses has {} {}s: a smaller LRU cache hits none of it.",
            grouped(largest.keys),
            shape.unit
        ),
        None => format!("No loop of 16 {}s or more was found.", shape.unit),
    });
    if scans.runs + first.runs == 0 {
        lines.push("No scan of 64 accesses or more was found.".to_owned());
    }
    let runs =
        |name: &str, runs: ShapeRuns| (name.to_owned(), runs.runs, runs.accesses, Some(runs));
    let loops = loops.iter().map(|found| {
        (format!("loop of {}", grouped(found.keys)), found.runs, found.accesses, None)
    });
    let all = [runs("scans", scans), runs("first uses", first)].into_iter().chain(loops);
    let all: Vec<(String, u64, u64, Option<ShapeRuns>)> = all.collect();
    let table = Table::of("Runs of 64 accesses or more, and loops", &all)
        .column(text("what"), |(name, ..)| name.as_str())
        .column(number("found"), |(_, runs, ..)| *runs)
        .column(number("accesses"), |(_, _, accesses, _)| *accesses)
        .column(number("share"), |(_, _, accesses, _)| percent(*accesses, shape.accesses))
        .column(number("longest").rank(1), |(.., runs)| runs.map(|runs| runs.longest))
        .column(number("first uses").rank(2), |(.., runs)| {
            runs.map(|runs| percent(runs.first_uses, runs.accesses))
        })
        .done();
    Section { title, lines, tables: vec![table], ..Section::default() }
}
