//! What was measured, as the tables of docs/accuracy.md.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Cell;

/// Puts the tables between their marks.
pub fn replace(document: &str, fills: &[Cell], time: &[Cell]) -> Result<String> {
    let document = between(document, "fills", &fills_table(fills))?;
    if time.is_empty() { Ok(document) } else { between(&document, "time", &time_table(time)) }
}

/// Puts a text between the marks of that name.
pub fn between(document: &str, name: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (head, rest) =
        document.split_once(&begin).with_context(|| format!("no mark `{}`", begin.trim()))?;
    let (_, tail) = rest.split_once(&end).with_context(|| format!("no mark `{end}`"))?;
    Ok(format!("{head}{begin}\n{text}\n{end}{tail}"))
}

fn fills_table(cells: &[Cell]) -> String {
    let mut text = "| program | readahead | cache | predicted | measured | error | |\n\
                    |---|---|---|---|---|---|---|\n"
        .to_owned();
    for cell in cells {
        for run in runs(cell) {
            let low = run.number("predicted_fills_low");
            let high = run.number("predicted_fills_high");
            let fills = run.number("measured_fills");
            let predicted = if high > low { format!("{low} .. {high}") } else { format!("{low}") };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {predicted} | {fills} | {} | {} |",
                cell.program,
                cell.window,
                run.share,
                run.error(low, high, fills),
                run.remark()
            );
        }
    }
    text
}

/// What each program got as a number, the fills at all sizes, and what could not be measured.
pub(super) fn held_out(cells: &[Cell], missing: &[String]) -> String {
    let mut text = "| program | number | verdict | killed at it |\n|---|---|---|---|\n".to_owned();
    for cell in cells {
        let report = cell.report.as_ref();
        let number = report.and_then(|report| report["recommend"]["limit_bytes"].as_u64());
        let limit = number.map_or("none".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
        let verdict = report.and_then(|report| report["verdict"].as_str()).unwrap_or("no report");
        let is_killed = |run: &Run<'_>| {
            run.value["killed"] == true && run.value["limit_bytes"].as_u64() >= number
        };
        let killed = number.is_some() && runs(cell).iter().any(is_killed);
        let killed = if killed { "yes" } else { "no" };
        let _ = writeln!(text, "| {} | {limit} | {verdict} | {killed} |", cell.program);
    }
    let _ = write!(text, "\n{}", fills_table(cells));
    for line in missing {
        let _ = writeln!(text, "\n{line}");
    }
    text
}

fn time_table(cells: &[Cell]) -> String {
    let mut text = "| program | cache | predicted s | measured s | error |\n\
                    |---|---|---|---|---|\n"
        .to_owned();
    for cell in cells {
        for run in runs(cell) {
            let low = run.number("predicted_seconds_low");
            let high = run.number("predicted_seconds_high");
            let seconds = run.number("measured_seconds");
            let _ = writeln!(
                text,
                "| {} | {} | {low:.2} .. {high:.2} | {seconds:.2} | {} |",
                cell.program,
                run.share,
                run.error(low, high, seconds)
            );
        }
    }
    text
}

/// How far outside the band, in percent of the edge that is nearer.
fn error(low: f64, high: f64, measured: f64) -> String {
    let percent = |edge: f64| (measured / edge.max(1e-9) - 1.0) * 100.0;
    if measured < low {
        format!("{:+.1} %", percent(low))
    } else if measured > high {
        format!("{:+.1} %", percent(high))
    } else {
        "in the band".to_owned()
    }
}

struct Run<'a> {
    value: &'a Value,
    share: String,
    mapped: bool,
    /// How the recorded run ended.
    status: Option<i64>,
}

