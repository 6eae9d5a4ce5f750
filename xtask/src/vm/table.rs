//! The counts of a machine as a table.

use std::fmt::Write;

use serde_json::Value;

use super::serial::{Cell, Seen};

/// The facts, the table, and what failed.
pub(super) fn markdown(seen: &Seen) -> String {
    let facts: Vec<String> =
        seen.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let mut text = format!("{}\n\n", facts.join(", "));
    text.push_str(
        "| program | multi-generational LRU | limit | predicted | filled | error |\n\
         |---|---|---|---|---|---|\n",
    );
    for cell in &seen.cells {
        rows(&mut text, cell);
    }
    for error in &seen.errors {
        let _ = writeln!(text, "\n{error}");
    }
    text
}

fn rows(text: &mut String, cell: &Cell) {
    let lru = if cell.is_as_wanted() {
        cell.lru().to_owned()
    } else {
        format!("{}: not switched", cell.lru())
    };
    let head = format!("| {} | {lru} |", cell.program);
    let runs = cell.report.as_ref().and_then(|report| report["verify"].as_array());
    let Some(runs) = runs.filter(|runs| !runs.is_empty()) else {
        let status = cell.status.map_or("it did not end".to_owned(), |it| format!("status {it}"));
        let error = if cell.error.is_empty() { "no runs" } else { &cell.error };
        let _ = writeln!(text, "{head} none | | | {error}, {status} |");
        return;
    };
    for run in runs {
        let number = |key: &str| run[key].as_u64().unwrap_or(0);
        let limit = match run["limit_bytes"].as_u64() {
            Some(bytes) => format!("{} MiB", bytes >> 20),
            None => "none".to_owned(),
        };
        let (low, high) = (number("predicted_fills_low"), number("predicted_fills_high"));
        let predicted = if high > low { format!("{low} .. {high}") } else { low.to_string() };
        let fills = number("measured_fills");
        let error = error(run, low, high, fills);
        let _ = writeln!(text, "{head} {limit} | {predicted} | {fills} | {error} |");
    }
}

/// How far a count is outside its band, in percent of the nearer edge.
fn error(run: &Value, low: u64, high: u64, fills: u64) -> String {
    if run["killed"] == true {
        return "killed".to_owned();
    }
    if run["timed_out"] == true {
        return "cut off".to_owned();
    }
    let edge = fills.clamp(low, high.max(low));
    if edge == fills {
        return "in band".to_owned();
    }
    let percent = (fills as f64 / edge.max(1) as f64 - 1.0) * 100.0;
    format!("{percent:+.1} %")
}

#[cfg(test)]
mod tests {
    use super::super::serial::parse;
    use super::*;

    #[test]
    fn a_row_for_each_run_and_for_what_has_none() {
        let run = |limit: &str, fills: u64, more: &str| {
            format!(
                "{{\"limit_bytes\": {limit}, \"predicted_fills_low\": 100, \"predicted_fills_high\": 200, \
                 \"measured_fills\": {fills}{more}}}"
            )
        };
        let runs = [
            run("null", 150, ""),
            run("1048576", 220, ""),
            run("1048576", 90, ""),
            run("1048576", 90, ", \"killed\": true"),
        ];
        let text = format!(
            "@fact kernel 6.12\n@begin grep on 0x7\n{{\"verify\": [{}]}}\n@end 1\n@begin tar on\n@error why\n@end 125\n",
            runs.join(", ")
        );
        let table = markdown(&parse(&text));
        let rows: Vec<&str> = table.lines().skip(4).collect();
        assert_eq!(
            rows,
            [
                "| grep | on | none | 100 .. 200 | 150 | in band |",
                "| grep | on | 1 MiB | 100 .. 200 | 220 | +10.0 % |",
                "| grep | on | 1 MiB | 100 .. 200 | 90 | -10.0 % |",
                "| grep | on | 1 MiB | 100 .. 200 | 90 | killed |",
                "| tar | off: not switched | none | | | why, status 125 |",
            ]
        );
        assert!(table.starts_with("kernel 6.12\n\n| program |"), "{table}");
    }
}
