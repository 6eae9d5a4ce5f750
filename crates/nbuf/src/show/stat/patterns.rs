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
    let columns = [
        text("what"),
        number("found"),
        number("accesses"),
        number("share"),
        number("longest").rank(1),
        number("first uses").rank(2),
    ];
    let runs = |name: &str, runs: ShapeRuns| {
        [
            name.to_owned(),
            grouped(runs.runs),
            grouped(runs.accesses),
            percent(runs.accesses, shape.accesses),
            grouped(runs.longest),
            percent(runs.first_uses, runs.accesses),
        ]
    };
    let mut table = Table::new("Runs of 64 accesses or more, and loops", columns);
    table.row(runs("scans", scans));
    table.row(runs("first uses", first));
    for found in loops {
        table.row([
            format!("loop of {}", grouped(found.keys)),
            grouped(found.runs),
            grouped(found.accesses),
            percent(found.accesses, shape.accesses),
            String::new(),
            String::new(),
        ]);
    }
    Section { title, lines, tables: vec![table], ..Section::default() }
}
