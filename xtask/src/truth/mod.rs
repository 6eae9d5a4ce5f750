//! Whether what `nbuf bench` prints is what the next run prints: runs of the same program against each
//! other, with and without a planted slowdown. And whether advice holds when the job is done.
//!
//! Writes the tables of docs/performance.md between their marks. The runs take ten minutes, the advice
//! half an hour; a machine that does other work meanwhile is part of the trial.

pub mod advice;
mod patterns;
mod runs;

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use runs::{Row, Run, verdicts};

/// Comparisons of one program with itself, so one run more.
const COMPARISONS: usize = 20;
/// Runs with a slowdown of this many percent, each compared with the run before it.
const SLOWED: usize = 10;
const SLOWDOWN_PERCENT: &str = "10";
/// A slowdown counts as found in a row that is called slower so often.
const FOUND: usize = 9;

/// The rows, as Markdown. Documents of runs are kept in `folder`, if there is one; those that it has are not
/// measured again, so that a trial that was interrupted goes on.
pub fn table(nbuf: &Path, folder: Option<&Path>) -> Result<String> {
    let own = std::env::temp_dir().join(format!("nbuf-truth-{}", std::process::id()));
    let place = folder.unwrap_or(&own);
    std::fs::create_dir_all(place)?;
    let measured = measure(nbuf, place);
    if folder.is_none() {
        std::fs::remove_dir_all(place)?;
    }
    let Measured { same, slowed } = measured?;
    let mut text = "| trial | wanted | found |\n|---|---|---|\n".to_owned();
    let mut line = |trial: &str, wanted: &str, found: String| {
        let _ = writeln!(text, "| {trial} | {wanted} | {found} |");
    };
    let all: usize = same.verdicts.iter().map(Vec::len).sum();
    let firm = same.verdicts.iter().flatten().filter(|(_, verdict)| is_firm(verdict)).count();
    line(
        "verdicts of a program against itself that are firm",
        "at most 1 of 100",
        format!("{firm} of {all}"),
    );
    let in_range = |is_wanted: fn(&Row, &Row) -> bool| {
        let (covered, total) = covered(&same.runs, is_wanted);
        format!("{:.1} % of {total}", covered as f64 * 100.0 / total.max(1) as f64)
    };
    line(
        "medians of the next run in the printed range, rows that neither run marks with `?` or `!`",
        "93 to 97 %",
        in_range(|a, b| a.is_unmarked && b.is_unmarked),
    );
    line("the same of all rows", "93 to 97 %", in_range(|_, _| true));
    let found = found(&slowed);
    line(
        "rows in which a planted slowdown of 10 % is found in 9 of 10",
        "at least 20",
        format!("{} of {}", found.iter().filter(|(_, found)| *found >= FOUND).count(), found.len()),
    );
    line(
        "median half-width of the ranges of rows of calls",
        "at most 5 %",
        format!("{:.1} %", half_width_percent(&same.runs)),
    );
    let unsteady: usize = same.runs.iter().map(|run| run.refused).sum();
    line(
        "rows without a number, being unsteady",
        "",
        format!("{unsteady} of {}", unsteady + rows(&same.runs)),
    );
    Ok(text)
}

/// Runs that do the same, and their verdicts.
struct Same {
    runs: Vec<Run>,
    verdicts: Vec<Vec<(String, String)>>,
}

struct Measured {
    same: Same,
    slowed: Vec<Vec<(String, String)>>,
}

fn measure(nbuf: &Path, place: &Path) -> Result<Measured> {
    let mut same = Same { runs: vec![Run::measure(nbuf, place, "0", &[])?], verdicts: Vec::new() };
    let mut slowed = Vec::new();
    for number in 1..=COMPARISONS {
        let before = (number - 1).to_string();
        let name = number.to_string();
        if slowed.len() < SLOWED {
            let slow = format!("slowed-{number}");
            Run::measure(nbuf, place, &slow, &["--slowdown", SLOWDOWN_PERCENT])?;
            slowed.push(verdicts(nbuf, place, &before, &slow)?);
        }
        same.runs.push(Run::measure(nbuf, place, &name, &[])?);
        same.verdicts.push(verdicts(nbuf, place, &before, &name)?);
    }
    Ok(Measured { same, slowed })
}

fn is_firm(verdict: &str) -> bool {
    ["faster", "slower"].contains(&verdict)
}

fn rows(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.rows.len()).sum()
}

/// Medians of neighbouring runs that the other's range holds, and all of them, of the wanted rows; each pair
/// counts both ways.
fn covered(runs: &[Run], is_wanted: fn(&Row, &Row) -> bool) -> (usize, usize) {
    let (mut covered, mut total) = (0, 0);
    for pair in runs.windows(2) {
        for row in &pair[0].rows {
            let Some(other) = pair[1].rows.iter().find(|other| other.test == row.test) else {
                continue;
            };
            if !is_wanted(row, other) {
                continue;
            }
            for (range, rate) in [(row, other.rate), (other, row.rate)] {
                covered += usize::from((range.low..=range.high).contains(&rate));
                total += 1;
            }
        }
    }
    (covered, total)
}

/// How often each row was called slower.
fn found(slowed: &[Vec<(String, String)>]) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for (test, verdict) in slowed.iter().flatten() {
        let is_found = usize::from(verdict == "slower");
        match found.iter_mut().find(|(name, _)| name == test) {
            Some((_, count)) => *count += is_found,
            None => found.push((test.clone(), is_found)),
        }
    }
    found
}

/// The median over all rows of calls in memory, in percent.
fn half_width_percent(runs: &[Run]) -> f64 {
    let mut widths: Vec<f64> = runs
        .iter()
        .flat_map(|run| &run.rows)
        .filter(|row| row.path == "read")
        .map(|row| (row.high - row.low) / 2.0 / row.rate * 100.0)
        .collect();
    widths.sort_by(f64::total_cmp);
    widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rate: f64) -> Run {
        let row = Row {
            test: "r01-byte".to_owned(),
            path: "read".to_owned(),
            rate,
            low: rate * 0.9,
            high: rate * 1.1,
            is_unmarked: rate < 150.0,
        };
        Run { rows: vec![row], refused: 0 }
    }

    #[test]
    fn ranges_are_compared_with_the_next_run_both_ways() {
        let runs = [run(100.0), run(105.0), run(200.0)];
        assert_eq!(covered(&runs, |_, _| true), (2, 4));
        assert_eq!(covered(&runs, |a, b| a.is_unmarked && b.is_unmarked), (2, 2));
        assert!((half_width_percent(&[run(100.0), run(7.0)]) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_slowdown_is_found_where_a_row_is_called_slower() {
        let verdict = |word: &str| vec![("r01-byte".to_owned(), word.to_owned())];
        let all = [verdict("slower"), verdict("unsure"), verdict("slower"), verdict("faster")];
        assert_eq!(found(&all), [("r01-byte".to_owned(), 2)]);
        assert!(is_firm("faster") && !is_firm("unsure") && !is_firm("no difference seen"));
    }
}