impl Run<'_> {
    fn number(&self, key: &str) -> f64 {
        self.value[key].as_f64().unwrap_or(0.0)
    }

    /// How far off it is; a run that did not come to its end has no error.
    fn error(&self, low: f64, high: f64, measured: f64) -> String {
        let ended = self.value["killed"] != true && self.value["timed_out"] != true;
        if ended { error(low, high, measured) } else { "none".to_owned() }
    }

    /// What the report itself says of the run.
    fn remark(&self) -> String {
        let is = |key: &str| self.value[key] == true;
        let mut remarks = Vec::new();
        if is("killed") {
            remarks.push("killed: below the floor");
        }
        if is("timed_out") {
            remarks.push("cut off");
        }
        if !is("killed") && !is("timed_out") && self.value["exit_status"].as_i64() != self.status {
            remarks.push("ended otherwise");
        }
        if !self.value["cliff_bytes"].is_null() {
            remarks.push("at a cliff");
        }
        if self.mapped {
            remarks.push("mapped: lower bound");
        }
        remarks.join(", ")
    }
}

/// The runs of a cell, each with the share of the footprint that its cache is.
fn runs(cell: &Cell) -> Vec<Run<'_>> {
    let Some(report) = &cell.report else { return Vec::new() };
    let footprint = report["footprint_bytes"].as_f64().unwrap_or(1.0);
    let mapped = report["capture"]["mapped_share"].as_f64().unwrap_or(0.0) > 0.05;
    let run = |value| {
        let cache = Value::as_f64(&value_of(value, "cache_bytes")).unwrap_or(0.0);
        let share = if value["limit_bytes"].is_null() {
            "no limit".to_owned()
        } else {
            format!("{:.0} %", cache / footprint * 100.0)
        };
        Run { value, share, mapped, status: report["exit_status"].as_i64() }
    };
    report["verify"].as_array().map(|runs| runs.iter().map(run).collect()).unwrap_or_default()
}

fn value_of(value: &Value, key: &str) -> Value {
    value[key].clone()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_without_a_number_has_a_row_and_a_missing_one_a_line() {
        let report = json!({"recommend": {"limit_bytes": 52_428_800}, "verdict": "measured", "verify": [
            {"limit_bytes": 52_428_800, "killed": true}, {"limit_bytes": null, "killed": false}]});
        let cell = |report| Cell { program: "p", window: "own".into(), report };
        let cells = [cell(Some(report)), cell(Some(json!({"recommend": null}))), cell(None)];
        let text = held_out(&cells, &["q: not installed: apt-get install q".to_owned()]);
        let rows: Vec<&str> = text.lines().skip(2).take(3).collect();
        assert_eq!(
            rows,
            [
                "| p | 50 MiB | measured | yes |",
                "| p | none | no report | no |",
                "| p | none | no report | no |",
            ]
        );
        assert!(text.ends_with("\nq: not installed: apt-get install q\n"), "{text}");
    }

    #[test]
    fn tables_stand_between_their_marks() {
        let verify = json!([
            {"limit_bytes": null, "cache_bytes": 100, "predicted_fills_low": 10,
             "predicted_fills_high": 10, "measured_fills": 10, "cliff_bytes": null},
            {"limit_bytes": 60, "cache_bytes": 50, "predicted_fills_low": 20,
             "predicted_fills_high": 25, "measured_fills": 30, "cliff_bytes": 4},
        ]);
        let report =
            json!({"footprint_bytes": 100, "verify": verify, "capture": {"mapped_share": 0.5}});
        let cell = Cell { program: "p", window: "0".into(), report: Some(report) };
        let document = "a\n<!-- fills -->\nold\n<!-- end of fills -->\nb\n";
        let text = replace(document, &[cell], &[]).unwrap();
        assert!(
            text.contains("| p | 0 | no limit | 10 | 10 | in the band | mapped: lower bound |")
        );
        assert!(
            text.contains("| 50 % | 20 .. 25 | 30 | +20.0 % | at a cliff, mapped: lower bound |")
        );
        assert!(!text.contains("old") && text.ends_with("<!-- end of fills -->\nb\n"), "{text}");
        assert!(replace("no marks", &[], &[]).is_err());
    }
}
